"""Clocks: whole processes with their time and peak memory, functions in turns, and what a bar makes of a figure.

Owns how something is measured.  What is measured stands in the file of its bar.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure and its bar: `value` must be at most (or, with `at_least`, at least) `bar`.

    `unmeasured` says why there is no value, when there is none; such a figure holds no bar.
    """

    name: str
    value: float
    bar: float | None
    unit: str = "×"
    at_least: bool = False
    detail: str = ""
    unmeasured: str = ""

    @property
    def holds(self) -> bool:
        """A figure without a bar is printed for comparison only."""
        if self.bar is None:
            return True
        if self.unmeasured:
            return False
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

    Without this a `PYTHONDONTWRITEBYTECODE` of the caller would have our own modules compiled in each run.  With `CI`, no
    import leaves a process in the background, which would slow down what is measured next.
    """
    kept = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")
    return {name: os.environ[name] for name in kept if name in os.environ} | {"HOME": str(home), "CI": "1"}


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


@contextmanager
def largest_process() -> Iterator[Callable[[], int]]:
    """Watch every process below this one; the value is the peak resident bytes of the largest of them so far.

    Each keeps its own peak in `/proc`, where we look every 20 ms, so only a process's last moments are missed.
    `Ran.peak` is exact, but knows none that nobody waited for; the greater of both is the truth.  0 without `/proc`.
    """
    yield from _watching(lambda: max(map(_peak_of, _below(os.getpid())), default=0))


@contextmanager
def all_processes() -> Iterator[Callable[[], int]]:
    """Watch all processes below this one; the value is the most that they had in memory at one time.

    Memory that several share counts once.  0 without `/proc`.
    """
    yield from _watching(lambda: sum(map(_share_of, _below(os.getpid()))))


def _watching(look: Callable[[], int]) -> Iterator[Callable[[], int]]:
    """Yield a function that returns the largest value so far."""
    most = 0
    over = threading.Event()

    def watch() -> None:
        nonlocal most
        while not over.wait(0.02):
            most = max(most, look())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield lambda: most
    finally:
        over.set()
        watcher.join()


def _below(process: int) -> Iterator[int]:
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):  # it has just ended
            for child in map(int, task.read_text().split()):
                yield child
                yield from _below(child)


def _peak_of(process: int) -> int:
    return _kilobytes(process, "status", "VmHWM") * 1024


def _share_of(process: int) -> int:
    return _kilobytes(process, "smaps_rollup", "Pss") * 1024


def _kilobytes(process: int, file: str, name: str) -> int:
    with suppress(OSError):
        found = re.search(rf"^{name}:\s+(\d+) kB", Path(f"/proc/{process}/{file}").read_text(), re.MULTILINE)
        return int(found[1]) if found else 0
    return 0


def clock(command: Sequence[str | Path], home: Path) -> Callable[[], float]:
    """An action for `in_turns`: one process to its end, which must be a good one."""
    return lambda: good_run(command, home).seconds


def good_run(command: Sequence[str | Path], home: Path) -> Ran:
    """One process to its end, which must be a good one."""
    ran = run(command, home=home, log=home / "run.log")
    assert ran.code == 0, f"{command[:4]}: {ran.code} {(home / 'run.err').read_text(errors='replace')[-2000:]}"
    return ran


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
