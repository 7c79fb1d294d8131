"""`cru` on a machine without a vault: it offers one, and imports what agents left."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.journeys.terminals import Typing
from tests.paths import TESTS
from tests.running import CruProcess

DATA = TESTS / "data" / "transcripts"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with transcripts of Claude Code, and nothing else."""
    folder = tmp_path / "home"
    shutil.copytree(DATA / "claude-code" / "limiter", folder / ".claude")
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(folder))
    monkeypatch.chdir(folder)
    return folder


def _typing(home: Path, cwd: Path | None = None, env: Mapping[str, str] | None = None, columns: int = 80) -> Typing:
    return Typing(cwd=cwd or home, columns=columns, env=env)


def _tree(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


@pytest.mark.parametrize("columns", [80, 40])
def test_enter_makes_a_vault_imports_and_shows_the_status(home: Path, cru_process: CruProcess, columns: int) -> None:
    with _typing(home, columns=columns) as cru:
        cru.see("Found on this machine: 1 Claude Code session.")
        cru.see("Create a vault in ~/crucible and import them? [Y/n/other folder]")
        cru.type("\n")
        assert cru.end() == 0
    assert "~/crucible was created and is your default vault." in cru.shown
    assert "1 session and" in cru.shown
    assert "vault   ~/crucible" in cru.shown
    assert "cru install claude-code" in cru.shown
    assert (home / "crucible" / ".crucible").is_dir()
    listed = cru_process("session", "list", "--json", cwd=home)
    (row,) = json.loads(listed.stdout)["sessions"]
    assert cru_process("session", "show", row["id"], cwd=home).returncode == 0
    assert row["id"].encode() in cru_process("recall", "rate", "limiter", cwd=home).stdout
    again = cru_process(cwd=home)
    assert (again.returncode, again.stderr) == (0, b"")


@pytest.mark.parametrize(("typed", "code"), [("n\n", 1), ("no\n", 1), ("\x04", 130)])
def test_without_yes_nothing_is_created(typed: str, code: int, home: Path) -> None:
    before = _tree(home)
    with _typing(home) as cru:
        cru.see("[Y/n/other folder]")
        cru.type(typed)
        assert cru.end() == code
    assert _tree(home) == before


def test_an_interrupt_creates_nothing(home: Path) -> None:
    before = _tree(home)
    with _typing(home) as cru:
        cru.see("[Y/n/other folder]")
        assert cru.interrupt() == 130
    assert _tree(home) == before


def test_another_folder_may_be_typed(home: Path) -> None:
    with _typing(home) as cru:
        cru.see("[Y/n/other folder]")
        cru.type("~/my notes\n")
        assert cru.end() == 0
    assert (home / "my notes" / ".crucible").is_dir()
    assert not (home / "crucible").exists()


def test_the_current_repository_is_no_place_for_it(home: Path) -> None:
    repository = home / "crucible"
    (repository / ".git").mkdir(parents=True)
    before = _tree(repository)
    with _typing(home, cwd=repository) as cru:
        cru.see("Create a vault in ~/crucible-vault and import them?")
        cru.type("notes\n")
        cru.see("name a folder outside it")
        cru.type("n\n")
        assert cru.end() == 1
    assert _tree(repository) == before


def test_a_vault_that_is_there_is_offered(home: Path) -> None:
    (home / "crucible" / ".crucible").mkdir(parents=True)
    with _typing(home) as cru:
        cru.see("Use the vault in ~/crucible and import them?")
        cru.type("y\n")
        assert cru.end() == 0
    assert "~/crucible is your default vault." in cru.shown


def test_a_home_folder_that_is_a_repository_has_room_for_a_vault(home: Path) -> None:
    (home / ".git").mkdir()
    with _typing(home) as cru:
        cru.see("Create a vault in ~/crucible and import them?")
        cru.type("n\n")
        assert cru.end() == 1


def test_a_folder_with_other_files_is_not_offered(home: Path) -> None:
    (home / "crucible").mkdir()
    (home / "crucible" / "main.rs").write_text("")
    (home / "crucible-vault").write_text("a file")
    with _typing(home) as cru:
        cru.see("Create a vault in ~/notes/crucible")
        cru.type("n\n")
        cru.end()


def test_without_sessions_a_vault_is_offered_all_the_same(home: Path) -> None:
    shutil.rmtree(home / ".claude")
    with _typing(home) as cru:
        cru.see("Create a vault in ~/crucible? [Y/n/other folder]")
        cru.type("\n")
        assert cru.end() == 0
    assert "The vault has no sessions yet" in cru.shown


def test_a_client_that_cannot_be_read_does_not_stop_the_offer(home: Path) -> None:
    broken = home / ".local" / "share" / "opencode"
    broken.mkdir(parents=True)
    (broken / "opencode.db").write_bytes(b"no database" * 500)
    with _typing(home) as cru:
        cru.see("Found on this machine: 1 Claude Code session")
        cru.type("\n")
        assert cru.end() == 0
    assert "opencode.db: unreadable" in cru.shown


@pytest.mark.parametrize("args", [(), ("--json",)])
def test_a_pipe_says_what_to_do_and_creates_nothing(args: tuple[str, ...], home: Path, cru_process: CruProcess) -> None:
    before = _tree(home)
    done = cru_process(*args, cwd=home)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"found on this machine: 1 Claude Code session\n" in done.stderr
    assert b'Run "cru init ~/crucible --default" to create one, then "cru import".' in done.stderr
    assert _tree(home) == before


def test_an_agent_is_not_asked(home: Path) -> None:
    with _typing(home, env={"CLAUDECODE": "1"}) as cru:
        assert cru.end() == 1
    assert not (home / "crucible").exists()


@pytest.mark.parametrize("env", [{"CRUCIBLE_VAULT": "/nowhere"}, {"CRUCIBLE_CONFIG": "config.toml"}], ids=str)
def test_a_wrong_vault_is_an_error_not_an_offer(env: dict[str, str], home: Path, cru_process: CruProcess) -> None:
    (home / "config.toml").write_text('default_vault = "/nowhere"\n')
    done = cru_process(cwd=home, env=env)
    assert done.returncode == 1
    assert b"/nowhere" in done.stderr


def test_broken_settings_stop_it_before_anything_is_created(home: Path) -> None:
    config = home / "config.toml"
    config.write_text("not toml")
    with _typing(home, env={"CRUCIBLE_CONFIG": str(config)}) as cru:
        assert cru.end() == 1
    assert os.listdir(home / ".claude")
    assert not (home / "crucible").exists()
