from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from crucible.core.errors import VaultError
from crucible.vault.index.index import Index
from crucible.vault.index.watch import file_events as listening
from crucible.vault.index.watch.changed_notes import KnownNotes, NoteChange
from crucible.vault.index.watch.file_events import FileEvent, Listener, unreported_reason
from crucible.vault.index.watch.watcher import line_of
from crucible.vault.notes.vault import Vault
from tests.journeys.notes import note, write

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="about inotify")


@contextmanager
def _listening(vault: Vault) -> Iterator[Listener]:
    vault.sessions.mkdir(exist_ok=True)
    with closing(Listener(str(vault.sessions))) as listener:
        yield listener


def _heard(listener: Listener, moment: float = 0.2) -> list[FileEvent]:
    """All that is heard until nothing is for a moment, each once."""
    found = []
    while heard := listener.next(moment):
        found.append(heard)
    return list(dict.fromkeys(found))


def test_only_notes_and_folders_send_events(vault: Vault) -> None:
    with _listening(vault) as listener:
        path = write(vault, "a", note("a"))
        for name in ("b.txt", ".hidden.md", ".crucible-1.tmp"):
            (vault.sessions / name).write_text("x")
        (vault.sessions / ".trash").mkdir()
        (vault.sessions / ".trash" / "b.md").write_text("x")
        (vault.sessions / "deep").mkdir()
        expected = [str(path), str(vault.sessions / "deep")]
        assert _heard(listener) == [
            FileEvent(note=expected[0]),
            FileEvent(folder=expected[1]),
        ]
        assert listener.is_sound()


@pytest.mark.parametrize("how", ["written", "replaced", "touched", "removed", "moved away", "made unreadable"])
def test_every_change_of_a_note_sends_an_event(vault: Vault, how: str) -> None:
    path = write(vault, "a", note("a"))
    other = vault.root / "other.md"
    other.write_text("x")
    with _listening(vault) as listener:
        match how:
            case "written":
                path.write_text("y")
            case "replaced":
                other.replace(path)
            case "touched":
                os.utime(path, (1, 1))
            case "removed":
                path.unlink()
            case "moved away":
                path.rename(vault.root / "b.md")
            case _:
                path.chmod(0)
        # Watchdog waits half a second for where a note was moved to.
        assert _heard(listener, 1 if how == "moved away" else 0.2) == [FileEvent(note=str(path))]


def test_reading_notes_sends_no_event(vault: Vault) -> None:
    path = write(vault, "a", note("a"))
    with _listening(vault) as listener:
        path.read_bytes()
        list(vault.sessions.iterdir())
        assert _heard(listener) == []


@on_linux
def test_a_note_written_through_a_mapping_sends_an_event_when_unmapped(vault: Vault) -> None:
    from mmap import mmap

    path = write(vault, "a", note("a"))
    with _listening(vault) as listener:
        with path.open("r+b") as file:
            mapped = mmap(file.fileno(), 0)
        _heard(listener)
        mapped[0:1] = b"x"
        mapped.close()
        assert _heard(listener) == [FileEvent(note=str(path))]


@on_linux
def test_what_watchdog_complains_of_is_a_doubt_and_no_line_on_stderr(
    vault: Vault, capfd: pytest.CaptureFixture[str]
) -> None:
    import logging

    with _listening(vault) as listener:
        assert listener.is_sound()
        logging.getLogger("watchdog.observers.inotify_c").warning("Inotify queue overflowed")
        assert not listener.is_sound()
    assert capfd.readouterr().err == ""


@on_linux
def test_an_unwatched_folder_is_detected(vault: Vault) -> None:
    for name in ("a", "b/c"):
        (vault.sessions / name).mkdir(parents=True)
    folder = str(vault.sessions)
    assert unreported_reason(folder) == "the system allows watching only 0 of 4 folders"
    with _listening(vault):
        assert unreported_reason(folder) == ""


@on_linux
def test_links_are_found_wherever_they_are(vault: Vault) -> None:
    path = write(vault, "deep/a", note("a"))
    (vault.root / "b.md").hardlink_to(path)
    with _listening(vault):
        assert unreported_reason(str(vault.sessions)) == f"{path} has a hard link"
        path.unlink()
        assert unreported_reason(str(vault.sessions)) == ""
        (vault.sessions / "deep" / "c").symlink_to(vault.root)
        assert "deep/c is a symlink" in unreported_reason(str(vault.sessions))


@on_linux
@pytest.mark.parametrize(
    ("mounts", "expected"),
    [
        ([("/", "ext4")], ""),
        ([("/", "ext4"), ("/v", "nfs4")], "nfs4"),
        ([("/v", "nfs4"), ("/", "ext4")], "nfs4"),
        ([("/", "ext4"), ("/v", "nfs4"), ("/v", "xfs")], ""),
        ([("/", "ext4"), ("/v", "fuse.sshfs")], "fuse.sshfs"),
        ([("/", "9p")], "9p"),
        ([], "unknown"),
        ([("/", "ext4"), ("/v/sessions/x", "ext4")], "another file system is mounted"),
        ([("/", "ext4"), ("/v/sessions", "btrfs")], ""),
    ],
)
def test_only_local_file_systems_are_believed(
    monkeypatch: pytest.MonkeyPatch, mounts: list[tuple[str, str]], expected: str
) -> None:
    monkeypatch.setattr(listening, "mounts_of", lambda _: tuple(mounts))
    found = listening.mount_reason("/v/sessions")
    assert (expected in found) if expected else not found


@on_linux
def test_mounts_are_those_above_and_inside(tmp_path: Path) -> None:
    mounts = listening.mounts_of(str(tmp_path))
    assert "/" in [point for point, _ in mounts]
    assert not [point for point, _ in mounts if point.startswith("/proc")]


def test_notes_indexed_by_another_process_are_reported(vault: Vault) -> None:
    memory, index = KnownNotes(), Index(vault.root, vault.settings)
    write(vault, "a", note("a"))
    assert memory.compare(index.refresh(), vault.root, None) == [NoteChange("added", "sessions/a.md", "completed")]
    write(vault, "a", note("a", "prose alone"))
    write(vault, "b", note("b"))
    Index(vault.root, vault.settings).refresh()
    names = {"sessions/a.md", "sessions/b.md", "sessions/never.md"}
    told = memory.compare(index.refresh(), vault.root, names)
    assert [(one.kind, one.path) for one in told] == [
        ("changed", "sessions/a.md"),
        ("added", "sessions/b.md"),
    ]
    assert memory.compare(index.refresh(), vault.root, names) == []
    assert memory.compare(index.refresh(), vault.root, None) == []


@pytest.mark.parametrize("name", ["b", "README", "Ü b", "x,y", "\udcff", "-"])
def test_a_note_is_found_again_by_any_name(vault: Vault, name: str) -> None:
    memory, index = KnownNotes(), Index(vault.root, vault.settings)
    memory.compare(index.refresh(), vault.root, None)
    write(vault, name, note("a"))
    told = memory.compare(index.refresh(), vault.root, {f"sessions/{name}.md"})
    assert [(one.kind, one.path) for one in told] == [("added", f"sessions/{name}.md")]


def test_notes_of_an_index_that_cannot_be_kept_are_news_once(vault: Vault, tmp_path: Path) -> None:
    """Each look finds all of them anew."""
    (tmp_path / "elsewhere").mkdir()
    (vault.root / ".crucible" / "index").symlink_to(tmp_path / "elsewhere")
    memory, index = KnownNotes(), Index(vault.root, vault.settings)
    write(vault, "a", note("a"))
    write(vault, "b", note("b"))
    assert [one.kind for one in _told(memory, index, vault)] == ["added", "added"]
    assert _told(memory, index, vault) == []
    write(vault, "a", note("a", "prose alone"))
    assert [(one.kind, one.path) for one in _told(memory, index, vault)] == [("changed", "sessions/a.md")]
    assert _told(memory, index, vault) == []


def _told(memory: KnownNotes, index: Index, vault: Vault) -> list[NoteChange]:
    return memory.compare(index.refresh(), vault.root, None)


def test_a_note_that_keeps_its_file_or_its_content_is_renamed(vault: Vault) -> None:
    memory, index = KnownNotes(), Index(vault.root, vault.settings)
    one, two = write(vault, "one", note("x", "1")), write(vault, "two", note("x", "2"))
    third = write(vault, "third", note("x", status="paused"))
    _told(memory, index, vault)
    one.rename(vault.sessions / "a.md")
    (vault.sessions / "b.md").write_bytes(two.read_bytes())
    two.unlink()
    third.rename(vault.sessions / "c.md")
    (vault.sessions / "c.md").write_text(note("c", "Edited at once.\n", status="failed"))
    assert _told(memory, index, vault) == [
        NoteChange("renamed", "sessions/a.md", "completed", "sessions/one.md"),
        NoteChange("renamed", "sessions/b.md", "completed", "sessions/two.md"),
        NoteChange("renamed", "sessions/c.md", "failed", "sessions/third.md"),
    ]


def test_another_note_in_the_place_of_one_that_is_gone_is_no_rename(vault: Vault) -> None:
    memory, index = KnownNotes(), Index(vault.root, vault.settings)
    old, undated = write(vault, "old", note("old")), write(vault, "undated", "Words.\n")
    _told(memory, index, vault)
    inode = old.stat().st_ino
    old.rename(vault.sessions / "new.md")
    text = note("old", status="failed").replace("started: 2026", "started: 2025")
    (vault.sessions / "new.md").write_text(text)
    assert (vault.sessions / "new.md").stat().st_ino == inode
    undated.unlink()
    write(vault, "other", "Other words.\n")
    assert [(one.kind, one.path) for one in _told(memory, index, vault)] == [
        ("added", "sessions/new.md"),
        ("removed", "sessions/old.md"),
        ("added", "sessions/other.md"),
        ("removed", "sessions/undated.md"),
    ]


def test_notes_that_nothing_tells_apart_are_not_paired(vault: Vault) -> None:
    memory, index = KnownNotes(), Index(vault.root, vault.settings)
    for name in ("a", "b"):
        write(vault, name, note(name))
    _told(memory, index, vault)
    for name in ("c", "d"):
        write(vault, name, note(name))
    for name in ("a", "b"):
        (vault.sessions / f"{name}.md").unlink()
    assert [one.kind for one in _told(memory, index, vault)] == ["removed", "removed", "added", "added"]


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (OSError(24, "Inotify instance limit reached"), "inotify instance limit reached"),
        (OSError(28, "No space", "/v/sessions"), "/v/sessions: no space"),
        (OSError("odd"), "odd"),
        (VaultError("v: broken"), "v: broken"),
    ],
)
def test_an_error_is_one_line_without_none(error: OSError | VaultError, line: str) -> None:
    assert line_of(error) == line


def test_only_a_watcher_loads_watchdog() -> None:
    code = "import sys, crucible.vault.index.index; print('watchdog' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
