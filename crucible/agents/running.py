"""Running a program that answers: bounded in time and output, with nothing left running behind it.

Owns the process and its group.  What is asked, and what the answer means, is `asking`'s.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO

from crucible.errors import AgentFailed, reason_of
from crucible.patterns import ANSI

__all__ = ["MOST_BYTES", "run_program"]

MOST_BYTES = 1 << 20
"""Of an answer; a program that says more is stopped."""

_SAID_BYTES = 4000
"""Of what it complained, the end."""
_STRAGGLERS = 2.0
"""Seconds for who still holds the output of a program that has ended."""


def run_program(words: Sequence[str], given: bytes, env: Mapping[str, str], timeout: float) -> bytes:
    """What the program printed, `given` on its standard input, in an empty folder of its own.

    What it leaves running with its output open is ended with it.  `AgentFailed` when it cannot be started, takes longer than `timeout` seconds,
    prints more than `MOST_BYTES`, or exits with another code than 0: then with the last line that it complained.
    """
    name = os.path.basename(words[0])
    with tempfile.TemporaryDirectory(prefix="cru-", ignore_cleanup_errors=True) as folder:
        with tempfile.TemporaryFile() as prompt:  # a pipe would block on a program that does not read
            prompt.write(given)
            prompt.seek(0)
            process = _started(words, prompt, {**env, "PWD": folder}, folder)
        return _answer_of(process, name, timeout)


def _started(
    words: Sequence[str], prompt: IO[bytes], env: Mapping[str, str], folder: str
) -> subprocess.Popen[bytes]:
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


def _answer_of(process: subprocess.Popen[bytes], name: str, timeout: float) -> bytes:
    assert process.stdout is not None  # noqa: S101  both are pipes
    assert process.stderr is not None  # noqa: S101
    said = _Reader(process.stdout, process, MOST_BYTES)
    complained = _Reader(process.stderr, process, 0)
    try:
        code = process.wait(timeout)
        said.join(_STRAGGLERS)  # who it started may still hold its output; what it said itself is there
    except subprocess.TimeoutExpired as error:
        hint = "agents.timeout_seconds in your settings allows for more"
        raise AgentFailed(f"{name}: no answer within {timeout:g} seconds", hint) from error
    finally:
        if process.poll() is None or said.is_alive() or complained.is_alive():
            _kill(process)
            process.wait()
    if said.overflowed:
        raise AgentFailed(f"{name}: it answered more than {MOST_BYTES:,} bytes")
    if code:
        complained.join(0.2)
        raise AgentFailed(f"{name}: exit code {code}{complained.last_line()}")
    return bytes(said.data)


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
        return f": {''.join(c for c in lines[-1] if c.isprintable())[:200]}" if lines else ""
