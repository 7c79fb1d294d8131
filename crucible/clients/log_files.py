"""The files of a client's session, and a reader for JSON lines that repairs damage which clients leave in practice.

Damaged lines never raise: they become records with a reason.
"""

from __future__ import annotations

import io
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from hashlib import blake2s
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from crucible.clients.events import At, Event, Unreadable
from crucible.clients.log_values import Row, as_time
from crucible.core.errors import TranscriptError
from crucible.core.secrets.scanner import Scanner

NO_OBJECT = "not an object"
"""Why a row that is another JSON value cannot be read."""
_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n\x00"
_LONGEST = 1 << 27
"""Maximum size of a line in bytes; clients reject messages a quarter of this size."""
_PIECE = 1 << 20
_TOO_LONG = b"{ too long"
_DECODER = json.JSONDecoder()
_SURROGATES = re.compile(
    r"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_RESTART = '{"parentUuid":'
"""The beginning of most Claude Code rows.  It never occurs inside a row, so reading resumes there after a truncated
row."""


class LogPlace(NamedTuple):
    """A place between two lines of a log: the byte offset, the lines above it, and the reader's state there."""

    offset: int
    lines: int
    state: Any


class Resume(NamedTuple):
    """Read a log from `start`, None for its beginning; `keep` is called once, with the first place from `keep_at` on."""

    start: LogPlace | None
    keep_at: int
    keep: Callable[[LogPlace], None]


class Record(NamedTuple):
    """One object from line `line` (from 1), or None and the reason why the line could not be read."""

    line: int
    value: dict[str, Any] | None
    reason: str = ""


def read_file(path: Path) -> Iterator[Record]:
    """Yield the records of a file.  Raises `TranscriptError` if the file itself cannot be opened or read."""
    try:
        with path.open("rb", buffering=1 << 18) as stream:
            yield from read_records(stream)
    except OSError as error:
        raise TranscriptError(f"{path}: {error.strerror or error}") from error


def events_of(
    records: Iterable[Record], read: Callable[[int, Row], Iterable[Event]], agent: str | None = ""
) -> Iterator[Event]:
    """Yield the events of records; `read` returns those of one row, and a damaged record becomes `Unreadable`.

    `agent` is the subagent of the records; None if they are also the trunk's, which reports damage.
    """
    for line, row, reason in records:
        if row is not None:
            yield from read(line, row)
        elif agent is not None:
            yield Unreadable(At(line, agent=agent), reason)


def rows_with(path: Path, word: bytes) -> Iterator[Row]:
    """Yield the rows whose lines contain a word; only these are parsed.  A file that cannot be read has none."""
    with suppress(OSError), path.open("rb") as stream:
        yield from (record.value for record in read_records(line for line in stream if word in line) if record.value)


def read_places(path: Path, resume: Resume, state: Callable[[], object]) -> Iterator[Record]:
    """Yield the records of a file from a place on.  Raises `TranscriptError` like `read_file`.

    `state` returns the reader's state, which must cover every record that it has got.
    """
    start, keep_at, keep = resume
    above, end, last = (start.lines, start.offset, start.lines) if start else (0, 0, 0)
    try:
        with path.open("rb", buffering=1 << 18) as stream:
            stream.seek(end)
            for number, value, reason in read_records(stream):
                line = number + above
                # A damaged line may hold several records.
                if last < line and end >= keep_at >= 0:
                    keep(LogPlace(end, last, state()))
                    keep_at = -1
                last, end = line, stream.tell()
                yield Record(line, value, reason)
    except OSError as error:
        raise TranscriptError(f"{path}: {error.strerror or error}") from error


def read_records(lines: Iterable[bytes]) -> Iterator[Record]:
    """Yield the records of an open binary file, or of any byte lines with their line breaks.

    Holds one line at a time; an overlong line, as in a sparse file, is skipped in pieces.
    """
    loads = orjson.loads
    for number, line in enumerate(_bounded(lines) if isinstance(lines, io.IOBase) else lines, 1):
        try:
            value = loads(line)
        except ValueError:
            yield from _repair(number, line)
            continue
        if isinstance(value, dict):
            yield Record(number, value)
        else:
            yield Record(number, None, NO_OBJECT)


def _bounded(stream: io.IOBase) -> Iterator[bytes]:
    """Yield the lines of a file; `_TOO_LONG` replaces a line over the limit."""
    readline = stream.readline
    while line := readline(_LONGEST):
        if len(line) == _LONGEST and not line.endswith(b"\n"):
            while (piece := readline(_PIECE)) and not piece.endswith(b"\n"):
                pass
            yield _TOO_LONG
        else:
            yield line


def _repair(number: int, line: bytes) -> Iterator[Record]:
    """Yield what can be recovered from a line that is not one JSON value, with at most one reason per line.

    Handles two objects on one line, a complete row after a truncated one, unpaired surrogates, and NUL bytes after a
    power failure.
    """
    if line is _TOO_LONG:
        yield Record(number, None, f"a line is longer than {_LONGEST >> 20} MB")
        return
    data = line.strip(_BLANK).removeprefix(_BOM)
    if not data:
        if b"\x00" in line:
            yield Record(number, None, "NUL bytes")
        return
    text = _SURROGATES.sub(_replace_surrogate, data.decode("utf-8", "replace"))
    at, complained = 0, False
    while 0 <= at < len(text):
        value, end, reason = _decode(text, at)
        if value is not None:
            yield Record(number, value)
            at = _skip_blank(text, end)
        elif complained:
            return
        else:
            cut = end < 0 and not line.endswith(b"\n")
            yield Record(number, None, "incomplete at the end of the file" if cut else reason)
            at, complained = text.rfind(_RESTART, at + 1), True


def _replace_surrogate(found: re.Match[str]) -> str:
    return found.group(1) or "\\ufffd"


def _decode(text: str, at: int) -> tuple[dict[str, Any] | None, int, str]:
    """Return the object at an offset, its end and ""; or None, -1 for invalid JSON (else 0), and the reason."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except RecursionError:
        return None, 0, "nested too deeply"
    except json.JSONDecodeError as error:
        return None, -1, f"not JSON: {error.msg} at character {error.pos + 1}"
    except ValueError:  # a number with more digits than int() accepts
        return None, 0, "a number is too long"
    if isinstance(value, dict):
        return value, end, ""
    return None, 0, NO_OBJECT


def _skip_blank(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n\x00":
        at += 1
    return at


DEEPEST = 20
"""Maximum depth of folders to search: deeper than any client's, but limited because users may name any folder."""


@dataclass(frozen=True, slots=True)
class SubagentFile:
    """The log of one subagent.

    `agent` is its id, as in `At.agent` and `SubagentStarted.agent`.  `kind`, `description` and `call` (the id of the
    call that started it) are "" if the client stores no metadata for it.  `run` is the client's workflow run; `depth`
    counts from 1 and is 0 if unknown.
    """

    agent: str
    path: Path
    kind: str = ""
    description: str = ""
    call: str = ""
    run: str = ""
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Transcript:
    """One native session: its main log (the trunk) and the logs of its subagents, sorted by file name.

    If a client keeps many sessions in one file (a database), `path` is that file, also for subagents; `native_id` and a
    subagent's `agent` distinguish them.

    `follows` is the native id of the session that this one continues and whose rows it may repeat, or "".
    `followed_by` are the ids of sessions that continue this one; set only if a single session was looked up.
    `last` is when the session was last written, and `size` how long it is, subagents included: for a database that
    tells them of all its sessions at once.
    """

    client: str
    native_id: str
    path: Path
    subagents: tuple[SubagentFile, ...] = ()
    follows: str = ""
    followed_by: tuple[str, ...] = ()
    last: datetime | None = None
    size: int = 0

    @property
    def source(self) -> str:
        """The session's name for a note's `sources`."""
        return source_name(self.client, self.native_id)

    def path_of(self, agent: str = "") -> Path:
        """Return the file with a log: the trunk's for "" and for a subagent without its own file."""
        return next((file.path for file in self.subagents if agent and file.agent == agent), self.path)


class Wanted(NamedTuple):
    """The sessions of a database to find: the one with an id, or those written since a time; by default all.

    More may be found.
    """

    session: str = ""
    since: datetime | None = None


ALL_SESSIONS = Wanted()


class Reach(NamedTuple):
    """How far a transcript goes: its last timestamp, its size in bytes, and the id of its first row ("" if unknown).

    If two copies of a session begin with the same row, the one that goes further is imported.
    """

    last: datetime | None
    size: int
    first: str = ""


_ROW = re.compile(rb'"(?:uuid|id)"\s*:\s*"([^"]+)"')
_STAMP = re.compile(rb'"timestamp"\s*:\s*"([^"]{10,40})"')
_TAIL = 1 << 16


def reach_of_lines(path: Path) -> Reach:
    """Return the reach of a file of JSON lines whose rows have a `timestamp` and a `uuid` or `id`."""
    size = path.stat().st_size
    with path.open("rb") as file:
        first = _ROW.search(file.read(_TAIL))
        file.seek(max(0, size - _TAIL))
        times = (as_time(stamp.decode("ascii", "replace")) for stamp in _STAMP.findall(file.read()))
        last = max((time for time in times if time), default=None)
    return Reach(last, size, first[1].decode("utf-8", "replace") if first else "")


def reach_of_log(transcript: Transcript) -> Reach:
    """Return how far a transcript in a file of JSON lines goes.  Raises `OSError` if it does not exist."""
    return reach_of_lines(transcript.path)


def check_reachable(path: Path) -> None:
    """Raise `TranscriptError` for what is no file and no folder: opening a pipe or a device may block."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise TranscriptError(f"{path}: {error.strerror or error}") from error
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise TranscriptError(f"{path}: not a regular file")


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the regular files in a folder and its subfolders, sorted by name.

    Symlinks to folders are not followed.  Pipes and devices are left out: opening one may block.
    """
    yield from _regular_files(folder, DEEPEST)


def _regular_files(folder: Path, depth: int) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    yield from (folder / entry.name for entry in entries if entry.is_file())
    if depth:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _regular_files(folder / entry.name, depth - 1)


def find_files(
    path: Path, is_log: Callable[[Path], bool], transcript: Callable[[Path], Transcript]
) -> Iterator[Transcript]:
    """Yield the transcript of a file, or of the files below a folder for which `is_log` is true.

    Raises `TranscriptError` for a path that does not exist, may not be read, or is no file and no folder.
    """
    check_reachable(path)
    if path.is_dir():
        yield from (transcript(file) for file in files_below(path) if is_log(file))
    else:
        yield transcript(path)


def first_rows(path: Path, limit: int = 5, size: int = _TAIL) -> list[dict[str, Any]]:
    """Return the objects in a file's first lines; empty if the file cannot be read."""
    records = read_records(head_of(path, size).split(b"\n"))
    return [record.value for record in islice(records, limit) if record.value is not None]


def head_of(path: Path, size: int) -> bytes:
    """Return the first bytes of a file, b"" if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError:
        return b""


_ODD = re.compile(r"[^A-Za-z0-9_.+/@=~-]")


@lru_cache(maxsize=1 << 14)
def source_name(client: str, native_id: str, agent: str = "") -> str:
    """Return the session's name for a note's `sources`: `claude-code:<native id>`, plus `/<agent id>` for a subagent.

    Secrets are removed, and unusual characters become `-`; a hash then keeps names distinct.
    """
    return f"{client}:{'/'.join(_plain_id(part) for part in (native_id, agent) if part)}"


def _plain_id(raw: str) -> str:
    clean = raw if len(raw) < _SHORTEST_SECRET or _UUID.fullmatch(raw) else _scanner().redact(raw)[0]
    plain = _ODD.sub("-", clean)
    if plain == raw:
        return raw
    return f"{plain}-{blake2s(raw.encode('utf-8', 'surrogatepass'), digest_size=3).hexdigest()}"


_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SHORTEST_SECRET = 12


@cache
def _scanner() -> Scanner:
    return Scanner()
