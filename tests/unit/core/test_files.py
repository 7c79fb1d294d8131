"""Bytes on disk: complete or unchanged, never outside the vault, one writer at a time."""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crucible.core import files
from crucible.core.errors import LockTimeout, NoteChanged, NoteExists, NoteUnreadable, OutsideVault, VaultError
from crucible.core.file_exchange import exchange
from crucible.core.files import locked
from samples.waiting import wait_until
from tests.killing import DEATHS
from tests.paths import ROOT


def litter(folder: Path) -> list[str]:
    return [name for name in os.listdir(folder) if name.startswith(".crucible-")]


@given(data=st.binary(max_size=2000))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_bytes_come_back_as_they_were_written(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "n.md"
    files.write_atomic(path, data, fsync=False)
    read, stamp = files.read_bytes(path)
    assert read == data
    assert stamp.size == len(data)
    assert stamp == files.stamp_of(path, data)


def test_a_write_keeps_the_mode(tmp_path: Path) -> None:
    path = tmp_path / "n.md"
    path.write_bytes(b"old")
    path.chmod(0o640)
    files.write_atomic(path, b"new")
    assert path.stat().st_mode & 0o7777 == 0o640


def test_a_new_note_has_the_mode_that_the_umask_leaves(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        files.create_exclusive(tmp_path / "n.md", b"x")
    finally:
        os.umask(old)
    assert (tmp_path / "n.md").stat().st_mode & 0o7777 == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_write_by_root_keeps_the_owner(tmp_path: Path) -> None:
    path = tmp_path / "n.md"
    path.write_bytes(b"old")
    os.chown(path, 1234, 2345)
    files.write_atomic(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345)


def test_a_write_that_is_called_off_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    path = tmp_path / "n.md"
    path.write_bytes(b"old")

    def refuse() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        files.write_atomic(path, b"new", before_replace=refuse)
    assert path.read_bytes() == b"old"
    assert litter(tmp_path) == []


@pytest.mark.skipif(not sys.platform.startswith(("linux", "darwin")), reason="needs an exchange of files")
def test_what_came_out_unexpected_is_put_back(tmp_path: Path) -> None:
    path = tmp_path / "n.md"
    path.write_bytes(b"theirs")
    inode = path.stat().st_ino
    with pytest.raises(NoteChanged):
        files.write_atomic(path, b"ours", expected=b"old")
    assert (path.read_bytes(), path.stat().st_ino) == (b"theirs", inode)
    path.unlink()
    with pytest.raises(NoteChanged, match="deleted"):
        files.write_atomic(path, b"ours", expected=b"old")
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not sys.platform.startswith(("linux", "darwin")), reason="needs an exchange of files")
@pytest.mark.parametrize("kind", ["folder", "symlink", "pipe"])
def test_what_is_no_file_any_more_is_put_back(tmp_path: Path, kind: str) -> None:
    path, other = tmp_path / "n.md", tmp_path / "other"
    other.write_bytes(b"old")
    make = {"folder": path.mkdir, "symlink": lambda: path.symlink_to(other), "pipe": lambda: os.mkfifo(path)}
    make[kind]()
    inode = path.lstat().st_ino
    with pytest.raises(NoteChanged):
        files.write_atomic(path, b"ours", expected=b"old")
    assert path.lstat().st_ino == inode
    assert sorted(os.listdir(tmp_path)) == ["n.md", "other"]


@pytest.mark.skipif(not sys.platform.startswith(("linux", "darwin")), reason="needs an exchange of files")
def test_of_two_saves_over_ours_the_newest_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "n.md"
    path.write_bytes(b"first")
    calls: list[int] = []

    def late_exchange(one: Path, other: Path) -> bool:
        calls.append(1)
        if len(calls) == 2:
            path.write_bytes(b"second")
        return exchange(one, other)

    monkeypatch.setattr(files, "exchange", late_exchange)
    with pytest.raises(NoteChanged):
        files.write_atomic(path, b"ours", expected=b"old")
    assert path.read_bytes() == b"second"
    assert litter(tmp_path) == []


def test_where_files_cannot_be_exchanged_they_are_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "n.md"
    path.write_bytes(b"old")
    monkeypatch.setattr(files, "exchange", lambda *_: False)
    files.write_atomic(path, b"new", expected=b"old")
    assert path.read_bytes() == b"new"
    assert litter(tmp_path) == []


def test_create_never_overwrites(tmp_path: Path) -> None:
    path = tmp_path / "n.md"
    path.write_bytes(b"old")
    with pytest.raises(NoteExists):
        files.create_exclusive(path, b"new")
    assert path.read_bytes() == b"old"
    assert litter(tmp_path) == []


def test_create_and_move_work_where_there_are_no_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_link(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_link)
    files.create_exclusive(tmp_path / "a.md", b"a")
    with pytest.raises(NoteExists):
        files.create_exclusive(tmp_path / "a.md", b"b")
    files.move_exclusive(tmp_path / "a.md", tmp_path / "b.md")
    assert sorted(os.listdir(tmp_path)) == ["b.md"]
    assert (tmp_path / "b.md").read_bytes() == b"a"


def test_a_claimed_name_is_given_back_when_the_move_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    (tmp_path / "a.md").write_bytes(b"a")
    with pytest.raises(VaultError):
        files.move_exclusive(tmp_path / "gone.md", tmp_path / "b.md")
    assert os.listdir(tmp_path) == ["a.md"]


def test_moving_never_overwrites(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"a")
    (tmp_path / "b.md").write_bytes(b"b")
    with pytest.raises(NoteExists):
        files.move_exclusive(tmp_path / "a.md", tmp_path / "b.md")
    assert ((tmp_path / "a.md").read_bytes(), (tmp_path / "b.md").read_bytes()) == (b"a", b"b")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="file size limits as on Linux")
def test_a_disk_that_refuses_more_leaves_the_old_note_and_no_litter(tmp_path: Path) -> None:
    """A real process that the system stops in the middle of a write: a file size limit."""
    path = tmp_path / "n.md"
    path.write_bytes(b"old")
    script = f"""
import resource
from pathlib import Path
from crucible.core import files
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    files.write_atomic(Path({str(path)!r}), b"n" * 1_000_000)
except Exception as error:
    print(type(error).__name__, error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True, timeout=60
    )
    assert done.stdout.startswith(f"VaultError {path}: cannot write")
    assert path.read_bytes() == b"old"
    assert litter(tmp_path) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "none", disk], capture_output=True, check=False
    ).returncode:
        pytest.skip("may not mount a small file system")
    yield disk
    subprocess.run(["umount", disk], check=True)


def test_a_full_disk_leaves_the_old_note_and_no_litter(small_disk: Path) -> None:
    path = small_disk / "n.md"
    path.write_bytes(b"o" * 300_000)
    with pytest.raises(VaultError, match="no space left") as caught:
        files.write_atomic(path, b"n" * 900_000)
    assert "free some space" in caught.value.hint
    assert path.read_bytes() == b"o" * 300_000
    with pytest.raises(VaultError, match="no space left"):
        files.create_exclusive(small_disk / "m.md", b"n" * 900_000)
    assert os.listdir(small_disk) == ["n.md"]


def test_a_full_disk_is_a_clear_line_wherever_it_strikes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "n.md"
    path.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(VaultError, match="no space left"):
        files.write_atomic(path, b"new")
    assert os.listdir(tmp_path) == ["n.md"]
    assert path.read_bytes() == b"old"


WRITER = """
import itertools, sys
from pathlib import Path
from crucible.core import files
path = Path(sys.argv[1])
print("ready", flush=True)
for n in itertools.count():
    files.write_atomic(path, b"%d\\n" % (n % 10) * 200_000, fsync=False, expected=path.read_bytes())
    print(n, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_killed_writers_leave_the_old_note_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "n.md"
    path.write_bytes(b"0\n" * 200_000)
    for round_ in range(DEATHS + 1):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE, cwd=ROOT)
        assert writer.stdout
        with writer, writer.stdout:
            writer.stdout.readline()
            names = set(os.listdir(tmp_path))
            for _ in range(round_ % 5):
                writer.stdout.readline()
            if round_ % 2:  # in the middle of a write
                wait_until(lambda: set(os.listdir(tmp_path)) - names, pause=0)  # noqa: B023
            writer.send_signal(signal.SIGKILL)
        data = path.read_bytes()
        assert len(data) == 400_000
        assert data == data[:2] * 200_000
    files.remove_leftovers(path)
    assert os.listdir(tmp_path) == ["n.md"]


def test_leftovers_of_other_notes_stay(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine.md", tmp_path / "other.md"
    kept = tmp_path / (files._temporary_prefix(other) + "x.tmp")
    gone = tmp_path / (files._temporary_prefix(mine) + "x.tmp")
    kept.write_bytes(b"")
    gone.write_bytes(b"")
    files.remove_leftovers(mine)
    assert os.listdir(tmp_path) == [kept.name]


def test_a_name_as_long_as_the_file_system_allows_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 252 + ".md")
    files.create_exclusive(path, b"a")
    files.write_atomic(path, b"b")
    assert path.read_bytes() == b"b"


def test_a_file_that_changes_while_it_is_read_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "n.md"
    path.write_bytes(b"half")
    real_fstat, calls = os.fstat, []

    def fstat(descriptor: int) -> os.stat_result:
        calls.append(descriptor)
        if len(calls) == 2:
            path.write_bytes(b"half and whole")
        return real_fstat(descriptor)

    monkeypatch.setattr(os, "fstat", fstat)
    assert files.read_bytes(path)[0] == b"half and whole"


def test_a_folder_in_place_of_a_note_is_reported(tmp_path: Path) -> None:
    (tmp_path / "x.md").mkdir()
    with pytest.raises(NoteUnreadable, match=r"x\.md: is a folder"):
        files.read_bytes(tmp_path / "x.md")


def test_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.md")
    with pytest.raises(NoteUnreadable, match="not a regular file"):
        files.read_bytes(tmp_path / "x.md")


def test_a_missing_note_is_unreadable_by_name(tmp_path: Path) -> None:
    with pytest.raises(NoteUnreadable, match=r"gone\.md: no such file"):
        files.read_bytes(tmp_path / "gone.md")
    with pytest.raises(NoteUnreadable, match=r"gone\.md: no such file"):
        files.stamp_of(tmp_path / "gone.md", b"")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_note_without_permission_is_unreadable_by_name(tmp_path: Path) -> None:
    path = tmp_path / "n.md"
    path.write_bytes(b"x")
    path.chmod(0)
    with pytest.raises(NoteUnreadable, match=r"n\.md: permission denied"):
        files.read_bytes(path)


def test_permission_denied_says_what_to_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    with pytest.raises(NoteUnreadable, match="permission denied") as caught:
        files.read_bytes(tmp_path / "n.md")
    assert "permissions" in caught.value.hint
    with pytest.raises(VaultError, match="permission denied"):
        files.write_atomic(tmp_path / "n.md", b"")


def test_a_note_of_fifty_megabytes_is_read_and_one_beyond_the_limit_is_refused_in_one_line(
    tmp_path: Path,
) -> None:
    path = tmp_path / "big.md"
    with path.open("wb") as file:
        file.truncate(50 * 1024 * 1024)
    assert files.read_bytes(path)[1].size == 50 * 1024 * 1024
    with path.open("r+b") as file:
        file.truncate(files.LARGEST_NOTE + 1)
    with pytest.raises(NoteUnreadable, match=r"big\.md: 64 MB; notes can have at most 64 MB"):
        files.read_bytes(path)


@pytest.mark.parametrize("path", ["../x.md", "/etc/passwd", "out/x.md", "out", "deep/../../x.md", "a\0b"])
def test_paths_that_leave_the_vault_are_refused(tmp_path: Path, path: str) -> None:
    root, outside = tmp_path / "vault", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "out").symlink_to(outside)
    with pytest.raises(OutsideVault):
        files.inside(root, root / path)


def test_a_folder_that_only_begins_like_the_vault_is_outside(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault2").mkdir()
    with pytest.raises(OutsideVault):
        files.inside(tmp_path / "vault", tmp_path / "vault2" / "x.md")


def test_symlinks_within_the_vault_are_followed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").symlink_to("a")
    assert files.inside(tmp_path, tmp_path / "b" / "x.md") == tmp_path / "a" / "x.md"


def test_folders_are_not_made_through_a_symlink_that_leaves(tmp_path: Path) -> None:
    root, outside = tmp_path / "vault", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "out").symlink_to(outside)
    with pytest.raises(OutsideVault):
        files.make_folders(root, root / "out" / "deep")
    assert os.listdir(outside) == []


def hold(root: str, path: str, *events: multiprocessing.synchronize.Event) -> None:
    ready, release = events
    with locked(Path(root), Path(path)):
        ready.set()
        release.wait()


def test_a_lock_held_by_another_process_times_out_and_comes_free(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    ready, release = context.Event(), context.Event()
    note = tmp_path / "n.md"
    holder = context.Process(target=hold, args=(str(tmp_path), str(note), ready, release))
    holder.start()
    assert ready.wait(30)
    with pytest.raises(LockTimeout, match=r"n\.md"), locked(tmp_path, note, timeout=0.1):
        pytest.fail("two processes hold one lock")
    with locked(tmp_path, tmp_path / "other.md", timeout=0):
        pass
    release.set()
    with locked(tmp_path, note, timeout=30):
        pass
    holder.join()
    assert holder.exitcode == 0


def test_locks_lie_in_the_cache_and_not_beside_the_note(tmp_path: Path) -> None:
    with locked(tmp_path, tmp_path / "sessions" / "n.md"):
        assert os.listdir(tmp_path) == [".crucible"]
        assert len(os.listdir(tmp_path / ".crucible" / "cache" / "locks")) == 1


def test_a_lock_is_not_made_outside_the_vault(tmp_path: Path) -> None:
    root, outside = tmp_path / "vault", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / ".crucible").symlink_to(outside)
    with pytest.raises(OutsideVault), locked(root, root / "n.md"):
        pass
    assert os.listdir(outside) == []
