"""`cru record bookmark` and `cru session show --bookmarks`."""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crucible.memory.bookmarks.bookmark import Bookmark, StopReason, append_bookmark, latest, load_bookmarks
from crucible.vault.notes.vault import Vault
from tests.git_repositories import commit, made
from tests.running import Cru, CruProcess

NOTE = """\
---
type: session
session_id: {id}
started: {started}
status: {status}
project: {project}
---

# {id}

```tasks
[
  {{"id": "1", "content": "Write it", "status": "completed", "priority": "medium"}},
  {{"id": "2", "content": "Test it", "status": "in_progress", "priority": "medium"}}
]
```

## Write

## Tests

**Tool calls:**
- `Write src/a.py` → created
"""
NOW = datetime(2026, 11, 21, 20, 26, 47, tzinfo=UTC)
KEPT = Bookmark("b-1", "2026-11-21-x", NOW, StopReason.PAUSED, "phase-2", "Tests", "2", "Test it", 2, 2)
SHOW = ("session", "show", "--bookmarks")
SECRET = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ0cD2fG4hJ6"


def note(vault: Vault, name: str, status: str = "paused", project: str = "shop", day: int = 21) -> str:
    started = f"2026-11-{day}T20:26:47Z"
    vault.create(name, NOTE.format(id=name, status=status, project=project, started=started))
    return name


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: a repository called `shop`."""
    folder = made(tmp_path / "shop")
    (folder / "src").mkdir()
    (folder / "src" / "a.py").write_text("x")
    commit(folder)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("CRU_SESSION", raising=False)
    return folder


def _file(vault: Vault) -> Path:
    return vault.root / ".crucible" / "memory" / "bookmarks.jsonl"


# --- add ---------------------------------------------------------------------------------------------------------------


def test_add_prints_the_id_alone_and_leaves_the_note_as_it_is(cru: Cru, vault: Vault) -> None:
    before = vault.load(note(vault, "2026-11-21-x")).data
    done = cru("record", "bookmark", "2026-11-21-x", "--note", "works", "--blocker", "no key", "--blocker", "no time")
    assert (done.exit_code, done.stderr) == (0, "")
    assert re.fullmatch(r"b-[0-9a-f]{12}\n", done.stdout)
    one = latest(vault.root, "2026-11-21-x")
    assert one
    assert (one.id, one.why, one.phase, one.task_number) == (done.stdout.strip(), StopReason.MANUAL, "phase-2", 2)
    assert (one.note, one.blockers, one.branch, [*one.files]) == (
        "works",
        ("no key", "no time"),
        "main",
        ["src/a.py"],
    )
    assert vault.load("2026-11-21-x").data == before


def test_add_takes_the_session_of_the_environment(cru: Cru, vault: Vault) -> None:
    note(vault, "2026-11-21-x", status="completed")
    note(vault, "2026-11-22-y", day=22)
    assert cru("record", "bookmark", env={"CRU_SESSION": "2026-11-21-x"}).exit_code == 0
    assert [one.session for one in load_bookmarks(vault.root).found] == ["2026-11-21-x"]


def test_add_takes_the_projects_newest_session_that_is_not_over(cru: Cru, vault: Vault) -> None:
    note(vault, "2026-11-20-old", day=20)
    note(vault, "2026-11-21-mine", status="active")
    note(vault, "2026-11-22-done", status="completed", day=22)
    note(vault, "2026-11-23-other", project="bank", day=23)
    assert cru("record", "bookmark").exit_code == 0
    assert [one.session for one in load_bookmarks(vault.root).found] == ["2026-11-21-mine"]


def test_without_any_session_add_and_show_say_what_to_do(cru: Cru, vault: Vault) -> None:
    note(vault, "2026-11-22-done", status="completed")
    for command in (("record", "bookmark"), ("session", "show", "--bookmarks")):
        done = cru(*command)
        assert (done.exit_code, done.stdout) == (2, "")
        assert "the project 'shop' has none that is active or paused" in done.stderr
        assert "cru session list" in done.stderr
    assert not _file(vault).exists()


def test_in_a_folder_of_another_project_no_file_is_looked_at(
    cru: Cru, vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note(vault, "2026-11-21-x")
    monkeypatch.chdir(tmp_path)
    assert cru("record", "bookmark", "2026-11-21-x").exit_code == 0
    one = latest(vault.root, "2026-11-21-x")
    assert one
    assert (one.files, one.branch, one.head) == ({}, "", "")


def test_a_working_directory_that_is_gone_does_no_harm(
    cru: Cru, vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note(vault, "2026-11-21-x")
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    done = cru("record", "bookmark", "2026-11-21-x")
    os.chdir(tmp_path)  # for who runs after us
    assert done.exit_code == 0


def test_a_secret_is_taken_out(cru: Cru, vault: Vault) -> None:
    note(vault, "2026-11-21-x")
    done = cru(
        "record",
        "bookmark",
        "2026-11-21-x",
        "--note",
        SECRET,
        "--blocker",
        f"needs {SECRET}",
        "--format",
        "json",
    )
    assert SECRET not in done.stdout + _file(vault).read_text()
    assert json.loads(done.stdout)["note"].startswith("[REDACTED:")


def test_a_note_comes_from_standard_input(vault: Vault, shop: Path, cru_process: CruProcess) -> None:
    note(vault, "2026-11-21-x")
    args = ("--vault", vault.root, "record", "bookmark", "2026-11-21-x", "--note", "-")
    done = cru_process(*args, input=b"two\nlines\n", cwd=shop)
    assert (done.returncode, done.stderr) == (0, b"")
    one = latest(vault.root, "2026-11-21-x")
    assert one
    assert one.note == "two\nlines"


def test_an_unknown_session_is_reported(cru: Cru, vault: Vault) -> None:
    note(vault, "2026-11-21-x")
    for command, name in ((("record", "bookmark"), "2026-11-21-y"), (SHOW, "b-123456789012"), (SHOW, "2026-11-21-y")):
        done = cru(*command, name)
        assert done.exit_code == 1
        assert done.stderr.startswith(f'error: no session matches "{name}"')


# --- show --------------------------------------------------------------------------------------------------------------


def test_show_tells_a_sessions_bookmarks_newest_first(cru: Cru, vault: Vault) -> None:
    note(vault, "2026-11-21-x")
    append_bookmark(vault.root, KEPT)
    digest, head = "0123456789" * 4, "abcdef0123" * 4
    files = {"src/a.py": digest, "gone.py": ""}
    newer = Bookmark(
        *("b-2", "2026-11-21-x", NOW + timedelta(1), StopReason.IDLE, "phase-2", "Tests", "2", "Test it", 2, 2),
        *("two\nlines", ("no key",), "shop", "main", head, files, 7),
    )
    append_bookmark(vault.root, newer)
    expected = """\
b-2
  session  2026-11-21-x
  at       2026-11-22T20:26:47Z
  why      idle
  phase    phase-2 Tests
  task     2 of 2: Test it (2)
  project  shop
  branch   main
  head     abcdef0123
  note     two
  note     lines
  blocker  no key
  file     0123456789 src/a.py
  file     -          gone.py
  files    7 more, changed earlier
"""
    older = cru(*SHOW, "b-1").stdout
    assert older.startswith("b-1\n  session  2026-11-21-x\n")
    for ref in (["2026-11-21-x"], ["2026-11"], ["b-2", "2026-11"], []):
        done = cru(*SHOW, *ref)
        assert (done.exit_code, done.stdout, done.stderr) == (0, f"{expected}\n{older}", "")
    assert cru(*SHOW, "b-2").stdout == expected
    report = json.loads(cru(*SHOW, "--format", "json").stdout)
    assert (report["schema"], [one["id"] for one in report["bookmarks"]]) == (1, ["b-2", "b-1"])
    told = report["bookmarks"][0]
    assert (told["id"], told["files"], told["more_files"]) == ("b-2", files, 7)
    assert (told["head"], told["blockers"], told["at"]) == (head, ["no key"], "2026-11-22T20:26:47Z")


def test_a_session_without_a_bookmark_is_told_how_to_make_one(cru: Cru, vault: Vault) -> None:
    note(vault, "2026-11-21-x")
    done = cru(*SHOW)
    assert done.exit_code == 1
    assert (
        done.stderr
        == 'error: 2026-11-21-x has no bookmark\n       Run "cru record bookmark 2026-11-21-x" to add one.\n'
    )


def test_bookmarks_have_no_phase_and_no_markdown(cru: Cru, vault: Vault) -> None:
    append_bookmark(vault.root, KEPT)
    for more in (("--phase", "1"), ("--findings",), ("--format", "markdown")):
        assert cru(*SHOW, "b-1", *more).exit_code == 2


def test_a_session_whose_note_is_gone_is_shown_all_the_same(cru: Cru, vault: Vault) -> None:
    append_bookmark(vault.root, KEPT)
    assert cru(*SHOW, "2026-11-21").stdout.startswith("b-1\n")


def test_a_torn_line_is_named_and_the_others_are_listed(cru: Cru, vault: Vault) -> None:
    append_bookmark(vault.root, KEPT)
    with _file(vault).open("ab") as file:
        file.write(b'{"id": "b-')
    done = cru(*SHOW, "b-1")
    assert done.exit_code == 3
    assert "b-1" in done.stdout
    assert done.stderr == (".crucible/memory/bookmarks.jsonl:2: torn-line: not a complete JSON line; skipped\n")


def test_no_bookmark_steers_the_terminal_or_makes_a_line_of_its_own(cru: Cru, vault: Vault) -> None:
    evil = Bookmark(
        *(
            "b-1",
            "2026-11-21-x",
            NOW,
            StopReason.PAUSED,
            "phase-1",
            "P\x1b[2J\nb-9  forged",
            "1",
            "T\r\nforged",
            1,
            1,
        ),
        *(
            "\x1b]0;title\x07\u202eevil\n  file     forged",
            ("b\nforged",),
            "p\x07",
            "br\nforged",
            "",
            {"a\nforged": ""},
        ),
    )
    append_bookmark(vault.root, evil)
    told = cru(*SHOW, "b-1").stdout
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", told)
    assert not [line for line in told.split("\n") if line.startswith(("forged", "b-9", "  file     forged"))]


def test_a_session_is_completed_by_its_id(vault: Vault, cru_process: CruProcess) -> None:
    note(vault, "2026-11-21-x")
    env = {
        "_CRU_COMPLETE": "bash_complete",
        "COMP_WORDS": "cru record bookmark 2026",
        "COMP_CWORD": "3",
        "CRUCIBLE_VAULT": str(vault.root),
    }
    assert b"2026-11-21-x" in cru_process(env=env).stdout
