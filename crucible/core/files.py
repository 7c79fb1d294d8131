"""Safe file access: read with a stamp, replace atomically, create without overwriting, and stay in the vault.

A write goes to a temporary file next to its target, which then replaces the target: a crash or full disk leaves either
the old note or the new one.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from crucible.core.errors import (
    NoteChanged,
    NoteExists,
    NoteUnreadable,
    OutsideVault,
    VaultError,
    reason_of,
)
from crucible.core.file_exchange import exchange
from crucible.core.locks import Lock, hold, timed_out
from crucible.core.named_tuples import NamedTuple
from crucible.core.quick_imports import sha256

LARGEST_NOTE = 64 * 1024 * 1024
"""Maximum size of a note in bytes.  Parsing a larger file would take minutes and gigabytes."""

_NO_HARD_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES}
_FULL = {errno.ENOSPC, errno.EDQUOT}
_UNSTABLE_READS = 5
QUIET_NS = 50_000_000
"""Nanoseconds without a write before a file counts as complete.  Editors truncate a file and then write it in parts."""
_LONGEST_WAIT = 10
"""Maximum time to wait for a program that keeps writing, as a multiple of `QUIET_NS`."""


class Stamp(NamedTuple):
    """A file's state when it was read: size in bytes, inode, and times in nanoseconds."""

    size: int
    mtime_ns: int
    ino: int
    ctime_ns: int

    @classmethod
    def of(cls, data: bytes, status: os.stat_result) -> Stamp:
        """Return the stamp of a file that contained `data` when it had `status`."""
        return cls(len(data), status.st_mtime_ns, status.st_ino, status.st_ctime_ns)

    @property
    def identity(self) -> str:
        """The stamp as one word."""
        return f"{self.size}-{self.mtime_ns}-{self.ino}-{self.ctime_ns}"


def inside(root: Path, path: Path) -> Path:
    """Return the real path of `path`, which need not exist, or raise `OutsideVault`.  `root` must be a real path."""
    if "\0" in str(path):
        raise OutsideVault(f"{str(path)!r}: not a valid path")
    real, top = os.path.realpath(path), str(root)
    if real != top and not real.startswith(top.rstrip(os.sep) + os.sep):
        raise OutsideVault(f"{path}: points outside the vault, to {real}", f"the vault is {top}")
    return Path(real)


def read_bytes(path: Path) -> tuple[bytes, Stamp]:
    """Return all bytes of a regular file.  Reads again if another program is writing it."""
    try:
        for _ in range(_UNSTABLE_READS):
            data, before, after = _read_once(path)
            if _identity(before) == _identity(after):
                break
        return data, Stamp.of(data, after)
    except OSError as error:
        raise NoteUnreadable(f"{path}: {reason_of(error)}", _hint(error)) from error


def read_settled(path: Path, known: Collection[str] = ()) -> tuple[bytes, Stamp]:
    """Return a file's bytes once no program is writing it.  Raises `NoteChanged` if one keeps writing.

    A file whose identity is in `known` counts as complete.  A modification time in the future (another machine's clock)
    is treated as now: the file is complete if its content does not change during the wait.
    """
    before: tuple[bytes, Stamp] | None = None
    for _ in range(_LONGEST_WAIT):
        data, stamp = read_bytes(path)
        age = time.time_ns() - stamp.mtime_ns
        if age >= QUIET_NS or (data, stamp) == before or stamp.identity in known:
            return data, stamp
        before = data, stamp
        time.sleep((QUIET_NS - max(age, 0)) / 1e9)
    raise NoteChanged(f"{path}: another program keeps writing to it", "try again after it has finished")


def holds(path: Path, data: bytes) -> bool:
    """Return whether the file currently contains these bytes."""
    try:
        return _read_once(path)[0] == data
    except OSError as error:
        raise NoteUnreadable(f"{path}: {reason_of(error)}", _hint(error)) from error


def stamp_of(path: Path, data: bytes) -> Stamp:
    """Return the stamp of a file that was just written with `data`."""
    try:
        return Stamp.of(data, path.stat())
    except OSError as error:
        raise NoteUnreadable(f"{path}: {reason_of(error)}", _hint(error)) from error


def _read_once(path: Path) -> tuple[bytes, os.stat_result, os.stat_result]:
    # Without O_NONBLOCK, opening a named pipe would block forever.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        before = os.fstat(descriptor)
        _check_is_note(path, before)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(), before, os.fstat(descriptor)
    finally:
        os.close(descriptor)


def _check_is_note(path: Path, status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise NoteUnreadable(f"{path}: is a folder, not a note")
    if not stat.S_ISREG(status.st_mode):
        raise NoteUnreadable(f"{path}: not a regular file")
    if status.st_size > LARGEST_NOTE:
        mega = 1024 * 1024
        raise NoteUnreadable(
            f"{path}: {status.st_size / mega:.0f} MB; notes can have at most {LARGEST_NOTE // mega} MB",
            "split the note, or move it out of the sessions folder",
        )


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


def write_atomic(
    path: Path,
    data: bytes,
    *,
    fsync: bool = True,
    before_replace: Callable[[], None] | None = None,
    expected: bytes | None = None,
) -> None:
    """Atomically replace the content of `path` with `data`, keeping the file's mode and owner.

    `before_replace` is called once all bytes are on disk; if it raises, the old file is kept.  With `expected`, the old
    content must match: otherwise it is restored and `NoteChanged` is raised, on systems that can exchange files.  On
    failure no temporary file remains.  `path` must be real (see `inside`): a symlink would be replaced by a file.  A
    pipe or a device is not replaced.
    """
    with write_errors(path):
        temporary = _write_beside(path, data, fsync, like=path)
        try:
            if before_replace:
                before_replace()
            if expected is None or not _exchanged(temporary, path, data, expected):
                _replace(temporary, path)
            else:
                _remove(temporary)
        except BaseException:
            _remove(temporary)
            raise
        if fsync:
            fsync_folder(path.parent)


def _replace(temporary: Path, path: Path) -> None:
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "not a regular file")
    temporary.replace(path)


def _exchanged(temporary: Path, path: Path, data: bytes, expected: bytes) -> bool:
    """Exchange the files; False if the system cannot.  Raises `NoteChanged` if `path` did not contain `expected`."""
    try:
        if not exchange(temporary, path):
            return False
        if _content(temporary) == expected:
            return True
        exchange(temporary, path)
        if _content(temporary) != data:
            # Another program saved over our version in the meantime; that save is the newest version.
            exchange(temporary, path)
    except FileNotFoundError as error:
        raise NoteChanged(f"{path}: deleted since it was read", "read it again") from error
    raise NoteChanged(f"{path}: changed on disk since it was read", "read it again, then repeat")


def _content(path: Path) -> bytes | None:
    """Return a file's bytes; None for a folder, a symlink, a pipe, or a file that cannot be read."""
    if not stat.S_ISREG(path.lstat().st_mode):
        return None
    try:
        return path.read_bytes()
    except PermissionError:
        return None


def create_exclusive(path: Path, data: bytes, *, fsync: bool = True) -> None:
    """Create a file with `data`, completely or not at all.

    Raises `NoteExists`, and leaves an existing file unchanged.
    """
    with write_errors(path):
        temporary = _write_beside(path, data, fsync, like=None)
        try:
            _rename_exclusive(temporary, path)
        except BaseException:
            _remove(temporary)
            raise
        if fsync:
            fsync_folder(path.parent)


def move_exclusive(old: Path, new: Path, *, fsync: bool = True) -> None:
    """Rename a file without overwriting.  Raises `NoteExists` if there is another file at `new`."""
    if finish_move(old, new):
        return
    with write_errors(new):
        _rename_exclusive(old, new)
        if fsync:
            fsync_folder(new.parent)
            fsync_folder(old.parent)


def finish_move(old: Path, new: Path) -> bool:
    """Complete an interrupted move: if both names are the same file, remove `old`.  False in any other case."""
    with write_errors(new):
        try:
            same = os.path.samestat(old.lstat(), new.lstat())
        except FileNotFoundError:
            return False
        # On a case-insensitive file system, two spellings of a name are also the same file.
        if not same or any(path.name not in os.listdir(path.parent) for path in (old, new)):
            return False
        old.unlink()
        return True


def _rename_exclusive(old: Path, new: Path) -> None:
    try:
        _link_or_claim(old, new)
    except FileExistsError as error:
        raise NoteExists(f"{new}: already exists", "nothing was overwritten; choose another name") from error


def _link_or_claim(old: Path, new: Path) -> None:
    try:
        os.link(old, new)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        _rename_over_claim(old, new)
    else:
        old.unlink()


def _rename_over_claim(old: Path, new: Path) -> None:
    """Rename a file without hard links: create an empty file to reserve the name, then replace it."""
    os.close(_open_new(new))
    try:
        old.replace(new)
    except BaseException:
        _remove(new)
        raise


def make_folders(root: Path, folder: Path) -> Path:
    """Create a folder and its parents, never through a symlink that leaves `root`; return its real path."""
    real = inside(root, folder)
    with write_errors(folder):
        real.mkdir(parents=True, exist_ok=True)
    return real


def remove_leftovers(path: Path) -> None:
    """Remove temporary files that killed writers left next to `path`.  The caller must hold the note's lock."""
    prefix = _temporary_prefix(path)
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            if entry.name.startswith(prefix):
                _remove(Path(entry.path))


@contextmanager
def locked(root: Path, path: Path, timeout: float = 10.0) -> Iterator[Lock]:
    """Hold the lock for a file in the vault; `LockTimeout` after `timeout` seconds.  Not reentrant.

    The lock file is in the vault's cache and named by a hash, since the file itself may not exist yet.  Lock files can
    be deleted whenever no process is writing.
    """
    name = sha256(os.fsencode(os.path.relpath(inside(root, path), root))).hexdigest()[:32]
    folder = make_folders(root, root / ".crucible" / "cache" / "locks")
    with ExitStack() as stack:
        with write_errors(folder):
            held = stack.enter_context(hold(folder / f"{name}.lock", timeout))
        if held is None:
            raise timed_out(path, timeout)
        yield held


def _temporary_prefix(path: Path) -> str:
    # A hash, since the note's name may already have the maximum length.  The leading dot hides the file from Obsidian.
    return f".crucible-{sha256(os.fsencode(path.name)).hexdigest()[:12]}-"


def _open_new(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)


def _write_beside(path: Path, data: bytes, fsync: bool, like: Path | None) -> Path:
    """Write a temporary file next to `path`, with the mode and owner of `like` if it exists."""
    temporary = path.parent / f"{_temporary_prefix(path)}{os.urandom(6).hex()}.tmp"
    descriptor = _open_new(temporary)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if like:
                _copy_mode(like, descriptor)
            if fsync:
                os.fsync(descriptor)
    except BaseException:
        _remove(temporary)
        raise
    return temporary


def _copy_mode(like: Path, descriptor: int) -> None:
    try:
        status = like.stat()
    except FileNotFoundError:
        return
    if hasattr(os, "fchown") and (status.st_uid, status.st_gid) != _owner(descriptor):
        with suppress(PermissionError):
            os.fchown(descriptor, status.st_uid, status.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, stat.S_IMODE(status.st_mode))


def _owner(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_uid, status.st_gid


def fsync_folder(folder: Path) -> None:
    """Fsync a folder so that a rename survives a power failure.  Does nothing on systems that cannot sync folders."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # some network file systems cannot do this
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


@contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """Convert an `OSError` to a `VaultError`."""
    try:
        yield
    except OSError as error:
        raise VaultError(f"{path}: cannot write: {reason_of(error)}", _hint(error)) from error


@contextmanager
def append_errors(path: Path, doing: str = "written") -> Iterator[None]:
    """Convert an `OSError` from appending lines to a file to a `VaultError`."""
    try:
        yield
    except OSError as error:
        hint = "the old file is unchanged; free some space and try again" if error.errno in _FULL else ""
        raise VaultError(f"{path}: cannot be {doing}: {reason_of(error)}", hint) from error


def _hint(error: OSError) -> str:
    if error.errno in _FULL:
        return "the old content is unchanged; free some space and try again"
    return "check the file's permissions" if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS) else ""
