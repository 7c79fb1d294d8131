"""A lake of a million events: how fast it is exported, how large it is, and how long the documented questions take.

The notes are generated.  Their event logs repeat those of the two real sessions, with sizes, times and tokens of their own,
so that columns do not compress better than those of a real vault.
"""

from __future__ import annotations

import statistics
import subprocess
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from time import perf_counter

import orjson
from pyarrow import parquet

from benchmarks.kept import cru
from benchmarks.measuring import Figure, environment, good_run
from crucible.commands.lake.lake_query import Lake, question_names, question_sql
from crucible.commands.lake.lake_store import open_store
from crucible.vault.events.archive_writer import NewLine, archive_new
from crucible.vault.events.event_archive import archived_lines
from crucible.vault.events.event_files import EVENTS, TOOL_TYPES, TOOLS, archive_folder
from samples.transcripts import copy_sessions
from samples.vaults import generated_vault

SESSIONS, EVENTS_EACH = 2_500, 400
SPEED_BAR, SIZE_BAR, QUESTION_BAR = 40_000.0, 90.0, 300.0
_ROUNDS = 5
_PADDING = "the limiter reads the bucket and waits for the token that the clock allows "


def measure(scratch: Path) -> list[Figure]:
    scratch = scratch / "lake"
    scratch.mkdir()
    vault = vault_with_events(scratch, SESSIONS, EVENTS_EACH)
    good_run(cru(vault, "session", "list", "-n", "1"), scratch)
    lake = scratch / "export"
    export = cru(vault, "lake", "export", str(lake), "--json")
    first = good_run(export, scratch)
    report = _report(export, scratch)
    again = good_run(export, scratch)
    events = SESSIONS * EVENTS_EACH
    size = sum(path.stat().st_size for path in lake.rglob("*.parquet"))
    detail = f"{events:,} events in {first.seconds:.1f} s; with nothing new {again.seconds:.1f} s"
    assert report["written"] == 0
    return [
        Figure("lake: events exported a second", events / first.seconds, SPEED_BAR, "", True, detail),
        Figure("lake: bytes an event", size / events, SIZE_BAR, "", detail=f"{size / 1e6:.1f} MB of Parquet"),
        _questions(lake),
        _deletion(vault, lake, scratch),
    ]


def vault_with_events(scratch: Path, sessions: int, events: int) -> Path:
    """A generated vault whose sessions have event logs."""
    templates = _templates(scratch)
    vault = generated_vault(scratch / "vault", sessions)
    dice = Random(28)
    for note in sorted((vault / "sessions").glob("*.md")):
        started = datetime.fromisoformat(f"{note.name[:10]}T09:00:00+00:00")
        lines = list(_log(dice, templates, started, events))
        archive_new(vault, note.stem, lines, started, started + timedelta(hours=1))
    return vault


def _templates(scratch: Path) -> list[dict[str, object]]:
    """The events of the real sessions and their subagents, in order."""
    copy_sessions(scratch / "real", 1)
    vault = scratch / "templates"
    for arguments in (("init", str(vault)), ("import", "claude-code", str(scratch / "real"))):
        subprocess.run(cru(vault, *arguments), check=True, capture_output=True, env=environment(scratch))
    archives = sorted(archive_folder(vault).glob("*.zst"))
    return [orjson.loads(line.data) for path in archives for line in archived_lines(path)]


def _log(dice: Random, templates: list[dict[str, object]], started: datetime, count: int) -> Iterator[NewLine]:
    time, made = started, 0
    while made < count:
        calls = f"{dice.getrandbits(64):x}"
        for template in templates[: count - made]:
            made += 1
            time += timedelta(milliseconds=int(dice.expovariate(1 / 4000)))
            key = dice.getrandbits(64).to_bytes(8, "big")
            record = {**template, "seq": made, "key": key.hex(), "time": time, **_varied(dice, template, calls)}
            data = orjson.dumps(record, option=orjson.OPT_UTC_Z) + b"\n"
            yield NewLine(TOOLS if template["type"] in TOOL_TYPES else EVENTS, key, data)


def _varied(dice: Random, template: dict[str, object], calls: str) -> dict[str, object]:
    """What differs between two copies of an event: ids, the lengths of texts, and tokens."""
    varied: dict[str, object] = {}
    for name in ("call", "message"):
        if isinstance(old := template.get(name), str) and old:
            varied[name] = f"{old}{calls}"
    if isinstance(text := template.get("text"), str):
        varied["text"] = text + (_PADDING * 40)[: int(dice.expovariate(1 / 600))]
    for name in ("fresh", "cached", "said"):
        if name in template:
            varied[name] = dice.randrange(20, 60_000)
    return varied


def _report(command: list[str | Path], scratch: Path) -> dict[str, object]:
    done = subprocess.run(command, check=True, capture_output=True, env=environment(scratch))
    found: dict[str, object] = orjson.loads(done.stdout)
    return found


def _questions(lake: Path) -> Figure:
    """The slowest of the documented questions, each the median of several times."""
    opened = Lake(open_store(str(lake)))
    medians: dict[str, float] = {}
    for name in question_names():
        seconds = []
        for _ in range(_ROUNDS):
            begun = perf_counter()
            opened.ask(question_sql(name))
            seconds.append(perf_counter() - begun)
        medians[name] = statistics.median(seconds) * 1000
    opened.close()
    ranked = sorted(medians.items(), key=lambda pair: -pair[1])
    detail = ", ".join(f"{name} {ms:.0f}" for name, ms in ranked)
    return Figure(f"lake: slowest of {len(medians)} questions", ranked[0][1], QUESTION_BAR, "ms", detail=detail)


def _deletion(vault: Path, lake: Path, scratch: Path) -> Figure:
    """How many files name a deleted session afterwards, in their rows or bytes."""
    listed, dropped = (path.stem for path in sorted((vault / "sessions").glob("*.md"))[10:12])
    (scratch / "list.txt").write_text(f"{listed}\n")
    subprocess.run(
        cru(vault, "session", "delete", dropped, "--yes"), check=True, capture_output=True, env=environment(scratch)
    )
    begun = perf_counter()
    good_run(cru(vault, "lake", "export", str(lake), "--delete-list", str(scratch / "list.txt")), scratch)
    seconds = perf_counter() - begun
    names = [listed.encode(), dropped.encode()]
    found = 0
    for path in lake.rglob("*"):
        if path.is_file():
            found += any(name in path.read_bytes() for name in names)
            rows = (
                parquet.read_table(path).to_pylist() if path.suffix == ".parquet" and "sessions" in path.parts else []
            )
            found += any(row["id"] in (listed, dropped) for row in rows)
    return Figure("lake: files with a deleted session", float(found), 0.0, "", detail=f"removed in {seconds:.1f} s")
