"""The option `--with` of commands that are made from findings: an agent is asked first what mattered in their sessions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import click

from crucible.asking.reviewing import review
from crucible.cli.asked_agents import agent_named
from crucible.cli.asking import as_agent, say_spent, user_budget
from crucible.cli.output import say
from crucible.errors import CrucibleError
from crucible.secrets.redacting import redact_of
from crucible.vault.store import Vault

__all__ = ["ask_first", "with_option"]

with_option = click.option(
    "--with",
    "named",
    metavar="AGENT",
    help="First ask this agent what mattered: claude, codex, opencode, a command line, or `default`, the one of your settings.",
)


def ask_first(vault: Vault, paths: Sequence[Path], named: str | None) -> None:
    """Ask the agent that `--with` named about each session; do nothing without one.

    One session is asked about again, of several only those in which something happened since the last answer.  What goes wrong is a line, and
    the command goes on with what is known.  An agent that gave no answer is not asked about the others.
    """
    if named is None:
        return
    agent = as_agent(agent_named(named, "--with", "be asked what mattered"), vault.root, "findings")
    redact, budget = redact_of(vault.settings.secrets), user_budget()
    every, paths = paths, [path for path in paths if not _is_subagent(vault, path)]
    if not paths:
        if every:
            say("nobody was asked: what a subagent did is asked of its parent's session")
        return
    again = len(paths) == 1
    say(f"asking what mattered in {paths[0].stem if again else f'{len(paths)} sessions'} …")
    for at, path in enumerate(paths, 1):
        one = agent.renewed().about("findings", path.stem)
        try:
            came = review(vault, path, one, now=datetime.now(UTC), redact=redact, budget=budget, again=again)
        except CrucibleError as error:
            say(f"cru: {path.stem}: {error}", style="yellow")
            continue
        if came.line:
            say(f"{path.stem}: {came.line}")
        elif came.problem:
            say(f"cru: {path.stem}: {came.problem}", style="yellow")
            if not came.model and at < len(paths):
                left = len(paths) - at
                say(f"cru: it gave no answer, so it was not asked about {left} more", style="yellow")
                break
        elif again:
            say(f"{path.stem}: nobody was asked: there is nothing in it yet")
    say_spent(agent)


def _is_subagent(vault: Vault, path: Path) -> bool:
    with suppress(CrucibleError):  # what is wrong with a note is told where it is asked about
        return bool(vault.read(path).session.parent)
    return False
