"""A session's card in the index: what is known of its events, and where their texts are in the note."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, NamedTuple

from crucible.search.recall import Document, Event, EventKind


class TextPlace(NamedTuple):
    """The place of an event's text: lines `first` to `end`, from 0."""

    first: int
    end: int
    keys: tuple[str, ...] = ()


class Card(NamedTuple):
    """A session without its texts; see `event_at` and `place_at` for its columns, which have a value for each event.

    `digits` are those of the ids, eight of each; `kinds` a letter of each; `groups` say which of `shared` it is,
    where stands what many events have alike. `records` has the keys of those that were recorded.
    """

    session: str
    path: str
    title: str
    started: datetime | None
    project: str
    shared: Sequence[Sequence[Any]]
    digits: str
    kinds: str
    groups: Sequence[int]
    lines: Sequence[int]
    firsts: Sequence[int]
    sizes: Sequence[int]
    records: Mapping[str, Sequence[str]]


_KINDS = tuple(EventKind)
_LETTERS = "abcdefghijklm"


def dump_card(document: Document, places: Sequence[TextPlace]) -> bytes:
    """The card of a session in few bytes; as many places as it has events."""
    events = document.events
    shared: dict[tuple[str | int | None, ...], int] = {}
    groups = [
        shared.setdefault((one.phase, one.phase_name, one.agent, one.channel, seconds_of(one.at)), len(shared))
        for one in events
    ]
    told = [
        document.session,
        document.path,
        document.title,
        seconds_of(document.started),
        document.project,
        list(shared),
        "".join(one.id.rpartition("#")[2][:8] for one in events if one.kind is not EventKind.KNOWLEDGE),
        "".join(_LETTERS[_KINDS.index(one.kind)] for one in events),
        groups,
        [one.line for one in events],
        [place.first for place in places],
        [place.end - place.first for place in places],
        {str(at): place.keys for at, place in enumerate(places) if place.keys},
    ]
    return zlib.compress(json.dumps(told, separators=(",", ":")).encode(), 6)


def load_card(data: bytes) -> Card:
    """The card again.  Raises `ValueError` for anything else."""
    try:
        card = Card(*json.loads(zlib.decompress(data)))
        return card._replace(started=time_of(card.started))  # type: ignore[arg-type]
    except (zlib.error, TypeError) as error:
        raise ValueError(f"no card: {error}") from error


def event_at(card: Card, at: int, text: str = "") -> Event:
    """One of a card's events, with a text that was read elsewhere."""
    phase, phase_name, agent, channel, seconds = card.shared[card.groups[at]]
    kind = _KINDS[_LETTERS.index(card.kinds[at])]
    return Event(
        _id_at(card, at, kind),
        card.session,
        kind,
        text,
        phase,
        phase_name,
        card.lines[at],
        time_of(seconds),
        agent,
        channel,
        card.project,
    )


def _id_at(card: Card, at: int, kind: EventKind) -> str:
    return card.session if kind is EventKind.KNOWLEDGE else f"{card.session}#{card.digits[8 * at : 8 * at + 8]}"


def place_at(card: Card, at: int) -> TextPlace:
    """The place of an event's text."""
    first = card.firsts[at]
    return TextPlace(first, first + card.sizes[at], tuple(card.records.get(str(at), ())))


def find_event(card: Card, digits: str) -> int | None:
    """Which of a card's events has an id that ends so; of an item's card its only one."""
    if not card.digits:
        return 0 if card.kinds else None
    at = card.digits.find(digits) if len(digits) == _DIGITS else -1
    while at % _DIGITS and at > 0:
        at = card.digits.find(digits, at + 1)
    return at // _DIGITS if at >= 0 else None


_DIGITS = 8


def hash_of(kind: EventKind, text: str, count: int) -> str:
    """Eight hex digits of a text; `count` is the number of earlier events with the same text."""
    told = f"{kind}\0{count}\0{text}" if count else f"{kind}\0{text}"
    return blake2b(told.encode("utf-8", "replace"), digest_size=4).hexdigest()


def seconds_of(at: datetime | None) -> int | None:
    """Seconds since 1970."""
    return None if at is None else int(at.timestamp())


def time_of(seconds: int | None) -> datetime | None:
    """The time again."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
