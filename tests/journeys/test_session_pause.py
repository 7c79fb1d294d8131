"""`cru session pause`: which session, and what is said of it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from crucible.memory.bookmarks.bookmark import load_bookmarks
from crucible.vault.notes.vault import Vault
from tests.running import Cru
from tests.unit.clients.building import assistant, text, user
from tests.unit.commands.imports.places import run_import, session_file, write_rows

BROKEN = "---\nstatus: active\nx: [\n---\n\n# A\n\n## One\n"


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project's folder, in which we stand."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("CRU_SESSION", raising=False)
    return folder


def started(cru: Cru, title: str, *more: str) -> str:
    return cru("record", "start", title, *more).stdout.strip()


def status(vault: Vault, name: str) -> tuple[str, str | None]:
    session = vault.load(name).session
    return str(session.status), session.pause_reason


def test_a_pause_takes_every_option(cru: Cru, vault: Vault) -> None:
    name = started(cru, "Fix it")
    given = ["--reason", "lunch", "--note", "tests next", "--blocker", "no key", "--blocker", "rain"]
    done = cru("session", "pause", name, *given)
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == f'paused {name}; resume it with "cru session resume {name}"\n'
    assert status(vault, name) == ("paused", "lunch")
    (one,) = load_bookmarks(vault.root).found
    assert (one.session, one.note, one.blockers) == (name, "tests next", ("no key", "rain"))


def test_the_sessions_name_may_come_from_three_places(cru: Cru, vault: Vault) -> None:
    first, second, third = (started(cru, title) for title in ("First", "Second", "Third"))
    assert cru("session", "pause", env={"CRU_SESSION": first}).exit_code == 0
    assert cru("session", "pause", second).exit_code == 0
    assert cru("session", "pause", third, env={"CRU_SESSION": first}).exit_code == 0
    assert [one.session for one in load_bookmarks(vault.root).found] == [first, second, third]


def test_without_a_name_the_newest_active_session_of_the_project_is_paused(cru: Cru, vault: Vault) -> None:
    older = started(cru, "Older", "--at", "2h")
    newer = started(cru, "Newer", "--at", "1h")
    started(cru, "Elsewhere", "--project", "other")
    os.utime(vault.find(newer), (time.time() - 5000,) * 2)  # though it has been quiet for long
    assert cru("session", "pause").exit_code == 0
    assert (status(vault, older)[0], status(vault, newer)[0]) == ("active", "paused")
    assert cru("session", "pause").exit_code == 0
    assert status(vault, older)[0] == "paused"
    done = cru("session", "pause")
    assert done.exit_code == 2
    assert "no session is active in the project 'shop'" in done.stderr
    assert 'Give an id; run "cru session list" to see ids.' in done.stderr


@pytest.mark.parametrize("how", [["--failed"], []])
def test_one_that_ended_is_paused_only_when_it_is_named(cru: Cru, vault: Vault, how: list[str]) -> None:
    name = started(cru, "Fix it")
    cru("session", "end", name, *how)
    done = cru("session", "pause", env={"CRU_SESSION": name})
    assert done.exit_code == 1
    assert "nothing more can be recorded" in done.stderr
    assert cru("session", "pause", name).exit_code == 0
    assert status(vault, name) == ("paused", None)
    assert "ended:" not in vault.load(name).source.text.partition("---\n\n")[0]


def test_a_beginning_of_an_id_is_enough_when_only_one_session_has_it(cru: Cru, vault: Vault) -> None:
    name, other = started(cru, "Retry bug"), started(cru, "Retry limit")
    done = cru("session", "pause", name[:-3])
    assert done.exit_code == 2
    assert name in done.stderr
    assert other in done.stderr
    assert cru("session", "pause", name[:-1]).exit_code == 0
    assert status(vault, name)[0] == "paused"
    assert cru("session", "pause", "nothing-like-it").exit_code == 1
    assert cru("session", "pause", "../x").exit_code == 2
    assert cru("session", "pause", name, "--session", name).exit_code == 2


def test_an_imported_session_is_paused_and_an_import_leaves_it_so(cru: Cru, vault: Vault, tmp_path: Path) -> None:
    rows = [user("Fix it"), assistant(text("Fixed."), stop="end_turn")]
    log = write_rows(session_file(tmp_path / "logs"), [{**row, "uuid": f"u{n}"} for n, row in enumerate(rows)])
    run_import(vault, log)
    (path,) = vault.session_paths()
    assert cru("session", "pause", path.stem, "--note", "more to do").exit_code == 0
    assert status(vault, path.stem) == ("paused", None)
    before = path.read_bytes()
    run_import(vault, log)
    assert path.read_bytes() == before
    more = [user("More"), assistant(text("More."), stop="end_turn")]
    write_rows(log, [{**row, "uuid": f"u{n}"} for n, row in enumerate([*rows, *more])])
    run_import(vault, log)
    assert len(vault.read(path).session.phases) == 2
    assert status(vault, path.stem) == ("paused", None)


def test_a_note_that_cannot_be_read_is_one_clear_line(cru: Cru, vault: Vault) -> None:
    name = started(cru, "Fix it")
    path = vault.find(name)
    path.write_text(BROKEN)
    done = cru("session", "pause", name)
    assert done.exit_code == 1
    assert done.stderr.count("\n") <= 2
    assert path.read_text() == BROKEN


def test_a_note_that_cannot_be_paused_is_named(cru: Cru, vault: Vault) -> None:
    (vault.sessions / "broken.md").write_text("---\nsession_id: broken\nstatus: [\n---\n\n# x\n")
    done = cru("session", "pause", "broken")
    assert done.exit_code == 1
    assert done.stderr.startswith("error: broken: line 1: the frontmatter's YAML is broken\n")
