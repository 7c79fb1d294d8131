"""The rows of a session or item on a server: events, search terms, and what an item's weight depends on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from hashlib import blake2b
from typing import Any, NamedTuple

from crucible.documents.knowledge.item_weight import EVERYTHING, Audience, WeightFacts
from crucible.search.embedded.documents import Indexed, derive_document, derive_item
from crucible.search.embedded.segments import analyze
from crucible.search.question_words import plain
from crucible.search.recall import Document, Event, EventKind, Question
from crucible.search.session_cards import seconds_of

TERMS = "2"
"""Goes up when the same words would give other rows: then everything is pushed again."""

_SEARCHABLE = 100_000
"""Code points of an event in its payload: PostgreSQL's `tsvector` may refuse a row with more."""
_MOST_TIMES, _MOST_WORDS = 2**16 - 1, 2**24 - 1
_UNDATED = date(2000, 1, 1)


class EventRow(NamedTuple):
    """A row of `session_events`."""

    sequence: int
    id: str
    event_type: str
    payload: str
    more: str | None
    created_at: datetime | None


class SessionRows(NamedTuple):
    """All rows of a session.  `postings` are by term how often it is in the whole, and where: see the table."""

    events: list[EventRow]
    postings: dict[str, tuple[int, list[int]]]
    times: list[int]
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
    """A word as a term of the table."""
    return f"w{stem}"


def name_term(name: str) -> str:
    """A name as a term of the table."""
    return f"n{name}"


def fact_term(field: str, value: str) -> str:
    """A fact as a term of the table."""
    return f"f{field}:{value}"


def key_of(path: str) -> str:
    """A path in few bytes: an index takes no long ones."""
    return blake2b(path.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def month_of(first: int, today: date) -> date:
    """The month of a session's partition; undated, old and future sessions go to existing ones."""
    try:
        day = datetime.fromtimestamp(first, UTC).date()
    except (ValueError, OverflowError, OSError):
        day = _UNDATED
    return min(max(day, _UNDATED), today).replace(day=1)


def rows_of(document: Document) -> SessionRows:
    """The rows of a session, or of an item, which is one event of kind knowledge."""
    is_item = bool(document.events) and all(event.kind is EventKind.KNOWLEDGE for event in document.events)
    derived = derive_item(document, "") if is_item else derive_document(document, "")
    hits: dict[str, list[int]] = {}
    words = names = 0
    for indexed in derived.events:
        sequence, counts = indexed.number, _counts(indexed)
        total = counts.words.total()
        words, names = words + total, names + len(counts.names)
        for stem, times in counts.words.items():
            hits.setdefault(word_term(stem), []).append(_hit(sequence, times, total))
        for name in counts.names:
            hits.setdefault(name_term(name), []).append(_hit(sequence, 1, len(counts.names)))
        for fact in dict.fromkeys(indexed.facts):
            hits.setdefault(f"f{fact}", []).append(_hit(sequence, 1, 1))
    whole = derived.whole
    counts = _counts(whole) if whole else _Counts(Counter(), [])
    wholes = _wholes(counts, whole)
    moments = [seconds_of(event.at) or 0 for event in document.events]
    return SessionRows(
        [_row(event, sequence) for sequence, event in enumerate(document.events)],
        {term: (wholes.get(term, 0), hits.get(term, [])) for term in {**wholes, **hits}},
        moments,
        whole.first if whole else max(moments, default=0),
        whole.last if whole else max(moments, default=0),
        len(derived.events),
        words,
        names,
        counts.words.total(),
        len(counts.names),
        whole is not None,
    )


def _counts(indexed: Indexed) -> _Counts:
    return _Counts(Counter(analyze(indexed.text)), indexed.names.split())


def _wholes(counts: _Counts, whole: Indexed | None) -> Mapping[str, int]:
    found = {word_term(stem): times for stem, times in counts.words.items()}
    found |= {name_term(name): 1 for name in counts.names}
    return found | {f"f{fact}": 1 for fact in (whole.facts if whole else ())}


def _hit(sequence: int, times: int, words: int) -> int:
    return sequence << 40 | min(times, _MOST_TIMES) << 24 | min(words, _MOST_WORDS)


def _row(event: Event, sequence: int) -> EventRow:
    text = _kept(event.text)
    told = {
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
        {key: _kept(value) if isinstance(value, str) else value for key, value in told.items() if value}
    )
    return EventRow(sequence, _kept(event.id), event.kind.value, payload, text[_SEARCHABLE:] or None, aware(event.at))


def aware(at: datetime | None) -> datetime | None:
    """With a zone; of the last day that there is, the one before: a server takes no later one."""
    if at is None:
        return None
    return min(at if at.tzinfo else at.replace(tzinfo=UTC), _LATEST)


_LATEST = datetime(9999, 12, 30, 23, 59, 59, tzinfo=UTC)
"""See the schema's `is_readable`."""


def _kept(text: str) -> str:
    """What PostgreSQL takes: no NUL, no lone surrogate."""
    if "\0" not in text and text.isascii():
        return text
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def event_of(row: Sequence[Any], project: str = "") -> Event:
    """An event from a row: id, session, type, payload, rest of the text, time; `project` is the one it was read in.

    Whoever may write to a project may have written anything: what is no such value is left out.
    """
    identity, session, kind, payload, more, at = row
    told: dict[str, Any] = payload if isinstance(payload, dict) else {}

    def text(key: str) -> str:
        value = told.get(key)
        return value if isinstance(value, str) else ""

    line = told.get("line")
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


Shelved = tuple[Audience, WeightFacts]
"""For whom an item is, and what its weight depends on."""

_LONGEST = 200
"""Code points of a domain."""
_MOST_USES = 2**31 - 1


class _Columns(NamedTuple):
    """Columns of the table `sessions` that only items fill."""

    item_type: str | None = None
    item_scope: str | None = None
    item_domain: str | None = None
    item_verified: bool | None = None
    item_used: int | None = None
    item_useful: int | None = None
    item_last_used: datetime | None = None
    item_changed: datetime | None = None


ITEM_COLUMNS = _Columns._fields
"""In the order in which `item_of` takes them."""


def columns_of_item(item: Shelved | None) -> Mapping[str, Any]:
    """What is kept of an item, by column; of a session nothing."""
    if item is None:
        return _Columns()._asdict()
    place, facts = item
    uses, useful = (min(count, _MOST_USES) for count in (facts.use_count, facts.useful_count))
    domain = plain(place.domain)[:_LONGEST]
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


def item_of(row: Sequence[Any], project: str) -> Shelved:
    """An item again, of its columns; what an older Crucible pushed without them is an observation of its project."""
    kept = _Columns(*row)
    place = Audience(kept.item_scope or "project", project, kept.item_domain or "")
    uses, useful = kept.item_used or 0, kept.item_useful or 0
    return place, WeightFacts(
        kept.item_type or "", bool(kept.item_verified), uses, useful, kept.item_last_used, kept.item_changed
    )


def digest_of_item(item: Shelved) -> str:
    """Changes whenever an item is seen by others or weighs something else."""
    place, facts = item
    return blake2b(repr((*place, *map(str, facts))).encode(), digest_size=8).hexdigest()


def viewer_of(question: Question) -> Audience:
    """The default viewer: the project that is asked about, else one that sees everything."""
    return Audience("project", question.project) if question.project else EVERYTHING
