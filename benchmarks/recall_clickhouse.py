"""What a team's search would take in ClickHouse: the events of `recall_team` in a text index, measured through `chdb`.

    pip install chdb && python -m benchmarks.recall_clickhouse [EVENTS]

`cru` has no such backend.  The figures are for `docs/scale.md`: bytes an event, the rate of inserts, and questions of two words, whose newest
matches are fetched and ranked here by BM25.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.recall_team import PER_SESSION, document, questions
from crucible.search.embedded.segments import analyze

_EVENTS, _BATCH, _NEWEST = 200_000, 20_000, 2_000
_TABLE = """
    CREATE TABLE events (
        project LowCardinality(String), month Date, session String CODEC(ZSTD(3)), sequence UInt32, id FixedString(8) CODEC(ZSTD(3)),
        kind LowCardinality(String), at DateTime('UTC') CODEC(Delta, ZSTD(3)), text String CODEC(ZSTD(3)), agent LowCardinality(String),
        channel LowCardinality(String), length UInt32, terms Array(String) CODEC(ZSTD(3)), INDEX by_term terms TYPE text(tokenizer = 'array')
    ) ENGINE = MergeTree PARTITION BY toYYYYMM(month) ORDER BY (project, session, sequence) SETTINGS non_replicated_deduplication_window = 1000
"""
_INSERT = "INSERT INTO events SETTINGS insert_deduplication_token = '{token}' SELECT * FROM file('{path}', 'JSONEachRow', '{names}')"
_COLUMNS = (
    "project String, month Date, session String, sequence UInt32, id FixedString(8), kind String, at DateTime, text String, agent String, "
    "channel String, length UInt32, terms Array(String)"
)
_COUNTS = "SELECT {word:String} AS word, count() AS c FROM events WHERE hasAnyTokens(terms, [{word:String}])"
_FOUND = """
    SELECT session, sequence, length, arrayMap(word -> countEqual(terms, word), {words:Array(String)}) AS times
    FROM events WHERE CONDITION(terms, {words:Array(String)}) ORDER BY at DESC LIMIT {most:UInt32}
"""


def _rows(numbers: range) -> Iterator[dict[str, Any]]:
    for number in numbers:
        told = document(number)
        for sequence, event in enumerate(told.events):
            stems, at = analyze(event.text), event.at
            assert at
            yield {
                "project": event.project, "month": f"{at:%Y-%m-01}", "session": event.session, "sequence": sequence, "id": event.id[-8:],
                "kind": event.kind.value, "at": f"{at:%Y-%m-%d %H:%M:%S}", "text": event.text, "agent": event.agent, "channel": event.channel,
                "length": len(stems), "terms": sorted([*stems, f"\0kind:{event.kind.value}"]),
            }  # fmt: skip


def _ask(session: Any, text: str, total: int, mean: float) -> list[str]:
    """Return the sessions whose three best events score best, as `ranking` does."""
    words = analyze(text)
    literal = "[" + ",".join(f"'{word}'" for word in words) + "]"
    counts = {
        word: json.loads(str(session.query(_COUNTS, "JSONCompact", params={"word": word})))["data"][0][1]
        for word in words
    }
    idf = [math.log(1 + (total - int(counts[word]) + 0.5) / (int(counts[word]) + 0.5)) for word in words]
    found: dict[tuple[str, int], float] = {}
    for condition in ("hasAllTokens", "hasAnyTokens"):
        query = _FOUND.replace("CONDITION", condition)
        rows = json.loads(str(session.query(query, "JSONCompact", params={"words": literal, "most": _NEWEST})))["data"]
        for name, sequence, length, times in rows:
            norm = 1.2 * (0.25 + 0.75 * length / mean)
            found[name, sequence] = sum(
                one * 2.2 * int(many) / (int(many) + norm) for one, many in zip(idf, times, strict=True)
            )
    best: dict[str, list[float]] = {}
    for (name, _), score in sorted(found.items(), key=lambda item: -item[1]):
        best.setdefault(name, []).append(score)
    scores = Counter(
        {name: sum(a * b for a, b in zip(some, (1.0, 0.5, 0.25), strict=False)) for name, some in best.items()}
    )
    return [name for name, _ in scores.most_common(10)]


def main(events: int = _EVENTS) -> int:
    """Print the figures; there is no bar."""
    try:
        engine = import_module("chdb.session")  # not in the extras
    except ImportError:
        print("skipped: chdb is not installed (pip install chdb, half a gigabyte)")
        return 0
    sessions, inserting = events // PER_SESSION, 0.0
    with tempfile.TemporaryDirectory() as folder:
        database = engine.Session(f"{folder}/data")
        database.query(_TABLE)
        each = _BATCH // PER_SESSION
        for at in range(0, sessions, each):
            path = Path(folder, "batch.json")
            path.write_text("".join(json.dumps(row) + "\n" for row in _rows(range(at, min(at + each, sessions)))))
            insert = _INSERT.format(token=at, path=path, names=_COLUMNS)
            begun = time.perf_counter()
            database.query(insert)
            inserting += time.perf_counter() - begun
        database.query(insert)  # a block that is sent twice is stored once
        database.query("OPTIMIZE TABLE events FINAL")
        total, size = json.loads(
            str(
                database.query(
                    "SELECT sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND table = 'events'",
                    "JSONCompact",
                )
            )
        )["data"][0]
        mean = float(json.loads(str(database.query("SELECT avg(length) FROM events", "JSONCompact")))["data"][0][0])
        taken, found = [], []
        for text, wanted in questions(sessions):
            begun = time.perf_counter()
            answer = _ask(database, text, int(total), mean)
            taken.append(1000 * (time.perf_counter() - begun))
            found += [wanted in answer] * bool(wanted)
        rate = sessions * PER_SESSION / inserting
        print(
            f"{int(total):,} events of {sessions * PER_SESSION:,}: {int(size) / int(total):.0f} bytes an event, {rate:,.0f} events/s by one writer"
        )
        p95 = statistics.quantiles(taken, n=20)[-1]
        print(
            f"questions of two words: p50 {statistics.median(taken):.0f} ms, p95 {p95:.0f} ms, recall@10 {statistics.mean(found):.3f}"
        )
    return 0 if int(total) == sessions * PER_SESSION else 1


if __name__ == "__main__":
    raise SystemExit(main(*map(int, sys.argv[1:])))
