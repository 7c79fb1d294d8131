"""The option `--with` of commands that work from findings: first ask an agent what mattered in the sessions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import click

from crucible.analysis.review.session_review import review
from crucible.cli.asked_agents import agent_named
from crucible.cli.asking import as_agent, say_spent, user_budget
from crucible.cli.output import say
from crucible.core.errors import CrucibleError
from crucible.core.secrets.redaction import redact_of
from crucible.vault.notes.vault import Vault

with_option = click.option(
    "--with",
    "named",
    metavar="AGENT",
    help="First ask an agent what mattered: claude, codex, opencode, a command line, or `default` (that of your settings).",
)


def ask_first(vault: Vault, paths: Sequence[Path], named: str | None) -> None:
    """Ask the agent that `--with` named about each session; without one do nothing.

    A single session is always asked about; of several, those without news since the last answer are skipped.  A failure is one line, and the command
    continues with what is known.  After a session without any answer, the others are not asked about.
    """
    if named is None:
        return
    agent = as_agent(agent_named(named, "--with", "be asked what mattered"), vault.root, "findings")
    redact, budget = redact_of(vault.settings.secrets), user_budget()
    every, paths = paths, [path for path in paths if not _is_subagent(vault, path)]
    if not paths:
        if every:
            say("not asked: a subagent's session is part of its parent's")
        return
    again, skipped = len(paths) == 1, 0
    say(f"asking what mattered in {paths[0].stem if again else f'{len(paths)} sessions'} …")
    for at, path in enumerate(paths, 1):
        one = agent.renewed().about("findings", path.stem)
        try:
            came = review(vault, path, one, now=datetime.now(UTC), redact=redact, budget=budget, again=again)
        except CrucibleError as error:
            say(f"cru: {path.stem}: {error}", style="yellow")
            continue
        skipped += came.is_known
        if came.line:
            say(f"{path.stem}: {came.line}")
        elif came.problem:
            say(f"cru: {path.stem}: {came.problem}", style="yellow")
            if not came.model and at < len(paths):
                left = len(paths) - at
                say(f"cru: no answer, so the agent was not asked about {left} more", style="yellow")
                break
    if skipped:
        say(f"not asked about {skipped}: no news since the last answer, or you deleted the findings")
    say_spent(agent)


def _is_subagent(vault: Vault, path: Path) -> bool:
    with suppress(CrucibleError):  # an error in the note is reported when it is asked about
        return bool(vault.read(path).session.parent)
    return False
