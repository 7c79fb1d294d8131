"""The rows of a session or item on a server: events, search terms, and the facts for an item's weight."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Any, NamedTuple

import orjson

from crucible.documents.knowledge.item_rules import EVERYTHING, Audience, WeightFacts
from crucible.search.embedded.documents import Indexed, index_document, replies_of, said, session_facts
from crucible.search.embedded.index_format import KINDS
from crucible.search.embedded.segments import analyze
from crucible.search.question_words import indexable
from crucible.search.recall import Document, Event, EventKind, Question, seconds_of

TERMS = "5"
"""Incremented when the same text would yield different rows; everything is then pushed again."""

_SEARCHABLE = 100_000
"""Maximum code points of an event's text in its payload: PostgreSQL's `tsvector` may reject longer text."""
MOST_EVENTS, MOST_TIMES = 2**23, 2**14 - 1
"""Maximum events of a session that are searched, and maximum times that a word of an event is counted."""
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


class EventTerms(NamedTuple):
    """The terms of an event: how often each of its words occurs, its names, and facts.  `words` is its length."""

    number: int
    words: int
    counts: Mapping[str, int]
    names: Sequence[str]
    facts: tuple[str, ...]


class SessionRows(NamedTuple):
    """All rows of a session.

    `terms` are those of each event that is searched, `counts` how often each term occurs in the entire session.
    """

    events: list[EventRow]
    terms: list[EventTerms]
    counts: dict[str, int]
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
    events, whole = index_document(document)
    words = {one.number: _terms_in(one.text) for one in events}
    common = len(session_facts(document))
    terms = [_event_terms(one, words[one.number], common) for one in events[:MOST_EVENTS]]
    times = [seconds_of(event.at) or 0 for event in document.events]
    is_item = bool(document.events) and all(event.kind is EventKind.KNOWLEDGE for event in document.events)
    if is_item:
        whole = Indexed(0, "", "", session_facts(document), max(times), max(times))
    in_session = Counter(chain(_terms_in(whole.text), *(words[one.number] for one in said(events) if not is_item)))
    names = whole.names.split()
    return SessionRows(
        [_row(event, sequence) for sequence, event in enumerate(document.events)],
        terms,
        {**in_session, **dict.fromkeys((*map(name_term, names), *_fact_terms(whole.facts)), 1)},
        times,
        replies_of(document.events),
        [KINDS.index(event.kind) if at in words else UNSEARCHED for at, event in enumerate(document.events)],
        whole.first,
        whole.last,
        len(events),
        sum(one.words for one in terms),
        sum(len(one.names) for one in terms),
        in_session.total(),
        len(names),
        not is_item,
    )


def _event_terms(event: Indexed, words: list[str], common: int) -> EventTerms:
    """Return the terms of an event, without the `common` first facts, which are those of its session."""
    words = [*words, *_terms_in(event.heading)] if event.heading else words
    counts = Counter(words)
    if len(words) > MOST_TIMES:
        counts = Counter({term: min(times, MOST_TIMES) for term, times in counts.items()})
    names = [name_term(name) for name in dict.fromkeys(event.names.split())]
    return EventTerms(event.number, len(words), counts, names, _fact_terms(event.facts[common:]))


@lru_cache(1_000)
def _fact_terms(facts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"f{fact}" for fact in dict.fromkeys(facts))


class _WordTerms(dict[bytes, str]):
    """The term of each word in lower case; "" for a word that is not indexed."""

    def __missing__(self, word: bytes) -> str:
        if len(self) >= _REMEMBERED:
            self.clear()
        term = self[word] = "".join(map(word_term, analyze(word.decode())))
        return term


_REMEMBERED = 1 << 16
_WORDS = bytes(at if chr(at).isalnum() else 32 for at in range(128)).lower() + bytes(128)
"""A table for `bytes.translate`: ASCII letters in lower case, and blanks between words."""
_word_terms = _WordTerms()


def _terms_in(text: str) -> list[str]:
    """Return the terms of the words in a text, in order: those of `analyze`, which takes ten times as long."""
    if not text.isascii():
        return list(map(word_term, analyze(text)))
    return list(filter(None, map(_word_terms.__getitem__, text.encode().translate(_WORDS).split())))


class TermCounts(NamedTuple):
    """The terms of an event or a session, sorted, how often each occurs, and the numbers of words and names."""

    terms: list[str]
    times: list[int]
    words: int = 0
    names: int = 0


def terms_of_events(rows: SessionRows) -> dict[int, TermCounts]:
    """Return the terms of each event that has any, by its number."""
    found = {}
    for one in rows.terms:
        counts = {**one.counts, **dict.fromkeys((*one.names, *one.facts), 1)}
        found[one.number] = _term_counts(counts, one.words, len(one.names))
    return found


def terms_of_head(rows: SessionRows) -> TermCounts:
    """Return the words and names of a session that are not those of its events, except tool calls."""
    tool = KINDS.index(EventKind.TOOL)
    left = Counter({term: times for term, times in rows.counts.items() if not term.startswith("f")})
    for one in rows.terms:
        if rows.kinds[one.number] != tool:
            left.subtract({**one.counts, **dict.fromkeys(one.names, 1)})
    return _term_counts(+left, 0, 0)


def _term_counts(counts: Mapping[str, int], words: int, names: int) -> TermCounts:
    terms = sorted(counts)
    return TermCounts(terms, [counts[term] for term in terms], words, names)


UNSEARCHED = -1
"""The kind of an event without words."""


def _row(event: Event, sequence: int) -> EventRow:
    text = storable(event.text)
    fields: dict[str, str | int] = {
        "text": text[:_SEARCHABLE],
        "phase": event.phase,
        "phase_name": event.phase_name,
        "line": event.line,
        "agent": event.agent,
        "channel": event.channel,
        "project": event.project,
        "title": event.title,
    }
    return EventRow(
        sequence,
        storable(event.id),
        event.kind.value,
        _payload({key: value for key, value in fields.items() if value}),
        text[_SEARCHABLE:] or None,
        aware(event.at),
    )


def _payload(fields: Mapping[str, str | int]) -> str:
    try:
        found = orjson.dumps(fields)
    except TypeError:  # a lone surrogate
        found = _NUL
    if _NUL in found:
        cleaned = {key: storable(value) if isinstance(value, str) else value for key, value in fields.items()}
        found = orjson.dumps(cleaned)
    return found.decode()


_NUL = rb"\u0000"


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
