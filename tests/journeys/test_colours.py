"""Colours that carry meaning, beside words that say the same."""

from __future__ import annotations

import pytest

from crucible.vault.notes.vault import Vault
from tests.journeys.notes import note, write
from tests.running import Cru

NAME = "2026-11-21-work"
TASKS = (
    '```tasks\n[{"id": "1", "content": "Now", "status": "in_progress"},\n'
    ' {"id": "2", "content": "Next", "status": "pending"},\n'
    ' {"id": "3", "content": "Later", "status": "pending", "depends_on": ["2"]}]\n```\n\n'
)
BODY = TASKS + "## One\n\n> [!decision_needed]\n> Which one?\n\n> [!error]\n> It failed.\n"
COLOURS = [
    (("task", "--all"), ("\x1b[36mIn progress\x1b[0m", "\x1b[32mReady\x1b[0m", "\x1b[33mBlocked\x1b[0m")),
    (("task", "show", f"{NAME}.3"), ("status     \x1b[33mpending\x1b[0m",)),
    (("inbox",), ("\x1b[33mdecision_needed\x1b[0m", "\x1b[31merror\x1b[0m")),
    (("doctor",), ("\x1b[32mok\x1b[0m    ",)),
]


@pytest.fixture(autouse=True)
def work(vault: Vault) -> None:
    write(vault, NAME, note(NAME, BODY))


@pytest.mark.parametrize(("command", "colours"), COLOURS)
def test_states_have_colours_and_words(cru: Cru, command: tuple[str, ...], colours: tuple[str, ...]) -> None:
    shown = cru("--color", *command).stdout
    for one in colours:
        assert one in shown
    plain = cru("--no-color", *command).stdout
    for one in colours:
        assert one.replace("\x1b[0m", "").split("m", 1)[1].strip() in plain


@pytest.mark.parametrize("command", [command for command, _ in COLOURS])
def test_without_a_terminal_or_with_no_color_there_are_none(cru: Cru, command: tuple[str, ...]) -> None:
    assert "\x1b" not in cru(*command).stdout
    assert "\x1b" not in cru("--no-color", *command).stdout
    assert "\x1b" not in cru(*command, env={"NO_COLOR": "1"}).stdout
