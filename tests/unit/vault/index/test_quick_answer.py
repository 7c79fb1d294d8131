"""An answer from the index as it is kept, with only the newest notes compared with the disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from crucible.vault.index import index as reading
from crucible.vault.index.index import quick_answer
from crucible.vault.index.schema import View
from tests.unit.vault.index.tables import new_vault, note, refreshed, write

NAMES = [f"2026-11-{day:02}-note" for day in range(1, 21)]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault of twenty notes with an index; of more than ten, the newest five are checked."""
    monkeypatch.setattr(reading, "_FEW", 10)
    monkeypatch.setattr(reading, "_CHECKED", 5)
    vault = new_vault(tmp_path / "vault")
    for number, name in enumerate(NAMES):
        folder = "old/" if number < 4 else ""
        write(vault, f"sessions/{folder}{name}.md", note(name))
    refreshed(vault)
    return vault


def _titles(root: Path, *, only_newest: bool = True) -> dict[str, str]:
    def question(view: View) -> dict[str, str]:
        return {str(row["id"]): str(row["title"]) for row in view.rows("sessions")}

    return quick_answer(str(root), "sessions", question, only_newest=only_newest)


def test_a_true_index_answers_with_every_note(root: Path) -> None:
    assert _titles(root) == {name: name for name in NAMES} == _titles(root, only_newest=False)


def test_new_changed_and_deleted_notes_among_the_newest_are_seen(root: Path) -> None:
    write(root, "sessions/2026-12-01-new.md", note("New"))
    write(root, f"sessions/{NAMES[-1]}.md", note("Changed"))
    (root / "sessions" / f"{NAMES[-2]}.md").unlink()
    found = _titles(root)
    assert found["2026-12-01-new"] == "New"
    assert found[NAMES[-1]] == "Changed"
    assert found.keys() == {*NAMES, "2026-12-01-new"} - {NAMES[-2]}


def test_an_older_note_keeps_its_row_until_everything_is_checked(root: Path) -> None:
    write(root, f"sessions/old/{NAMES[0]}.md", note("Changed"))
    assert _titles(root)[NAMES[0]] == NAMES[0]
    assert _titles(root, only_newest=False)[NAMES[0]] == "Changed"


def test_a_small_vault_is_checked_whole(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_FEW", 20)
    write(root, f"sessions/old/{NAMES[0]}.md", note("Changed"))
    assert _titles(root)[NAMES[0]] == "Changed"


def test_a_symlinked_folder_has_everything_checked(root: Path, tmp_path: Path) -> None:
    os.symlink(root / "sessions" / "old", root / "sessions" / "link")
    write(root, f"sessions/old/{NAMES[0]}.md", note("Changed"))
    assert _titles(root)[NAMES[0]] == "Changed"


def test_nothing_is_written(root: Path) -> None:
    write(root, "sessions/2026-12-01-new.md", note("New"))
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    _titles(root)
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before
