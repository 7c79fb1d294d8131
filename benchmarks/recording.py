"""Recording: adding to a session of 2,000 phases, in turns with adding to an empty one and writing the file.

The bar is 1.3 times the one plus the other.  Both ways are measured: through the Python API in one process, and as whole
processes of `cru record`.
"""

from __future__ import annotations

import itertools
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.measuring import Figure, environment, in_turns
from crucible.commands import record
from crucible.core import files
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import (
    AgentRef,
    Decision,
    Intervention,
    Phase,
    Prose,
    Session,
    ToolCall,
    ToolCalls,
)
from crucible.vault.notes.init_vault import init_vault
from crucible.vault.notes.vault import Vault

BAR = 1.3
PHASES = 2000
_EACH = 8
"""Entries between two phases: a phase's own length must not decide."""
_WHEN = datetime(2026, 11, 22, 10, tzinfo=UTC)


def build(root: Path, phases: int = PHASES) -> Vault:
    """A vault with the sessions `empty` (one phase) and `long`."""
    init_vault(root, obsidian=False)
    vault = Vault(root)
    entries = (
        Intervention("please do it"),
        Prose("I looked at it and **found** `this`.\n\n```py\nx = 1\n```"),
        ToolCalls((ToolCall("Bash pytest -q", "3 passed"), ToolCall("Read a.py", "10 lines"))),
        Decision("Take it", "it is → there"),
    )
    agent = AgentRef("a", "1")
    for name, count in (("empty", 1), ("long", phases)):
        told = tuple(Phase(f"Phase {n}", agent, None, _WHEN, _WHEN, 100, entries) for n in range(count))
        vault.create(name, render_session(Session(name, _WHEN, participants=(agent,), title=name, phases=told)))
    return vault


def api_times(vault: Vault, rounds: int) -> dict[str, list[float]]:
    """Seconds of one addition to each session, and of writing the long one's file as a note is written."""
    recorders = {name: record.open(name, vault=vault) for name in ("empty", "long")}
    data = recorders["long"].path.read_bytes()
    place = vault.sessions.parent / "written.md"
    place.write_bytes(data)
    actions = {name: _adding(recorder) for name, recorder in recorders.items()}
    actions["write"] = lambda: _seconds(lambda: files.write_atomic(place, data, expected=data))
    in_turns(actions, 3)
    return in_turns(actions, rounds)


def _adding(recorder: record.Recorder) -> Callable[[], float]:
    numbers = itertools.count()

    def add() -> float:
        number = next(numbers)
        if number % _EACH == 0:
            recorder.phase(f"More {number}")
        return _seconds(lambda: recorder.decision(f"number {number}.", rationale="because"))

    return add


def _seconds(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def process_times(vault: Vault, rounds: int) -> dict[str, list[float]]:
    """Seconds of `cru record decision` on each session, and of writing the file."""
    env = {**environment(vault.root), "CRUCIBLE_VAULT": str(vault.root), "PYTHONPATH": os.getcwd()}
    data = vault.read(vault.find("long")).data
    place = vault.root / "written.md"
    place.write_bytes(data)

    def log(name: str) -> Callable[[], float]:
        command = [sys.executable, "-m", "crucible", "record", "decision", "x", "--session", name]
        return lambda: _seconds(lambda: subprocess.run(command, env=env, check=True))

    actions = {name: log(name) for name in ("empty", "long")}
    actions["write"] = lambda: _seconds(lambda: files.write_atomic(place, data, expected=data))
    in_turns(actions, 1)
    return in_turns(actions, rounds)


def ratio(times: dict[str, list[float]]) -> float:
    """The long session's median, less the write of its file, over the empty one's."""
    median = {name: statistics.median(found) for name, found in times.items()}
    return (median["long"] - median["write"]) / median["empty"]


def _figure(name: str, times: dict[str, list[float]]) -> Figure:
    told = ", ".join(f"{key} {statistics.median(found) * 1000:.1f} ms" for key, found in times.items())
    return Figure(name, ratio(times), BAR, detail=told)


def measure(scratch: Path) -> list[Figure]:
    vault = build(scratch / "recording")
    return [
        _figure(f"an addition to {PHASES:,} phases over one to an empty session, API", api_times(vault, 100)),
        _figure("the same as `cru record`", process_times(vault, 15)),
    ]


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for figure in measure(Path(folder)):
            print(f"{figure.name}: {figure.value:.2f} (bar {figure.bar}); {figure.detail}")
