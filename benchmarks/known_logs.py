"""Import again: with thousands of logs of which none is new, and after one session grew by ten rows."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

from benchmarks.importing import import_command, new_vault
from benchmarks.measuring import Figure, good_run, in_turns, median_ratio
from samples.transcripts import LARGE_ID, copy_sessions, renamer, write_large

LOGS, LOGS_BAR = 10_000, 1.3
SMALL, LARGE, GROWN_BAR = 1_000_000, 100_000_000, 1.3
ROUNDS = 7

_SCAN = """
import os, sys
def walk(folder):
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                walk(entry.path)
            else:
                entry.stat()
walk(sys.argv[1])
"""


def measure(scratch: Path) -> list[Figure]:
    return [_unchanged(scratch / "known"), _grown(scratch / "grown")]


def _unchanged(home: Path) -> Figure:
    """Half of the logs are subagents'; start-up is that of a command that reads a vault and has nothing to do."""
    projects = home / "projects"
    copy_sessions(projects, LOGS // 5, projects=20)
    logs = sum(1 for _ in projects.rglob("*.jsonl"))
    command = import_command(new_vault(home / "vault"), projects)
    good_run(command, home)
    starting = import_command(new_vault(home / "empty"), _empty(home / "nothing"))
    commands: dict[str, Sequence[str | Path]] = {
        "ours": command,
        "start": starting,
        "scan": [sys.executable, "-c", _SCAN, projects],
    }
    commands["bare"] = [sys.executable, "-c", _SCAN, home / "nothing"]

    def measured(command: Sequence[str | Path]) -> Callable[[], float]:
        return lambda: good_run(command, home).cpu

    actions = {name: measured(one) for name, one in commands.items()}
    in_turns(actions, 1)
    times = {name: statistics.median(found) for name, found in in_turns(actions, ROUNDS).items()}
    theirs = times["start"] + times["scan"] - times["bare"]
    detail = f"processor {times['ours'] * 1000:.0f} ms, {theirs * 1000:.0f} ms: {times['start'] * 1000:.0f} ms to start"
    name = f"import with nothing new, {logs:,} known logs, over scandir and stat plus start-up"
    return Figure(name, times["ours"] / theirs, LOGS_BAR, detail=detail)


def _empty(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _grown(home: Path) -> Figure:
    """The rows are the session's own, of later calls."""
    actions = {name: _growing(home / name, size) for name, size in (("small", SMALL), ("large", LARGE))}
    in_turns(actions, 1)
    times = in_turns(actions, ROUNDS)
    small, large = (statistics.median(times[name]) * 1000 for name in ("small", "large"))
    return Figure(
        f"import of ten rows more: a session of {LARGE // 10**6} MB over one of {SMALL // 10**6} MB",
        median_ratio(times, "large", "small"),
        GROWN_BAR,
        detail=f"processor {large:.0f} ms, {small:.0f} ms",
    )


def _growing(home: Path, size: int) -> Callable[[], float]:
    log = write_large(home / "projects" / "-home-dev-project" / "session.jsonl", size)
    rows = "".join(log.open(encoding="utf-8").readlines()[1:11]).replace("2026-11-21T", "2026-11-22T")
    command = import_command(new_vault(home / "vault"), log.parent.parent)
    good_run(command, home)
    numbers = count()

    def action() -> float:
        rename = renamer(f"grown {next(numbers)}")
        with log.open("a", encoding="utf-8") as file:
            file.write(rename(rows).replace(rename(LARGE_ID), LARGE_ID))
        return good_run(command, home).cpu

    return action
