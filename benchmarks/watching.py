"""`cru watch --clients`: from a turn's end to its note, and what it costs to start and to idle beside 5,000 known logs.

Files of Claude Code, and a database of Goose, in which each turn is in another session.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.importing import new_vault
from benchmarks.measuring import Figure, environment, good_run
from crucible.core.settings.settings import VaultSettings
from crucible.vault.notes.vault import Note, Vault
from samples.goose_sessions import add_turn, write_sessions
from samples.transcripts import LARGE_ID, copy_sessions, renamer, write_large
from samples.waiting import wait_until

LOGS, TURNS, IDLE_SECONDS, STARTS = 5_000, 200, 60, 3
MEDIAN_BAR, WORST_BAR, START_BAR, CORE_BAR, MEMORY_BAR = 1.0, 3.0, 2.0, 0.5, 60.0
_CAUGHT_UP = b"all logs are imported"
_SIZE = 200_000
"""Bytes of the session that grows."""
_REST = 0.4
"""Seconds between a note and the next turn."""


def measure(scratch: Path) -> list[Figure]:
    home = scratch / "watching"
    projects = home / ".claude" / "projects"
    copy_sessions(projects, LOGS // 5, projects=20)
    logs = sum(1 for _ in projects.rglob("*.jsonl"))
    vault = new_vault(home / "vault")
    _import(home, vault)
    return [*_standing(home, vault, logs), *_turns(home, vault), *_of_a_database(scratch / "watching a database")]


def _import(home: Path, vault: Path) -> None:
    for _ in range(2):  # the second one keeps its answer
        good_run([sys.executable, "-m", "crucible", "--vault", vault, "import"], home)


def _standing(home: Path, vault: Path, logs: int) -> Iterator[Figure]:
    starts = []
    for _ in range(STARTS):
        began = time.perf_counter()
        with _watcher(home, vault):
            starts.append(time.perf_counter() - began)
    yield Figure(f"start of the watcher on {logs:,} known logs", statistics.median(starts), START_BAR, "s")
    with _watcher(home, vault) as pid:
        time.sleep(5)
        before = _seconds(pid)
        time.sleep(IDLE_SECONDS)
        used = (_seconds(pid) - before) / IDLE_SECONDS * 100
        yield Figure(f"the watcher idle beside {logs:,} logs, of a core", used, CORE_BAR, "%")
        yield Figure("its memory", _megabytes(pid), MEMORY_BAR, "MB")


def _turns(home: Path, vault: Path) -> Iterator[Figure]:
    """Each turn is a prompt, a call with its result and an answer, written at once to a session that has grown long."""
    log = write_large(home / ".claude" / "projects" / "-home-dev-project" / f"{LARGE_ID}.jsonl", _SIZE)
    rows = log.read_text(encoding="utf-8").splitlines(keepends=True)
    turn = "".join([rows[0], *rows[2:4], rows[-1]]).replace("2026-11-21T", "2026-11-22T")
    times = []
    with _watcher(home, vault):  # which imports what the session has so far
        note = next(path for path in (vault / "sessions").glob("*.md") if LARGE_ID in path.read_text(encoding="utf-8"))
        for number in range(TURNS):
            said = f"Turn {number} is done."
            text = renamer(f"turn {number}")(turn).replace(renamer(f"turn {number}")(LARGE_ID), LARGE_ID)
            with log.open("a", encoding="utf-8") as file:
                file.write(text.replace("Done.", said).replace("Now part 1", f"Now part {number + 1000}"))
            began = time.perf_counter()
            wait_until(lambda said=said: said in note.read_text(encoding="utf-8"))  # type: ignore[misc]
            times.append(time.perf_counter() - began)
            time.sleep(_REST)
    yield from _figures("from a turn's end to its note", times)


def _figures(name: str, times: list[float]) -> Iterator[Figure]:
    often = sorted(times)[len(times) * 9 // 10]
    detail = f"{len(times)} turns, best {min(times):.2f} s, 9 of 10 within {often:.2f} s"
    yield Figure(f"{name}, median", statistics.median(times), MEDIAN_BAR, "s", detail=detail)
    yield Figure(f"{name}, worst", max(times), WORST_BAR, "s")


def _of_a_database(home: Path) -> Iterator[Figure]:
    """Each start and each turn finds one session of the database that has changed."""
    call = {"type": "toolRequest", "id": "c", "toolCall": {"value": {"name": "shell", "arguments": {"command": "ls"}}}}
    result = {"type": "toolResponse", "id": "c", "toolResult": {"value": [{"type": "text", "text": "a.py"}]}}
    messages: list[dict[str, object]] = [
        {"role": "user", "content": [{"type": "text", "text": "Fix the bug"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "I look."}, call]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": [{"type": "text", "text": "It is fixed."}]},
    ]
    path, vault = home / ".local" / "share" / "goose" / "sessions" / "sessions.db", new_vault(home / "vault")
    database = write_sessions(path, LOGS, messages)
    _import(home, vault)
    notes = {str(each): path for path, note in _notes(vault) for each in note.session.sources}
    starts = []
    for number in range(STARTS):
        add_turn(database, f"s{number}", "It is fixed again.", datetime.now(UTC))
        began = time.perf_counter()
        with _watcher(home, vault):
            starts.append(time.perf_counter() - began)
    name = f"start of the watcher on a database of {LOGS:,} sessions, one of them changed"
    yield Figure(name, statistics.median(starts), START_BAR, "s")
    times = []
    with _watcher(home, vault):
        for number in range(TURNS):
            said, note = f"Turn {number} is done.", notes[f"goose:s{100 + number}"]
            add_turn(database, f"s{100 + number}", said, datetime.now(UTC))
            began = time.perf_counter()
            wait_until(lambda said=said, note=note: said in note.read_text(encoding="utf-8"))  # type: ignore[misc]
            times.append(time.perf_counter() - began)
            time.sleep(_REST)
    database.close()
    yield from _figures("from a turn's end to its note, of a database", times)


def _notes(root: Path) -> Iterator[tuple[Path, Note]]:
    vault = Vault(root, VaultSettings())
    yield from ((path, vault.read(path)) for path in vault.session_paths())


@contextmanager
def _watcher(home: Path, vault: Path) -> Iterator[int]:
    """Run a watcher that has caught up; the value is its process id."""
    log = home / "watch.log"
    command = [sys.executable, "-m", "crucible", "--vault", str(vault), "watch", "--clients"]
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env=environment(home), cwd=home)
    try:
        wait_until(lambda: _CAUGHT_UP in log.read_bytes(), log.read_text)
        yield process.pid
    finally:
        process.terminate()
        process.wait()


def _seconds(pid: int) -> float:
    """Return the processor seconds of a process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024
