"""Sessions to be pushed, and a process that pushes them: what the tests of writers have in common.

Run as a program it pushes: `python -m samples.pushed_documents ADDRESS COUNT SEED…`, and prints each note that is done.  Each seed is a process and a
copy of the vault of its own; all of them push every session, each in another order, so that they meet at many.
"""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from random import Random

from crucible.search.postgres.address import postgres_client
from crucible.search.recall import Document, Event, EventKind
from crucible.search.team.terms import ItemFacts
from crucible.search.team_servers import open_pusher

_WORDS = [f"word{number}" for number in range(400)] + ["retry", "bucket", "TokenBucket", "src/limiter.py"]
_BEGUN = datetime(2026, 3, 30, 9, tzinfo=UTC)


def document(number: int, *, project: str = "apollo", events: int = 6, said: str = "", path: str = "") -> Document:
    """Session number so-and-so: always the same for the same arguments; every fiftieth begins in another month."""
    random = Random(number)
    session = f"s-{number:05d}"
    at = _BEGUN + timedelta(days=number % 50)
    told = tuple(
        Event(
            f"{session}#{place + 1:08x}",
            session,
            random.choice([EventKind.USER, EventKind.AGENT, EventKind.TOOL, EventKind.DECISION]),
            " ".join([said, *random.choices(_WORDS, k=12)]).strip(),
            "phase-1",
            "Work",
            place + 10,
            at + timedelta(minutes=place),
            "claude-code@2.1.197",
            "dev",
            project,
        )
        for place in range(events)
    )
    return Document(session, path or f"sessions/{session}.md", f"Session {number}", told, at, project, "main", ("tag",))


class Held:
    """Documents by path; a digest is of all that they say."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.held = {one.path: one for one in documents}

    def digests(self) -> Mapping[str, str]:
        return {path: sha256(repr(one).encode()).hexdigest() for path, one in self.held.items()}

    def document(self, path: str) -> Document | None:
        return self.held.get(path)

    def item_facts(self, path: str) -> ItemFacts | None:
        del path
        return None


def documents(count: int, seed: int = 0) -> Held:
    """So many, in an order of their own."""
    numbers = list(range(count))
    Random(seed).shuffle(numbers)
    return Held(document(number, project=("apollo", "zeus")[number % 2]) for number in numbers)


everything = """
    SELECT 'session', s.session_id, s.path, s.digest, s.events::text, s.words::text, s.times::text FROM crucible.sessions s
    UNION ALL SELECT 'event', s.session_id, e.sequence::text, e.id, e.event_type, e.payload::text, e.created_at::text
        FROM crucible.session_events e LEFT JOIN crucible.sessions s ON s.no = e.session_no AND s.project = e.project AND s.month = e.month
    UNION ALL SELECT 'posting', s.session_id, p.term, h.kind, (((1::bigint << 53) - 1) & h.hit)::text, '', '' FROM crucible.postings p
        CROSS JOIN LATERAL (SELECT 'event', unnest(p.hits) UNION ALL SELECT 'whole', unnest(p.whole_hits)) AS h (kind, hit)
        LEFT JOIN crucible.sessions s ON s.no = (p.block::bigint << 10) | (h.hit >> 53) AND s.project = p.project AND s.month = p.month
        WHERE p.term <> ''
    UNION ALL SELECT 'sizes', p.project::text, p.month::text, sum(p.events)::text, sum(p.sessions)::text,
        sum(p.hits[1]) || ' ' || sum(p.hits[2]), sum(p.whole_hits[1]) || ' ' || sum(p.whole_hits[2])
        FROM crucible.postings p WHERE p.term = '' GROUP BY p.project, p.month HAVING sum(p.sessions) > 0
    UNION ALL SELECT 'counts', p.term, '', '', '', '', '' FROM crucible.postings p WHERE p.term <> ''
        AND (p.events <> cardinality(p.hits) OR p.sessions <> cardinality(p.whole_hits))
    ORDER BY 1, 2, 3, 4, 5
"""
"""All rows of all tables, without the numbers that the server gives; `counts` are rows that count wrongly, never any."""


def _tell(done: int, of: int) -> None:
    sys.stdout.write(f"{done} {of}\n")
    sys.stdout.flush()


def _push(address: str, count: int, seed: int) -> None:
    open_pusher(address, "vault", f"clone {seed}").push(documents(count, seed), progress=_tell)


def _main(address: str, count: int, *seeds: int) -> int:
    """How many of them failed.  Forked, so that what eight processes need is loaded once, and nothing of it is begun before."""
    postgres_client()
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_push, args=(address, count, seed)) for seed in seeds[1:]]
    for writer in writers:
        writer.start()
    _push(address, count, seeds[0])
    for writer in writers:
        writer.join()
    return sum(writer.exitcode != 0 for writer in writers)


if __name__ == "__main__":
    raise SystemExit(_main(sys.argv[1], *map(int, sys.argv[2:])))
