"""Clocks: whole processes with their time and peak memory, functions in turns, and what a bar makes of a figure.

Owns how something is measured.  What is measured stands in the file of its bar.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "Figure",
    "Ran",
    "environment",
    "in_turns",
    "median_ratio",
    "offline",
    "run",
    "seconds_of",
]


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure and its bar: `value` must be at most (or, with `at_least`, at least) `bar`."""

    name: str
    value: float
    bar: float | None
    unit: str = "×"
    at_least: bool = False
    detail: str = ""

    @property
    def holds(self) -> bool:
        """A figure without a bar is told for comparison only."""
        if self.bar is None:
            return True
        return self.value >= self.bar if self.at_least else self.value <= self.bar


@dataclass(frozen=True, slots=True)
class Ran:
    """One finished process: wall and processor seconds, peak resident bytes, exit code, what it printed on stdout."""

    seconds: float
    cpu: float
    peak: int
    code: int
    out: str


def environment(home: Path) -> dict[str, str]:
    """What every measured process gets: a home of its own, and no setting that changes how Python starts.

    Without this a `PYTHONDONTWRITEBYTECODE` of the caller would have our own modules compiled in each run.
    """
    kept = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")
    return {name: os.environ[name] for name in kept if name in os.environ} | {"HOME": str(home)}


def offline() -> list[str]:
    """A prefix that takes the network away from a command, where the system has one that needs no rights."""
    prefix = ["unshare", "--map-root-user", "--net"]
    try:
        works = subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        works = False
    return prefix if works else []


def run(command: Sequence[str | Path], *, home: Path, log: Path) -> Ran:
    """Run one process to its end; stdout and stderr go to files, so that no pipe holds it up.

    On Linux a child's peak is never told as less than what its parent had when it began.
    """
    with log.open("wb") as out, log.with_suffix(".err").open("wb") as err:
        start = time.perf_counter()
        process = subprocess.Popen(
            list(map(str, command)),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=environment(home),
            cwd=home,
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    text = log.read_text(encoding="utf-8", errors="replace")
    return Ran(seconds, usage.ru_utime + usage.ru_stime, peak, process.returncode, text)


def in_turns(actions: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Call each action once a round, so that what else the machine does meets all of them alike."""
    found: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            found[name].append(action())
    return found


def median_ratio(times: Mapping[str, Sequence[float]], ours: str, theirs: str) -> float:
    """Our median over theirs."""
    return statistics.median(times[ours]) / statistics.median(times[theirs])


def seconds_of(action: Callable[[], object], repeat: int) -> float:
    """Seconds of one call, over `repeat` calls."""
    start = time.perf_counter()
    for _ in range(repeat):
        action()
    return (time.perf_counter() - start) / repeat
