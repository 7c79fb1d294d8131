"""Which agent a command asks: the one that `--with` names, else the one of the settings (`--with default`)."""

from __future__ import annotations

import os

from crucible.cli.surroundings import user_settings
from crucible.clients.launch.ask import Program, asker_of, program_of
from crucible.clients.launch.session_marks import OWN_ENVIRONMENT
from crucible.core.errors import AgentFailed, UsageError

DEFAULT = "default"
"""The value of `--with` for the agent of the settings."""


def agent_named(named: str | None, option: str, purpose: str, *, has_with: bool = True) -> Program:
    """The agent to ask because of an `option`; `purpose` completes "no agent is configured that could …".

    `has_with` is false for a command without the option `--with`.  Raises `UsageError` if none is configured, or if the command was started by an agent that `cru` itself asked.
    """
    asker = agent_if_any(named, option)
    if asker is None:
        raise UsageError(
            f"no agent is configured that could {purpose}",
            f"{'name one: --with claude; or ' if has_with else ''}set agents.command or agents.model in your settings",
        )
    return asker


def agent_if_any(named: str | None, option: str) -> Program | None:
    """Like `agent_named`, but None if no agent is configured."""
    if os.environ.get(OWN_ENVIRONMENT):
        raise UsageError("an agent that cru asked may not ask another", f"leave {option} out")
    settings = user_settings().agents
    if named is None or named.strip() == DEFAULT:
        return asker_of(settings, os.environ)
    if not named.strip():
        raise UsageError("--with: it is empty", "name claude, codex, opencode or a command line")
    try:
        return program_of(named, "--with", os.environ, settings.timeout_seconds)
    except AgentFailed as error:
        raise UsageError(str(error), error.hint) from error
