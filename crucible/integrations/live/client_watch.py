"""Decide when to import a log that has changed: after a turn, rarely while it grows, and again after a failure.

`cru import` first adds what happened while no watcher was running; its table of known logs makes that cheap.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

from crucible.clients.log_folders import is_database, log_folders, log_of
from crucible.clients.registry import TITLES
from crucible.core.background import run_after_others
from crucible.integrations.live.log_changes import LogChanges

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


_SETTLE = 0.25
"""Seconds without a new row that end a turn."""
_SOON = 0.1
"""Seconds until the next look while rows wait."""
_LONGEST = 1.5
"""Maximum seconds from a row to its import, while more rows arrive."""
_RESTS = 2
"""Factor by which the pause after an import is longer than the import, so that large sessions cost little."""
_LONGEST_REST = 30.0
_QUIET = 60.0
"""Seconds without a new row after which an unfinished turn is imported."""
_MARGIN = 120.0
"""Seconds to look back when searching a database for changed sessions: a row may be written after its own time."""
_FIRST_RETRY, _LONGEST_RETRY, _MOST_RETRIES = 2.0, 300.0, 12
_FAILED = (1, 2)
"""Exit codes of an import that was not carried out."""


@dataclass(slots=True)
class _Log:
    """A log with rows that are not imported yet.  Times are monotonic; `first` is 0 if all rows are imported."""

    client: str
    first: float
    last: float
    rest_until: float = 0.0
    failures: int = 0

    def is_due(self, now: float) -> bool:
        """Return whether to import now: a turn may have ended, or rows have waited long enough."""
        waits = self.first and now >= self.rest_until
        return bool(waits) and (now - self.last >= _SETTLE or now - self.first >= _LONGEST)

    def is_quiet(self, now: float) -> bool:
        """Return whether to import an unfinished turn, too."""
        return now - self.last >= _QUIET and now >= self.rest_until


class ClientWatch:
    """Follows the logs of all clients on this machine into a vault.  Call `pulse` twice a second, or when it says.

    `say` is called with news, `warn` with faults, each once.
    """

    def __init__(
        self, root: Path, env: Mapping[str, str], home: Path, say: Callable[[str], None], warn: Callable[[str], None]
    ) -> None:
        self._root = root
        self._say = say
        self._warn = warn
        self._faults: set[str] = set()
        self._clients: list[str] = []
        self._changes = LogChanges(log_folders(env, home))
        self._worker = ImportWorker(root)
        self._logs: dict[str, _Log] = {}
        self._running: list[str] = []
        """The logs that the worker is importing."""
        self._read_until: dict[str, float] = {}
        """For each database, the time up to which all sessions are imported."""
        self._began = time.time()
        self._job_began = 0.0
        self._is_last = False
        self._catch_up = _CatchUp(root)

    def pulse(self) -> float | None:
        """Look at the logs, and import those that are due; return the seconds until the next look if that is soon."""
        self._tell_clients()
        self._note_changes()
        if self._catch_up.is_over(self._fault):
            self._catch_up_ended()
            self._take_result()
            if not self._worker.is_busy:
                self._begin()
            if self._worker.is_busy or any(log.first for log in self._logs.values()):
                return _SOON
        return _SOON if self._catch_up.runs else None

    def close(self) -> None:
        """Stop following.  An import that has begun ends."""
        self._changes.close()
        self._worker.close()
        self._catch_up.close()

    def _tell_clients(self) -> None:
        present = [TITLES[folder.client] for folder in self._changes.present]
        if present != self._clients:
            self._clients = present
            self._say(f"following the logs of {', '.join(present)}" if present else "no client has logs here yet")

    def _catch_up_ended(self) -> None:
        if self._catch_up.is_new:
            self._catch_up.is_new = False
            # Their last turns were skipped, unless they had ended.
            for path, client in self._changes.written_since(self._began - _QUIET).items():
                self._logs.setdefault(log_of(path), _Log(client, 0.0, time.monotonic()))
            self._say("all logs are imported; new rows follow within seconds")

    def _fault(self, text: str) -> None:
        if text not in self._faults:
            self._faults.add(text)
            self._warn(text)

    def _note_changes(self) -> None:
        now = time.monotonic()
        for path, client in self._changes.changed().items():
            log = self._logs.setdefault(log_of(path), _Log(client, 0.0, now))
            # It was written some time before this look.
            log.first, log.last, log.failures = log.first or now, now - min(self._changes.age(path), _SETTLE), 0
            with suppress(OSError):  # it is started again when there is something to import
                self._worker.warm_up()

    # --- importing ---------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        now = time.monotonic()
        due = [path for path, log in self._logs.items() if log.is_due(now)]
        is_last = not due
        due = due or [path for path, log in self._logs.items() if log.is_quiet(now)]
        if not due:
            return
        self._running, self._job_began, self._is_last = due, time.time(), is_last
        for path in due:
            self._logs[path].first = 0.0
        try:
            self._worker.begin([*self._jobs(due, is_last=is_last)])
        except OSError as error:
            self._worker.close()
            self._failed(f"logs cannot be imported: {error.strerror or error}")

    def _jobs(self, paths: Iterable[str], *, is_last: bool) -> Iterator[ImportJob]:
        """Yield one job for the files of each client, and one for each database."""
        files: dict[str, list[str]] = {}
        for path in paths:
            client = self._logs[path].client
            if is_database(path):
                since = self._read_until.get(path, self._began) - _MARGIN
                yield ImportJob(client, (path,), since, is_last)
            else:
                files.setdefault(client, []).append(path)
        for client, found in files.items():
            yield ImportJob(client, tuple(found), None, is_last)

    def _take_result(self) -> None:
        result = self._worker.result()
        if result is None:
            return
        if result.fault:
            self._failed(result.fault)
            return
        rest = time.monotonic() + min(_RESTS * result.seconds, _LONGEST_REST)
        for path in self._running:
            log = self._logs[path]
            log.rest_until, log.failures = rest, 0
            if self._is_last:
                self._read_until |= {path: self._job_began} if is_database(path) else {}
                if not log.first:
                    del self._logs[path]

    def _failed(self, fault: str) -> None:
        """Try the logs again later; after too many failures, only when they grow."""
        self._fault(fault)
        now = time.monotonic()
        for path in self._running:
            log = self._logs[path]
            log.failures += 1
            log.rest_until = now + min(_FIRST_RETRY * 2**log.failures, _LONGEST_RETRY)
            if log.failures > _MOST_RETRIES:
                del self._logs[path]
            elif not self._is_last:
                log.first = log.first or now


class _CatchUp:
    """An import of all logs, in a process of its own; repeated until it succeeds."""

    def __init__(self, root: Path) -> None:
        self._command = [sys.executable, "-P", "-m", "crucible", "--vault", str(root), "import", "--whole-turns"]
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._next = 0.0
        self._pause = _FIRST_RETRY
        self._is_over = False
        self.is_new = True
        """True until the end of the import was reported."""

    @property
    def runs(self) -> bool:
        """True while the process runs."""
        return self._process is not None

    def is_over(self, fault: Callable[[str], None]) -> bool:
        """Return whether all logs are imported; start the import if it is due."""
        if self._is_over:
            return True
        if self._process is None:
            if time.monotonic() >= self._next:
                self._start(fault)
            return False
        code = self._process.poll()
        if code is None:
            return False
        self._process, self._is_over = None, code not in _FAILED and code >= 0
        if not self._is_over:
            self._try_later()
            fault(f"logs could not be imported: {self._message() or f'exit code {code}'}")
        return self._is_over

    def _start(self, fault: Callable[[str], None]) -> None:
        try:
            self._errors = TemporaryFile()  # noqa: SIM115  closed when its message is read
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._errors
            )
            run_after_others(self._process.pid)
        except OSError as error:
            self._try_later()
            fault(f"logs could not be imported: {error.strerror or error}")

    def _try_later(self) -> None:
        self._next = time.monotonic() + self._pause
        self._pause = min(2 * self._pause, _LONGEST_RETRY)

    def _message(self) -> str:
        """Return the first line that the import printed about its error."""
        if self._errors is None:
            return ""
        with self._errors as file:
            file.seek(0)
            lines = file.read(1 << 16).decode("utf-8", "replace").split("\n")
        return next((line.partition("error: ")[2] for line in lines if "error: " in line), "")

    def close(self) -> None:
        """Stop the import; the next one continues."""
        if self._process:
            self._process.terminate()
            self._process.wait()
