"""Running a program that answers: bounded in time and output, with nothing left running behind it.

Owns the process and its group, and ending all that runs at once.  What is asked, and what the answer means, is `asking`'s.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import IO

from crucible.clients.client import printable
from crucible.core.errors import AgentFailed, reason_of
from crucible.core.patterns import ANSI

MOST_BYTES = 1 << 20
"""Of an answer; a program that says more is stopped."""

_SAID_BYTES = 4000
"""Of what it complained, the end."""
_STRAGGLERS = 2.0
"""Seconds for who still holds the output of a program that has ended."""
_GRACE = 3.0
"""Seconds in which a program that is asked to end may do so by itself."""


class TimedOut(AgentFailed):
    """A program took longer than it was given."""


class Stopped(AgentFailed):
    """A program was ended by `Reins.stop`."""


class Exited(AgentFailed):
    """A program ended with an error: its exit `code`, or minus the signal that killed it; `said` is what it had printed."""

    def __init__(self, message: str, code: int, said: bytes) -> None:
        super().__init__(message)
        self.code = code
        self.said = said


class Reins:
    """Holds the programs that run, in any thread, so that all can be ended at once; then no other is started.

    `started` is told the process of each, in its thread.
    """

    def __init__(self, started: Callable[[int], None] = lambda _pid: None) -> None:
        self.stopped = False
        self._told = started
        # Lists and a flag need no lock here, and a signal's handler may call us while this thread would hold it.
        self._running: list[subprocess.Popen[bytes]] = []

    def stop(self, *, at_once: bool = False) -> None:
        """Ask all of them to end, with everything they started; after a while, or `at_once`, they are killed."""
        self.stopped = True
        for process in [*self._running]:
            _end(process, at_once=at_once)

    @contextmanager
    def holding(self, process: subprocess.Popen[bytes]) -> Iterator[None]:
        """The program is one of them as long as the block runs."""
        self._running.append(process)
        try:
            if self.stopped:
                _end(process, at_once=True)
            self._told(process.pid)
            yield
        finally:
            self._running.remove(process)
            if self.stopped:
                _kill(process)  # what it started may have outlived it


def run_program(
    words: Sequence[str],
    given: bytes,
    env: Mapping[str, str],
    timeout: float | None,
    *,
    folder: str = "",
    reins: Reins | None = None,
    most: int = MOST_BYTES,
) -> bytes:
    """What the program printed, `given` on its standard input, in `folder`, by default an empty one of its own.

    What it leaves running with its output open is ended with it.  `AgentFailed` when it cannot be started, takes longer than `timeout`
    seconds (`TimedOut`), prints more than `most` bytes, is stopped by the `reins` (`Stopped`), or exits with another code
    than 0 (`Exited`): then with the last line that it complained.
    """
    with ExitStack() as stack:
        if not folder:
            made = tempfile.TemporaryDirectory(prefix="cru-", ignore_cleanup_errors=True)
            folder = stack.enter_context(made)
        prompt = stack.enter_context(tempfile.TemporaryFile())  # a pipe would block on a program that does not read
        prompt.write(given)
        prompt.seek(0)
        reins = reins or Reins()
        if reins.stopped:
            raise Stopped(f"{os.path.basename(words[0])}: not started")
        process = _started(words, prompt, {**env, "PWD": folder}, folder)
        with reins.holding(process):
            return _answer_of(process, os.path.basename(words[0]), timeout, most, reins)


def _started(words: Sequence[str], prompt: IO[bytes], env: Mapping[str, str], folder: str) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            [*words],
            stdin=prompt,
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
    said = _Reader(process.stdout, process, most)
    complained = _Reader(process.stderr, process, 0)
    try:
        code = process.wait(timeout)
        said.join(_STRAGGLERS)  # who it started may still hold its output; what it said itself is there
    except subprocess.TimeoutExpired as error:
        hint = "agents.timeout_seconds in your settings allows for more"
        raise TimedOut(f"{name}: no answer within {timeout:g} seconds", hint) from error
    finally:
        if process.poll() is None or said.is_alive() or complained.is_alive():
            _kill(process)
            process.wait()
    if said.overflowed:
        raise AgentFailed(f"{name}: it answered more than {most:,} bytes")
    if reins.stopped:  # some end well when they are asked to end, and were not done
        raise Stopped(f"{name}: stopped")
    if code:
        complained.join(0.2)
        raise Exited(f"{name}: exit code {code}{complained.last_line()}", code, bytes(said.data))
    return bytes(said.data)


def _end(process: subprocess.Popen[bytes], *, at_once: bool) -> None:
    """Ask a group to end, and see to it that it does."""
    if at_once:
        _kill(process)
        return
    with suppress(OSError):
        if hasattr(os, "killpg"):
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
    # The group's number is the leader's: it is not given to another group while one of its members lives.
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


class _Reader(threading.Thread):
    """Takes what comes out of a pipe, so that the program never waits for us; keeps the beginning, or only the end."""

    def __init__(self, pipe: IO[bytes], process: subprocess.Popen[bytes], limit: int) -> None:
        super().__init__(daemon=True)
        self.data = bytearray()
        self.overflowed = False
        self._pipe, self._process, self._limit = pipe, process, limit
        self.start()

    def run(self) -> None:
        """Until the last holder of the pipe is gone."""
        with self._pipe:
            while chunk := os.read(self._pipe.fileno(), 65536):
                self.data += chunk
                if not self._limit:
                    del self.data[:-_SAID_BYTES]
                elif len(self.data) > self._limit:
                    self.overflowed = True
                    _kill(self._process)
                    return

    def last_line(self) -> str:
        """`: ` and the last line that says something, "" for none."""
        text = ANSI.sub("", bytes(self.data).decode("utf-8", "replace"))
        lines = [line.strip() for line in text.split("\n") if line.strip()]
        return f": {printable(lines[-1])}" if lines else ""
