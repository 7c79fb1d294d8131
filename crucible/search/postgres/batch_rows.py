"""Write a batch of notes to a team's server: by COPY, and with the search terms of many sessions in one row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from crucible.search.team.terms import SessionRows

if TYPE_CHECKING:
    import psycopg

_Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"


def insert_batch(connection: _Connection, notes: Sequence[tuple[Mapping[str, Any], SessionRows]]) -> None:
    """Insert notes, in an open transaction: for each its row of `sessions`, without a number, and its other rows."""
    if not notes:
        return
    months: dict[tuple[int, date], list[tuple[Mapping[str, Any], SessionRows]]] = {}
    for head, rows in notes:
        months.setdefault((head["project"], head["month"]), []).append((head, rows))
    placed = [
        _Placed(number, head, rows)
        for month, some in months.items()
        for number, (head, rows) in zip(_numbers(connection, month, len(some)), some, strict=True)
    ]
    columns = ("no", *placed[0].head)
    _copied(connection, "sessions", columns, map(_session_row, placed))
    _copied(connection, "session_events", _EVENT_COLUMNS, _event_rows(placed))
    _copied(connection, "postings", _POSTING_COLUMNS, _posting_rows(placed))


def _numbers(connection: _Connection, month: tuple[int, date], count: int) -> list[int]:
    """Return numbers for new sessions of a project and month: in its newest block, then in new blocks."""
    found: list[int] = []
    last = _last(connection, _LAST, month)
    # If another push is writing to the block, it is not waited for.
    if last and connection.execute(_TRY_LOCK, [last >> IN_BLOCK]).fetchone() == (True,):
        end = ((last >> IN_BLOCK) + 1) << IN_BLOCK
        last = _last(connection, _LAST_IN_BLOCK, [end - (1 << IN_BLOCK), end - 1]) or last
        found += range(last + 1, min(end, last + 1 + count))
    while len(found) < count:
        first = _last(connection, _NEW_BLOCK, []) << IN_BLOCK
        found += range(first, first + min(1 << IN_BLOCK, count - len(found)))
    return found


def _last(connection: _Connection, query: bytes, given: Sequence[Any]) -> int:
    row = connection.execute(query, given).fetchone()
    return int(row[0]) if row and row[0] is not None else 0


_LAST = b"SELECT max(no) FROM crucible.sessions WHERE project = %s AND month = %s"
_LAST_IN_BLOCK = b"SELECT max(no) FROM crucible.sessions WHERE no BETWEEN %s AND %s"
_NEW_BLOCK = b"SELECT nextval('crucible.blocks')"
_TRY_LOCK = b"SELECT pg_try_advisory_xact_lock(hashtextextended('crucible.block', %s))"


def _copied(connection: _Connection, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows by COPY.  A table with row-level security accepts none, so a temporary one does."""
    names = ", ".join(columns)
    staged = f"CREATE TEMPORARY TABLE staged ON COMMIT DROP AS SELECT {names} FROM crucible.{table} WHERE false"  # noqa: S608  our own names
    connection.execute(staged.encode())
    with connection.cursor().copy(f"COPY pg_temp.staged ({names}) FROM STDIN".encode()) as copy:
        for row in rows:
            copy.write_row(row)
    insert = f"INSERT INTO crucible.{table} ({names}) SELECT * FROM pg_temp.staged"  # noqa: S608  as above
    connection.execute(insert.encode())
    connection.execute(b"DROP TABLE pg_temp.staged")


_EVENT_COLUMNS = (
    *("session_no", "project", "month", "session_id", "sequence", "id", "event_type", "payload", "more", "created_at"),
)
_POSTING_COLUMNS = ("term", "project", "month", "block", "events", "sessions", "hits", "whole_hits")


class _Placed(NamedTuple):
    """A note with its number on the server."""

    number: int
    head: Mapping[str, Any]
    rows: SessionRows


def _session_row(one: _Placed) -> Sequence[Any]:
    # The client library takes ten times as long for a list.
    arrays = {name: _array(map(str, one.head[name])) for name in ("times", "replies", "kinds")}
    return (one.number, *{**one.head, **arrays}.values())


def _event_rows(placed: Sequence[_Placed]) -> Iterator[Sequence[Any]]:
    for number, head, rows in placed:
        common = (number, head["project"], head["month"], head["session_id"])
        for event in rows.events:
            yield (*common, *event)


def _posting_rows(placed: Sequence[_Placed]) -> Iterator[Sequence[Any]]:
    blocks: dict[tuple[Any, ...], list[tuple[int, SessionRows]]] = {}
    for number, head, rows in placed:
        block = (head["project"], head["month"], number >> IN_BLOCK)
        blocks.setdefault(block, []).append((number, rows))
    for block, sessions in blocks.items():
        hits, whole_hits = _hits(sessions), _whole_hits(sessions)
        # In the order of the index: the server then changes one page after another.
        for term in sorted({**hits, **whole_hits}):
            found = hits.get(term, ()), whole_hits.get(term, ())
            yield (term, *block, *map(len, found), *map(_array, found))
        yield ("", *block, *_sizes([rows for _, rows in sessions]))


_Hits: TypeAlias = "defaultdict[str, list[str]]"
"""Numbers by term.  Most terms of an event have the same number, so it is converted to text once."""


def _hits(sessions: Iterable[tuple[int, SessionRows]]) -> _Hits:
    """Return the `hits` of each term in the events of a block's sessions."""
    found: _Hits = defaultdict(list)
    with_facts: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for number, rows in sessions:
        for event in rows.terms:
            place = (number & _LAST_PLACE) << _ORDINAL | event.number << _SEQUENCE
            words = place | packed(event.words)
            hits = {times: str(words + (times << _TIMES)) for times in {*event.counts.values()}}
            for term, times in event.counts.items():
                found[term].append(hits[times])
            once = place | 1 << _TIMES
            if event.names:
                hit = str(once | packed(len(event.names)))
                for term in event.names:
                    found[term].append(hit)
            with_facts[event.facts].append(str(once | 1))
    for facts, some in with_facts.items():
        for term in facts:
            found[term] += some
    return found


def _whole_hits(sessions: Iterable[tuple[int, SessionRows]]) -> _Hits:
    """Return the `whole_hits` of each term in a block's sessions."""
    found: _Hits = defaultdict(list)
    for number, rows in sessions:
        place = (number & _LAST_PLACE) << _ORDINAL | packed(rows.words) << _TIMES | packed(rows.names)
        hits = {times: str(place + (min(times, _MOST_IN_SESSION) << 2 * _TIMES)) for times in {*rows.counts.values()}}
        for term, times in rows.counts.items():
            found[term].append(hits[times])
    return found


IN_BLOCK = 10
"""Bits of a session's number that give its place in a block; the rest is the block's number."""
_LAST_PLACE, _MOST_IN_SESSION = 2**IN_BLOCK - 1, 2**21 - 1
_ORDINAL, _SEQUENCE, _TIMES, _MANTISSA = 53, 30, 16, 12
"""Positions of the bits of a hit, see the table `postings`."""


def packed(count: int) -> int:
    """Return a count in 16 bits, as twelve significant bits and an exponent."""
    exponent = max(count.bit_length() - _MANTISSA, 0)
    return exponent << _MANTISSA | count >> exponent


def _sizes(rows: Sequence[SessionRows]) -> tuple[int, int, str, str]:
    """Return the row of the term '', without its block."""

    def total(of: Callable[[SessionRows], int]) -> int:
        return sum(map(of, rows))

    of_events = f"{{{total(lambda one: one.event_words)},{total(lambda one: one.event_names)}}}"
    of_sessions = f"{{{total(lambda one: one.words)},{total(lambda one: one.names)}}}"
    return total(lambda one: one.searched), len(rows), of_events, of_sessions


def _array(numbers: Iterable[str]) -> str:
    return f"{{{','.join(numbers)}}}"
