"""The rows of a session or item on a server: events, search terms, and the facts for an item's weight."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from hashlib import blake2b
from typing import Any, NamedTuple

from crucible.documents.knowledge.item_rules import EVERYTHING, Audience, WeightFacts
from crucible.search.embedded.documents import Indexed, derive_document, derive_item, replies_of, session_facts
from crucible.search.embedded.index_format import KINDS
from crucible.search.embedded.segments import analyze
from crucible.search.question_words import indexable
from crucible.search.recall import Document, Event, EventKind, Question, seconds_of

TERMS = "5"
"""Incremented when the same text would yield different rows; everything is then pushed again."""

_SEARCHABLE = 100_000
"""Maximum code points of an event's text in its payload: PostgreSQL's `tsvector` may reject longer text."""
IN_BLOCK = 10
"""Bits of a session's number that give its place in a block; the rest is the block's number."""
_MOST_EVENTS, _MOST_TIMES, _MOST_IN_SESSION = 2**23 - 1, 2**14 - 1, 2**21 - 1
_ORDINAL, _SEQUENCE, _TIMES, _MANTISSA = 53, 30, 16, 12
"""Positions of the bits of a hit, see the table `postings`."""
UNDATED = date(2000, 1, 1)
"""The month of a session without a date."""


class EventRow(NamedTuple):
    """A row of `session_events`."""

    sequence: int
    id: str
    event_type: str
    payload: str
    more: str | None
    created_at: datetime | None


class SessionRows(NamedTuple):
    """All rows of a session.

    `hits` are those of each term in its events, `whole_hits` one for each term of the session; see the table
    `postings`.  The place of the session in its block is still to be added by `in_block`.
    """

    events: list[EventRow]
    hits: dict[str, list[int]]
    whole_hits: dict[str, int]
    times: list[int]
    replies: list[int]
    kinds: list[int]
    first: int
    last: int
    searched: int
    event_words: int
    event_names: int
    words: int
    names: int
    whole: bool


class _Counts(NamedTuple):
    words: Counter[str]
    names: list[str]


def word_term(stem: str) -> str:
    """Return the term for a stem in the postings table."""
    return f"w{stem}"


def name_term(name: str) -> str:
    """Return the term for a name in the postings table."""
    return f"n{name}"


def fact_term(field: str, value: str) -> str:
    """Return the term for a fact in the postings table."""
    return f"f{field}:{value}"


def key_of(path: str) -> str:
    """Return a short hash of a path: a database index does not accept long strings."""
    return blake2b(path.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def month_of(first: int, today: date) -> date:
    """Return the month of a session's partition.  Missing, very old and future times are limited to existing months."""
    try:
        day = datetime.fromtimestamp(first, UTC).date()
    except (ValueError, OverflowError, OSError):
        day = UNDATED
    return min(max(day, UNDATED), today).replace(day=1)


def rows_of(document: Document) -> SessionRows:
    """Return the rows of a session, or of an item, which has one event of kind knowledge."""
    is_item = bool(document.events) and all(event.kind is EventKind.KNOWLEDGE for event in document.events)
    derived = derive_item(document, "") if is_item else derive_document(document, "")
    common = session_facts(document)
    hits: dict[str, list[int]] = {}
    words = names = 0
    for indexed in derived.events[: _MOST_EVENTS + 1]:
        told, named = _add_hits(hits, indexed, common)
        words, names = words + told, names + named
    whole = derived.whole
    counts = _counts(whole) if whole else _Counts(Counter(), [])
    times_of_events = [seconds_of(event.at) or 0 for event in document.events]
    searched = {one.number for one in derived.events}
    return SessionRows(
        [_row(event, sequence) for sequence, event in enumerate(document.events)],
        hits,
        _whole_hits(counts, whole.facts if whole else common),
        times_of_events,
        replies_of(document.events),
        [KINDS.index(event.kind) if at in searched else UNSEARCHED for at, event in enumerate(document.events)],
        whole.first if whole else max(times_of_events, default=0),
        whole.last if whole else max(times_of_events, default=0),
        len(derived.events),
        words,
        names,
        counts.words.total(),
        len(counts.names),
        whole is not None,
    )


def _add_hits(hits: dict[str, list[int]], indexed: Indexed, common: Sequence[str]) -> tuple[int, int]:
    """Add the hits of an event, without facts of its whole session; return the number of its words and names."""
    counts = _counts(indexed)
    total, named = counts.words.total(), len(counts.names)
    place, once = indexed.number << _SEQUENCE, 1 << _TIMES
    base = place | packed(total)
    for stem, times in counts.words.items():
        hits.setdefault(f"w{stem}", []).append(base + (min(times, _MOST_TIMES) << _TIMES))
    for name in counts.names:
        hits.setdefault(f"n{name}", []).append(place | once | packed(named))
    for fact in dict.fromkeys(indexed.facts):
        if fact not in common:
            hits.setdefault(f"f{fact}", []).append(place | once | 1)
    return total, named


def _counts(indexed: Indexed) -> _Counts:
    return _Counts(Counter(analyze(indexed.text)), list(dict.fromkeys(indexed.names.split())))


def _whole_hits(counts: _Counts, facts: Sequence[str]) -> dict[str, int]:
    sizes = packed(counts.words.total()) << _TIMES | packed(len(counts.names))
    found = {word_term(stem): times for stem, times in counts.words.items()}
    found |= {name_term(name): 1 for name in counts.names} | {f"f{fact}": 1 for fact in facts}
    return {term: min(times, _MOST_IN_SESSION) << 2 * _TIMES | sizes for term, times in found.items()}


class TermCounts(NamedTuple):
    """The terms of an event or a session, sorted, how often each occurs, and the numbers of words and names."""

    terms: list[str]
    times: list[int]
    words: int = 0
    names: int = 0


def terms_of_events(rows: SessionRows) -> dict[int, TermCounts]:
    """Return the terms of each event that has any, by its number: the opposite of `SessionRows.hits`."""
    found: dict[int, list[tuple[str, int]]] = {}
    for term, hits in rows.hits.items():
        for hit in hits:
            found.setdefault(hit >> _SEQUENCE, []).append((term, hit & (1 << _SEQUENCE) - 1))
    return {number: _term_counts(sorted(hits)) for number, hits in found.items()}


def _term_counts(hits: Sequence[tuple[str, int]]) -> TermCounts:
    # All hits of an event on words have the same length, and those on names another.
    sizes = {term[0]: _unpacked(hit & (1 << _TIMES) - 1) for term, hit in hits}
    return TermCounts(
        [term for term, _ in hits], [hit >> _TIMES for _, hit in hits], sizes.get("w", 0), sizes.get("n", 0)
    )


def terms_of_session(rows: SessionRows) -> TermCounts:
    """Return the terms of a whole session, or the facts of an item."""
    hits = sorted(rows.whole_hits.items())
    return TermCounts([term for term, _ in hits], [hit >> 2 * _TIMES for _, hit in hits], rows.words, rows.names)


def _unpacked(packed: int) -> int:
    return (packed & (1 << _MANTISSA) - 1) << (packed >> _MANTISSA)


def packed(count: int) -> int:
    """Return a count in 16 bits, as twelve significant bits and an exponent."""
    exponent = max(count.bit_length() - _MANTISSA, 0)
    return exponent << _MANTISSA | count >> exponent


def in_block(number: int) -> int:
    """Return what is to be added to the hits of a session with this number."""
    return (number & (1 << IN_BLOCK) - 1) << _ORDINAL


UNSEARCHED = -1
"""The kind of an event without words."""


def _row(event: Event, sequence: int) -> EventRow:
    text = storable(event.text)
    fields = {
        "text": text[:_SEARCHABLE],
        "phase": event.phase,
        "phase_name": event.phase_name,
        "line": event.line,
        "agent": event.agent,
        "channel": event.channel,
        "project": event.project,
        "title": event.title,
    }
    payload = json.dumps(
        {key: storable(value) if isinstance(value, str) else value for key, value in fields.items() if value}
    )
    return EventRow(
        sequence, storable(event.id), event.kind.value, payload, text[_SEARCHABLE:] or None, aware(event.at)
    )


def aware(at: datetime | None) -> datetime | None:
    """Return a time with a zone (default: UTC), limited to the latest one that the server accepts."""
    if at is None:
        return None
    return min(at if at.tzinfo else at.replace(tzinfo=UTC), _LATEST)


_LATEST = datetime(9999, 12, 30, 23, 59, 59, tzinfo=UTC)
"""The limit in the schema's `is_readable`."""


def storable(text: str) -> str:
    """Replace characters that PostgreSQL does not accept: NUL and lone surrogates."""
    if "\0" not in text and text.isascii():
        return text
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def event_of(row: Sequence[Any], project: str = "") -> Event:
    """Return the event in a row: id, session, type, payload, rest of the text, time.  `project` is the session's.

    Values of the wrong type are ignored, since anyone who may write to a project can write any row.
    """
    identity, session, kind, payload, more, at = row
    fields: dict[str, Any] = payload if isinstance(payload, dict) else {}

    def text(key: str) -> str:
        value = fields.get(key)
        return value if isinstance(value, str) else ""

    line = fields.get("line")
    return Event(
        identity,
        session,
        EventKind(kind) if kind in _KINDS else EventKind.OBSERVATION,
        text("text") + (more or ""),
        text("phase"),
        text("phase_name"),
        line if isinstance(line, int) else 0,
        at,
        text("agent"),
        text("channel"),
        project,
        text("title"),
    )


_KINDS = frozenset(kind.value for kind in EventKind)


ItemFacts = tuple[Audience, WeightFacts]
"""An item's audience, and the facts that determine its weight."""

_LONGEST = 200
"""Maximum code points of a domain."""
_MOST_USES = 2**31 - 1


class _Columns(NamedTuple):
    """The columns of the table `sessions` that are only set for items."""

    item_type: str | None = None
    item_scope: str | None = None
    item_domain: str | None = None
    item_verified: bool | None = None
    item_used: int | None = None
    item_useful: int | None = None
    item_last_used: datetime | None = None
    item_changed: datetime | None = None


ITEM_COLUMNS = _Columns._fields
"""These columns, in the order that `item_of` expects."""


def columns_of_item(item: ItemFacts | None) -> Mapping[str, Any]:
    """Return the column values of an item; all None for a session."""
    if item is None:
        return _Columns()._asdict()
    place, facts = item
    uses, useful = (min(count, _MOST_USES) for count in (facts.use_count, facts.useful_count))
    domain = indexable(place.domain)[:_LONGEST]
    return _Columns(
        facts.type,
        place.scope,
        domain,
        facts.verified,
        uses,
        useful,
        aware(facts.last_used),
        aware(facts.changed),
    )._asdict()


def item_of(row: Sequence[Any], project: str) -> ItemFacts:
    """Return the facts of an item from its columns, or defaults if an older version of Crucible pushed it."""
    columns = _Columns(*row)
    place = Audience(columns.item_scope or "project", project, columns.item_domain or "")
    uses, useful = columns.item_used or 0, columns.item_useful or 0
    return place, WeightFacts(
        columns.item_type or "", bool(columns.item_verified), uses, useful, columns.item_last_used, columns.item_changed
    )


def digest_of_item(item: ItemFacts) -> str:
    """Return a digest that changes with an item's audience and weight."""
    place, facts = item
    return blake2b(repr((*place, *map(str, facts))).encode(), digest_size=8).hexdigest()


def viewer_of(question: Question) -> Audience:
    """Return the default viewer: the question's project or, if it has none, a viewer that sees everything."""
    return Audience("project", question.project) if question.project else EVERYTHING
