"""Run a program that answers a prompt, with a time-out and an output limit, and leave no process running.

Each program runs in its own process group; `Reins.stop` ends all of them.  `ask` builds commands and parses answers.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import IO

from crucible.clients.client import printable
from crucible.core.errors import AgentFailed, reason_of
from crucible.core.patterns import ANSI

MOST_BYTES = 1 << 20
"""Maximum size of an answer in bytes; a program that prints more is stopped."""

_STDERR_BYTES = 4000
"""Number of bytes at the end of standard error that are kept for the error message."""
_STRAGGLERS = 2.0
"""Seconds to wait for child processes that keep a program's output open after its end."""
_GRACE = 3.0
"""Seconds between asking a program to end and killing it."""


class TimedOut(AgentFailed):
    """A program exceeded its time-out."""


class Stopped(AgentFailed):
    """A program was ended by `Reins.stop`."""


class Exited(AgentFailed):
    """A program failed.  `code` is its exit code, or minus the signal that killed it; `output` is its output."""

    def __init__(self, message: str, code: int, output: bytes) -> None:
        super().__init__(message)
        self.code = code
        self.output = output


class Reins:
    """Stops all running programs, from any thread; after `stop`, no more programs are started.

    `started` is called with each program's process id, in the thread that runs the program.
    """

    def __init__(self, started: Callable[[int], None] = lambda _pid: None) -> None:
        self.stopped = False
        self._started = started
        # No lock: a signal handler may call `stop` while the interrupted thread holds it.  A list and a flag need none.
        self._running: list[subprocess.Popen[bytes]] = []

    def stop(self, *, at_once: bool = False) -> None:
        """Ask all programs and their children to end; kill them after a grace period, or immediately if `at_once`."""
        self.stopped = True
        for process in [*self._running]:
            _end(process, at_once=at_once)

    @contextmanager
    def holding(self, process: subprocess.Popen[bytes]) -> Iterator[None]:
        """Include a program in `stop` until the block ends."""
        self._running.append(process)
        try:
            if self.stopped:
                _end(process, at_once=True)
            self._started(process.pid)
            yield
        finally:
            self._running.remove(process)
            if self.stopped:
                _kill(process)  # its children may have outlived it


def run_program(
    words: Sequence[str],
    prompt: bytes,
    env: Mapping[str, str],
    timeout: float | None,
    *,
    folder: str = "",
    reins: Reins | None = None,
    most: int = MOST_BYTES,
) -> bytes:
    """Run a program in `folder`, or in an empty folder, with `prompt` as standard input; return its output.

    When the program ends, child processes that keep its output open are killed.  Raises `AgentFailed` if it cannot be
    started or prints more than `most` bytes, `TimedOut` after `timeout` seconds, `Stopped` if `reins` stop it, and
    `Exited`, with the last line of standard error, if its exit code is not 0.
    """
    with ExitStack() as stack:
        if not folder:
            made = tempfile.TemporaryDirectory(prefix="cru-", ignore_cleanup_errors=True)
            folder = stack.enter_context(made)
        stdin = stack.enter_context(tempfile.TemporaryFile())  # a pipe could block
        stdin.write(prompt)
        stdin.seek(0)
        reins = reins or Reins()
        if reins.stopped:
            raise Stopped(f"{os.path.basename(words[0])}: could not be started")
        process = _start(words, stdin, {**env, "PWD": folder}, folder)
        with reins.holding(process):
            return _answer_of(process, os.path.basename(words[0]), timeout, most, reins)


def _start(words: Sequence[str], stdin: IO[bytes], env: Mapping[str, str], folder: str) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            [*words],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=dict(env),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        why = reason_of(error) if isinstance(error, OSError) else str(error)
        hint = "install it, or change agents.command in your settings"
        raise AgentFailed(f"{words[0]}: cannot be started: {why}", hint) from error


def _answer_of(process: subprocess.Popen[bytes], name: str, timeout: float | None, most: int, reins: Reins) -> bytes:
    assert process.stdout is not None  # noqa: S101  both are pipes
    assert process.stderr is not None  # noqa: S101
    output = _Reader(process.stdout, process, most)
    errors = _Reader(process.stderr, process, 0)
    try:
        code = process.wait(timeout)
        output.join(_STRAGGLERS)  # a child process may keep the pipe open; the program's own output has arrived
    except subprocess.TimeoutExpired as error:
        hint = "to wait longer, raise agents.timeout_seconds in your settings"
        raise TimedOut(f"{name}: no answer within {timeout:g} seconds", hint) from error
    finally:
        if process.poll() is None or output.is_alive() or errors.is_alive():
            _kill(process)
            process.wait()
    if output.overflowed:
        raise AgentFailed(f"{name}: its answer is longer than {most:,} bytes")
    if reins.stopped:  # some programs exit with 0 and no answer when asked to end
        raise Stopped(f"{name}: stopped")
    if code:
        errors.join(0.2)
        raise Exited(f"{name}: exit code {code}{errors.last_line()}", code, bytes(output.data))
    return bytes(output.data)


def _end(process: subprocess.Popen[bytes], *, at_once: bool) -> None:
    """Ask a process group to end, and kill it after the grace period."""
    if at_once:
        _kill(process)
        return
    with suppress(OSError):
        if sys.platform != "win32":
            os.killpg(process.pid, signal.SIGTERM)
        else:
            process.terminate()
    later = threading.Timer(_GRACE, _kill_if_there, [process])
    later.daemon = True
    later.start()


def _kill_if_there(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    # The group id is the leader's process id, which the system does not reuse while the group has a member.
    with suppress(OSError):
        if sys.platform != "win32":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


class _Reader(threading.Thread):
    """Reads a pipe so that the program never blocks.  Keeps the first `limit` bytes or, if 0, only the end."""

    def __init__(self, pipe: IO[bytes], process: subprocess.Popen[bytes], limit: int) -> None:
        super().__init__(daemon=True)
        self.data = bytearray()
        self.overflowed = False
        self._pipe, self._process, self._limit = pipe, process, limit
        self.start()

    def run(self) -> None:
        """Read until the last process closes the pipe."""
        with self._pipe:
            while chunk := os.read(self._pipe.fileno(), 65536):
                self.data += chunk
                if not self._limit:
                    del self.data[:-_STDERR_BYTES]
                elif len(self.data) > self._limit:
                    self.overflowed = True
                    _kill(self._process)
                    return

    def last_line(self) -> str:
        """Return `: ` and the last line that is not blank, or "" if there is none."""
        text = ANSI.sub("", bytes(self.data).decode("utf-8", "replace"))
        lines = [line.strip() for line in text.split("\n") if line.strip()]
        return f": {printable(lines[-1])}" if lines else ""
