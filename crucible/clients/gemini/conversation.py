"""Gemini CLI's log as the messages to be told, in their order, and what was taken back.

Owns the rules of the log.  A message's record is written again, whole, whenever it grows: the last one counts, in the
place of the first.  `$rewindTo` takes back a message and all behind it.  `$set` changes what the client knows of the
session; what a message says is `messages`'.  Only places are kept here, no words.

`$set` with `messages` replaces the conversation, but the client uses it to keep the log in step with what it sends to
the model: at every start (a resume within the minute writes an empty conversation into the same file), after a rewind,
after a failed request, and when it compacts, with new ids for what it keeps.  None of that undoes what happened, so what
was logged stays; these lists bear `lastUpdated`.  One that does not is an edit, and replaces.
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


@dataclass(slots=True)
class Slot:
    """One message.  `line` is that of its first record.

    `parts` are its parts in the order in which they were written, each with the number of the first record, of this
    message's, that held it; `records` counts those.  `is_talk`: it holds more than results for the model.  `is_back`:
    it was taken out of the conversation.
    """

    id: str
    line: int
    place: Place
    is_talk: bool
    parts: dict[str, int] = field(default_factory=dict)
    records: int = 0
    is_back: bool = False

    def learn(self, message: Row, place: Place) -> None:
        """The message was written again."""
        self.place = place
        for part in part_names(message):
            self.parts.setdefault(part, self.records)
        self.records += 1


@dataclass(frozen=True, slots=True)
class TakenBack:
    """`count` messages were taken out of the conversation; `how` is `rewound` or `replaced`."""

    line: int
    time: datetime | None
    how: str
    count: int


@dataclass(frozen=True, slots=True)
class Damage:
    """A line, or a part of one, that could not be read."""

    line: int
    reason: str


Step: TypeAlias = Slot | TakenBack | Damage


@dataclass(slots=True)
class Conversation:
    """`metadata` is what the client knew of the session last; `summary_line` where it was given its name."""

    metadata: Row = field(default_factory=dict)
    summary_line: int = 0
    steps: list[Step] = field(default_factory=list)


def is_metadata(row: Row) -> bool:
    """Whether an object is a session's: the first line of a log, or a document."""
    return isinstance(row.get("sessionId"), str) and ("projectHash" in row or "startTime" in row)


def read_conversation(log: LogFile) -> Conversation:
    """Go through a log once."""
    reading = _Reading()
    for found in log.records():
        reading.take(found)
    return reading.told


def part_names(message: Row) -> Iterator[str]:
    """What a message holds, as keys that later records of it keep."""
    if message.get("thoughts"):
        yield "thoughts"
    yield "words"
    if message.get("tokens"):
        yield "tokens"
    for number, call in enumerate(as_list(message.get("toolCalls"))):
        yield call_key(as_dict(call), number)


def call_key(call: Row, number: int) -> str:
    """A call's key in its message: its id, or its place where it has none."""
    return f"call {as_str(call.get('id')) or number}"


class _Reading:
    def __init__(self) -> None:
        self.told = Conversation()
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
            self._damage(found, "neither a message nor a change of the session")

    def _damage(self, found: Found, reason: str) -> None:
        self.told.steps.append(Damage(found.line, reason))

    # --- messages ----------------------------------------------------------------------------------------------------

    def _message(self, message: Row, found: Found) -> None:
        self._pass_time(message.get("timestamp"))
        if self._is_copy(message):
            return
        name = self._name(message["id"])
        slot = self._alive.get(name)
        if slot is None:
            slot = self._alive[name] = Slot(name, found.line, found.place, _is_talk(message))
            self.told.steps.append(slot)
        slot.learn(message, found.place)
        self._by_words[_likeness(message)] = name

    def _is_copy(self, message: Row) -> bool:
        """Whether the client writes its history down again, under new ids, as it does when a request was cancelled.

        Such a run of records begins with the context, or with a message of the model's that names no model, and ends with the list.
        """
        by_model = message.get("type") == "gemini"
        begins = is_context(message) or (by_model and isinstance(message.get("content"), list))
        is_new = by_model and bool(message.get("model"))
        self._copying = not is_new and (self._copying or (begins and bool(self._by_words)))
        if not self._copying or message["id"] in self._alive:
            return False
        known = self._by_words.get(_likeness(message))
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
        if as_str(change.get("summary")) != as_str(self.told.metadata.get("summary")) and change.get("summary"):
            self.told.summary_line = found.line
        self.told.metadata.update((key, value) for key, value in change.items() if key != "messages")
        messages = change.get("messages")
        if not isinstance(messages, list):
            return
        self._copying = False
        kept = {self._listed(as_dict(m), found, n) for n, m in enumerate(messages)}
        if "lastUpdated" not in change:
            self._take_back([slot for name, slot in self._alive.items() if name not in kept], "replaced", found)

    def _listed(self, message: Row, found: Found, item: int) -> str:
        """A message of a list; one that was logged is known by its id, or by its words when it got a new one."""
        ident = message.get("id")
        if not isinstance(ident, str):
            self._damage(found, "a message without an id")
            return ""
        name = self._name(ident)
        if name not in self._alive:
            name = self._by_words.get(_likeness(message), name)
        if name in self._alive:
            self._other_names[ident] = name
            self._reword(self._alive[name], message, found, item)
            return name
        place = found.place._replace(item=item)
        self._message(message, found._replace(place=place))
        return name

    def _reword(self, slot: Slot, message: Row, found: Found, item: int) -> None:
        """What the client keeps for the model is shortened and masked; only an edit counts more than the log."""
        if "lastUpdated" not in as_dict((found.row or {}).get("$set")):
            slot.learn(message, found.place._replace(item=item))

    def _rewind(self, ident: str, found: Found) -> None:
        """Take back a message and all behind it; everything when it is not known, as the client does."""
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
            self.told.steps.append(TakenBack(found.line, self._now, how, count))


def _is_talk(message: Row) -> bool:
    parts = parts_of(message.get("content"))
    if message.get("type") == "user":
        return not (parts and all(map(is_response, parts)))
    return message.get("type") == "gemini"


def _likeness(message: Row) -> str:
    """By what a message is known again under another id: who spoke, and the words, or the calls where there are none."""
    content = message.get("content")
    words = text_of(content).strip()
    parts = parts_of(content)
    calls = [as_dict(p.get("functionCall") or p.get("functionResponse")).get("id") for p in parts]
    listed = [as_dict(call).get("id") for call in as_list(message.get("toolCalls"))]
    return row_id(message.get("type"), words or sorted({*map(str, filter(None, [*calls, *listed]))}))
