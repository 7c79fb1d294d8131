"""Who is asked, when, and what that took this month."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from crucible.agents.asking import program_of
from crucible.asking.agent import told_spent
from crucible.asking.spending import spent_since
from crucible.doctor.findings import Finding, State, numbered
from crucible.errors import CrucibleError
from crucible.settings import AgentSettings

__all__ = ["check_agents"]

_TOPIC = "agents"


def check_agents(
    root: Path, settings: AgentSettings, env: Mapping[str, str], now: datetime
) -> Iterator[Finding]:
    """Whom the user configured, whether that can be started, and what answers took since the month began, in UTC."""
    yield _configured(settings, env)
    try:
        spent = spent_since(root, now.replace(day=1, hour=0, minute=0, second=0, microsecond=0))
    except CrucibleError as error:
        yield Finding(_TOPIC, State.NOTE, f"what agents took cannot be read: {error}")
        return
    if spent.count:
        told = f"agents asked this month: {numbered(spent.count, 'answer')}, {told_spent(spent)}"
        yield Finding(_TOPIC, State.GOOD, told)


def _configured(settings: AgentSettings, env: Mapping[str, str]) -> Finding:
    who, wrong = _who(settings, env)
    if not who:
        if settings.at_end:
            mend = "set agents.command or agents.model in your settings"
            return Finding(_TOPIC, State.NOTE, "agents.at_end is set, and no agent is configured", mend)
        return Finding(_TOPIC, State.GOOD, "no agent is configured, so nobody is asked")
    if wrong:
        return Finding(_TOPIC, State.BAD, wrong, "correct agents.command in your settings")
    when = "at each session's end, and on demand" if settings.at_end else "on demand only (agents.at_end)"
    return Finding(_TOPIC, State.GOOD, f"{who} is asked {when}")


def _who(settings: AgentSettings, env: Mapping[str, str]) -> tuple[str, str]:
    """The program's or model's name, "" for nobody, and what keeps it from being started.  A command's arguments may hold a key, so they are not named."""
    if not settings.command.strip():
        return settings.model.strip(), ""
    try:
        program = program_of(settings.command, "agents.command", env, None).words[0]
    except CrucibleError as error:
        return "agents.command", str(error)
    name = os.path.basename(program)
    is_there = shutil.which(program, path=env.get("PATH"))
    return name, "" if is_there else f"{name}: no such program (agents.command)"
