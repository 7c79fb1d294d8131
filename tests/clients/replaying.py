"""Recorded sessions written again row by row, as their clients write them: lines in halves, documents whole, a database
under its write-ahead log."""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from crucible.clients.events import Answered
from crucible.clients.registry import DIALECTS
from tests.paths import DATA
from tests.unit.clients.opencode_building import as_of, moments_of

PLACES = {
    "claude-code": (".claude", ("limiter", "retry")),
    "codex": (".codex", ("limiter", "retry", "asked")),
    "gemini": (".gemini", ("limiter", "asked")),
    "copilot": (".copilot", ("limiter", "refused")),
    "pi": (".pi/agent", ("limiter", "compacted")),
    "qwen-code": (".qwen", ("limiter", "refused")),
    "cline": (".cline/data", ("agents",)),
    "opencode": (".local/share/opencode", ("limiter", "retry")),
}
"""The folder of each tested client in a home, and its recordings."""

Step = Callable[[], None]
Hook = Callable[[str, str, Path], None]
"""Called with an event, the id of a session, and its log, as the client calls its hooks."""


def no_hook(_event: str, _session: str, _log: Path) -> None:
    """Do nothing, as a client without hooks."""


def replay(client: str, name: str, home: Path, random: Random, hook: Hook = no_hook) -> Iterator[Step]:
    """Yield the steps that write a recording into a client's folder, in the order of their times.

    `hook` is called when a session starts, after each turn, and at the end.
    """
    source, target = DATA / "transcripts" / client / name, home / PLACES[client][0]
    sessions = [(one.native_id, target / one.path.relative_to(source)) for one in DIALECTS[client].find(source)]
    for event in ("SessionStart", "SessionEnd"):
        yield from (partial(hook, event, *session) for session in sessions)
        if event == "SessionStart":
            yield from _growing(client, source, target, random, hook)


def _growing(client: str, source: Path, target: Path, random: Random, hook: Hook) -> Iterator[Step]:
    ends = _turn_ends(client, source, target, hook)
    if client == "opencode":
        yield from _database(source / "opencode.db", target / "opencode.db", ends)
        return
    rows: list[tuple[str, int, Step]] = []
    for path in sorted(each for each in source.rglob("*") if each.is_file()):
        to = target / path.relative_to(source)
        if path.name.endswith(".messages.json"):
            rows += _document(path, to)
        elif path.suffix == ".jsonl":
            rows += _lines(path, to, random, ends)
        else:
            yield _copying(path, to)
    yield from (step for *_, step in sorted(rows, key=lambda row: row[:2]))


class _TurnEnd(NamedTuple):
    """The end of a turn: after which line of a log, in milliseconds, and the call of the client's hook."""

    log: Path
    line: int
    time: int
    step: Step


def _turn_ends(client: str, source: Path, target: Path, hook: Hook) -> list[_TurnEnd]:
    found = []
    for one in DIALECTS[client].find(source):
        step = partial(hook, "Stop", one.native_id, target / one.path.relative_to(source))
        for event in DIALECTS[client].read(one):
            if isinstance(event, Answered) and not event.at.agent:
                time = int(event.at.time.timestamp() * 1000) if event.at.time else 0
                found.append(_TurnEnd(one.path, event.at.line, time, step))
    return found


def _copying(path: Path, to: Path) -> Step:
    def step() -> None:
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)

    return step


def _lines(path: Path, to: Path, random: Random, ends: list[_TurnEnd]) -> Iterator[tuple[str, int, Step]]:
    written = ""
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True), 1):
        written = json.loads(line).get("timestamp") or written
        half = random.randrange(len(line)) if random.random() < 0.3 else 0
        for piece in filter(None, (line[:half], line[half:])):
            yield str(written), 0, _appending(to, piece)
        for end in ends:
            if (end.log, end.line) == (path, number):
                yield str(written), 0, end.step


def _appending(to: Path, piece: bytes) -> Step:
    def step() -> None:
        to.parent.mkdir(parents=True, exist_ok=True)
        with to.open("ab") as file:
            file.write(piece)

    return step


def _document(path: Path, to: Path) -> Iterator[tuple[str, int, Step]]:
    """Yield a step for each message of a document that is written as a whole."""
    document = json.loads(path.read_bytes())
    messages: list[dict[str, Any]] = document["messages"]
    for number, message in enumerate(messages, 1):
        yield str(message.get("ts", "")), number, _writing(to, {**document, "messages": messages[:number]})


def _writing(to: Path, document: dict[str, Any]) -> Step:
    def step() -> None:
        to.parent.mkdir(parents=True, exist_ok=True)
        new = to.with_name("new.tmp")
        new.write_text(json.dumps(document), encoding="utf-8")
        new.replace(to)

    return step


def _database(path: Path, to: Path, ends: list[_TurnEnd]) -> Iterator[Step]:
    to.parent.mkdir(parents=True, exist_ok=True)
    writer: list[sqlite3.Connection] = []
    times = moments_of(path)
    # A session that was written long ago counts as one that has ended, whatever its last turn says.
    later = int(time.time() * 1000) - times[-1]
    before = 0
    for moment in times:
        yield _inserting(path, to, moment, later, writer)
        yield from (end.step for end in ends if before < end.time <= moment)
        before = moment
    yield lambda: writer.pop().close()


def _later(value: Any, later: int) -> Any:
    """Return a row's data with its times moved by a number of milliseconds."""
    if isinstance(value, list):
        return [_later(each, later) for each in value]
    if not isinstance(value, dict):
        return value
    times = value.get("time")
    found = {key: _later(each, later) for key, each in value.items()}
    return found | ({"time": {key: time + later for key, time in times.items()}} if isinstance(times, dict) else {})


def _inserting(path: Path, to: Path, moment: int, later: int, writer: list[sqlite3.Connection]) -> Step:
    """Bring a database to the state of a time, `later` milliseconds later; the connection of its writer stays open."""

    def step() -> None:
        state = as_of(path, moment, to.parent / "state" / "now.sqlite")
        with closing(sqlite3.connect(state)) as connection, connection:
            for table in ("session", "message", "part"):
                times = f"time_created = time_created + {later}, time_updated = time_updated + {later}"
                connection.execute(f"UPDATE {table} SET {times}")
            connection.create_function("later", 1, lambda data: json.dumps(_later(json.loads(data), later)))
            for table in ("message", "part"):
                connection.execute(f"UPDATE {table} SET data = later(data)")
        if not writer:
            state.replace(to)
            writer.append(sqlite3.connect(to, isolation_level=None))
            writer[0].execute("PRAGMA journal_mode=wal")
            return
        writer[0].execute("ATTACH ? AS state", (str(state),))
        writer[0].execute("BEGIN")
        for table in ("session", "message", "part"):
            writer[0].execute(f"INSERT OR REPLACE INTO {table} SELECT * FROM state.{table}")
        writer[0].execute("COMMIT")
        writer[0].execute("DETACH state")

    return step
