"""The agent that a command asks: with one time-out, costs recorded in the vault, and totals shown at the end."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from pathlib import Path

from crucible.analysis.review.ask_budget import Budget, budget_of
from crucible.analysis.review.asked_agent import Agent
from crucible.cli.output import say
from crucible.cli.surroundings import user_settings
from crucible.clients.launch.ask import Program, asker_of
from crucible.core.errors import CrucibleError


def as_agent(program: Program, root: Path | None, purpose: str, session: str = "") -> Agent:
    """The program as the agent of this command; see `Agent` for `root`, `purpose` and `session`."""
    return Agent(program, time.monotonic, lambda: datetime.now(UTC), root, purpose, session)


def agent_at_end(root: Path, session: str) -> Agent | None:
    """The agent to ask when a session ends; None unless `agents.at_end` is set and an agent is configured.

    The session has ended by then, so an error in the settings is only reported.
    """
    settings = user_settings().agents
    try:
        program = asker_of(settings, os.environ) if settings.at_end else None
    except CrucibleError as error:
        say(f"cru: what mattered: {error}", style="yellow")
        return None
    return as_agent(program, root, "findings", session) if program else None


def user_budget() -> Budget:
    """How much text from elsewhere a prompt may show."""
    return budget_of(user_settings().agents)


def say_spent(agent: Agent | None) -> None:
    """Report what the agent's answers took, if there were any."""
    if agent is None:
        return
    for line in agent.problems:
        say(f"cru: {line}", style="yellow")
    if line := agent.spent_line():
        say(line)
