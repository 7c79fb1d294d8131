"""`cru init` and `cru install` on a terminal: they offer, once, to ask the user's agent at each session's end."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.journeys.terminals import all_shown
from tests.running import Cru

OFFER = "what mattered?"
COST = "This takes about 4,000 tokens in and 500 out per session: $0.013 with Claude Sonnet 5.5, $0.0065 with Haiku 4.5"
INSTALLS = (("claude-code",), ("claude-code", "--project"), ("claude-code", "--mcp"), ("codex", "--mcp"))


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's settings, which are not there yet; a project, and a PATH with nothing on it but a Codex."""
    program = tmp_path / "bin" / "codex"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setenv("CRUCIBLE_CONFIG", str(tmp_path / "user" / "config.toml"))
    monkeypatch.delenv("CLAUDECODE", raising=False)
    return tmp_path / "user" / "config.toml"


def typed(config: Path, says: str, *args: str | Path, **env: str) -> str:
    """What a human on a terminal is shown who types this; the command ends well."""
    main, side = pty.openpty()
    os.write(main, says.encode())
    surroundings = {"COLUMNS": "200", "TERM": "xterm-256color", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-m", "crucible", *map(str, args)],
        stdin=side,
        stdout=side,
        stderr=side,
        cwd=config.parent.parent / "project",
        env={**os.environ, **surroundings, **env},
        start_new_session=True,
    )
    os.close(side)
    shown = all_shown(main)
    assert process.wait(30) == 0, shown.decode()
    return shown.decode()


@pytest.mark.parametrize("args", INSTALLS)
def test_yes_names_the_client_that_was_installed(args: tuple[str, ...], config: Path) -> None:
    shown = typed(config, "y\n", "install", *args)
    name = "claude" if args[0] == "claude-code" else args[0]
    assert f"At the end of each session, ask your agent ({name}) {OFFER}" in shown
    assert COST in shown
    assert "subscription" in shown
    assert "[y/N]" in shown
    assert config.read_text() == f'[agents]\ncommand = "{name}"\nat_end = true\n'


def test_init_names_the_client_that_is_on_the_path(config: Path, tmp_path: Path) -> None:
    assert f"(codex) {OFFER}" in typed(config, "y\n", "init", tmp_path / "notes", "--default")
    assert config.read_text() == (f'default_vault = "{tmp_path}/notes"\n\n[agents]\ncommand = "codex"\nat_end = true\n')


@pytest.mark.parametrize("says", ["n\n", "\n"])
def test_no_is_the_default_and_is_remembered(says: str, config: Path, tmp_path: Path) -> None:
    assert OFFER in typed(config, says, "install", "claude-code")
    assert config.read_text() == "[agents]\nat_end = false\n"
    for args in (("install", "claude-code"), ("init", tmp_path / "notes"), ("install", "codex", "--mcp")):
        assert OFFER not in typed(config, "y\n", *args)
    assert config.read_text() == "[agents]\nat_end = false\n"


def test_who_is_configured_stays_and_so_does_every_other_line(config: Path) -> None:
    config.parent.mkdir()
    text = '# mine\n[agents]  # who\ncommand = "claude -p --model haiku"  # cheap\n\n[projects]\nshop = ["/x"]\n'
    config.write_text(text)
    assert f"(claude -p --model haiku) {OFFER}" in typed(config, "y\n", "install", "codex", "--mcp")
    assert config.read_text() == text.replace("# cheap\n", "# cheap\nat_end = true\n")


def test_a_model_of_the_library_stays_who_is_asked(config: Path) -> None:
    config.parent.mkdir()
    config.write_text('[agents]\nmodel = "small"\n')
    assert f"(small) {OFFER}" in typed(config, "y\n", "install", "claude-code")
    assert config.read_text() == '[agents]\nmodel = "small"\nat_end = true\n'


def test_who_answers_neither_is_asked_another_time(config: Path) -> None:
    assert OFFER in typed(config, "\x04", "install", "claude-code")
    assert not config.exists()
    assert OFFER in typed(config, "n\n", "install", "claude-code")


def test_where_there_is_no_client_nobody_is_asked(config: Path, tmp_path: Path) -> None:
    assert OFFER not in typed(config, "y\n", "init", tmp_path / "notes", PATH="/nowhere")
    assert not config.exists()


@pytest.mark.parametrize("args", [("install", "claude-code", "--remove"), ("install", "codex", "--mcp", "--remove")])
def test_taking_out_offers_nothing(args: tuple[str, ...], config: Path) -> None:
    assert OFFER not in typed(config, "y\n", *args)
    assert not config.exists()


@pytest.mark.parametrize("args", [("install", "claude-code"), ("install", "codex", "--mcp"), ("init", "notes")])
def test_without_a_terminal_nothing_is_asked_and_nothing_written(
    args: tuple[str, ...], config: Path, bare_cru: Cru, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(config.parent.parent / "project")
    result = bare_cru(*args)
    assert result.exit_code == 0
    assert OFFER not in result.output
    assert not config.exists()


def test_an_agent_at_a_terminal_is_no_human(config: Path) -> None:
    assert OFFER not in typed(config, "y\n", "install", "claude-code", CLAUDECODE="1")
    assert not config.exists()


def test_settings_that_are_nowhere_are_not_written(config: Path) -> None:
    assert OFFER not in typed(config, "y\n", "install", "claude-code", CRUCIBLE_CONFIG=os.devnull)
