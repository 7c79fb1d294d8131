"""The index always shows what is on disk, whatever happens to notes or to the index's own files."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import pytest

from crucible.core import files
from crucible.core.errors import IndexBroken, NoteUnreadable
from crucible.core.settings.settings import VaultSettings
from crucible.documents.markdown.source import Edit
from crucible.documents.session.task_edits import set_field
from crucible.vault.index import index as reading
from crucible.vault.index import index as store
from crucible.vault.index import note_rows as deriving
from crucible.vault.index.index import Index, Refreshed
from crucible.vault.index.index_draft import Change
from crucible.vault.index.schema import View
from crucible.vault.notes.vault import Note, Vault
from samples.waiting import SECONDS, wait_for_file_clock
from tests.git_repositories import git
from tests.unit.vault.index.tables import (
    SETTINGS,
    Tables,
    new_vault,
    note,
    paths_of,
    rebuilt,
    refreshed,
    same_as_rebuilt,
    tables_of,
    write,
)

NONE: tuple[Change, ...] = ()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Five notes in two folders and three months, and their index, which is older than no later write."""
    root = new_vault(tmp_path / "v")
    write(root, "sessions/a.md")
    write(root, "sessions/b.md", note("b", "2026-10-01T00:00:00Z"))
    write(root, "sessions/deep/c.md", note("c", "2026-11-22T00:00:00Z"))
    write(root, "sessions/deep/d.md", note("d", None))
    write(root, "sessions/deep/e.MD", "no session at all")
    wait_for_file_clock()
    assert len(refreshed(root).changes) == 5
    return root


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder that is none of the vault's, with a file that must stay."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    (folder / "files.toon").write_text("mine")
    write(folder, "x.md")
    return folder


def kinds(found: tuple[Change, ...]) -> list[tuple[str, str]]:
    return [tuple(change) for change in found]  # type: ignore[misc]


class Reads:
    """Which notes were opened, and for which of them rows were made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.opened: list[str] = []
        self.derived: list[str] = []
        read, rows = deriving.read_for_index, deriving.rows_of

        def read_for_index(root: str, path: str, known: str) -> deriving.NoteReading:
            self.opened.append(path)
            return read(root, path, known)

        def rows_of(given: Note, path: str) -> deriving.NoteRows:
            self.derived.append(path)
            return rows(given, path)

        monkeypatch.setattr(deriving, "read_for_index", read_for_index)
        monkeypatch.setattr(deriving, "rows_of", rows_of)


@pytest.fixture
def reads(root: Path, monkeypatch: pytest.MonkeyPatch) -> Reads:
    return Reads(monkeypatch)


def times_of(path: Path) -> tuple[int, int]:
    return path.stat().st_atime_ns, path.stat().st_mtime_ns


# --- what is believed, and what is read --------------------------------------------------------------------------


def test_where_nothing_changed_no_note_is_opened_and_nothing_written(root: Path, reads: Reads) -> None:
    assert refreshed(root).changes == NONE
    assert reads.opened == []
    before = {path: path.stat().st_ctime_ns for path in (root / ".crucible").rglob("*")}
    assert refreshed(root).changes == NONE
    assert {path: path.stat().st_ctime_ns for path in (root / ".crucible").rglob("*")} == before


def test_one_changed_note_is_the_only_one_opened(root: Path, reads: Reads) -> None:
    write(root, "sessions/a.md", note("other"))
    assert kinds(refreshed(root).changes) == [("changed", "sessions/a.md")]
    assert set(reads.opened) == {"sessions/a.md"}
    wait_for_file_clock()
    same_as_rebuilt(root)


def test_touched_notes_are_opened_once_and_not_parsed(root: Path, reads: Reads) -> None:
    for path in (root / "sessions").rglob("*.[mM]*"):
        os.utime(path)
    wait_for_file_clock()
    assert refreshed(root).changes == NONE
    assert sorted(reads.opened) == paths_of(refreshed(root))
    assert reads.derived == []
    reads.opened.clear()
    assert refreshed(root).changes == NONE
    assert reads.opened == []


def test_a_checkout_and_back_parses_only_differing_notes(root: Path, reads: Reads) -> None:
    (root / ".gitignore").write_text(".crucible\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "core.autocrlf", "false")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "one")
    git(root, "checkout", "-q", "-b", "other")
    shutil.rmtree(root / "sessions" / "deep")
    write(root, "sessions/a.md", note("changed"))
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "two")
    assert len(same_as_rebuilt(root).changes) == 4
    git(root, "checkout", "-q", "main")
    reads.derived.clear()
    assert kinds(refreshed(root).changes) == [
        ("changed", "sessions/a.md"),
        ("added", "sessions/deep/c.md"),
        ("added", "sessions/deep/d.md"),
        ("added", "sessions/deep/e.MD"),
    ]
    assert "sessions/b.md" not in reads.derived
    same_as_rebuilt(root)


def test_a_checkout_that_rewrites_every_note_changes_no_row(root: Path, reads: Reads) -> None:
    (root / ".gitignore").write_text(".crucible\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "core.autocrlf", "false")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "one")
    shutil.rmtree(root / "sessions")
    git(root, "checkout", "-q", "--", "sessions")
    assert refreshed(root).changes == NONE
    assert len(set(reads.opened)) == 5
    assert reads.derived == []


def test_an_edit_that_keeps_size_and_mtime_is_seen(root: Path) -> None:
    path = root / "sessions" / "a.md"
    for title in ("one 1", "two 2", "thr 3"):
        old = times_of(path)
        path.write_text(path.read_text().replace("# sessions/a.md", "# one 0")[:-1] + "\n")
        text = path.read_text()
        path.write_text(text.replace(text.partition("# ")[2][:5], title, 1))
        os.utime(path, ns=old)
        assert [row["title"] for row in same_as_rebuilt(root).view.rows("sessions") if row["id"] == "a"] == [title]


def test_edits_within_the_tick_of_the_reading_are_seen(root: Path) -> None:
    """The same size, and the time of writing put back: nothing but the moment of reading tells them apart."""
    path = root / "sessions" / "a.md"
    write(root, "sessions/a.md", note("0000"))
    old = times_of(path)
    for number in range(60):
        text = note(f"{number:04}")
        with path.open("r+") as file:
            file.write(text)
        os.utime(path, ns=old)
        titles = [row["title"] for row in refreshed(root).view.rows("sessions") if row["id"] == "a"]
        assert titles == [f"{number:04}"]
    same_as_rebuilt(root)


def test_a_file_put_in_place_of_a_note_is_seen_though_its_size_and_mtime_are_the_same(root: Path) -> None:
    path, other = root / "sessions" / "a.md", root / "other"
    other.write_text(path.read_text().replace("# sessions/a.md", "# sessions/x.md"))
    os.utime(other, ns=times_of(path))
    wait_for_file_clock()
    other.replace(path)
    assert kinds(same_as_rebuilt(root).changes) == [("changed", "sessions/a.md")]


def test_a_note_from_the_future_is_opened_every_time(root: Path, reads: Reads) -> None:
    path = root / "sessions" / "a.md"
    os.utime(path, (4_000_000_000, 4_000_000_000))
    wait_for_file_clock()
    for _ in range(3):
        assert refreshed(root).changes == NONE
    assert reads.opened == ["sessions/a.md"] * 3
    with path.open("a") as file:
        file.write("\n## More\n")
    os.utime(path, (4_000_000_000, 4_000_000_000))
    assert kinds(same_as_rebuilt(root).changes) == [("changed", "sessions/a.md")]


def test_a_doubt_outlives_what_happens_to_other_notes_and_ends_with_its_reason(root: Path, reads: Reads) -> None:
    path = root / "sessions" / "a.md"
    os.utime(path, (4_000_000_000, 4_000_000_000))
    refreshed(root)
    write(root, "sessions/b.md", note("changed"))
    wait_for_file_clock()
    Index(root, SETTINGS).refresh([root / "sessions" / "b.md"])
    reads.opened.clear()
    refreshed(root)
    assert reads.opened == ["sessions/a.md"]
    os.utime(path, (1, 1))
    wait_for_file_clock()
    refreshed(root)
    reads.opened.clear()
    refreshed(root)
    assert reads.opened == []


def test_a_note_that_is_written_while_it_is_read_is_read_again_by_the_next_query(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(root, "sessions/a.md", note("first"))
    read = deriving.read_for_index

    def slow(root: str, name: str, known: str) -> deriving.NoteReading:
        found = read(root, name, known)
        old = times_of(path)
        path.write_text(note("after"))
        os.utime(path, ns=old)
        return found

    monkeypatch.setattr(deriving, "read_for_index", slow)
    refreshed(root)
    monkeypatch.undo()
    assert [row["title"] for row in same_as_rebuilt(root).view.rows("sessions") if row["id"] == "a"] == ["after"]


# --- notes that come, go and move --------------------------------------------------------------------------------


def test_renamed_notes_leave_no_ghost(root: Path) -> None:
    (root / "sessions" / "a.md").rename(root / "sessions" / "z.md")
    assert kinds(same_as_rebuilt(root).changes) == [("removed", "sessions/a.md"), ("added", "sessions/z.md")]


def test_notes_that_change_names_change_rows(root: Path) -> None:
    one, two = root / "sessions" / "a.md", root / "sessions" / "deep" / "c.md"
    one.rename(root / "x")
    two.rename(one)
    (root / "x").rename(two)
    assert kinds(same_as_rebuilt(root).changes) == [
        ("changed", "sessions/a.md"),
        ("changed", "sessions/deep/c.md"),
    ]


def test_deleted_notes_and_folders_leave_no_ghost(root: Path) -> None:
    (root / "sessions" / "b.md").unlink()
    shutil.rmtree(root / "sessions" / "deep")
    assert [change.kind for change in same_as_rebuilt(root).changes] == ["removed"] * 4
    shutil.rmtree(root / "sessions")
    assert kinds(same_as_rebuilt(root).changes) == [("removed", "sessions/a.md")]
    assert refreshed(root).view.shards == ()
    write(root, "sessions/a.md")
    assert kinds(same_as_rebuilt(root).changes) == [("added", "sessions/a.md")]


def test_a_folder_that_is_renamed_moves_its_rows(root: Path) -> None:
    (root / "sessions" / "deep").rename(root / "sessions" / "a")
    assert len(same_as_rebuilt(root).changes) == 6


def test_a_note_replaced_by_a_folder_of_its_name_is_gone(root: Path) -> None:
    (root / "sessions" / "a.md").unlink()
    write(root, "sessions/a.md/inner.md")
    assert kinds(same_as_rebuilt(root).changes) == [
        ("removed", "sessions/a.md"),
        ("added", "sessions/a.md/inner.md"),
    ]


def test_a_folder_replaced_by_a_file_of_its_name_is_gone(root: Path) -> None:
    shutil.rmtree(root / "sessions" / "deep")
    (root / "sessions" / "deep").write_text("a file")
    assert paths_of(same_as_rebuilt(root)) == ["sessions/a.md", "sessions/b.md"]


def test_a_folder_replaced_by_a_symlink_out_of_the_vault_is_gone_and_reported(root: Path, tmp_path: Path) -> None:
    shutil.move(root / "sessions" / "deep", tmp_path / "moved")
    (root / "sessions" / "deep").symlink_to(tmp_path / "moved")
    found = same_as_rebuilt(root)
    assert [change.kind for change in found.changes] == ["removed"] * 3
    assert found.unwalked == (f"{root}/sessions/deep: points outside the vault, to {tmp_path}/moved",)


def test_a_folder_replaced_by_a_symlink_within_the_vault_counts_once_under_its_real_name(root: Path) -> None:
    names = ("c.md", "d.md", "e.MD")
    (root / "sessions" / "deep").rename(root / "sessions" / "zone")
    (root / "sessions" / "deep").symlink_to("zone")
    assert paths_of(same_as_rebuilt(root))[2:] == [f"sessions/zone/{name}" for name in names]
    (root / "sessions" / "zone").rename(root / "zone")
    assert paths_of(same_as_rebuilt(root)) == ["sessions/a.md", "sessions/b.md"]
    (root / "sessions" / "deep").unlink()
    (root / "sessions" / "deep").symlink_to(root / "zone")
    assert paths_of(same_as_rebuilt(root))[2:] == [f"sessions/deep/{name}" for name in names]
    (root / "zone").rename(root / "sessions" / "zone")
    (root / "sessions" / "deep").unlink()
    assert paths_of(same_as_rebuilt(root))[2:] == [f"sessions/zone/{name}" for name in names]


def test_a_note_that_is_a_symlink_shows_what_it_leads_to(root: Path, outside: Path) -> None:
    target = write(root, "elsewhere/t.md", note("one"))
    (root / "sessions" / "link.md").symlink_to(target)
    (root / "sessions" / "out.md").symlink_to(outside / "x.md")
    (root / "sessions" / "dangling.md").symlink_to("nowhere.md")
    same_as_rebuilt(root)
    target.write_text(note("two"))
    found = same_as_rebuilt(root)
    assert kinds(found.changes) == [("changed", "sessions/link.md")]
    rows = {row["id"]: row for row in found.view.rows("sessions")}
    assert (rows["link"]["title"], rows["link"]["unreadable"]) == ("two", None)
    assert rows["out"]["unreadable"] == f"{root}/sessions/out.md: points outside the vault, to {outside}/x.md"
    assert rows["dangling"]["problems"] == 1
    (root / "sessions" / "link.md").unlink()
    assert kinds(same_as_rebuilt(root).changes) == [("removed", "sessions/link.md")]


def test_what_cannot_be_read_is_a_row_until_it_can(root: Path) -> None:
    path = root / "sessions" / "fifo.md"
    os.mkfifo(path)
    (row,) = [row for row in same_as_rebuilt(root).view.rows("sessions") if row["id"] == "fifo"]
    assert row["unreadable"] == f"{path}: not a regular file"
    assert refreshed(root).changes == NONE
    path.unlink()
    write(root, "sessions/fifo.md")
    assert kinds(same_as_rebuilt(root).changes) == [("changed", "sessions/fifo.md")]
    path.unlink()
    os.mkfifo(path)
    assert kinds(same_as_rebuilt(root).changes) == [("changed", "sessions/fifo.md")]


def test_a_note_moves_between_months_with_all_its_rows(root: Path) -> None:
    for started in ("2026-10-05T00:00:00Z", None, "2025-01-01T00:00:00Z", "2026-11-21T20:26:47Z"):
        write(root, "sessions/a.md", note("a", started))
        found = same_as_rebuilt(root)
        assert kinds(found.changes) == [("changed", "sessions/a.md")]
        assert {row["path"] for row in found.view.rows("callouts", [(started or "undated")[:7]])} >= {"sessions/a.md"}


def test_two_notes_of_one_id_are_two_rows(root: Path) -> None:
    write(root, "sessions/deep/a.md", note("the other"))
    assert paths_of(same_as_rebuilt(root)).count("sessions/deep/a.md") == 1
    (root / "sessions" / "a.md").unlink()
    rows = [row for row in same_as_rebuilt(root).view.rows("sessions") if row["id"] == "a"]
    assert [(row["path"], row["title"]) for row in rows] == [("sessions/deep/a.md", "the other")]


@pytest.mark.parametrize(
    "name", [b"\xff.md", b"\xef\xbf\xbd.md", b'"a, b".md', b"new\nline.md", b"\\.md", b" .md", b"-.md"]
)
def test_a_name_may_be_anything_that_the_system_takes(root: Path, name: bytes) -> None:
    path = root / "sessions" / os.fsdecode(name)
    path.write_text(note())
    assert [change.path for change in same_as_rebuilt(root).changes] == [f"sessions/{os.fsdecode(name)}"]
    path.write_text(note("again"))
    assert [change.kind for change in same_as_rebuilt(root).changes] == ["changed"]
    path.unlink()
    assert [change.kind for change in same_as_rebuilt(root).changes] == ["removed"]


def test_another_sessions_folder_is_another_index(root: Path) -> None:
    write(root, "notes/n.md")
    for folder in ("notes", "sessions", "sessions/deep", ".", "none"):
        found = same_as_rebuilt(root, VaultSettings(sessions=folder))
        vault = Vault(root, VaultSettings(sessions=folder))
        assert paths_of(found) == sorted(vault.relative(path) for path in vault.session_paths())


# --- looking at some places only ---------------------------------------------------------------------------------


def test_a_save_brings_its_own_row_up_to_date_and_no_other(root: Path, reads: Reads) -> None:
    vault = Vault(root, SETTINGS)
    path = vault.find("a")
    vault.update(path, lambda given: edit_field(given, "status", "failed"))
    write(root, "sessions/b.md", note("unseen"))
    found = Index(root, SETTINGS).refresh([path])
    assert kinds(found.changes) == [("changed", "sessions/a.md")]
    assert set(reads.opened) == {"sessions/a.md"}
    assert kinds(same_as_rebuilt(root).changes) == [("changed", "sessions/b.md")]


def edit_field(given: Note, key: str, value: str) -> list[Edit]:
    return set_field(given.source, given.session, key, value)


def test_a_place_may_be_a_note_a_folder_or_gone(root: Path) -> None:
    index = Index(root, SETTINGS)
    write(root, "sessions/new/n.md")
    assert kinds(index.refresh([root / "sessions" / "new"]).changes) == [("added", "sessions/new/n.md")]
    shutil.rmtree(root / "sessions" / "deep")
    assert len(index.refresh([root / "sessions" / "deep"]).changes) == 3
    (root / "sessions" / "a.md").unlink()
    assert kinds(index.refresh([root / "sessions" / "a.md"]).changes) == [("removed", "sessions/a.md")]
    assert same_as_rebuilt(root).changes == NONE


def test_places_that_hold_no_notes_are_no_notes(root: Path, outside: Path) -> None:
    hidden = write(root, "sessions/.hidden/x.md")
    dotted = write(root, "sessions/.x.md")
    other = write(root, "elsewhere/x.md")
    text = write(root, "sessions/x.txt")
    places = [
        hidden,
        dotted,
        other,
        text,
        outside / "x.md",
        root,
        root / "..",
        outside,
        root / "sessions/../../x.md",
    ]
    assert Index(root, SETTINGS).refresh(places).changes == NONE
    assert same_as_rebuilt(root).changes == NONE


def test_a_note_that_is_named_twice_has_its_rows_once(root: Path) -> None:
    one, two = write(root, "sessions/deep/n.md"), write(root, "sessions/deep/c.md", note("changed"))
    places = [
        root / "sessions" / "deep",
        one,
        one,
        two,
        root / "sessions",
        root / "sessions" / "x" / ".." / "deep",
    ]
    assert len(Index(root, SETTINGS).refresh(places).changes) == 2
    assert same_as_rebuilt(root).changes == NONE


def test_a_place_with_two_names_is_scanned_under_the_walks_name(root: Path) -> None:
    (root / "sessions" / "alias").symlink_to("deep")
    write(root, "zone/x.md")
    (root / "sessions" / "far").symlink_to(root / "zone")
    assert "sessions/far/x.md" in paths_of(same_as_rebuilt(root))
    for places in (
        ["deep/c.md"],
        ["alias/c.md", "deep"],
        ["alias"],
        ["far/x.md"],
        ["far"],
        ["alias/../far/x.md"],
    ):
        write(root, "sessions/deep/c.md", note(f"changed {places}"))
        write(root, "zone/x.md", note(f"changed {places}"))
        Index(root, SETTINGS).refresh([root / "sessions" / place for place in places])
        # As it was left: a look at everything would mend it.
        assert paths_of(Index(root, SETTINGS).refresh()) == paths_of(same_as_rebuilt(root))


def test_places_in_a_vault_that_is_its_own_sessions_folder(tmp_path: Path) -> None:
    settings = VaultSettings(sessions=".")
    root = new_vault(tmp_path / "v")
    write(root, "sessions/a.md")
    top = write(root, "b.md")
    assert paths_of(refreshed(root, settings)) == ["b.md", "sessions/a.md"]
    write(root, "b.md", note("changed"))
    Index(root, settings).refresh([top, root / "sessions"])
    assert paths_of(same_as_rebuilt(root, settings)) == ["b.md", "sessions/a.md"]


@pytest.mark.parametrize("lost", ["deleted", "damaged"])
def test_a_save_without_an_index_leaves_none_that_only_knows_its_note(root: Path, lost: str) -> None:
    if lost == "deleted":
        shutil.rmtree(root / ".crucible" / "index")
    else:
        (root / ".crucible" / "index" / "manifest.toon").write_bytes(b"\0")
    Index(root, SETTINGS).refresh([root / "sessions" / "a.md"])
    assert tables_of(Index(root, SETTINGS).refresh()) == rebuilt(root)


@pytest.mark.parametrize("table", ["sessions", "files"])
def test_a_save_onto_a_damaged_index_leaves_none_that_only_knows_its_note(root: Path, table: str) -> None:
    for path in (root / ".crucible" / "index").rglob(f"{table}.*.toon"):
        path.write_bytes(b"x")
    write(root, "sessions/a.md", note("changed"))
    Index(root, SETTINGS).refresh([root / "sessions" / "a.md"])
    tables, _ = Index(root, SETTINGS).ask(lambda view: [list(view.rows("sessions"))])
    assert tables == [list(refreshed(root).view.rows("sessions"))]
    same_as_rebuilt(root)


@pytest.mark.parametrize("saved", [False, True])
def test_an_index_that_is_half_built_is_not_believed(root: Path, monkeypatch: pytest.MonkeyPatch, saved: bool) -> None:
    """A build keeps what it has now and then, so that it need not begin anew when it is killed."""
    whole = rebuilt(root)
    monkeypatch.setattr(store, "_BATCH", 1)
    monkeypatch.setattr(reading, "_CHUNK", 1)

    def killed(done: int, _: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Index(root, SETTINGS).rebuild(killed)
    if saved:
        write(root, "sessions/a.md")
        Index(root, SETTINGS).refresh([root / "sessions" / "a.md"])
    assert Index(root, SETTINGS).ask(tables_of_view)[0] == whole


def test_a_build_that_was_killed_goes_on_where_it_was(
    root: Path, reads: Reads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_BATCH", 1)
    monkeypatch.setattr(reading, "_CHUNK", 1)
    shutil.rmtree(root / ".crucible" / "index")

    def killed(done: int, _: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Index(root, SETTINGS).refresh(progress=killed)
    first = set(reads.derived)
    reads.derived.clear()
    refreshed(root)
    assert first
    assert len(first & set(reads.derived)) <= 1
    same_as_rebuilt(root)


# --- the index's own files ---------------------------------------------------------------------------------------


def own_files(root: Path) -> list[Path]:
    return sorted(path for path in (root / ".crucible" / "index").rglob("*") if path.is_file())


def _as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _as_dangling_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _zeroed(path: Path) -> None:
    """What some file systems leave after a power cut."""
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[: size // 2] + bytes(size - size // 2))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "truncated": lambda path: os.truncate(path, path.stat().st_size // 2),
    "a byte short": lambda path: os.truncate(path, max(path.stat().st_size - 1, 0)),
    "emptied": lambda path: os.truncate(path, 0),
    "random": lambda path: path.write_bytes(os.urandom(max(path.stat().st_size, 50))),
    "zeroed": _zeroed,
    "one bit": _flip,
    "longer": lambda path: path.write_bytes(path.read_bytes() * 2),
    "deleted": os.unlink,
    "a folder": _as_folder,
    "dangling": _as_dangling_link,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_each_damaged_file_is_rebuilt_automatically(root: Path, damage: str) -> None:
    whole = rebuilt(root)
    kept = root / "kept"
    shutil.copytree(root / ".crucible" / "index", kept)
    for file in [path.relative_to(kept) for path in sorted(kept.rglob("*")) if path.is_file()]:
        path = root / ".crucible" / "index" / file
        if path.name == "lock" and damage in {"one bit", "a byte short", "zeroed"}:
            continue
        DAMAGES[damage](path)
        index = Index(root, SETTINGS)
        tables, found = index.ask(tables_of_view)
        assert tables == whole, file
        if found.unsaved == "":
            assert refreshed(root).changes == NONE, file
        assert "\n" not in found.unsaved
        shutil.rmtree(root / ".crucible" / "index")
        shutil.copytree(kept, root / ".crucible" / "index")


@pytest.mark.parametrize("odd", ["symlink", "future", "pipe", "just written"])
@pytest.mark.parametrize("table", ["sessions", "links", "files"])
def test_a_damaged_index_heals_beside_a_note_that_is_always_in_doubt(root: Path, odd: str, table: str) -> None:
    path = root / "sessions" / "odd.md"
    if odd == "symlink":
        path.symlink_to("a.md")
    elif odd == "pipe":
        os.mkfifo(path)
    else:
        write(root, "sessions/odd.md")
        os.utime(path, (4_000_000_000, 4_000_000_000) if odd == "future" else None)
    refreshed(root)
    whole = rebuilt(root)
    for file in (root / ".crucible" / "index").rglob(f"{table}.*.toon"):
        file.write_bytes(b"x")
    assert Index(root, SETTINGS).ask(tables_of_view)[0] == whole
    same_as_rebuilt(root)


@pytest.mark.parametrize("odd", ["symlink", "future", "pipe"])
def test_a_note_that_is_always_in_doubt_and_never_changes_writes_nothing(root: Path, odd: str) -> None:
    path = root / "sessions" / "odd.md"
    if odd == "symlink":
        path.symlink_to("a.md")
    elif odd == "pipe":
        os.mkfifo(path)
    else:
        write(root, "sessions/odd.md")
        os.utime(path, (4_000_000_000, 4_000_000_000))
    wait_for_file_clock()
    refreshed(root)
    wait_for_file_clock()
    refreshed(root)
    manifest = (root / ".crucible" / "index" / "manifest.toon").read_bytes()
    refreshed(root)
    assert (root / ".crucible" / "index" / "manifest.toon").read_bytes() == manifest


def test_a_manifest_with_any_one_byte_changed_never_gives_another_answer(root: Path) -> None:
    whole = rebuilt(root)
    manifest = root / ".crucible" / "index" / "manifest.toon"
    data = manifest.read_bytes()
    kept = root / "kept"
    shutil.copytree(root / ".crucible" / "index", kept)
    for at in range(0, len(data), max(1, len(data) // 60)):
        changed = bytearray(data)
        changed[at] ^= 1
        manifest.write_bytes(changed)
        tables, _ = Index(root, SETTINGS).ask(tables_of_view)
        assert tables == whole, bytes(changed[at - 20 : at + 20])
        shutil.rmtree(root / ".crucible" / "index")
        shutil.copytree(kept, root / ".crucible" / "index")


def tables_of_view(view: View) -> Tables:
    return tables_of(Refreshed(view))


def test_a_manifest_of_a_newer_schema_is_rebuilt(root: Path) -> None:
    manifest = root / ".crucible" / "index" / "manifest.toon"
    manifest.write_text(manifest.read_text().replace("schema: ", "schema: 9", 1))
    assert len(same_as_rebuilt(root).changes) == 5
    assert same_as_rebuilt(root).changes == NONE


def test_a_rebuild_forgets_everything(root: Path, reads: Reads) -> None:
    assert len(Index(root, SETTINGS).rebuild().changes) == 5
    assert sorted(reads.derived) == paths_of(same_as_rebuilt(root))


def test_files_that_no_manifest_names_are_removed(root: Path) -> None:
    for number in range(5):
        write(root, "sessions/a.md", note(f"{number}"))
        write(root, "sessions/b.md", note(f"{number}", f"2026-0{number + 1}-01T00:00:00Z"))
        refreshed(root)
    named = (root / ".crucible" / "index" / "manifest.toon").read_text()
    files = [path for path in own_files(root) if path.name not in {"manifest.toon", "lock"}]
    assert [path for path in files if path.name not in named] == []


# --- places where the index could not be saved ----------------------------------------------------------------------


def listing(folder: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def test_an_index_that_leads_out_of_the_vault_is_not_used(root: Path, outside: Path) -> None:
    shutil.rmtree(root / ".crucible" / "index")
    (root / ".crucible" / "index").symlink_to(outside)
    before = listing(outside)
    for _ in range(2):
        found = refreshed(root)
        assert tables_of(found) == rebuilt(root)
        assert str(outside) in found.unsaved
        assert "\n" not in found.unsaved
    assert listing(outside) == before


def test_an_index_that_leads_to_the_notes_deletes_none_of_them(root: Path) -> None:
    (root / "sessions" / "x.toon").write_text("mine")
    before = listing(root / "sessions")
    shutil.rmtree(root / ".crucible" / "index")
    (root / ".crucible" / "index").symlink_to(root / "sessions")
    for _ in range(2):
        assert tables_of(refreshed(root)) == rebuilt(root)
        assert listing(root / "sessions").items() >= before.items()


@pytest.mark.parametrize("anew", [False, True])
def test_a_month_that_leads_elsewhere_costs_no_file_there(root: Path, outside: Path, anew: bool) -> None:
    index = root / ".crucible" / "index"
    shutil.rmtree(index if anew else index / "2026-11")
    index.mkdir(exist_ok=True)
    (index / "2026-11").symlink_to(outside)
    before = listing(outside)
    for number in range(3):
        write(root, "sessions/a.md", note(f"{number}"))
        tables, _ = Index(root, SETTINGS).ask(tables_of_view)
        assert tables == rebuilt(root)
    assert listing(outside) == before


def test_a_vault_without_its_hidden_folder_is_asked_all_the_same(root: Path) -> None:
    shutil.rmtree(root / ".crucible")
    assert tables_of(refreshed(root)) == rebuilt(root)


def test_where_the_index_cannot_be_a_folder_the_answer_is_right_and_says_so(root: Path) -> None:
    shutil.rmtree(root / ".crucible" / "index")
    (root / ".crucible" / "index").write_text("a file")
    for _ in range(2):
        found = refreshed(root)
        assert tables_of(found) == rebuilt(root)
        assert found.unsaved
        assert "\n" not in found.unsaved


def test_where_a_month_cannot_be_a_folder_the_answer_is_right_and_says_so(root: Path) -> None:
    shutil.rmtree(root / ".crucible" / "index")
    (root / ".crucible" / "index").mkdir()
    (root / ".crucible" / "index" / "2026-11").write_text("a file")
    for _ in range(2):
        found = refreshed(root)
        assert tables_of(found) == rebuilt(root)
        assert "\n" not in found.unsaved


@pytest.mark.skipif(sys.platform == "win32", reason="locks of files as on POSIX")
def test_a_held_lock_is_waited_for_and_then_ignored(root: Path) -> None:
    import fcntl

    write(root, "sessions/a.md", note("changed"))
    with (root / ".crucible" / "index" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = refreshed(root, VaultSettings(lock_seconds=0.05))
        assert tables_of(found) == rebuilt(root)
        assert found.unsaved == "another process has held the index for 0.05 s"
    assert kinds(refreshed(root).changes) == [("changed", "sessions/a.md")]


# --- asking while others write -----------------------------------------------------------------------------------


def test_a_question_is_asked_again_while_shards_are_replaced(root: Path) -> None:
    """A number stands in two tables, whose files are read one after the other: no answer may mix two states."""
    done, saved = threading.Event(), threading.Event()
    failures: list[BaseException] = []

    def save() -> None:
        index = Index(root, SETTINGS)
        try:
            for number in range(10_000):
                if done.is_set():
                    return
                text = note(f"{number:05}").replace("Take it", f"{number:05}")
                write(root, "new", text).replace(root / "sessions" / "a.md")
                index.refresh([root / "sessions" / "a.md"])
                saved.set()
        except BaseException as error:
            failures.append(error)
            raise

    writer = threading.Thread(target=save)
    writer.start()
    try:
        asker = Index(root, SETTINGS)
        numbers = {asker.ask(partial(numbers_of_a, iter([saved])))[0] for _ in range(60)}
    finally:
        done.set()
        writer.join()
    assert not failures
    assert len(numbers) > 2
    assert all(first in {second, "sessions/a.md"} for first, second in numbers)
    same_as_rebuilt(root)


def numbers_of_a(saved: Iterator[threading.Event], view: View) -> tuple[str, str]:
    """The title of the one note, and the first line of its decision; at first with a save in between."""
    (title,) = [row["title"] for row in view.rows("sessions") if row["id"] == "a"]
    for event in saved:
        event.clear()
        assert event.wait(SECONDS)
    (text,) = [row["text"] for row in view.rows("callouts") if row["path"] == "sessions/a.md"]
    return str(title), str(text).partition("\n")[0]


def test_a_repeated_question_reads_no_note_again(root: Path, reads: Reads) -> None:
    """Files that another writer replaced are no damage."""
    asked = 0

    def question(view: View) -> Tables:
        nonlocal asked
        asked += 1
        if asked == 1:
            write(root, "sessions/a.md", note("changed meanwhile"))
            Index(root, SETTINGS).refresh()
        return tables_of_view(view)

    assert Index(root, SETTINGS).ask(question)[0] == rebuilt(root)
    assert asked == 2
    assert reads.derived[0] == "sessions/a.md"
    assert len(reads.derived) == 1 + 5  # those of the rebuild


def test_what_another_writer_kept_while_the_lock_was_waited_for_stays(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = Index(root, SETTINGS)
    locked = index._folder.locked

    def after_another(seconds: float) -> AbstractContextManager[int]:
        write(root, "sessions/b.md", note("theirs", "2026-10-01T00:00:00Z"))
        write(root, "sessions/deep/theirs.md")
        (root / "sessions" / "deep" / "c.md").unlink()
        Index(root, SETTINGS).refresh()
        return locked(seconds)

    monkeypatch.setattr(index._folder, "locked", after_another)
    write(root, "sessions/a.md", note("ours"))
    assert tables_of(index.refresh()) == rebuilt(root)
    assert tables_of(Index(root, SETTINGS).refresh()) == rebuilt(root)


def test_what_another_writer_added_in_a_month_of_its_own_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file that we need was replaced, so nothing but the manifest tells us of it."""
    root = new_vault(tmp_path / "one")
    write(root, "sessions/a.md")
    wait_for_file_clock()
    refreshed(root)
    index = Index(root, SETTINGS)
    locked = index._folder.locked

    def after_another(seconds: float) -> AbstractContextManager[int]:
        write(root, "sessions/theirs.md", note("theirs", "2020-01-01T00:00:00Z"))
        Index(root, SETTINGS).refresh()
        return locked(seconds)

    monkeypatch.setattr(index._folder, "locked", after_another)
    index.refresh([write(root, "sessions/b.md", note("ours", "2021-01-01T00:00:00Z"))])
    assert tables_of(Index(root, SETTINGS).refresh()) == rebuilt(root)


def test_a_question_that_meets_damage_every_time_ends_with_one_clear_line(root: Path) -> None:
    def question(view: View) -> None:
        raise IndexBroken("x: damaged")

    with pytest.raises(IndexBroken, match="x: damaged"):
        Index(root, SETTINGS).ask(question)
    same_as_rebuilt(root)


def test_what_could_not_be_read_is_tried_again_by_everybody(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody without rights, or without memory, must not decide what others see."""
    real = files.read_bytes

    def refuse(path: Path) -> object:
        if path.name == "a.md":
            raise NoteUnreadable(f"{path}: permission denied")
        return real(path)

    write(root, "sessions/a.md", note("another"))
    with monkeypatch.context() as other:
        other.setattr(files, "read_bytes", refuse)
        rows = {row["id"]: row for row in refreshed(root).view.rows("sessions")}
        assert "permission denied" in str(rows["a"]["unreadable"])
    assert kinds(same_as_rebuilt(root).changes) == [("changed", "sessions/a.md")]


def test_an_index_that_came_with_the_vault_is_not_believed(root: Path, tmp_path: Path) -> None:
    """Who sends us a vault could send rows with it whose hashes fit the notes and whose words do not."""
    refreshed(root)
    index = root / ".crucible" / "index"
    copy = tmp_path / "copy"
    shutil.copytree(index, copy)
    kept = tmp_path / "kept"
    index.rename(kept)
    copy.rename(index)
    assert not Index(root, SETTINGS).token()
    assert len(same_as_rebuilt(root).changes) == len(paths_of(refreshed(root)))


@pytest.mark.parametrize("which", ["manifest.toon", "files", "sessions"])
@pytest.mark.parametrize("kind", ["endless", "pipe"])
def test_a_file_of_the_index_that_is_no_file_is_not_read(root: Path, which: str, kind: str) -> None:
    refreshed(root)
    (path,) = [path for path in (root / ".crucible" / "index").rglob("*.toon") if path.name.startswith(which)][:1]
    path.unlink()
    if kind == "endless":
        path.symlink_to("/dev/zero")
    else:
        os.mkfifo(path)
    write(root, "sessions/new.md")
    same_as_rebuilt(root)
