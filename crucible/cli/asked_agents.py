"""Which agent a command asks when its user wishes for one: the one that `--with` names, else the one of the settings."""

from __future__ import annotations

import os

from crucible.agents.asking import Program, asker_of, split_command
from crucible.agents.clients import client_of, command_line
from crucible.agents.marks import OWN_ENVIRONMENT
from crucible.cli.surroundings import user_settings
from crucible.errors import UsageError

__all__ = ["agent_if_any", "agent_named"]


def agent_named(named: str | None, option: str, purpose: str) -> Program:
    """Who is asked, for the `option` that wished for it; `purpose` ends "no agent is configured that could …".

    `UsageError` where nobody may be asked: nobody is configured, or we were started by an agent that `cru` itself asked.
    """
    asker = agent_if_any(named, option)
    if asker is None:
        raise UsageError(
            f"no agent is configured that could {purpose}",
            "name one: --with 'claude -p'; or set agents.command or agents.model in your settings",
        )
    return asker


def agent_if_any(named: str | None, option: str) -> Program | None:
    """The same, and None where nobody is configured."""
    if os.environ.get(OWN_ENVIRONMENT):
        raise UsageError("an agent that cru asked may not ask another", f"leave {option} out")
    settings = user_settings().agents
    if named is not None:
        return Program(_words(named), os.environ, settings.timeout_seconds)
    return asker_of(settings, os.environ)


def _words(named: str) -> tuple[str, ...]:
    client = client_of(named.strip())
    if client is None:
        words = split_command(named, "--with")
        if not words:
            raise UsageError("--with: it is empty", "name claude, codex, opencode or a command line")
        return words
    # It runs in an empty folder, which Codex takes for no repository.
    more = ("--skip-git-repo-check",) if client.program == "codex" else ()
    line = command_line(client, native="", prompt="", terminal=False, more=(*client.counted, *more))
    return tuple(line)
