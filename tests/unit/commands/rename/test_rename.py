"""Renames that meet an editor, a broken end, odd files: nothing is lost and what is left is told."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crucible.commands.rename.rename import RenameReport, rename_named
from crucible.core.errors import (
    BadSessionId,
    CrucibleError,
    NoteChanged,
    NoteExists,
    SessionNotFound,
    UsageError,
)
from crucible.core.settings.settings import VaultSettings
from crucible.memory.bookmarks.bookmark import Bookmark, StopReason, append_bookmark, latest
from crucible.vault.notes.vault import Note, Vault

OLD = "---\ntype: session\nsession_id: old\n---\n\n# old\n\n[[old]]\n"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    for folder in (".crucible/flight", "sessions"):
        (tmp_path / "vault" / folder).mkdir(parents=True)
    vault = Vault(tmp_path / "vault", VaultSettings(fsync=False))
    vault.create("old", OLD)
    return vault


def rename(vault: Vault, new: str = "new") -> RenameReport:
    return rename_named(vault, "old", new)


def left(report: RenameReport) -> list[tuple[str, str]]:
    return [(one.path.name, one.problem.code) for one in report.left]


def files_of(vault: Vault) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in vault.root.rglob("*.md") if path.is_file()}


# -- an editor at work


def test_a_note_that_keeps_changing_is_reported(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    busy = vault.create("busy", "[[old]]\n").path
    check = Vault._check_unchanged

    def typing(self: Vault, note: Note) -> None:
        if note.path == busy:
            busy.write_text(busy.read_text() + "typing\n")
        check(self, note)

    monkeypatch.setattr(Vault, "_check_unchanged", typing)
    report = rename(vault)
    assert left(report) == [("busy.md", "not-written")]
    assert busy.read_text().startswith("[[old]]\ntyping\n")
    monkeypatch.undo()
    again = rename_named(vault, "old", "new")
    assert (again.changed, again.left) == ((busy,), ())
    assert busy.read_text().startswith("[[new]]\ntyping\n")


def test_a_note_that_lost_its_link_meanwhile_is_not_counted(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    busy = vault.create("busy", "[[old]]\n").path
    move = Vault.rename

    def then_edit(self: Vault, note: Note, new_id: str) -> Path:
        moved = move(self, note, new_id)
        busy.write_text("no link\n")
        return moved

    monkeypatch.setattr(Vault, "rename", then_edit)
    report = rename(vault)
    assert (report.changed, report.links, report.left) == ((report.path,), 1, ())
    assert busy.read_text() == "no link\n"


def test_an_id_that_cannot_be_edited_is_reported(vault: Vault) -> None:
    vault.load("old").path.write_text("---\n{session_id: old}\n---\n\n[[old]]\n")
    other = vault.create("other", "[[old]]\n").path
    report = rename(vault)
    assert left(report) == [("new.md", "not-written")]
    assert other.read_text() == "[[new]]\n"


# -- whole events


def test_events_outside_the_vault_are_reported_and_the_rest_is_renamed(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (vault.root / ".crucible/flight/old").symlink_to(tmp_path / "out")
    other = vault.create("other", "[[old]]\n").path
    report = rename(vault)
    assert left(report) == [("old", "events-not-moved")]
    assert other.read_text() == "[[new]]\n"


def test_events_do_not_go_over_others(vault: Vault) -> None:
    for name in ("old", "new"):
        (vault.root / ".crucible/flight" / name).mkdir()
        (vault.root / ".crucible/flight" / name / "events.jsonl").write_text(name)
    report = rename(vault)
    assert left(report) == [("old", "events-not-moved")]
    assert (vault.root / ".crucible/flight/new/events.jsonl").read_text() == "new"
    assert (vault.root / ".crucible/flight/old/events.jsonl").read_text() == "old"
    assert "[[new]]" in report.path.read_text()


def test_events_in_a_read_only_folder_are_reported(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    (vault.root / ".crucible/flight/old").mkdir()

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "rename", refuse)
    report = rename(vault)
    assert [one.problem.message for one in report.left] == ["permission denied"]
    assert "[[new]]" in report.path.read_text()


# -- subagents


@pytest.mark.parametrize("new", ["20261121", "0123", "no", "1e3", "2026-11-21", "x-1"])
def test_a_subagent_s_id_stays_text(vault: Vault, new: str) -> None:
    text = "---\nsubagents:\n  - session: old  # mine\n    agent: a\n  - {session: 'old', agent: b}\n---\n"
    path = vault.create("parent", text).path
    rename(vault, new)
    items = vault.read(path).session.properties["subagents"]
    assert items == [{"session": new, "agent": "a"}, {"session": new, "agent": "b"}]
    assert "# mine" in path.read_text()


@pytest.mark.parametrize(
    "text",
    [
        'subagents:\n  - agent: "session: old"\n',
        "subagents:\n  - agent: x  # session: old\n",
        "subagents:\n  - session: older\n",
        "subagents:\n  - session: &a old\n",
        "subagents:\n  - session: |\n      old\n",
        "subagents: 'session: old'\n",
        "others:\n  - session: old\n",
        "subagents: [session: old, {session\n",
    ],
)
def test_what_is_no_subagent_s_id_keeps_every_byte(vault: Vault, text: str) -> None:
    path = vault.create("parent", f"---\n{text}---\n").path
    before = path.read_bytes()
    rename(vault)
    assert path.read_bytes() == before


# -- a broken end


@pytest.mark.parametrize("reached", range(5))
def test_a_killed_rename_is_finished_by_asking_again(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, reached: int
) -> None:
    (vault.root / ".crucible/flight/old").mkdir()
    vault.create("a", "[[old]]\n")
    vault.create("b", "---\nsubagents:\n  - session: old\n---\n[[old|x]]\n")
    vault.create("older", "a prefix that means another\n")
    calls: list[str] = []

    class KilledError(BaseException):
        pass

    def killable(name: str) -> None:
        real = getattr(Vault, name)

        def call(self: Vault, *args: object) -> object:
            if len(calls) == reached:
                raise KilledError
            calls.append(name)
            return real(self, *args)

        monkeypatch.setattr(Vault, name, call)

    killable("rename")
    killable("update")
    if reached < 4:
        with pytest.raises(KilledError):
            rename(vault)
    else:
        rename(vault)
    monkeypatch.undo()
    if reached < 4:
        report = rename_named(vault, "old", "new")
        assert report.left == ()
    texts = {path.name: path.read_text() for path in vault.session_paths()}
    assert texts == {
        "a.md": "[[new]]\n",
        "b.md": "---\nsubagents:\n  - session: new\n---\n[[new|x]]\n",
        "new.md": OLD.replace("old", "new"),
        "older.md": "a prefix that means another\n",
    }
    assert os.listdir(vault.root / ".crucible/flight") == ["new"]


def test_a_name_that_nothing_says_is_no_rename(vault: Vault) -> None:
    before = files_of(vault)
    with pytest.raises(SessionNotFound):
        rename_named(vault, "never", "old")
    vault.create("other", "x\n")
    with pytest.raises(NoteExists):
        rename_named(vault, "oth", "old")
    assert files_of(vault) == {**before, str(vault.sessions / "other.md"): b"x\n"}


def test_a_mistyped_name_changes_no_id_that_a_human_wrote(vault: Vault) -> None:
    vault.create("other", "---\nsession_id: mine\n---\n")
    before = files_of(vault)
    with pytest.raises(SessionNotFound):
        rename_named(vault, "typo", "other")
    assert files_of(vault) == before


# -- what is refused


def test_a_note_that_is_a_symlink_is_refused(vault: Vault) -> None:
    (vault.sessions / "alias.md").symlink_to("old.md")
    before = files_of(vault)
    with pytest.raises(UsageError, match=r"alias\.md: a link to .*old\.md"):
        rename_named(vault, "alias", "new")
    assert files_of(vault) == before


@pytest.mark.parametrize("name", ["README.md", ".trash/x.md", "sessions/.trash/x.md", "notes/x.md"])
def test_a_note_outside_the_sessions_is_refused(vault: Vault, name: str) -> None:
    path = vault.root / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("# X\n")
    with pytest.raises(UsageError, match="not a session"):
        rename_named(vault, name, "new", vault.root)
    assert path.exists()


@pytest.mark.parametrize("new", ["con", "NUL", "aux.txt", "Com1", "x."])
def test_a_name_that_windows_cannot_have_is_refused(vault: Vault, new: str) -> None:
    before = files_of(vault)
    with pytest.raises(BadSessionId):
        rename(vault, new)
    assert files_of(vault) == before


def test_a_note_that_changed_since_it_was_read_is_not_moved(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    note = vault.load("old")
    note.path.write_text("by a human\n")
    monkeypatch.setattr(vault, "load", lambda *_: note)
    with pytest.raises(NoteChanged):
        rename_named(vault, "old", "new")
    assert files_of(vault) == {str(note.path): b"by a human\n"}


def test_every_refusal_is_one_line(vault: Vault) -> None:
    for ref, new in (("old", "con"), ("README.md", "x"), ("gone", "x"), ("", "x"), ("old", "old")):
        with pytest.raises(CrucibleError) as caught:
            rename_named(vault, ref, new)
        assert "\n" not in str(caught.value)


# -- bookmarks


def test_bookmarks_follow_and_stay_with_the_old_name_too(vault: Vault) -> None:
    made = Bookmark("old-1", "old", datetime(2026, 11, 22, tzinfo=UTC), StopReason.PAUSED, note="half done")
    append_bookmark(vault.root, made)
    rename(vault)
    kept = latest(vault.root, "new")
    assert kept is not None
    assert (kept.note, kept.at) == (made.note, made.at)
    assert latest(vault.root, "old") == made


def test_bookmarks_that_cannot_be_copied_are_reported(vault: Vault) -> None:
    append_bookmark(vault.root, Bookmark("old-1", "old", datetime(2026, 11, 22, tzinfo=UTC), StopReason.PAUSED))
    memory = vault.root / ".crucible" / "memory"
    memory.rename(vault.root.parent / "memory")
    memory.symlink_to(vault.root.parent / "memory")
    assert left(rename(vault)) == [("bookmarks.jsonl", "bookmarks-not-renamed")]
    assert vault.load("new").session.id == "new"
