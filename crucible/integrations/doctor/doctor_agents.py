"""Check which agent is asked, when, and what that took this month."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from crucible.analysis.review.asked_agent import told_spent
from crucible.clients.launch.ask import program_of
from crucible.core.errors import CrucibleError
from crucible.core.settings.settings import AgentSettings
from crucible.integrations.doctor.check_results import Finding, State, numbered
from crucible.vault.logs.spending import spent_since

_TOPIC = "agents"


def check_agents(root: Path, settings: AgentSettings, env: Mapping[str, str], now: datetime) -> Iterator[Finding]:
    """The configured agent, whether it can be started, and what answers took since the month began (UTC)."""
    yield _configured(settings, env)
    try:
        spent = spent_since(root, now.replace(day=1, hour=0, minute=0, second=0, microsecond=0))
    except CrucibleError as error:
        yield Finding(_TOPIC, State.NOTE, f"the cost of agents cannot be read: {error}")
        return
    if spent.count:
        told = f"agents asked this month: {numbered(spent.count, 'answer')}, {told_spent(spent)}"
        yield Finding(_TOPIC, State.GOOD, told)


def _configured(settings: AgentSettings, env: Mapping[str, str]) -> Finding:
    who, wrong = _who(settings, env)
    if not who:
        if settings.at_end:
            mend = "set agents.command or agents.model in your settings"
            return Finding(_TOPIC, State.NOTE, "agents.at_end is set, but no agent is configured", mend)
        return Finding(_TOPIC, State.GOOD, "no agent is configured; one is asked only with `--with`")
    if wrong:
        return Finding(_TOPIC, State.BAD, wrong, "fix agents.command in your settings")
    when = "at each session's end, and on demand" if settings.at_end else "on demand only (agents.at_end is off)"
    return Finding(_TOPIC, State.GOOD, f"{who} is asked {when}")


def _who(settings: AgentSettings, env: Mapping[str, str]) -> tuple[str, str]:
    """The name of the program or model, "" for none, and why it cannot be started.  Arguments are not shown, since they may hold a key."""
    if not settings.command.strip():
        return settings.model.strip(), ""
    try:
        program = program_of(settings.command, "agents.command", env, None).words[0]
    except CrucibleError as error:
        return "agents.command", str(error)
    name = os.path.basename(program)
    is_there = shutil.which(program, path=env.get("PATH"))
    return name, "" if is_there else f"{name}: no such program (agents.command)"
