"""Append-only files of JSON lines in `.crucible`, read back leniently, since git merges some of them by union.

Order means nothing in such a file, and a line that stands twice counts once.  Anything else (a torn line, the marks
of a merge) is reported and skipped.
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
"""Bytes.  A longer line is none of ours."""

_FLAGS = (
    os.O_RDWR
    | os.O_APPEND
    | os.O_CREAT
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a named pipe would keep us waiting for ever
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_AT, _AT_LENGTH = b'"at":"', 19
_ATTEMPTS = 5
_MEMORY = "memory"
_PATIENCE = 10.0
"""Seconds that another process is waited for."""
_Value = TypeVar("_Value")


class Unfit(ValueError):
    """A line that is JSON and yet not what it should be; the text says why in a few words."""


def append_line(
    root: Path, name: str, record: Mapping[str, object], *, fsync: bool = True, folder: str = _MEMORY
) -> None:
    """Write a record to the end of a memory file, which is made where it is missing; on disk when this returns.

    One at a time over all processes.  A last line without its end, which a power cut left, is closed first and stays.
    Raises `LockTimeout`, `OutsideVault` and `VaultError`; the file is then as it was.
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
    """The same with several, in one write.  Of none nothing is written."""
    data = b"".join(_line(name, record) for record in records)
    if not data:
        return
    top = Path(os.path.realpath(root))
    path = _place(top, name, folder)
    files.make_folders(top, path.parent)
    with files.append_errors(path, "written"), locked(top, path, _PATIENCE):
        for _ in range(_ATTEMPTS):
            if _append(path, data, fsync=fsync):
                return
    raise VaultError(f"{path}: another program keeps replacing it", "try again when it is done")


def rewrite_lines(
    root: Path, name: str, change: Callable[[Sequence[bytes]], Sequence[bytes] | None], *, fsync: bool = True
) -> bool:
    """Put what `change` makes of the lines, without their ends, in place of them, in one step; whether it did.

    None from `change`, or the same lines, leave the file as it is, and so does one that is not there.  Whoever appends meanwhile waits, so no
    line is lost that was there or comes.  Raises `LockTimeout`, `OutsideVault`, `VaultError`, and `NoteChanged` when a program that
    knows no lock changed the file meanwhile; it is then as it was.
    """
    top = Path(os.path.realpath(root))
    path = _place(top, name)
    if not path.exists():
        return False
    with files.append_errors(path, "written"), locked(top, path, _PATIENCE):
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
    """What `make` makes of every record, each once, and what is no record of ours, by its line.

    `make` raises `Unfit` for a record that it cannot believe.  With `holding` only lines in which these bytes stand are
    looked at, with `newest` so many at most, those with the latest `at`.  A file that is not there has none.  Raises `OutsideVault`, and `VaultError` for what cannot be read at all.
    """
    top = Path(os.path.realpath(root))
    path = _place(top, name, folder)
    with files.append_errors(path, "read"):
        data = _bytes(path)
        if data and not data.endswith(b"\n"):  # torn, or being written at this moment
            with suppress(CrucibleError), locked(top, path, _PATIENCE):
                data = _bytes(path)
    found: list[_Value] = []
    problems: list[Problem] = []
    lines = _lines(data, holding)
    for number, line in _latest(lines, newest) if newest else lines:
        try:
            found.append(make(record_of(line)))
        except Unfit as error:
            problems.append(Problem("torn-line", number, f"{error}; passed over"))
    return found, problems


def record_of(line: bytes) -> Mapping[str, object]:
    """The JSON object of a line; raises `Unfit` for any other."""
    if len(line) > LONGEST_LINE:
        raise Unfit("too long for a line of ours")
    try:
        record = orjson.loads(line)
    except ValueError:
        raise Unfit("no whole line of JSON") from None
    if not isinstance(record, dict):
        raise Unfit("no JSON object")
    return record


def has_lines(root: Path, name: str) -> bool:
    """Whether there may be a record; costs one look at the file's size."""
    return size_of(root, name) > 0


def size_of(root: Path, name: str) -> int:
    """Bytes of the file, 0 where there is none."""
    try:
        return (root / ".crucible" / _MEMORY / name).stat().st_size
    except OSError:
        return 0


def _place(top: Path, name: str, folder: str = _MEMORY) -> Path:
    """The file, whose folder may be a symlink within the vault; never a symlink itself."""
    path = top / ".crucible" / folder / name
    if path.is_symlink():
        raise OutsideVault(f"{path}: a symlink, where lines are kept", "put the file itself there")
    return files.inside(top, path)


def _line(name: str, record: Mapping[str, object]) -> bytes:
    line = orjson.dumps(record) + b"\n"
    if len(line) > LONGEST_LINE:
        raise VaultError(f"{name}: a line of {len(line)} bytes is too long", "say less")
    return line


def _append(path: Path, line: bytes, *, fsync: bool) -> bool:
    """Whether the file that now has the line is still the one with that name: a checkout puts another in its place."""
    descriptor = os.open(path, _FLAGS, 0o666)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "no regular file")
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
    """In one write, but where the system takes less at a time."""
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
            raise OSError(errno.EINVAL, "no regular file")
        return file.read()


def _lines(data: bytes, holding: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers, each text once."""
    seen: set[bytes] = set()
    if holding not in data:
        return
    for number, raw in enumerate(data.split(b"\n"), 1):
        line = raw.strip(b" \t\r")
        if line and holding in line and line not in seen:
            seen.add(line)
            yield number, line


def _latest(lines: Iterable[tuple[int, bytes]], count: int) -> list[tuple[int, bytes]]:
    """By the text of their `at`, which is UTC: reading thousands of lines for a dozen would take most of the time."""
    found = list(lines)
    if len(found) > count:
        found.sort(key=lambda one: one[1].partition(_AT)[2][:_AT_LENGTH], reverse=True)
        del found[count:]
    return found


Fields = Mapping[str, object]

_WORD = late_pattern(r"[A-Za-z0-9][A-Za-z0-9-]{0,79}\Z")
_DRIVE = late_pattern(r"[A-Za-z]:")


def text_of(fields: Fields, name: str) -> str:
    """A text, "" where there is none."""
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise Unfit(f"`{name}` is no text")
    return value


def word_of(fields: Fields, name: str) -> str:
    """An id: letters, digits and `-`."""
    value = text_of(fields, name)
    if not _WORD.match(value):
        raise Unfit(f"`{name}` is no id")
    return value


def session_of(fields: Fields) -> str:
    """A session's id."""
    try:
        return check_session_id(text_of(fields, "session"))
    except BadSessionId:
        raise Unfit("`session` is no session's id") from None


def time_of(fields: Fields, name: str) -> datetime:
    """An aware time, in UTC."""
    try:
        found = datetime.fromisoformat(text_of(fields, name))
        if found.tzinfo is not None:
            return found.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise Unfit(f"`{name}` is no time with a zone")


def time_text(time: datetime) -> str:
    """`2026-11-21T20:26:47Z`, with the parts of a second that are known."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")


def number_of(fields: Fields, name: str) -> int:
    """A number from 0 on."""
    value = fields.get(name, 0)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Unfit(f"`{name}` is no number")
    return value


def commit_of(fields: Fields, name: str) -> str:
    """A commit's whole id, "" for none."""
    value = text_of(fields, name)
    if value and not is_commit(value):
        raise Unfit(f"`{name}` is no commit")
    return value


def is_inner_path(path: str) -> bool:
    """Whether a path, with `/`, leads to something below the folder that it is seen from, on every system."""
    parts = path.replace("\\", "/").split("/")
    return bool(path) and not _DRIVE.match(path) and "\0" not in path and not {"", ".", ".."} & {*parts}
