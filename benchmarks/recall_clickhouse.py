"""A team's ClickHouse server: the events of `recall_team`, pushed and asked through the engine in this process (`chdb`).

    pip install chdb-core && python -m benchmarks.recall_clickhouse [EVENTS]

Bytes an event, the rate of inserts of one writer, questions of two words, and how many of the wanted sessions are found
among the first ten, here and in the embedded index of the same sessions.  Exits 1 when anything was lost or doubled.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import orjson

from benchmarks.recall_team import NOW, PER_SESSION, Corpus, Measured, ask_all, document, questions
from crucible.core.settings.settings import KnowledgeSettings
from crucible.search.clickhouse.clickhouse_push import ClickHousePush
from crucible.search.clickhouse.clickhouse_rows import ClickHouseTables
from crucible.search.clickhouse.clickhouse_schema import prune_clickhouse, set_up_clickhouse
from crucible.search.clickhouse.http_server import ClickHouse, literal
from crucible.search.embedded.documents import derive_document
from crucible.search.embedded.index_format import SIDES
from crucible.search.embedded.ranking import SESSIONS, find_events, rank
from crucible.search.embedded.segments import open_side, write_part
from crucible.search.embedded.tantivy_search import Match, Searchers, best, count_stems
from crucible.search.recall import Question
from crucible.search.team.push import Pusher
from crucible.search.team.team_recall import TeamRecall
from samples.clickhouse_engine import DATABASE, Engine, NoEngine

_EVENTS, _P95, _BYTES = 200_000, 60, 150
"""The last two are the bars, on a machine with nothing else to do."""
_SIZES = f"""
    SELECT table, sum(rows), sum(bytes_on_disk), sum(secondary_indices_compressed_bytes)
    FROM system.parts WHERE active AND database = '{DATABASE}' AND table IN ('events', 'sessions') GROUP BY table ORDER BY table
"""
_COLUMNS = f"""
    SELECT table || '.' || column, sum(column_data_compressed_bytes) AS bytes FROM system.parts_columns
    WHERE active AND database = '{DATABASE}' GROUP BY 1 ORDER BY 2 DESC LIMIT 4
"""


class _Direct(ClickHouse):
    """The engine without a server."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(f"clickhouse://localhost/{DATABASE}")
        self._engine = engine
        self.inserting = 0.0

    def run(self, query: str, given: Mapping[str, Any] | None = None, *, within: bool = True) -> list[list[Any]]:
        params = {name: literal(value) for name, value in (given or {}).items()}
        answer = self._engine.query(query, params, DATABASE if within else "")
        return orjson.loads(answer)["data"] if answer else []

    def insert(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], token: str) -> None:
        data = b"\n".join(map(orjson.dumps, rows))
        begun = time.perf_counter()
        query = f"INSERT INTO {table} ({', '.join(columns)}) FORMAT JSONCompactEachRow"
        self._engine.insert(query, data, {"insert_deduplication_token": token}, DATABASE)
        self.inserting += time.perf_counter() - begun


def _embedded(folder: Path, sessions: int) -> float:
    """Return the share of wanted sessions that the embedded index finds among the first ten."""
    folder.mkdir()
    paths = {number: document(number).path for number in range(sessions)}
    write_part(folder, {number: derive_document(document(number), "") for number in range(sessions)})
    searchers = Searchers(None, {side: open_side(folder / side) for side in SIDES}, paths, {})  # type: ignore[arg-type]
    found = []
    for text, wanted in questions(sessions):
        asked = find_events(
            Question(text, limit=10), [], partial(best, searchers, "events"), _no_texts, partial(count_stems, searchers)
        )
        if wanted and asked:
            own = best(searchers, "sessions", asked.terms, SESSIONS)
            ranked = rank(asked, own, lambda _: False, lambda _: None, NOW)
            found.append(f"sessions/{wanted}.md" in [one.found.path for one in ranked.sessions])
    return mean(found)


def _no_texts(found: Sequence[Match]) -> Sequence[str]:
    """No question of `questions` has a phrase."""
    return [""] * len(found)


def _pushed(server: _Direct, sessions: int) -> None:
    Pusher(ClickHousePush(server), "vault").push(Corpus(range(sessions)))


def main(events: int = _EVENTS) -> int:
    """Print the figures."""
    sessions = events // PER_SESSION
    total = sessions * PER_SESSION
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            engine = Engine(folder)
        except NoEngine as reason:
            print(f"skipped: {reason}")
            return 0
        server = _Direct(engine)
        set_up_clickhouse(server)
        begun = time.perf_counter()
        _pushed(server, sessions)
        whole = time.perf_counter() - begun
        print(
            f"{total:,} events pushed in {whole:.0f} s, {server.inserting:.1f} s of them in the engine: {total / server.inserting:,.0f} events/s"
        )
        prune_clickhouse(server, None)
        sizes = server.run(_SIZES)
        for table, rows, size, index in sizes:
            print(
                f"  {table}: {int(rows):,} rows, {int(size) / total:.1f} bytes an event, {int(index) / total:.1f} of them text index"
            )
        for column, size in server.run(_COLUMNS):
            print(f"  {column}: {int(size) / total:.1f} bytes an event")
        print(f"{sum(int(size) for _, _, size, _ in sizes) / total:.0f} bytes an event (bar {_BYTES})")
        asked = TeamRecall(ClickHouseTables(server), None, KnowledgeSettings())
        spent = sum(os.times()[:2])
        found: Measured = ask_all(asked.ask, sessions)
        spent = 1000 * (sum(os.times()[:2]) - spent) / len(found.sessions)
        here = _embedded(folder / "embedded", sessions)
        print(
            f"questions of two words: p50 {found.p50:.0f} ms, p95 {found.p95:.0f} ms (bar {_P95}); {spent:.0f} ms of processor time each, load {os.getloadavg()[0]:.1f}"
        )
        print(f"recall@10 {found.recall:.3f}, of the embedded index {here:.3f}")
        (kept,) = server.run("SELECT (SELECT countIf(kind >= 0) FROM events) = {events:UInt64} AND (SELECT count() FROM sessions) = {sessions:UInt64}", {"events": total, "sessions": sessions})[0]  # fmt: skip
        print("nothing lost or doubled" if kept else "NOT KEPT")
    return 0 if kept else 1


if __name__ == "__main__":
    raise SystemExit(main(*map(int, sys.argv[1:])))
