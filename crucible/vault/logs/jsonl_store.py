"""Append-only files of JSON lines in `.crucible`.  Reading is lenient, since git merges some of these files by union.

Order does not matter, and duplicate lines count once.  Anything else, such as a torn line or merge markers, is reported
and skipped.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import orjson

from crucible.core import files
from crucible.core.errors import BadSessionId, CrucibleError, OutsideVault, VaultError
from crucible.core.files import locked
from crucible.core.git import is_commit
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.source import Problem
from crucible.documents.session.session_id import check_session_id

LONGEST_LINE = 1 << 20
"""Maximum bytes in a line.  `cru` never writes longer ones."""

_FLAGS = (
    os.O_RDWR
    | os.O_APPEND
    | os.O_CREAT
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # opening a named pipe would block forever
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_AT, _AT_LENGTH = b'"at":"', 19
_ATTEMPTS = 5
_MEMORY = "memory"
_LOCK_SECONDS = 10.0
"""Seconds to wait for another process."""
_Value = TypeVar("_Value")


class InvalidRecord(ValueError):
    """A line that is JSON but not a valid record.  The message gives a short reason."""


def append_line(
    root: Path, name: str, record: Mapping[str, object], *, fsync: bool = True, folder: str = _MEMORY
) -> None:
    """Append a record to a memory file, created if missing.  The record is on disk when this returns.

    Only one process appends at a time.  If a power failure left a last line without a line end, that line is ended and
    kept.  Raises `LockTimeout`, `OutsideVault` and `VaultError`; the file is then unchanged.
    """
    append_lines(root, name, (record,), fsync=fsync, folder=folder)


def append_lines(
    root: Path,
    name: str,
    records: Iterable[Mapping[str, object]],
    *,
    fsync: bool = True,
    folder: str = _MEMORY,
) -> None:
    """Append several records in one write.  Without records nothing is written."""
    data = b"".join(_line(name, record) for record in records)
    if not data:
        return
    top = Path(os.path.realpath(root))
    path = _path_of(top, name, folder)
    files.make_folders(top, path.parent)
    with files.append_errors(path, "written"), locked(top, path, _LOCK_SECONDS):
        for _ in range(_ATTEMPTS):
            if _append(path, data, fsync=fsync):
                return
    raise VaultError(f"{path}: another program keeps replacing it", "try again after it has finished")


def rewrite_lines(
    root: Path, name: str, change: Callable[[Sequence[bytes]], Sequence[bytes] | None], *, fsync: bool = True
) -> bool:
    """Replace the lines in a file with the result of `change`, in one step; return whether anything changed.

    `change` gets the lines without line ends.  The file is unchanged if it is missing, or if `change` returns None or
    the same lines.  Appenders wait, so no line is lost.  Raises `LockTimeout`, `OutsideVault`, `VaultError`, and
    `NoteChanged` if a program that ignores the lock changed the file; the file is then unchanged.
    """
    top = Path(os.path.realpath(root))
    path = _path_of(top, name)
    if not path.exists():
        return False
    with files.append_errors(path, "written"), locked(top, path, _LOCK_SECONDS):
        files.remove_leftovers(path)
        old = _bytes(path)
        lines = old.removesuffix(b"\n").split(b"\n") if old else []
        changed = change(lines)
        if changed is None or [*changed] == lines:
            return False
        data = b"".join(line + b"\n" for line in changed)
        files.write_atomic(path, data, fsync=fsync, expected=old)
    return True


def read_lines(
    root: Path,
    name: str,
    make: Callable[[Mapping[str, object]], _Value],
    holding: bytes = b"",
    newest: int = 0,
    *,
    folder: str = _MEMORY,
) -> tuple[list[_Value], list[Problem]]:
    """Return the result of `make` for every distinct record, and a problem for every line that is not a record.

    `make` raises `InvalidRecord` to reject a record.  `holding` selects lines that contain these bytes; `newest` keeps
    only that many lines, those with the latest `at`.  A missing file has no records.  Raises `OutsideVault`, and
    `VaultError` if the file cannot be read.
    """
    top = Path(os.path.realpath(root))
    path = _path_of(top, name, folder)
    with files.append_errors(path, "read"):
        data = _bytes(path)
        if data and not data.endswith(b"\n"):  # torn, or currently being written
            with suppress(CrucibleError), locked(top, path, _LOCK_SECONDS):
                data = _bytes(path)
    found: list[_Value] = []
    problems: list[Problem] = []
    lines = _lines(data, holding)
    for number, line in _latest(lines, newest) if newest else lines:
        try:
            found.append(make(record_of(line)))
        except InvalidRecord as error:
            problems.append(Problem("torn-line", number, f"{error}; skipped"))
    return found, problems


def record_of(line: bytes) -> Mapping[str, object]:
    """Parse a line's JSON object; `InvalidRecord` for anything else."""
    if len(line) > LONGEST_LINE:
        raise InvalidRecord("too long for a record")
    try:
        record = orjson.loads(line)
    except ValueError:
        raise InvalidRecord("not a complete JSON line") from None
    if not isinstance(record, dict):
        raise InvalidRecord("not a JSON object")
    return record


def has_lines(root: Path, name: str) -> bool:
    """Return whether the file has content.  Costs one `stat`."""
    return size_of(root, name) > 0


def size_of(root: Path, name: str) -> int:
    """Return the file's size in bytes; 0 if it does not exist."""
    try:
        return (root / ".crucible" / _MEMORY / name).stat().st_size
    except OSError:
        return 0


def _path_of(top: Path, name: str, folder: str = _MEMORY) -> Path:
    """Return the file's path.  Its folder may be a symlink within the vault; the file must not be one."""
    path = top / ".crucible" / folder / name
    if path.is_symlink():
        raise OutsideVault(
            f"{path}: is a symlink; this log must be a regular file", "replace the symlink with a regular file"
        )
    return files.inside(top, path)


def _line(name: str, record: Mapping[str, object]) -> bytes:
    line = orjson.dumps(record) + b"\n"
    if len(line) > LONGEST_LINE:
        raise VaultError(f"{name}: a line of {len(line)} bytes is too long", "shorten the text")
    return line


def _append(path: Path, line: bytes, *, fsync: bool) -> bool:
    """Append to the file; False if its path now refers to another file, for example after a checkout."""
    descriptor = os.open(path, _FLAGS, 0o666)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        size = status.st_size
        torn = size > 0 and not _ends_whole(descriptor, size)
        try:
            _write(descriptor, b"\n" + line if torn else line)
            if fsync:
                os.fsync(descriptor)
        except OSError:
            with suppress(OSError):
                os.ftruncate(descriptor, size)
            raise
        if fsync and not size:
            files.fsync_folder(path.parent)
        with suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(descriptor), path.lstat())
        return False
    finally:
        os.close(descriptor)


def _ends_whole(descriptor: int, size: int) -> bool:
    os.lseek(descriptor, size - 1, os.SEEK_SET)
    return os.read(descriptor, 1) == b"\n"


def _write(descriptor: int, data: bytes) -> None:
    """Write everything, in one call unless the system accepts less at a time."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _bytes(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return file.read()


def _lines(data: bytes, holding: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each distinct line that is not blank, with its line number."""
    seen: set[bytes] = set()
    if holding not in data:
        return
    for number, raw in enumerate(data.split(b"\n"), 1):
        line = raw.strip(b" \t\r")
        if line and holding in line and line not in seen:
            seen.add(line)
            yield number, line


def _latest(lines: Iterable[tuple[int, bytes]], count: int) -> list[tuple[int, bytes]]:
    """Keep the `count` latest lines by the string `at`, which is in UTC: parsing thousands of lines would be slow."""
    found = list(lines)
    if len(found) > count:
        found.sort(key=lambda one: one[1].partition(_AT)[2][:_AT_LENGTH], reverse=True)
        del found[count:]
    return found


Fields = Mapping[str, object]

_WORD = late_pattern(r"[A-Za-z0-9][A-Za-z0-9-]{0,79}\Z")
_DRIVE = late_pattern(r"[A-Za-z]:")


def text_of(fields: Fields, name: str) -> str:
    """Return a string; "" if it is missing."""
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise InvalidRecord(f"`{name}` is not text")
    return value


def word_of(fields: Fields, name: str) -> str:
    """Return an id made of letters, digits and `-`."""
    value = text_of(fields, name)
    if not _WORD.match(value):
        raise InvalidRecord(f"`{name}` is not an id")
    return value


def session_of(fields: Fields) -> str:
    """Return a valid session id."""
    try:
        return check_session_id(text_of(fields, "session"))
    except BadSessionId:
        raise InvalidRecord("`session` is not a session id") from None


def time_of(fields: Fields, name: str) -> datetime:
    """Return an aware time in UTC."""
    try:
        found = datetime.fromisoformat(text_of(fields, name))
        if found.tzinfo is not None:
            return found.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise InvalidRecord(f"`{name}` is not a time with a zone")


def time_text(time: datetime) -> str:
    """Format a time as `2026-11-21T20:26:47Z`, with fractions of a second if known."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")


def number_of(fields: Fields, name: str) -> int:
    """Return an integer of at least 0."""
    value = fields.get(name, 0)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InvalidRecord(f"`{name}` is not a number")
    return value


def commit_of(fields: Fields, name: str) -> str:
    """Return a full commit id, or ""."""
    value = text_of(fields, name)
    if value and not is_commit(value):
        raise InvalidRecord(f"`{name}` is not a commit")
    return value


def is_inner_path(path: str) -> bool:
    """Return whether a relative path with `/` stays inside its folder on every system."""
    parts = path.replace("\\", "/").split("/")
    return bool(path) and not _DRIVE.match(path) and "\0" not in path and not {"", ".", ".."} & {*parts}
