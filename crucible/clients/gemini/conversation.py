"""Reduce Gemini CLI's log to the messages of the conversation, in order, and the points where messages were removed.

Stores positions in the file instead of text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self, TypeAlias

from crucible.clients.gemini.texts import is_context, is_response, parts_of, row_id, text_of
from crucible.clients.log_files import Record, read_records
from crucible.clients.log_values import Row, as_dict, as_list, as_str, as_time
from crucible.core.errors import TranscriptError

_DECODER = json.JSONDecoder()
_MESSAGES = re.compile(r'"messages"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,]*")


class Place(NamedTuple):
    """The position of a message: its line in bytes, the object in that line, and the list index (-1 if in no list)."""

    offset: int
    length: int
    record: int = 0
    item: int = -1


class Found(NamedTuple):
    """One object with its line (from 1) and position; or None, and the reason why it could not be read."""

    line: int
    place: Place
    row: Row | None
    reason: str = ""


class LogFile:
    """An open log.  Raises `TranscriptError` if it cannot be opened or read."""

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
        """Yield every object of the file, in order."""
        try:
            if self._looks_like_document():
                yield from self._document()
            else:
                yield from self._lines()
        except OSError as error:
            raise TranscriptError(f"{self.path}: {error.strerror or error}") from error

    def fetch(self, place: Place) -> Row:
        """Read a message at a position again; {} if the file has changed in the meantime."""
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
        """Return whether the file is one JSON document: its first line is a single brace or the entire document."""
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
            self._records = list(_readable_messages(data.decode("utf-8", "replace")))
        for number, record in enumerate(self._records):
            yield Found(record.line, Place(0, len(data), number), record.value, record.reason)


def _readable_messages(text: str) -> Iterator[Record]:
    """Yield the messages before the damage in a truncated or damaged document."""
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
    yield Record(line, None, "damaged document; the rest of the file cannot be read")


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


@dataclass(slots=True)
class Slot:
    """One message.  `line` is the line of its first record.

    `parts` maps its parts, in the order they were written, to the number of the first record with the part; `records`
    is the number of records.  `is_talk` is False if the message has only results for the model; `is_back` is True if it
    was removed from the conversation.
    """

    id: str
    line: int
    place: Place
    is_talk: bool
    parts: dict[str, int] = field(default_factory=dict)
    records: int = 0
    is_back: bool = False

    def learn(self, message: Row, place: Place) -> None:
        """Update the message from another record with the same id."""
        self.place = place
        for part in part_names(message):
            self.parts.setdefault(part, self.records)
        self.records += 1


@dataclass(frozen=True, slots=True)
class TakenBack:
    """`count` messages were removed from the conversation; `how` is `rewound` or `replaced`."""

    line: int
    time: datetime | None
    how: str
    count: int


@dataclass(frozen=True, slots=True)
class Damage:
    """A line, or part of one, could not be read."""

    line: int
    reason: str


Step: TypeAlias = Slot | TakenBack | Damage


@dataclass(slots=True)
class Conversation:
    """A session's messages.  `metadata` is the latest metadata; `summary_line` is the line with the summary."""

    metadata: Row = field(default_factory=dict)
    summary_line: int = 0
    steps: list[Step] = field(default_factory=list)


def is_metadata(row: Row) -> bool:
    """Return whether an object describes a session: the first line of a log, or an entire document."""
    return isinstance(row.get("sessionId"), str) and ("projectHash" in row or "startTime" in row)


def read_conversation(log: LogFile) -> Conversation:
    """Read a log in one pass.

    A message's record is written again in full whenever the message grows; the last record counts, at the first one's
    position.  `$rewindTo` removes a message and everything after it.  `$set` changes the session's metadata.

    `$set` with `messages` replaces the conversation only if it has no `lastUpdated`.  Otherwise the client is syncing
    the log with what it sends to the model (at each start, and after a rewind, a failed request or a compaction), so
    the logged messages stay.
    """
    reading = _Reading()
    for found in log.records():
        reading.take(found)
    return reading.conversation


def part_names(message: Row) -> Iterator[str]:
    """Yield the keys of a message's parts, which are the same in all records of the message."""
    if message.get("thoughts"):
        yield "thoughts"
    yield "words"
    if message.get("tokens"):
        yield "tokens"
    for number, call in enumerate(as_list(message.get("toolCalls"))):
        yield call_key(as_dict(call), number)


def call_key(call: Row, number: int) -> str:
    """Return a call's key within its message: its id or, if it has none, its position."""
    return f"call {as_str(call.get('id')) or number}"


class _Reading:
    def __init__(self) -> None:
        self.conversation = Conversation()
        self._alive: dict[str, Slot] = {}
        self._by_words: dict[str, str] = {}
        self._other_names: dict[str, str] = {}
        self._now: datetime | None = None
        self._copying = False

    def take(self, found: Found) -> None:
        row = found.row
        if row is None:
            self._damage(found, found.reason)
        elif isinstance(row.get("$rewindTo"), str):
            self._rewind(row["$rewindTo"], found)
        elif isinstance(row.get("id"), str):
            self._message(row, found)
        elif isinstance(row.get("$set"), dict):
            self._change(row["$set"], found)
        elif isinstance(row.get("sessionId"), str):
            self._change(row, found)
        else:
            self._damage(found, "neither a message nor a session update")

    def _damage(self, found: Found, reason: str) -> None:
        self.conversation.steps.append(Damage(found.line, reason))

    # --- messages ----------------------------------------------------------------------------------------------------

    def _message(self, message: Row, found: Found) -> None:
        self._pass_time(message.get("timestamp"))
        if self._is_copy(message):
            return
        name = self._name(message["id"])
        slot = self._alive.get(name)
        if slot is None:
            slot = self._alive[name] = Slot(name, found.line, found.place, _is_talk(message))
            self.conversation.steps.append(slot)
        slot.learn(message, found.place)
        self._by_words[_content_key(message)] = name

    def _is_copy(self, message: Row) -> bool:
        """Return whether a record repeats history that the client logs again after a cancelled request.

        Such a series of records has new ids.  It begins with the context or with a model message that names no model,
        and ends at the list.
        """
        by_model = message.get("type") == "gemini"
        begins = is_context(message) or (by_model and isinstance(message.get("content"), list))
        is_new = by_model and bool(message.get("model"))
        self._copying = not is_new and (self._copying or (begins and bool(self._by_words)))
        if not self._copying or message["id"] in self._alive:
            return False
        known = self._by_words.get(_content_key(message))
        if known is not None:
            self._other_names[message["id"]] = known
        return known is not None

    def _name(self, ident: str) -> str:
        return self._other_names.get(ident, ident)

    def _pass_time(self, stamp: object) -> None:
        time = as_time(stamp)
        if time and (self._now is None or time > self._now):
            self._now = time

    # --- changes -----------------------------------------------------------------------------------------------------

    def _change(self, change: Row, found: Found) -> None:
        self._pass_time(change.get("lastUpdated"))
        if as_str(change.get("summary")) != as_str(self.conversation.metadata.get("summary")) and change.get("summary"):
            self.conversation.summary_line = found.line
        self.conversation.metadata.update((key, value) for key, value in change.items() if key != "messages")
        messages = change.get("messages")
        if not isinstance(messages, list):
            return
        self._copying = False
        kept = {self._listed(as_dict(m), found, n) for n, m in enumerate(messages)}
        if "lastUpdated" not in change:
            self._take_back([slot for name, slot in self._alive.items() if name not in kept], "replaced", found)

    def _listed(self, message: Row, found: Found, item: int) -> str:
        """Add or update a message from a list, and return its id.

        A logged message is found by its id or, if the id is new, by its text.
        """
        ident = message.get("id")
        if not isinstance(ident, str):
            self._damage(found, "a message without an id")
            return ""
        name = self._name(ident)
        if name not in self._alive:
            name = self._by_words.get(_content_key(message), name)
        if name in self._alive:
            self._other_names[ident] = name
            self._reword(self._alive[name], message, found, item)
            return name
        place = found.place._replace(item=item)
        self._message(message, found._replace(place=place))
        return name

    def _reword(self, slot: Slot, message: Row, found: Found, item: int) -> None:
        """Update a message from a list if the user edited it: other lists are shortened and masked for the model."""
        if "lastUpdated" not in as_dict((found.row or {}).get("$set")):
            slot.learn(message, found.place._replace(item=item))

    def _rewind(self, ident: str, found: Found) -> None:
        """Remove a message and everything after it.  Like the client, remove all messages if the id is unknown."""
        slots = list(self._alive.values())
        name = self._name(ident)
        first = next((number for number, slot in enumerate(slots) if slot.id == name), 0)
        self._take_back(slots[first:], "rewound", found)

    def _take_back(self, slots: list[Slot], how: str, found: Found) -> None:
        for slot in slots:
            slot.is_back = True
            del self._alive[slot.id]
        count = sum(slot.is_talk for slot in slots)
        if count:
            self.conversation.steps.append(TakenBack(found.line, self._now, how, count))


def _is_talk(message: Row) -> bool:
    parts = parts_of(message.get("content"))
    if message.get("type") == "user":
        return not (parts and all(map(is_response, parts)))
    return message.get("type") == "gemini"


def _content_key(message: Row) -> str:
    """Return a key that finds a message with another id: its role and text or, if it has no text, its calls."""
    content = message.get("content")
    words = text_of(content).strip()
    parts = parts_of(content)
    calls = [as_dict(p.get("functionCall") or p.get("functionResponse")).get("id") for p in parts]
    listed = [as_dict(call).get("id") for call in as_list(message.get("toolCalls"))]
    return row_id(message.get("type"), words or sorted({*map(str, filter(None, [*calls, *listed]))}))
