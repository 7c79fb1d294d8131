"""All lines of a session in the order of events, from wherever they lie.

Owns how the two files are joined, and how what was written after a session had been put away follows what is in its
archive: a record that stands in both, as after a purge that was killed, counts once, and numbers go on.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import orjson

from crucible.core.patterns import late_pattern
from crucible.vault.events.event_files import number_of
from crucible.vault.events.event_paths import EVENTS, TOOLS


class Line(NamedTuple):
    """A line with its end, if it has one; its number (0 when it is no record), and where it stands, from 1."""

    data: bytes
    number: int
    path: Path
    at: int


def numbered(lines: Iterable[bytes], path: Path, start: int = 1) -> Iterator[Line]:
    """The lines of one file, the first of them being the `start`th."""
    for at, data in enumerate(lines, start):
        # A record without its line end is torn: the next writer cuts it off.
        yield Line(data, number_of(data[:-1]) if data.endswith(b"\n") else 0, path, at)


@contextmanager
def folder_lines(folder: Path) -> Iterator[Iterator[Line]]:
    """Both files of a folder in the order of their numbers; what is no record stays behind the record above it.

    They are open from the beginning: what is put away and removed meanwhile is read all the same.
    """
    with ExitStack() as stack:
        files: list[Iterator[tuple[int, Line]]] = []
        for path in (folder / EVENTS, folder / TOOLS):
            with suppress(FileNotFoundError):
                files.append(_rising(numbered(stack.enter_context(path.open("rb")), path)))
        yield (line for _, line in heapq.merge(*files, key=lambda pair: pair[0]))


def after_archived(archived: Iterable[Line], later: Iterable[Line]) -> Iterator[Line]:
    """The archive's lines, then those of the folder that are not among them, numbered on from its last one."""
    known: set[bytes] = set()
    last = shift = 0
    for line in archived:
        known.add(_identity(line))
        last = max(last, line.number)
        yield line
    for line in later:
        if _identity(line) not in known:
            if line.number and line.number + shift <= last:
                shift = last + 1 - line.number
            yield _moved(line, shift) if line.number and shift else line


def _rising(lines: Iterable[Line]) -> Iterator[tuple[int, Line]]:
    highest = 0
    for line in lines:
        highest = max(highest, line.number)
        yield highest, line


_HEAD = late_pattern(rb'\{"seq":\d+,(?:"key":"([0-9a-f]{16})",)?')


def _identity(line: Line) -> bytes:
    """What is the same for two copies of a record though their numbers differ; without a key the rest of the line."""
    found = _HEAD.match(line.data) if line.number else None
    if found and found[1]:
        return bytes(found[1])
    return hashlib.blake2b(line.data[found.end() :] if found else line.data, digest_size=16).digest()


def _moved(line: Line, shift: int) -> Line:
    """The same record with a later number."""
    number = line.number + shift
    found = _HEAD.match(line.data)
    if found:
        data = b'{"seq":%d,' % number + line.data.partition(b",")[2]
    else:
        data = orjson.dumps({**orjson.loads(line.data), "seq": number}) + b"\n"
    return line._replace(data=data, number=number)
