"""The process that imports logs for a watcher: started when a log grows, ended after a while without work.

It keeps the modules and tables of an import in memory, so that a turn is imported at once and the watcher stays small.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Any, NamedTuple

_IDLE = 120.0
"""Seconds without work after which the process ends."""


class ImportJob(NamedTuple):
    """Logs of one client to import.

    `since` is a time for databases: only sessions written since then are read.  With `is_last`, nothing has been written
    for a while: turns that have not ended are imported too.
    """

    client: str
    paths: tuple[str, ...]
    since: float | None
    is_last: bool


class ImportResult(NamedTuple):
    """The result of an import: its processor seconds, and why something could not be imported, or ""."""

    seconds: float
    fault: str


class ImportWorker:
    """The process for one vault.  One job runs at a time."""

    def __init__(self, root: Path) -> None:
        self._command = [sys.executable, "-P", "-m", "crucible.integrations.live.live_import", str(root)]
        self._process: subprocess.Popen[bytes] | None = None
        self._replies: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._used = 0.0
        self.is_busy = False

    def warm_up(self) -> None:
        """Start the process if it does not run."""
        if self._process is None or self._process.poll() is not None:
            replies: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self._replies = replies
            threading.Thread(target=_collect, args=(self._process.stdout, replies), daemon=True).start()
        self._used = time.monotonic()

    def begin(self, jobs: Sequence[ImportJob]) -> None:
        """Begin to import; raises `OSError` if the process cannot be started or has died."""
        self.warm_up()
        if self._process and self._process.stdin:
            self._process.stdin.write(json.dumps([each._asdict() for each in jobs]).encode() + b"\n")
            self._process.stdin.flush()
            self.is_busy = True

    def result(self) -> ImportResult | None:
        """Return the result of the jobs if they have ended, else None."""
        try:
            reply = self._replies.get_nowait() if self.is_busy else None
        except Empty:
            return None
        if not self.is_busy:
            self._end_idle()
            return None
        self.is_busy, self._used = False, time.monotonic()
        if reply is None:
            self.close()
            return ImportResult(0.0, "the process that imports has died")
        return ImportResult(reply["seconds"], reply["fault"])

    def _end_idle(self) -> None:
        if self._process and time.monotonic() - self._used > _IDLE:
            self.close()

    def close(self) -> None:
        """End the process after its current job."""
        process, self._process, self.is_busy = self._process, None, False
        if process and process.stdin:
            try:
                process.stdin.close()
            except OSError:  # it has died
                process.kill()
            threading.Thread(target=process.wait, daemon=True).start()


def _collect(lines: IO[bytes], replies: SimpleQueue[dict[str, Any] | None]) -> None:
    """Collect the lines that the process writes; None at its end."""
    with lines:
        for line in lines:
            replies.put(json.loads(line))
    replies.put(None)
