"""A team's PostgreSQL server: many sessions pushed by several writers at once, and questions asked of it.

    python -m benchmarks.recall_team [SESSIONS] [WRITERS]

Starts a server of its own in a temporary folder, with the disk waited for as in earnest.  Exits 1 when anything was lost or doubled.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from datetime import UTC, datetime
from random import Random

from crucible.search.postgres.address import Server
from crucible.search.postgres.team_recall import open_postgres, set_up_server
from crucible.search.recall import Question
from samples.postgres_server import running_server
from samples.pushed_documents import document

_SESSIONS, _WRITERS, _QUESTIONS = 10_000, 8, 200
_SAFE = ("fsync=on", "synchronous_commit=on", "full_page_writes=on", "autovacuum=on", "shared_buffers=256MB")
_COUNTS = """
    SELECT (SELECT count(*) FROM crucible.sessions), (SELECT count(DISTINCT session_id) FROM crucible.sessions),
        (SELECT count(*) FROM crucible.session_events), (SELECT count(DISTINCT id) FROM crucible.session_events),
        (SELECT count(*) FROM crucible.postings), (SELECT count(*) FROM (SELECT DISTINCT term, session_no FROM crucible.postings) AS p)
"""


def main(sessions: int = _SESSIONS, writers: int = _WRITERS) -> int:
    with running_server(*_SAFE) as running:
        address = running.address()
        set_up_server(address)
        begun = time.perf_counter()
        command = [
            sys.executable,
            "-m",
            "samples.pushed_documents",
            address,
            str(sessions),
            *map(str, range(writers)),
        ]
        failed = subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode
        seconds = time.perf_counter() - begun
        server = Server(address, 600.0)
        found = server.run(_COUNTS)[0]
        expected = sum(len(document(number).events) for number in range(sessions))
        (size,) = server.run("SELECT pg_size_pretty(pg_database_size(current_database()))")[0]
        print(f"{writers} writers, {sessions:,} sessions, {expected:,} events: {seconds:.1f} s, {size}")
        print(f"sessions {found[0]:,}, events {found[2]:,}, postings {found[4]:,}; {failed} writers failed")
        _ask(address)
        kept = found[:4] == (sessions, sessions, expected, expected) and found[4] == found[5] and not failed
        print("nothing lost or doubled" if kept else f"NOT KEPT: {found}, expected {sessions}, {expected}")
        server.close()
        return 0 if kept else 1


def _ask(address: str) -> None:
    random, now, taken = Random(1), datetime(2026, 11, 22, tzinfo=UTC), []
    team = open_postgres(address)
    for _ in range(_QUESTIONS):
        text = " ".join(f"word{random.randrange(400)}" for _ in range(10))
        begun = time.perf_counter()
        team.ask(Question(text), now)
        taken.append(1000 * (time.perf_counter() - begun))
    p95 = statistics.quantiles(taken, n=20)[-1]
    print(f"questions of ten words: p50 {statistics.median(taken):.0f} ms, p95 {p95:.0f} ms")


if __name__ == "__main__":
    raise SystemExit(main(*map(int, sys.argv[1:])))
