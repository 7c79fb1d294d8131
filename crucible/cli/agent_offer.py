"""Offer once to ask the user's agent at each session's end, and show the cost; the default is no.

The answer is stored as `agents.at_end` in the user's settings.  If that is set, the offer is not made again.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import click

from crucible.cli.door import Door
from crucible.cli.humans import human_is_there
from crucible.cli.output import clean_line, say
from crucible.cli.surroundings import settings_path, user_settings
from crucible.clients.launch.programs import CLIENTS, client_of
from crucible.core.settings.settings import AgentSettings
from crucible.core.settings.toml_values import Table, file_text
from crucible.vault.notes.init_vault import set_user_settings

_TOKENS_IN, _TOKENS_OUT = 4000, 500
"""For one session: the most that the median prompt may have, and a long answer."""


class _Price(NamedTuple):
    """Dollars per million tokens of prompts and of answers."""

    model: str
    sent: float
    answered: float


_PRICES = (_Price("Claude Sonnet 5.5", 2.0, 10.0), _Price("Haiku 4.5", 1.0, 5.0))
"""From https://platform.claude.com/docs/models."""
_PRICES_SEEN = "2026-11"
_AT_END = "agents.at_end"


def offer_to_ask(door: Door, installed: str = "") -> None:
    """Make the offer to a human on a terminal, unless it was made before.  `installed` is the client that a command just installed."""
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
    """The configured command, else the client just installed, else the first client on the PATH; "" if there is none."""
    if agents.command.strip() or agents.model.strip():
        return agents.command
    client = client_of(installed)
    found = (name for name, each in CLIENTS.items() if each == client or (not client and shutil.which(each.program)))
    return next(found, "")


def _question(agent: str) -> str:
    costs = ", ".join(f"${_dollars(price):.2g} with {price.model}" for price in _PRICES)
    return (
        f"Ask your agent ({clean_line(agent)}) at the end of each session what mattered?\n"
        f"This takes about {_TOKENS_IN:,} tokens in and {_TOKENS_OUT} out per session: {costs}\n"
        f"(list prices, {_PRICES_SEEN}); with a subscription it counts as usage."
    )


def _dollars(price: _Price) -> float:
    return (_TOKENS_IN * price.sent + _TOKENS_OUT * price.answered) / 1_000_000
