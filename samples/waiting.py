"""Wait in tests for a condition with a deadline, so that no test depends on how fast the machine is."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

SECONDS = 120.0
"""The default deadline: more than any client or background process needs on a busy machine."""

IDLE = "import threading; threading.Event().wait(60)"
"""Python code of a process that does nothing until it is killed, for a minute at most."""


def wait_until(
    condition: Callable[[], object], describe: Callable[[], str] = str, seconds: float = SECONDS, pause: float = 0.01
) -> None:
    """Wait until a condition holds; after the deadline, fail with what `describe` returns.

    `pause` is the time between two looks, in seconds.
    """
    deadline = time.monotonic() + seconds
    pausing = threading.Event()  # instead of `time.sleep`, which some tests replace
    while not condition():
        assert time.monotonic() < deadline, f"condition does not hold after {seconds:.0f} s: {describe()}"
        pausing.wait(pause)


def wait_for_file_clock() -> None:
    """Wait until files written from now on get a later time than files written before."""
    with tempfile.TemporaryFile() as probe:

        def write() -> int:
            probe.write(b"x")
            probe.flush()
            return os.fstat(probe.fileno()).st_mtime_ns

        first = write()
        wait_until(lambda: write() > first)


def is_gone(pid: int) -> bool:
    """Return whether a process has ended; a killed orphan stays a zombie until the first process reaps it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    if not Path("/proc/self/stat").exists():
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def pauses(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """An event that is set once the tested code calls `time.sleep`, to wait for a lock or for an editor."""
    called, sleep = threading.Event(), time.sleep

    def note_and_sleep(seconds: float) -> None:
        called.set()
        sleep(seconds)

    monkeypatch.setattr(time, "sleep", note_and_sleep)
    return called
