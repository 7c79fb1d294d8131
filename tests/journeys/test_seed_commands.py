"""The command lines that the specifications name, as they are written there."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from crucible.vault.notes.vault import Vault
from tests.journeys.notes import LIMITER, note, write
from tests.journeys.terminals import Typing
from tests.running import Cru

NAME = "2026-11-21-limiter"
PAUSED = "2026-11-20-paused"
NEWEST = f"{NAME}: the newest session of this project"


@pytest.fixture(autouse=True)
def project(vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project `shop` as the working directory, with a paused session and a newer one that ended."""
    write(vault, NAME, LIMITER.replace("\nstarted:", "\nproject: shop\nstarted:", 1))
    write(vault, PAUSED, note(PAUSED, "## Work\n\nSome.\n", project="shop", status="paused"))
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    "line",
    [
        "cru session list",
        "cru session list --status completed --agent claude-code --channel dev",
        "cru session list --format json",
        f"cru session show {NAME}",
        f"cru session resume {PAUSED}",
        "cru session resume '{folder}/{paused}.md'",
        "cru session codify '{folder}/{name}.md'",
    ],
)
def test_a_command_line_with_a_session_works(vault: Vault, cru: Cru, line: str) -> None:
    words = shlex.split(line.format(folder=vault.sessions, paused=PAUSED, name=NAME))
    result = cru(*words[1:])
    assert (result.exit_code, result.exit_code and result.stderr) == (0, 0)
    assert result.stdout


@pytest.mark.parametrize(
    "line",
    [
        "cru session learn --type puzzle",
        "cru session learn --export jsonl",
        "cru session learn --export markdown",
        "cru session learn --export puzzle",
    ],
)
def test_a_command_line_without_a_session_means_the_newest_and_says_so(cru: Cru, line: str) -> None:
    result = cru(*shlex.split(line)[1:])
    assert (result.exit_code, NEWEST in result.stderr) == (0, True)


def test_codify_refine_passes_the_newest_session_to_an_agent(cru: Cru, tmp_path: Path) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text("import sys\nsys.stdin.read()\nprint('no workflow')\n")
    result = cru("session", "codify", "--refine", "--with", f"'{sys.executable}' '{agent}'")
    assert NEWEST in result.stderr


def test_codify_interactive_opens_the_newest_session_in_an_editor(vault: Vault, project: Path) -> None:
    env = {"EDITOR": "true", "CLAUDECODE": ""}
    with Typing("--vault", vault.root, "session", "codify", "--interactive", cwd=project, env=env) as terminal:
        terminal.see("without saving [s]")
        terminal.type("s\n")
        terminal.end()
    assert NEWEST in terminal.shown


def test_resume_without_a_session_means_the_one_paused_last_and_says_so(cru: Cru) -> None:
    result = cru("session", "resume")
    assert (result.exit_code, result.stdout != "") == (0, True)
    assert f"{PAUSED}: the last paused session of this project" in result.stderr
