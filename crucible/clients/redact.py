"""Redact every event before any part of it is written to a note or to the event log.

The rules for secrets are in `crucible.core.secrets`; this module walks an event's text.  Every event passes a
`Redactor` before a writer gets it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from typing import TypeAlias, TypeVar

from crucible.clients.events import (
    Choice,
    Event,
    Prompted,
    PromptKind,
    QuestionsAnswered,
    TaskState,
    ToolReturned,
    ToolUsed,
)
from crucible.clients.registry import ASKING_TOOLS
from crucible.core.secrets.redaction import PRIVATE, PRIVATE_MARK, PrivateText, hide_private
from crucible.core.secrets.scanner import Scanner
from crucible.core.settings.settings import SecretSettings

_ASKING_TOOLS = frozenset(map(str.casefold, ASKING_TOOLS))
_SPOKEN = frozenset({PromptKind.TYPED, PromptKind.STEERING, PromptKind.COMMAND, PromptKind.SHELL})
_HOLD_WORDS = (ToolUsed, Prompted, QuestionsAnswered, ToolReturned)
_SHORTEST, _SHORTEST_LINE = 8, 20
"""Minimum lengths, in code points, of a private text and of a single line of one, for finding repetitions in the
session."""
_MOST = 200
"""Maximum number of private texts to search for: every text of the session is searched for each of them."""


class Private:
    """The private texts of a session so far.  Pass its events in order."""

    def __init__(self) -> None:
        self.texts: dict[str, None] = {}
        self._asked: set[str] = set()

    def spoken(self, event: Event) -> tuple[Event, int]:
        """Return the event without the parts that the user marked as private, and the number of such parts."""
        if isinstance(event, ToolUsed) and event.name.casefold() in _ASKING_TOOLS:
            self._asked.add(event.call)
        if isinstance(event, Prompted) and event.kind in _SPOKEN:
            text, count = self._hide(event.text)
            return (replace(event, text=text) if count else event), count
        if isinstance(event, QuestionsAnswered):
            return self._answered(event)
        if isinstance(event, ToolReturned) and (event.feedback or event.call in self._asked):
            feedback, count = self._hide(event.feedback)
            text, more = self._hide(event.text) if event.call in self._asked else (event.text, 0)
            return (replace(event, feedback=feedback, text=text) if count + more else event), count + more
        return event, 0

    def _answered(self, event: QuestionsAnswered) -> tuple[Event, int]:
        answers = [self._hide(choice.answer) for choice in event.choices]
        count = sum(hidden for _, hidden in answers)
        choices = (replace(choice, answer=shown) for choice, (shown, _) in zip(event.choices, answers, strict=True))
        return (replace(event, choices=tuple(choices)) if count else event), count

    def repeated(self, text: str) -> tuple[str, int]:
        """Return the text without private texts from earlier events, and the number of occurrences removed."""
        count = 0
        for private in self.texts:
            if private in text:
                count += text.count(private)
                text = text.replace(private, PRIVATE_MARK)
        return text, count

    def _hide(self, text: str) -> tuple[str, int]:
        shown, hidden = hide_private(text)
        known = {**self.texts, **dict.fromkeys(each for part in hidden for each in _search_texts(part))}
        # Longest first: a line of a private text must not be replaced before the full text.
        self.texts = dict.fromkeys(sorted(known, key=len, reverse=True)[:_MOST])
        return shown, len(hidden)


def _search_texts(part: PrivateText) -> Iterator[str]:
    """Yield the strings to search for: a private part with and without its marks, its long lines, and all as JSON."""
    whole_texts = [part.whole.strip(), part.inner.strip()] if part.inner.strip() else []
    lines = [line.strip() for line in part.inner.split("\n")]
    for text, least in (
        *((event, _SHORTEST) for event in whole_texts),
        *((line, _SHORTEST_LINE) for line in lines),
    ):
        if len(text) >= least:
            yield from {text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}


Redactor: TypeAlias = "Callable[[Event], tuple[Event, Mapping[str, int]]]"
"""Takes an event; returns it with secrets removed (same type and position), and the number removed by each rule."""

_NOTHING: Mapping[str, int] = {}


def keep_all(event: Event) -> tuple[Event, Mapping[str, int]]:
    """Redact nothing.  For tests."""
    return event, _NOTHING


def redactor_of(settings: SecretSettings, private: Private | None = None) -> Redactor:
    """Return a redactor with these settings.  Pass it the events of one session, in order.

    The redactor remembers the user's private texts in `private` to remove later repetitions.  A secret that is split
    over two events is not found.  Raises `SecretsError` if redaction is not possible.
    """
    return _Walk(scanner_of(settings), private or Private()).event


@lru_cache(maxsize=16)
def scanner_of(settings: SecretSettings) -> Scanner:
    """Return the scanner for these settings (cached)."""
    return Scanner(settings)


def redact_value(scanner: Scanner, value: object) -> tuple[object, Mapping[str, int]]:
    """Return a JSON value or text without its secrets; the same object if it contains none."""
    walk = _Walk(scanner, Private())
    return walk.value(value, ""), walk.counts


# --- the walk -----------------------------------------------------------------------------------------------------

_T = TypeVar("_T")
_JOINING = frozenset({"session", "row", "call", "message", "agent", "id", "depends_on", "adds_dependencies"})
"""Fields with ids of calls, rows, messages, agents or sessions.  They link rows, so they are kept."""

_HOLD_NOTHING = frozenset({"At", "int", "int | None", "bool", "bool | None", "CallEnd", "PromptKind"})
"""Types of fields, as they are written in the classes of events, that cannot contain a secret."""

_PICTURE_KEYS = frozenset({"type", "media_type", "mediaType", "mimeType", "mime_type"})
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]*={0,2}\s*")
_FLAG = re.compile(r"--?([A-Za-z][\w-]*)")
_VALUE_KEYS = frozenset({"value", "Value", "default", "val"})
_NAME_KEYS = ("name", "key", "Name", "Key", "variable", "header")
_DEEPEST = 64


class _Walk:
    """Redacts the events of a session; `counts` holds the number of secrets removed from the last by each rule."""

    def __init__(self, scanner: Scanner, private: Private) -> None:
        self._scan, self._clean = scanner.redact, scanner.clean
        self._private = private
        self.counts = _NOTHING

    def event(self, event: Event) -> tuple[Event, Mapping[str, int]]:
        self.counts = _NOTHING
        if isinstance(event, _HOLD_WORDS):
            event, count = self._private.spoken(event)
            if count:
                self._count({PRIVATE: count})
        return self._fields(event), self.counts

    def _count(self, found: Mapping[str, int]) -> None:
        self.counts = Counter(self.counts) + Counter(found)

    def _fields(self, event: _T) -> _T:
        changed: dict[str, object] = {}
        for name in _names(type(event)):  # type: ignore[arg-type]  # a type has a hash
            value = getattr(event, name)
            if type(value) is str:
                # Names, ids and paths recur all the time.
                clean: object = value if value in self._clean and not self._private.texts else self._text(value, "")
            else:
                clean = self._field(value)
            if clean is not value:
                changed[name] = clean
        return replace(event, **changed) if changed else event  # type: ignore[type-var]  # as above

    def _field(self, value: object) -> object:
        if isinstance(value, TaskState | Choice):
            return self._fields(value)
        if isinstance(value, tuple):
            items = tuple(map(self._field, value))
            return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
        return self.value(value, "")

    def value(self, value: object, name: str, depth: int = 0) -> object:
        """Redact a JSON value with the key `name`; return the same object if nothing was removed."""
        if isinstance(value, str):
            return self._text(value, name)
        if value is None or isinstance(value, bool | float):
            return value
        if isinstance(value, int):
            return self._number(value, name) if name else value
        if isinstance(value, Mapping):
            return self._mapping(value, name, depth)
        if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
            return self._sequence(value, name, depth)
        return value

    def _text(self, text: str, name: str) -> str:
        if self._private.texts:
            text, count = self._private.repeated(text)
            if count:
                self._count({PRIVATE: count})
        clean, counts = self._scan(text, name)
        if counts:
            self._count(counts)
        return clean

    def _number(self, value: int, name: str) -> object:
        """Redact a number if its name says so: `{"password": 12345678}` is a secret, `{"tokens": 12345678}` is not."""
        clean, counts = self._scan(str(value), name)
        if counts:
            self._count(counts)
        return clean if counts else value

    def _too_deep(self, value: object) -> str:
        """Redact a value that is nested too deeply as one text; if even that is impossible, replace it."""
        try:
            return self._text(repr(value), "")
        except RecursionError:
            self._count({"too-deep": 1})
            return "[REDACTED:too-deep]"

    def _mapping(self, mapping: Mapping[str, object], name: str, depth: int) -> Mapping[str, object]:
        if depth > _DEEPEST:
            return {"": self._too_deep(mapping)}
        named = _name_beside(mapping)
        clean: dict[str, object] = {}
        same = True
        for key, value in mapping.items():
            new, new_key = value, self._text(key, "")
            if key != "data" or not _is_picture(mapping, value):
                new = self.value(value, _under(key, name, named), depth + 1)
            same = same and new is value and new_key == key
            clean[_free(new_key, clean)] = new
        return mapping if same else clean

    def _sequence(self, items: Sequence[object], name: str, depth: int) -> Sequence[object]:
        if depth > _DEEPEST:
            return [self._too_deep(items)]
        clean: list[object] = []
        for at, item in enumerate(items):
            before = items[at - 1] if at else None
            flag = _FLAG.fullmatch(before) if isinstance(before, str) and isinstance(item, str) else None
            under = flag[1] if flag else name
            clean.append(self.value(item, under, depth + 1))
        return items if all(a is b for a, b in zip(clean, items, strict=True)) else clean


@lru_cache(maxsize=64)
def _names(kind: type) -> tuple[str, ...]:
    """Return the fields of an event type that may contain a secret."""
    return tuple(f.name for f in fields(kind) if f.name not in _JOINING and f.type not in _HOLD_NOTHING)


def _under(key: str, name: str, named: str) -> str:
    """Return a value's name: its key, or the `name` next to a `value` key, or the parent's name for a generic key."""
    if key in _VALUE_KEYS:
        return named or name
    return "" if "[REDACTED:" in key else key  # that would be the name of a rule, not of the value


def _name_beside(mapping: Mapping[str, object]) -> str:
    if _VALUE_KEYS.isdisjoint(mapping):
        return ""
    names = (mapping.get(key) for key in _NAME_KEYS)
    return next((name for name in names if isinstance(name, str) and "[REDACTED:" not in name), "")


def _is_picture(mapping: Mapping[str, object], value: object) -> bool:
    if not isinstance(value, str) or not _BASE64.fullmatch(value):
        return False
    kinds = [mapping.get(key) for key in _PICTURE_KEYS]
    return any(isinstance(kind, str) and (kind == "base64" or kind.startswith("image")) for kind in kinds)


def _free(key: str, taken: Mapping[str, object]) -> str:
    """Number a key that is already used: two keys that were secrets of the same rule stay distinct."""
    text, number = key, 2
    while text in taken:
        text, number = f"{key} {number}", number + 1
    return text
