"""Gemini CLI's files as objects: a log of JSON lines, or the one JSON document that versions before it wrote.

Owns bytes to objects and back to one of them again; what an object does to the conversation is `conversation`'s.  A log
is held a line at a time; a document is one object and is held whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from crucible.clients.jsonl_reader import Record, read_records
from crucible.clients.log_values import Row, as_dict, as_list
from crucible.core.errors import TranscriptError

_DECODER = json.JSONDecoder()
_MESSAGES = re.compile(r'"messages"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,]*")


class Place(NamedTuple):
    """Where a message stands: a line of the file, the object in it, the message in its list (-1: the object itself)."""

    offset: int
    length: int
    record: int = 0
    item: int = -1


class Found(NamedTuple):
    """One object, its line (from 1) and its place; or None and the reason why it could not be read."""

    line: int
    place: Place
    row: Row | None
    reason: str = ""


class LogFile:
    """A file, open.  Raises `TranscriptError` when it cannot be opened or read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._stream = path.open("rb", buffering=1 << 18)
        except OSError as error:
            raise TranscriptError(f"{path}: {error.strerror or error}") from error
        self._is_document = False
        self._at = -1
        self._records: list[Record] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()

    def records(self) -> Iterator[Found]:
        """Every object of the file, in order."""
        try:
            if self._looks_like_document():
                yield from self._document()
            else:
                yield from self._lines()
        except OSError as error:
            raise TranscriptError(f"{self.path}: {error.strerror or error}") from error

    def fetch(self, place: Place) -> Row:
        """The message at a place again; an empty one when the file was changed in the meantime."""
        if place.offset != self._at and not self._is_document:
            try:
                self._stream.seek(place.offset)
                raw = self._stream.read(place.length)
            except OSError as error:
                raise TranscriptError(f"{self.path}: {error.strerror or error}") from error
            self._at, self._records = place.offset, list(read_records([raw]))
        found = self._records[place.record : place.record + 1]
        row = as_dict(found[0].value) if found else {}
        if place.item < 0:
            return row
        messages = as_list(as_dict(row.get("$set")).get("messages") or row.get("messages"))
        return as_dict(messages[place.item]) if place.item < len(messages) else {}

    def _lines(self) -> Iterator[Found]:
        offset = 0
        for line, raw in enumerate(self._stream, 1):
            for number, record in enumerate(read_records([raw])):
                yield Found(line, Place(offset, len(raw), number), record.value, record.reason)
            offset += len(raw)

    # --- the older format --------------------------------------------------------------------------------------------

    def _looks_like_document(self) -> bool:
        """A log's first line is a whole object; a document's is its first brace, or all of it."""
        head = self._stream.readline().strip()
        more = self._stream.readline().strip()
        self._stream.seek(0)
        return head == b"{" or (self.path.suffix == ".json" and not more)

    def _document(self) -> Iterator[Found]:
        data = self._stream.read()
        self._is_document = True
        self._records = list(read_records([data]))
        whole = len(self._records) == 1 and self._records[0].value is not None
        if not whole:
            self._records = list(_saved(data.decode("utf-8", "replace")))
        for number, record in enumerate(self._records):
            yield Found(record.line, Place(0, len(data), number), record.value, record.reason)


def _saved(text: str) -> Iterator[Record]:
    """The messages of a document that was cut or damaged, as far as they can be read one after another."""
    opening = _MESSAGES.search(text)
    at = opening.end() if opening else len(text)
    line = 1
    while at < len(text):
        at = _end(_BETWEEN, text, at)
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        if not isinstance(value, dict):
            break
        yield Record(line, value)
        line += 1
    yield Record(line, None, "a damaged document; what comes behind this cannot be read")


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
