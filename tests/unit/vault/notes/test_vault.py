"""The vault: how references are resolved, and saves that lose no edit."""

from __future__ import annotations

import errno
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crucible.core.errors import (
    AmbiguousSession,
    BadSessionId,
    CrucibleError,
    LockTimeout,
    NoteChanged,
    NoteExists,
    NoteUnreadable,
    OutsideVault,
    SessionNotFound,
    UsageError,
    VaultError,
)
from crucible.core.file_exchange import exchange
from crucible.core.files import Stamp
from crucible.core.settings.settings import VaultSettings
from crucible.documents.markdown.source import Edit, Source, Span, apply_edits
from crucible.vault.notes import vault as store
from crucible.vault.notes.init_vault import init_vault
from crucible.vault.notes.vault import Note, Vault
from samples.waiting import SECONDS, pauses

TEXT = "---\ntype: session\nstatus: active\n---\n\n# A title\n"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    root = tmp_path / "vault"
    init_vault(root, obsidian=False)
    return Vault(root, VaultSettings(fsync=False))


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.md").write_text("secret")
    return folder


def append(text: str) -> Callable[[Note], list[Edit]]:
    def intention(note: Note) -> list[Edit]:
        end = len(note.source.text)
        return [Edit(Span(end, end), text)]

    return intention


# -- what is there


def test_session_notes_are_found_in_any_depth_without_dot_folders(vault: Vault) -> None:
    for name in ("b.md", "2026/11/a.md", "2026/x.MD", "2026/.hidden/h.md", ".dot.md", "note.txt"):
        path = vault.sessions / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (vault.root / "Welcome.md").write_text("x")
    names = ["sessions/2026/11/a.md", "sessions/2026/x.MD", "sessions/b.md"]
    assert [vault.relative(path) for path in vault.session_paths()] == names
    assert [vault.relative(path) for path in vault.note_paths()] == ["Welcome.md", *names]
    assert vault.session_ids() == {"a", "x", "b"}


def test_a_vault_without_its_sessions_folder_has_no_sessions(vault: Vault) -> None:
    vault.sessions.rmdir()
    assert vault.session_paths() == []


def test_folders_that_lead_out_or_in_circles_are_not_walked(vault: Vault, outside: Path) -> None:
    (vault.sessions / "deep").mkdir()
    (vault.sessions / "deep/a.md").write_text("x")
    (vault.sessions / "out").symlink_to(outside)
    (vault.sessions / "deep/circle").symlink_to(vault.sessions)
    (vault.sessions / "again").symlink_to("deep")
    told: list[CrucibleError] = []
    found = vault.session_paths(told.append)
    assert len(found) == 1
    assert found[0].name == "a.md"
    assert [type(error) for error in told] == [OutsideVault]


def test_a_folder_that_cannot_be_listed_is_reported(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    (vault.sessions / "shut").mkdir()
    (vault.sessions / "open").mkdir()
    (vault.sessions / "open/a.md").write_text("x")
    real = os.scandir

    def scandir(path: Path) -> object:
        if Path(path).name == "shut":
            raise PermissionError(13, "Permission denied")
        return real(path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", scandir)
        told: list[CrucibleError] = []
        assert [path.name for path in vault.session_paths(told.append)] == ["a.md"]
        assert str(told[0]) == f"{vault.sessions}/shut: permission denied"
        assert [path.name for path in vault.session_paths()] == ["a.md"]


def test_a_note_that_cannot_be_read_is_listed_all_the_same(vault: Vault, outside: Path) -> None:
    (vault.sessions / "dangling.md").symlink_to("nowhere")
    (vault.sessions / "secret.md").symlink_to(outside / "secret.md")
    os.mkfifo(vault.sessions / "pipe.md")
    assert [path.name for path in vault.session_paths()] == ["dangling.md", "pipe.md", "secret.md"]
    for path in vault.session_paths():
        with pytest.raises((NoteUnreadable, OutsideVault)):
            vault.read(path)


def test_a_link_to_itself_hides_no_other_note(vault: Vault) -> None:
    vault.create("a", TEXT)
    (vault.sessions / "loop.md").symlink_to("loop.md")
    (vault.sessions / "folder").symlink_to("folder")
    told: list[CrucibleError] = []
    assert [path.name for path in vault.session_paths(told.append)] == ["a.md", "loop.md"]
    assert [str(error).partition(": ")[0] for error in told] == [str(vault.sessions / "folder")]
    with pytest.raises(NoteUnreadable, match=r"loop\.md"):
        vault.read(vault.sessions / "loop.md")


def test_a_listing_that_fails_midway_gives_its_first_entries_and_is_reported(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault.create("a", TEXT)
    scandir = os.scandir

    class Broken:
        """A folder of a failing disk."""

        def __init__(self, folder: Path) -> None:
            self.entries = list(scandir(folder))

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None: ...

        def __iter__(self) -> Iterator[os.DirEntry[str]]:
            yield from self.entries
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "scandir", Broken)
    told: list[CrucibleError] = []
    assert [path.name for path in vault.session_paths(told.append)] == ["a.md"]
    assert [str(error) for error in told] == [f"{vault.sessions}: input/output error"]


@pytest.mark.parametrize("target", ["sessions", "gone", "../outside", "../gone"])
def test_a_sessions_folder_that_cannot_be_listed_is_reported(vault: Vault, outside: Path, target: str) -> None:
    vault.sessions.rmdir()
    vault.sessions.symlink_to(target)
    told: list[CrucibleError] = []
    assert vault.session_paths(told.append) == []
    assert [str(vault.sessions) in str(error) for error in told] == [True]
    assert outside.exists()


def test_a_file_in_place_of_the_sessions_folder_is_reported(vault: Vault) -> None:
    vault.sessions.rmdir()
    vault.sessions.write_text("x")
    told: list[CrucibleError] = []
    assert vault.session_paths(told.append) == []
    assert [str(error) for error in told] == [f"{vault.sessions}: not a directory"]


def test_a_vault_needs_a_folder(tmp_path: Path) -> None:
    with pytest.raises(VaultError):
        Vault(tmp_path / "gone")


def test_a_vault_reads_its_own_settings(vault: Vault) -> None:
    (vault.root / ".crucible/config.toml").write_text('[sessions]\nfolder = "Logs"\n')
    assert Vault(vault.root).sessions == vault.root / "Logs"


# -- what a reference means


@pytest.fixture
def three(vault: Vault) -> Vault:
    vault.create("2026-11-21-add-limiter", TEXT)
    vault.create("2026-11-21-add-limiter-2", TEXT, folder="old/deep")
    vault.create("2026-11-22-mend-test", TEXT)
    (vault.root / "Welcome.md").write_text("hello")
    return vault


@pytest.mark.parametrize(
    ("ref", "found"),
    [
        ("2026-11-22-mend-test", "sessions/2026-11-22-mend-test.md"),
        ("2026-11-22", "sessions/2026-11-22-mend-test.md"),
        ("2026-11-21-add-limiter", "sessions/2026-11-21-add-limiter.md"),
        ("2026-11-21-add-limiter-", "sessions/old/deep/2026-11-21-add-limiter-2.md"),
        ("2026-11-22-mend-test.md", "sessions/2026-11-22-mend-test.md"),
        ("2026-11-21-add-limiter-2.md", "sessions/old/deep/2026-11-21-add-limiter-2.md"),
        ("sessions/2026-11-22-mend-test.md", "sessions/2026-11-22-mend-test.md"),
        ("sessions/2026-11-22-mend-test", "sessions/2026-11-22-mend-test.md"),
        ("./old/../2026-11-22-mend-test.md", "sessions/2026-11-22-mend-test.md"),
        ("old/deep/2026-11-21-add-limiter-2", "sessions/old/deep/2026-11-21-add-limiter-2.md"),
        ("Welcome.md", "Welcome.md"),
    ],
)
def test_a_session_is_found_by_id_prefix_or_path(three: Vault, ref: str, found: str) -> None:
    assert three.relative(three.find(ref)) == found


def test_a_path_is_seen_from_the_working_directory_first(three: Vault) -> None:
    (three.root / "other").mkdir()
    (three.root / "other/Welcome.md").write_text("other")
    assert three.find("Welcome.md", cwd=three.root / "other") == three.root / "other/Welcome.md"
    assert three.find("../sessions/2026-11-22-mend-test.md", cwd=three.root / "other").name.startswith("2026-11-22")
    assert three.find(str(three.root / "Welcome.md"), cwd=Path("/")) == three.root / "Welcome.md"


def test_a_path_through_a_symlink_to_the_vault_is_given_from_the_root(three: Vault, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(three.root)
    found = three.find(str(tmp_path / "link/sessions/2026-11-22-mend-test.md"))
    assert three.relative(found) == "sessions/2026-11-22-mend-test.md"


def test_an_ambiguous_prefix_lists_its_candidates(three: Vault) -> None:
    with pytest.raises(AmbiguousSession) as caught:
        three.find("2026-11-2")
    assert caught.value.candidates == [
        "2026-11-21-add-limiter",
        "2026-11-21-add-limiter-2",
        "2026-11-22-mend-test",
    ]
    assert caught.value.exit_code == 2


def test_a_prefix_that_only_subagents_share_means_their_parent(vault: Vault) -> None:
    vault.create("2026-11-21-add", "---\ntype: session\nsession_id: 2026-11-21-add\n---\n")
    for name in ("clock", "tests"):
        vault.create(f"2026-11-21-add-{name}", '---\ntype: session\nparent: "[[2026-11-21-add]]"\n---\n')
    assert vault.find("2026-11-21").name == "2026-11-21-add.md"
    assert vault.find("2026-11-21-add-c").name == "2026-11-21-add-clock.md"
    with pytest.raises(AmbiguousSession):
        vault.find("2026-11-21-add-")


def test_one_id_in_two_folders_is_ambiguous_by_path(three: Vault) -> None:
    (three.sessions / "old/2026-11-22-mend-test.md").write_text("copy")
    with pytest.raises(AmbiguousSession) as caught:
        three.find("2026-11-22-mend-test")
    assert caught.value.candidates == [
        "sessions/2026-11-22-mend-test.md",
        "sessions/old/2026-11-22-mend-test.md",
    ]


@pytest.mark.parametrize("ref", ["", "..", "../keys", "/etc/passwd", "a b", ".hidden", "a\0b", "x" * 129, "a\\b"])
def test_a_malformed_id_is_another_error_than_a_missing_session(three: Vault, ref: str) -> None:
    with pytest.raises(BadSessionId) as caught:
        three.find(ref, cwd=three.root)
    assert caught.value.exit_code == 2
    with pytest.raises(SessionNotFound) as missing:
        three.find("2027-01-01-nothing")
    assert missing.value.exit_code == 1


def test_a_missing_session_names_what_is_near(three: Vault) -> None:
    with pytest.raises(SessionNotFound) as caught:
        three.find("2026-11-22-mend-tset")
    assert caught.value.hint == 'Nearest: 2026-11-22-mend-test. Run "cru session list" to see ids.'
    with pytest.raises(SessionNotFound) as caught:
        three.find("zzz")
    assert "cru session list" in caught.value.hint
    with pytest.raises(SessionNotFound, match=r"gone/x\.md: no such note"):
        three.find("gone/x.md")


def test_a_path_outside_the_vault_is_refused(three: Vault, outside: Path) -> None:
    with pytest.raises(OutsideVault):
        three.find(str(outside / "secret.md"))
    with pytest.raises(OutsideVault):
        three.find("../outside/secret.md", cwd=three.root)
    (three.sessions / "2026-escape.md").symlink_to(outside / "secret.md")
    with pytest.raises(OutsideVault):
        three.load("2026-escape")
    with pytest.raises(OutsideVault):
        three.read(outside / "secret.md")


def test_a_file_with_any_name_is_found_by_its_full_name(vault: Vault) -> None:
    (vault.sessions / "My día (1).md").write_text("x")
    assert vault.load("My día (1)").name == "My día (1)"


def test_a_folder_named_like_a_note_is_a_clear_error(vault: Vault) -> None:
    (vault.sessions / "x.md").mkdir()
    with pytest.raises(NoteUnreadable, match="a folder"):
        vault.load("sessions/x.md")


# -- create


def test_a_created_note_is_read_back(vault: Vault) -> None:
    note = vault.create("2026-x", TEXT, folder="a/b")
    assert vault.relative(note.path) == "sessions/a/b/2026-x.md"
    assert note.source.text == TEXT
    assert note.session.title == "A title"
    assert note == vault.load("2026-x")


def test_exact_bytes_can_be_created(vault: Vault) -> None:
    data = b"\xef\xbb\xbfa\r\n\xff"
    assert vault.create("x", data).path.read_bytes() == data


def test_an_id_is_given_only_once_in_the_vault(vault: Vault) -> None:
    vault.create("x", "one", folder="a")
    (vault.sessions / "b").mkdir()
    (vault.sessions / "b/y.md").write_text("by hand")
    for id_ in ("x", "y"):
        with pytest.raises(NoteExists):
            Vault(vault.root).create(id_, "two")
    with pytest.raises(NoteExists):
        vault.create("x", "two", folder="a")
    assert (vault.sessions / "a/x.md").read_text() == "one"


@pytest.mark.parametrize("folder", ["..", "/abs", "a/../..", ".crucible", "a\\b", "a/.hidden"])
def test_a_note_is_not_created_outside_the_sessions_folder(vault: Vault, folder: str) -> None:
    with pytest.raises(OutsideVault):
        vault.create("x", TEXT, folder=folder)


def test_a_note_is_not_created_through_a_symlink_that_leaves(vault: Vault, outside: Path) -> None:
    (vault.sessions / "out").symlink_to(outside)
    with pytest.raises(OutsideVault):
        vault.create("x", TEXT, folder="out")
    with pytest.raises(OutsideVault):
        vault.create("x", TEXT, folder="out/deep")
    with pytest.raises(BadSessionId):
        vault.create("../x", TEXT)
    assert os.listdir(outside) == ["secret.md"]


# -- save


def test_a_save_touches_only_its_edit(vault: Vault) -> None:
    data = b"\xef\xbb\xbf---\r\nstatus: active\r\n---\r\n\xff tail "
    note = vault.create("x", data)
    at = note.source.text.index("active")
    saved = vault.save(note, [Edit(Span(at, at + 6), "paused")])
    assert saved.path.read_bytes() == data.replace(b"active", b"paused")
    assert saved == vault.load("x")


def test_a_save_without_a_change_writes_nothing(vault: Vault) -> None:
    note = vault.create("x", TEXT)
    assert vault.save(note, []) is note
    assert vault.save(note, [Edit(Span(0, 3), "---")]) is note
    assert vault.update("x", lambda _: []) == note
    assert vault.load("x").stamp == note.stamp


def test_a_save_refuses_what_changed_on_disk(vault: Vault) -> None:
    note = vault.create("x", TEXT)
    note.path.write_text(TEXT + "by a human\n")
    with pytest.raises(NoteChanged):
        vault.save(note, append("by us\n")(note))
    assert note.path.read_text() == TEXT + "by a human\n"
    note.path.unlink()
    with pytest.raises(NoteChanged, match="deleted"):
        vault.save(note, append("by us\n")(note))
    assert os.listdir(vault.sessions) == []


def test_a_human_who_saves_while_we_flush_wins(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last look is taken when our bytes are on disk."""
    vault.settings = VaultSettings(fsync=True)
    note = vault.create("x", TEXT)
    real = os.fsync
    done: list[int] = []

    def fsync(descriptor: int) -> None:
        if not done:
            done.append(note.path.write_text(TEXT + "human\n"))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(NoteChanged):
        vault.save(note, append("us\n")(note))
    assert note.path.read_text() == TEXT + "human\n"
    assert os.listdir(vault.sessions) == ["x.md"]


def test_a_save_through_a_symlink_inside_the_vault_keeps_the_symlink(vault: Vault) -> None:
    vault.create("real", TEXT)
    (vault.sessions / "alias.md").symlink_to("real.md")
    saved = vault.update("alias", append("more\n"))
    assert saved.name == "alias"
    assert (vault.sessions / "alias.md").is_symlink()
    assert (vault.sessions / "real.md").read_text() == TEXT + "more\n"


def test_a_symlink_that_came_to_lead_out_is_not_written_through(vault: Vault, outside: Path) -> None:
    note = vault.create("x", "secret")
    note.path.unlink()
    note.path.symlink_to(outside / "secret.md")
    with pytest.raises(OutsideVault):
        vault.save(note, append("more")(note))
    assert (outside / "secret.md").read_text() == "secret"


def test_a_save_removes_what_a_killed_writer_left(vault: Vault) -> None:
    from crucible.core import files

    note = vault.create("x", TEXT)
    left = vault.sessions / (files._temporary_prefix(note.path) + "dead.tmp")
    left.write_text("half")
    vault.save(note, append("more\n")(note))
    assert os.listdir(vault.sessions) == ["x.md"]


# -- update


def test_an_update_keeps_what_a_human_types_between_reading_and_saving(vault: Vault) -> None:
    note = vault.create("x", TEXT)
    rounds: list[str] = []

    def intention(seen: Note) -> list[Edit]:
        if len(rounds) < 2:
            note.path.write_text(seen.source.text + f"human {len(rounds)}\n")
        rounds.append(seen.source.text)
        return append("us\n")(seen)

    saved = vault.update("x", intention)
    assert saved.source.text == TEXT + "human 0\nhuman 1\nus\n"
    assert len(rounds) == 3


def test_an_update_gives_up_when_the_note_never_rests(vault: Vault) -> None:
    note = vault.create("x", TEXT)

    def intention(seen: Note) -> list[Edit]:
        note.path.write_text(seen.source.text + "human\n")
        return append("us\n")(seen)

    with pytest.raises(NoteChanged):
        vault.update("x", intention, attempts=3)
    assert note.path.read_text() == TEXT + "human\n" * 3
    with pytest.raises(UsageError):
        vault.update("x", intention, attempts=0)


def test_an_update_waits_for_an_editor_that_emptied_the_file_to_fill_it(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = vault.create("x", "")

    sleep = time.sleep

    def editor_finishes(seconds: float) -> None:
        if not note.path.stat().st_size:
            note.path.write_text("human\n")
        sleep(seconds)

    monkeypatch.setattr("crucible.vault.notes.vault.time.sleep", editor_finishes)
    assert vault.update("x", append("us\n")).source.text == "human\nus\n"


def test_an_update_waits_for_an_editor_that_has_written_one_half(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = TEXT + "one half\nthe other half\n"
    path = vault.create("x", TEXT).path
    half, paused = threading.Event(), pauses(monkeypatch)

    def editor() -> None:
        with path.open("w") as file:
            file.write(whole[: len(whole) // 2])
            file.flush()
            half.set()
            assert paused.wait(SECONDS)
            file.write(whole[len(whole) // 2 :])

    writer = threading.Thread(target=editor)
    writer.start()
    half.wait()
    saved = vault.update("x", append("us\n"))
    writer.join()
    assert saved.source.text == path.read_text() == whole + "us\n"


def test_a_save_of_a_note_that_was_read_half_written_is_refused(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    path = vault.create("x", TEXT).path
    path.write_text("half, ")
    half = vault.load("x")

    def editor_finishes(_: float) -> None:
        path.write_text("half, and the rest\n")
        os.utime(path, (0, 0))

    monkeypatch.setattr(time, "sleep", editor_finishes)
    with pytest.raises(NoteChanged):
        vault.save(half, append("us\n")(half))
    assert path.read_text() == "half, and the rest\n"


def test_our_own_writes_and_old_notes_are_not_waited_for(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(_: float) -> None:
        raise AssertionError

    monkeypatch.setattr(time, "sleep", never)
    path = vault.create("x", TEXT).path
    for n in range(3):
        vault.update("x", append(f"{n}\n"))
    os.utime(path, (0, 0))
    assert Vault(vault.root, vault.settings).update("x", append("us\n")).source.text == TEXT + "0\n1\n2\nus\n"


@pytest.mark.timed
def test_a_time_of_writing_in_the_future_is_not_waited_for(vault: Vault) -> None:
    path = vault.create("x", TEXT).path
    ahead = time.time() + 1000
    os.utime(path, (ahead, ahead))
    started = time.monotonic()
    assert vault.update("x", append("us\n")).source.text == TEXT + "us\n"
    assert time.monotonic() - started < 2


def test_a_note_that_is_written_continuously_is_given_up(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    path = vault.create("x", TEXT).path
    slept: list[float] = []

    def somebody_types(seconds: float) -> None:
        slept.append(seconds)
        path.write_text(TEXT + "." * len(slept))

    somebody_types(0)
    monkeypatch.setattr(time, "sleep", somebody_types)
    with pytest.raises(NoteChanged, match="keeps writing"):
        vault.update("x", append("us\n"), attempts=1)
    assert path.read_text() == TEXT + "." * len(slept)
    assert 0 < sum(slept) < 1


@pytest.mark.skipif(not sys.platform.startswith(("linux", "darwin")), reason="needs an exchange of files")
def test_a_human_who_replaces_the_file_after_our_last_look_wins(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    note = vault.create("x", TEXT)

    def late_exchange(one: Path, other: Path) -> bool:
        monkeypatch.undo()
        theirs = vault.sessions / ".theirs"
        theirs.write_text(TEXT + "human\n")
        theirs.replace(note.path)
        return exchange(one, other)

    monkeypatch.setattr("crucible.core.files.exchange", late_exchange)
    assert vault.update("x", append("us\n")).source.text == TEXT + "human\nus\n"
    assert os.listdir(vault.sessions) == ["x.md"]


def test_a_note_on_which_the_reader_fails_is_named(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RecursionError("too deep\nindeed")

    path = vault.create("x", TEXT).path
    monkeypatch.setattr("crucible.documents.session.session_reader.read_session", fail)
    with pytest.raises(NoteUnreadable, match=f"{path}: .*RecursionError: too deep"):
        _ = vault.read(path).session


def test_a_note_that_stays_empty_can_be_edited(vault: Vault) -> None:
    vault.create("x", "")
    assert vault.update("x", append("us\n"), attempts=2).source.text == "us\n"


def test_an_intention_that_raises_leaves_note_and_lock_free(vault: Vault) -> None:
    note = vault.create("x", TEXT)

    def intention(_: Note) -> list[Edit]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        vault.update(note.path, intention)
    assert vault.update(note.path, append("us\n")).source.text == TEXT + "us\n"


def test_a_held_note_times_out_by_the_setting(vault: Vault) -> None:
    note = vault.create("x", TEXT)
    vault.settings = VaultSettings(lock_seconds=0.05)
    with vault.locked(note.path), pytest.raises(LockTimeout):
        Vault(vault.root, vault.settings).save(note, append("us\n")(note))
    assert note.path.read_text() == TEXT


def append_lines(root: str, writer: str, count: int) -> None:
    vault = Vault(Path(root), VaultSettings(fsync=False))
    for n in range(count):
        vault.update("x", append(f"{writer} {n}\n"))


def test_two_processes_that_save_one_note_lose_no_line(vault: Vault) -> None:
    vault.create("x", TEXT)
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=append_lines, args=(str(vault.root), name, 40)) for name in ("left", "right")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    text = vault.load("x").source.text
    assert text.startswith(TEXT)
    lines = text[len(TEXT) :].splitlines()
    for name in ("left", "right"):
        assert [line for line in lines if line.startswith(name)] == [f"{name} {n}" for n in range(40)]
    assert len(lines) == 80


@given(before=st.binary(max_size=200), insert=st.text(max_size=20), at=st.integers(0, 200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_byte_outside_an_edit_survives_a_save(vault: Vault, before: bytes, insert: str, at: int) -> None:
    path = vault.sessions / "x.md"
    path.write_bytes(before)
    note = vault.load("x")
    at = min(at, len(note.source.text))
    inserted = insert.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    vault.save(note, [Edit(Span(at, at), inserted)])
    head = len(note.source.text[:at].encode("utf-8", "surrogateescape")) + 3 * note.source.bom
    assert path.read_bytes() == before[:head] + inserted.encode() + before[head:]


# -- rename


def test_a_renamed_note_keeps_its_bytes_and_folder(vault: Vault) -> None:
    note = vault.create("x", TEXT, folder="a")
    assert vault.rename(note, "y") == vault.sessions / "a/y.md"
    assert [vault.relative(path) for path in vault.session_paths()] == ["sessions/a/y.md"]
    assert vault.load("y").source.text == TEXT


def test_a_rename_overwrites_nothing_and_checks_its_id(vault: Vault) -> None:
    note = vault.create("x", TEXT)
    vault.create("y", "other", folder="b")
    with pytest.raises(NoteExists):
        vault.rename(note, "y")
    with pytest.raises(BadSessionId):
        vault.rename(note, "../y")
    note.path.write_text("changed")
    with pytest.raises(NoteChanged):
        vault.rename(note, "z")
    assert vault.session_ids() == {"x", "y"}


@given(st.binary(max_size=60) | st.text(max_size=40).map(str.encode), st.data())
def test_bytes_that_are_spliced_are_those_that_would_be_encoded(data: bytes, drawn: st.DataObject) -> None:
    source = Source.from_bytes(data)
    places = sorted(drawn.draw(st.lists(st.integers(0, len(source.text)), max_size=6)))
    spans = zip(places[::2], places[1::2], strict=False)
    edits = [Edit(Span(a, b), drawn.draw(st.sampled_from(["", "é", "\udc80", "x→\n"]))) for a, b in spans]
    note = Note(Path("n.md"), source, Stamp.of(data, os.stat_result(range(10))))
    assert store._spliced(note, edits) == apply_edits(source, edits).to_bytes()
