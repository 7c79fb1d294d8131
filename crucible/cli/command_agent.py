"""The agent that a command asks, with a single time-out; costs are recorded in the vault and totals reported."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import click

from crucible.analysis.review.agent_questions import Agent, Budget, budget_of
from crucible.analysis.review.session_review import review
from crucible.cli.environment import human_is_there, settings_path, user_settings
from crucible.cli.options import Door
from crucible.cli.output import clean_line, say, warn
from crucible.clients.launch.ask import Program, asker_of, program_of
from crucible.clients.launch.session_marks import OWN_ENVIRONMENT
from crucible.clients.registry import ASKABLE, client_of
from crucible.core.errors import AgentFailed, CrucibleError, UsageError
from crucible.core.secrets.redaction import redact_of
from crucible.core.settings.settings import AgentSettings
from crucible.core.settings.toml_values import Table, file_text
from crucible.vault.notes.init_vault import set_user_settings
from crucible.vault.notes.vault import Vault


def as_agent(program: Program, root: Path | None, purpose: str, session: str = "") -> Agent:
    """Make the program the agent of this command; see `Agent` for `root`, `purpose` and `session`."""
    return Agent(program, time.monotonic, lambda: datetime.now(UTC), root, purpose, session)


def agent_at_end(root: Path, session: str) -> Agent | None:
    """Return the agent to ask when a session ends; None unless `agents.at_end` is set and an agent is configured.

    The session has already ended, so invalid settings only cause a warning.
    """
    settings = user_settings().agents
    try:
        program = asker_of(settings, os.environ) if settings.at_end else None
    except CrucibleError as error:
        warn(f"what mattered: {error}")
        return None
    return as_agent(program, root, "findings", session) if program else None


def user_budget() -> Budget:
    """Return the limits on untrusted text in a prompt."""
    return budget_of(user_settings().agents)


def say_spent(agent: Agent | None) -> None:
    """Report the agent's warnings and what its answers cost."""
    if agent is None:
        return
    warn(*agent.problems)
    if line := agent.spent_line():
        say(line)


DEFAULT = "default"
"""The value of `--with` that selects the agent from the settings."""


def agent_named(named: str | None, option: str, purpose: str, *, has_with: bool = True) -> Program:
    """Return the agent to ask for `option`; `purpose` completes "no agent is configured that could …".

    `has_with` is False for commands without `--with`.  Raises `UsageError` if no agent is configured, or if the command
    was itself started by an agent that `cru` asked.
    """
    asker = agent_if_any(named, option)
    if asker is None:
        raise UsageError(
            f"no agent is configured to {purpose}",
            f"{'choose one with --with claude, or ' if has_with else ''}set agents.command or agents.model in your settings",
        )
    return asker


def agent_if_any(named: str | None, option: str) -> Program | None:
    """Like `agent_named`, but returns None if no agent is configured."""
    if os.environ.get(OWN_ENVIRONMENT):
        raise UsageError("an agent started by cru cannot ask another agent", f"remove {option}")
    settings = user_settings().agents
    if named is None or named.strip() == DEFAULT:
        return asker_of(settings, os.environ)
    if not named.strip():
        raise UsageError("--with is empty", "give claude, codex, opencode or a command line")
    try:
        return program_of(named, "--with", os.environ, settings.timeout_seconds)
    except AgentFailed as error:
        raise UsageError(str(error), error.hint) from error


with_option = click.option(
    "--with",
    "named",
    metavar="AGENT",
    help="First ask an agent what mattered: claude, codex, opencode, a command line, or `default` for the one in your settings.",
)


def ask_first(vault: Vault, paths: Sequence[Path], named: str | None) -> None:
    """Ask the agent named by `--with` about each session; do nothing if it names none.

    A single session is always asked about; of several, those without news since the last answer are skipped.
    Errors are reported and the command continues, but the first session without an answer is the last one asked about.
    """
    if named is None:
        return
    agent = as_agent(agent_named(named, "--with", "say what mattered"), vault.root, "findings")
    redact, budget = redact_of(vault.settings.secrets), user_budget()
    every, paths = paths, [path for path in paths if not _is_subagent(vault, path)]
    if not paths:
        if every:
            say("agent not asked: a subagent's session is part of its parent's")
        return
    again, skipped = len(paths) == 1, 0
    say(f"asking what mattered in {paths[0].stem if again else f'{len(paths)} sessions'} …")
    for at, path in enumerate(paths, 1):
        one = agent.renewed().about("findings", path.stem)
        try:
            came = review(vault, path, one, now=datetime.now(UTC), redact=redact, budget=budget, again=again)
        except CrucibleError as error:
            warn(f"{path.stem}: {error}")
            continue
        skipped += came.is_known
        if came.line:
            say(f"{path.stem}: {came.line}")
        elif came.problem:
            warn(f"{path.stem}: {came.problem}")
            if not came.model and at < len(paths):
                left = len(paths) - at
                warn(f"no answer, so {left} more sessions were skipped")
                break
    if skipped:
        say(f"agent not asked about {skipped}: nothing new since the last answer, or you deleted its findings")
    say_spent(agent)


def _is_subagent(vault: Vault, path: Path) -> bool:
    with suppress(CrucibleError):  # an error in the note is reported when it is asked about
        return bool(vault.read(path).session.parent)
    return False


_TOKENS_IN, _TOKENS_OUT = 4000, 500
"""Estimated tokens per session: the largest median prompt, and a long answer."""


class _Price(NamedTuple):
    """Prices in dollars per million tokens, for prompts and for answers."""

    model: str
    sent: float
    answered: float


_PRICES = (_Price("Claude Sonnet 5.5", 2.0, 10.0), _Price("Haiku 4.5", 1.0, 5.0))
"""Source: https://platform.claude.com/docs/models."""
_PRICES_SEEN = "2026-11"
_AT_END = "agents.at_end"


def offer_to_ask(door: Door, installed: str = "") -> None:
    """On a terminal, offer once to configure an agent.  `installed` is a client that was just installed."""
    user = user_settings() if human_is_there(door) else None
    if user is None or not user.trusted:  # without a settings file the answer cannot be stored
        return
    path = settings_path()
    if Table(file_text(path) or "", path).pop(_AT_END) is not None:
        return
    command = _command(user.agents, installed)
    if not command and not user.agents.model:
        return
    try:
        agreed = click.confirm(_question(command or user.agents.model), default=False, err=True)
    except click.Abort:  # neither yes nor no: offer it again next time
        say("")
        return
    named = {"agents.command": command} if agreed and command != user.agents.command else {}
    set_user_settings(Path(path), {**named, _AT_END: agreed})
    say(f"{_AT_END} = {str(agreed).lower()}, in {clean_line(path)}")


def _command(agents: AgentSettings, installed: str) -> str:
    """Return the configured command, else the client just installed, else the first client on PATH, else ""."""
    if agents.command.strip() or agents.model.strip():
        return agents.command
    client = client_of(installed, ASKABLE)
    found = (name for name, each in ASKABLE.items() if each == client or (not client and shutil.which(each.program)))
    return next(found, "")


def _question(agent: str) -> str:
    costs = ", ".join(f"${_dollars(price):.2g} with {price.model}" for price in _PRICES)
    return (
        f"At the end of each session, ask your agent ({clean_line(agent)}) what mattered?\n"
        f"This takes about {_TOKENS_IN:,} tokens in and {_TOKENS_OUT} out per session: {costs}\n"
        f"(list prices, {_PRICES_SEEN}); a subscription's usage limits apply."
    )


def _dollars(price: _Price) -> float:
    return (_TOKENS_IN * price.sent + _TOKENS_OUT * price.answered) / 1_000_000
