"""A team's PostgreSQL server: many sessions pushed by several writers at once, and questions asked of it.

    python -m benchmarks.recall_team [EVENTS] [WRITERS] [NOTES OF A BATCH]

Starts a server of its own in a temporary folder, with the disk waited for as in earnest.  Sessions have 27 events of 22 words with the frequencies of
a natural language; each has a topic of three rarer words.  Three of four questions ask for two words of a topic, one for two common words.
Exits 1 when anything was lost or doubled.
"""

from __future__ import annotations

import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import NamedTuple

from crucible.search.postgres.address import Server, postgres_client
from crucible.search.recall import Answer, Document, Event, EventKind, Question
from crucible.search.team.push import BATCH
from crucible.search.team.terms import ItemFacts
from crucible.search.team_servers import open_pusher, open_team, set_up_server
from samples.postgres_server import running_server

_EVENTS, _WRITERS, _QUESTIONS = 200_000, 4, 200
PER_SESSION, _WORDS = 27, 22
_VOCABULARY, _TOPICS = 50_000, 20_000
_BEGUN, _APART = datetime(2025, 12, 1, tzinfo=UTC), timedelta(minutes=2)
NOW = datetime(2026, 11, 22, tzinfo=UTC)
_RATE, _P95 = 8_000, 60
"""The bars, on a machine with nothing else to do."""
_SAFE = (
    *("fsync=on", "synchronous_commit=on", "full_page_writes=on", "autovacuum=on", "shared_buffers=1GB"),
    *("max_wal_size=8GB", "wal_compression=on", "random_page_cost=1.1"),
)
_KINDS = (EventKind.USER, EventKind.AGENT, EventKind.AGENT, EventKind.TOOL, EventKind.TOOL, EventKind.DECISION)


_MERGED = """
    SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class AS c
    WHERE c.relnamespace = 'crucible'::regnamespace AND c.relkind = 'r' AND c.relname LIKE 'postings_%'
"""


@cache
def _language() -> tuple[list[str], list[float]]:
    """The words, most frequent first, and their cumulated frequencies."""
    random, letters, vowels = Random(0), "bcdfghklmnprstvz", "aeiou"
    words: dict[str, None] = {}
    while len(words) < _VOCABULARY:
        words[
            "".join(random.choice(letters) + random.choice(vowels) for _ in range(random.randint(2, 4)))
            + random.choice(letters)
        ] = None
    return list(words), list(accumulate(1 / (rank + 2.7) for rank in range(_VOCABULARY)))


def topic(number: int) -> list[str]:
    """The words of a session's topic."""
    random = Random(number)
    return [f"{_language()[0][2_000 + random.randrange(_TOPICS)]}ing" for _ in range(3)]


def document(number: int) -> Document:
    """Session number so-and-so, always the same, of one of three projects of one of four developers."""
    random, (words, frequencies) = Random(number), _language()
    session, project = f"s-{number:08d}", f"project-{number % 4}-{number // 4 % 3}"
    at, about = _BEGUN + number * _APART, topic(number)
    events = []
    for place in range(PER_SESSION):
        said = random.choices(words, cum_weights=frequencies, k=_WORDS)
        if place % 4 == 0:
            said[random.randrange(_WORDS)] = random.choice(about)
        identity, kind = f"{session}#{place:08x}", random.choice(_KINDS)
        when = at + timedelta(minutes=place)
        events.append(
            Event(
                identity,
                session,
                kind,
                " ".join(said),
                "phase-1",
                "Work",
                place + 10,
                when,
                "claude-code@2.1.197",
                "dev",
                project,
            )
        )
    return Document(session, f"sessions/{session}.md", " ".join(about), tuple(events), at, project, "main", ("tag",))


class Corpus:
    """Sessions by path, made when they are read."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._numbers = {f"sessions/s-{number:08d}.md": number for number in numbers}

    def digests(self) -> Mapping[str, str]:
        """See `push.Documents`."""
        return {path: path for path in self._numbers}

    def document(self, path: str) -> Document | None:
        """See `push.Documents`."""
        return document(self._numbers[path])

    def item_facts(self, path: str) -> ItemFacts | None:
        """See `push.Documents`."""
        del path
        return None


def questions(sessions: int, count: int = _QUESTIONS) -> Iterator[tuple[str, str]]:
    """Two words each, and the session whose topic they are; "" for common words."""
    random, words = Random(1), _language()[0]
    for number in range(count):
        wanted = random.randrange(sessions)
        if number % 4 == 3:
            yield " ".join(random.sample(words[100:2_000], 2)), ""
        else:
            yield " ".join(dict.fromkeys(topic(wanted)[:2])), f"s-{wanted:08d}"


class Measured(NamedTuple):
    """The time of questions, and the share of those with a wanted session that found it among the first ten."""

    p50: float
    p95: float
    recall: float
    sessions: list[list[str]]


def ask_all(ask: Callable[[Question, datetime], Answer], sessions: int) -> Measured:
    """Ask all questions, each for the first time."""
    taken, found, lists = [], [], []
    ask(Question("warm up"), NOW)
    for text, wanted in questions(sessions):
        begun = time.perf_counter()
        answer = ask(Question(text, limit=10), NOW)
        taken.append(1000 * (time.perf_counter() - begun))
        lists.append([one.session for one in answer.sessions])
        if wanted:
            found.append(wanted in lists[-1])
    return Measured(statistics.median(taken), statistics.quantiles(taken, n=20)[-1], statistics.mean(found), lists)


def _push(address: str, numbers: range, batch: int) -> None:
    """A developer, with a vault of their own."""
    pusher = open_pusher(address, f"vault {numbers.start}", seconds=600, batch=batch)
    pusher.push(Corpus(numbers))


def _pushed(address: str, sessions: int, writers: int, batch: int) -> float:
    """Push with several processes; return the seconds."""
    postgres_client()
    _language()
    context = multiprocessing.get_context("fork")
    given = [
        context.Process(target=_push, args=(address, range(at, sessions, writers), batch)) for at in range(writers)
    ]
    begun = time.perf_counter()
    for one in given:
        one.start()
    for one in given:
        one.join()
    return time.perf_counter() - begun if not any(one.exitcode for one in given) else float("nan")


_COUNTS = """
    SELECT (SELECT count(*) FROM crucible.sessions), (SELECT count(*) FROM crucible.session_events),
        (SELECT sum(events) FROM crucible.postings WHERE term = 'fkind:user'), (SELECT count(*) FROM crucible.session_events WHERE event_type = 'user')
"""
_SIZES = """
    SELECT regexp_replace(c.relname, '_[0-9]{4}_[0-9]{2}', '') AS name, sum(pg_relation_size(c.oid))::bigint FROM pg_class AS c
    WHERE c.relnamespace = 'crucible'::regnamespace AND c.relkind IN ('r', 'i') GROUP BY 1 ORDER BY 2 DESC LIMIT 9
"""


def _cpu_seconds(process: int) -> float:
    """Return the processor time of a process and its children, also of those that ended."""
    total, found = 0.0, []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if process in (int(folder.name), int(fields[1])):
            found.append(fields)
            total += sum(map(int, fields[11:13] if int(folder.name) != process else fields[11:15])) / os.sysconf(
                "SC_CLK_TCK"
            )
    return total


def main(events: int = _EVENTS, writers: int = _WRITERS, batch: int = BATCH) -> int:
    sessions = events // PER_SESSION
    with running_server(*_SAFE) as running:
        address = running.address()
        set_up_server(address)
        seconds = _pushed(address, sessions, writers, batch)
        busy = [_cpu_seconds(running.process.pid), sum(os.times()[2:4])]
        server = Server(address, 1200.0)
        there = server.run(_COUNTS)[0]
        (size,) = server.run("SELECT pg_database_size(current_database())")[0]
        total = sessions * PER_SESSION
        rate = total / seconds
        print(
            f"{writers} writers, {sessions:,} sessions, {total:,} events: {seconds:.1f} s, {rate:,.0f} events/s (bar {_RATE:,})"
        )
        print(
            f"processor time an event: {1e6 * busy[0] / total:.0f} µs of the server, {1e6 * busy[1] / total:.0f} µs of the writers; load {os.getloadavg()[0]:.1f}"
        )
        print(f"{size / 1e9:.2f} GB, {size / total:.0f} bytes an event")
        for name, many in server.run(_SIZES):
            print(f"  {name}: {many / total:.1f} bytes an event")
        begun = time.perf_counter()
        (merged,) = server.run("SELECT crucible.merge()")[0]
        server.run("VACUUM FULL crucible.postings")
        (postings,) = server.run(_MERGED)[0]
        print(
            f"{merged:,} rows merged in {time.perf_counter() - begun:.1f} s: postings and their indexes have {postings / total:.1f} bytes an event"
        )
        kept = there[:2] == (sessions, total) and there[2] == there[3]
        server.run("ANALYZE crucible.postings; ANALYZE crucible.sessions")
        server.run("VACUUM crucible.postings")
        asked = open_team(address)
        begun_at = _cpu_seconds(running.process.pid)
        found = ask_all(asked.ask, sessions)
        spent = 1000 * (_cpu_seconds(running.process.pid) - begun_at) / _QUESTIONS
        asked.close()
        print(
            f"questions of two words: p50 {found.p50:.0f} ms, p95 {found.p95:.0f} ms (bar {_P95}), recall@10 {found.recall:.3f}; {spent:.0f} ms of the server's processor each"
        )
        print("nothing lost or doubled" if kept else f"NOT KEPT: {there}, expected {sessions}, {total}")
        server.close()
    return 0 if kept else 1


if __name__ == "__main__":
    raise SystemExit(main(*map(int, sys.argv[1:])))
