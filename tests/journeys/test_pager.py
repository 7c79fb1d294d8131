"""Long output on a terminal goes through a pager; in a pipe it never does."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from crucible.cli.pager import pager_command
from crucible.vault.notes.vault import Vault
from tests.journeys.notes import note, write
from tests.journeys.terminals import Typing
from tests.running import Cru

LONG = "2026-11-21-long"
BODY = "## One\n\n" + "\n".join(f"- Line {number}." for number in range(1, 61)) + "\n"


@pytest.fixture
def long(vault: Vault) -> Vault:
    write(vault, LONG, note(LONG, BODY))
    return vault


@pytest.fixture
def pager(tmp_path: Path) -> str:
    """A pager that says when it begins and ends."""
    script = tmp_path / "pager.py"
    script.write_text(
        "import os, sys\nprint('PAGER BEGINS', os.environ.get('LESS'))\nprint(sys.stdin.read())\nprint('PAGER ENDS')\n"
    )
    return f"'{sys.executable}' '{script}'"


def shown(vault: Vault, tmp_path: Path, *args: str, lines: int = 24, **env: str) -> str:
    given = {"CLAUDECODE": "", **env}
    with Typing("--vault", vault.root, *args, cwd=tmp_path, lines=lines, env=given) as terminal:
        assert terminal.end() == 0
        return terminal.shown


def test_output_that_is_longer_than_the_screen_is_paged(long: Vault, tmp_path: Path, pager: str) -> None:
    seen = shown(long, tmp_path, "session", "show", LONG, CRU_PAGER=pager)
    begin, page, end = seen.partition("PAGER BEGINS")[0], seen, seen.partition("PAGER ENDS")[2]
    assert "Line 1." not in begin + end
    assert "Line 60." in page
    assert "PAGER BEGINS FRX" in page


def test_output_that_fits_is_not_paged(long: Vault, tmp_path: Path, pager: str) -> None:
    assert "PAGER" not in shown(long, tmp_path, "session", "list", CRU_PAGER=pager)
    assert "PAGER" not in shown(long, tmp_path, "session", "show", LONG, lines=400, CRU_PAGER=pager)


@pytest.mark.parametrize("args", [("--no-pager",), ()])
def test_the_pager_can_be_turned_off(long: Vault, tmp_path: Path, pager: str, args: tuple[str, ...]) -> None:
    chosen = pager if args else "cat"
    seen = shown(long, tmp_path, *args, "session", "show", LONG, CRU_PAGER=chosen, PAGER=pager)
    assert "PAGER" not in seen
    assert "Line 60." in seen


def test_an_agent_gets_no_pager(long: Vault, tmp_path: Path, pager: str) -> None:
    assert "PAGER" not in shown(long, tmp_path, "session", "show", LONG, CRU_PAGER=pager, CLAUDECODE="1")


def test_a_pipe_gets_no_pager(long: Vault, cru: Cru, pager: str) -> None:
    assert "PAGER" not in cru("session", "show", LONG, env={"CRU_PAGER": pager}).stdout


def test_colours_reach_the_pager(long: Vault, tmp_path: Path, pager: str) -> None:
    seen = shown(long, tmp_path, "--color", "session", "show", LONG, CRU_PAGER=pager)
    assert "\x1b[" in seen.partition("PAGER BEGINS")[2]


def test_a_pager_that_is_not_there_is_named_and_the_output_still_comes(long: Vault, tmp_path: Path) -> None:
    seen = shown(long, tmp_path, "session", "show", LONG, CRU_PAGER="no-such-pager")
    assert 'the pager "no-such-pager" was not found' in seen
    assert "Line 60." in seen


@pytest.mark.skipif(not shutil.which("less"), reason="less is not installed")
def test_less_shows_a_page_and_ends_with_q(long: Vault, tmp_path: Path) -> None:
    given = {"CLAUDECODE": "", "CRU_PAGER": "less", "LESS": "FRX"}
    with Typing("--vault", long.root, "session", "show", LONG, cwd=tmp_path, env=given) as terminal:
        terminal.see("Line 5.")
        assert "Line 60." not in terminal.shown
        terminal.type("q")
        assert terminal.end() == 0


def test_the_pager_is_the_first_that_is_named() -> None:
    here = sys.executable
    assert pager_command({"CRU_PAGER": here, "PAGER": "cat"}, "cat") == [here]
    assert pager_command({"PAGER": "cat"}, here) == [here]
    assert pager_command({"PAGER": here}, "") == [here]
    assert pager_command({"CRU_PAGER": "", "PAGER": here}, here) == []
    assert pager_command({"PAGER": here, "TERM": "dumb"}, "") == []
