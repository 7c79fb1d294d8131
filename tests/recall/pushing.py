"""Sessions to be pushed, and a process that pushes them: what the tests of writers have in common.

Run as a program it pushes: `python -m tests.recall.pushing ADDRESS VAULT CLONE COUNT SEED`, and prints each note that is done.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from random import Random

from crucible.recall.model import Document, Event, Kind
from crucible.recall.postgres import open_pusher

__all__ = ["Held", "document", "documents", "everything"]

_WORDS = [f"word{number}" for number in range(400)] + ["retry", "bucket", "TokenBucket", "src/limiter.py"]
_BEGUN = datetime(2026, 3, 30, 9, tzinfo=UTC)


def document(
    number: int, *, project: str = "apollo", events: int = 6, said: str = "", path: str = ""
) -> Document:
    """Session number so-and-so: always the same for the same arguments; every fiftieth begins in another month."""
    random = Random(number)
    session = f"s-{number:05d}"
    at = _BEGUN + timedelta(days=number % 50)
    told = tuple(
        Event(
            f"{session}#{place + 1:08x}",
            session,
            random.choice([Kind.USER, Kind.AGENT, Kind.TOOL, Kind.DECISION]),
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
    return Document(
        session, path or f"sessions/{session}.md", f"Session {number}", told, at, project, "main", ("tag",)
    )


class Held:
    """Documents by path; a digest is of all that they say."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.held = {one.path: one for one in documents}

    def digests(self) -> Mapping[str, str]:
        return {path: sha256(repr(one).encode()).hexdigest() for path, one in self.held.items()}

    def document(self, path: str) -> Document | None:
        return self.held.get(path)


def documents(count: int, seed: int = 0) -> Held:
    """So many, in an order of their own."""
    numbers = list(range(count))
    Random(seed).shuffle(numbers)
    return Held(document(number, project=("apollo", "zeus")[number % 2]) for number in numbers)


everything = """
    SELECT 'session', s.session_id, s.path, s.digest, s.events::text, s.words::text, s.times::text FROM crucible.sessions s
    UNION ALL SELECT 'event', s.session_id, e.sequence::text, e.id, e.event_type, e.payload::text, e.created_at::text
        FROM crucible.session_events e LEFT JOIN crucible.sessions s ON s.no = e.session_no AND s.project = e.project AND s.month = e.month
    UNION ALL SELECT 'posting', s.session_id, p.term, p.times::text, p.hits::text, '', ''
        FROM crucible.postings p LEFT JOIN crucible.sessions s ON s.no = p.session_no AND s.project = p.project
    ORDER BY 1, 2, 3, 4, 5
"""
"""All rows of all tables, without the numbers that the server gives."""


def _tell(done: int, of: int) -> None:
    sys.stdout.write(f"{done} {of}\n")
    sys.stdout.flush()


def _main(address: str, vault: str, clone: str, count: str, seed: str) -> None:
    pusher = open_pusher(address, vault, clone)
    pusher.push(documents(int(count), int(seed)), progress=_tell)


if __name__ == "__main__":
    _main(*sys.argv[1:])
