"""A terminal for a real client: the test types, and the client may show what it likes."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from samples.waiting import SECONDS, wait_until

_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07")
"""A command to the terminal."""


class OnATerminal:
    """A program on a terminal, killed in the end with all that it started."""

    def __init__(self, command: Sequence[str], folder: Path, env: Mapping[str, str]) -> None:
        self._main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        terminal = {"TERM": "xterm-256color"}
        self.process = subprocess.Popen(
            command, cwd=folder, env={**env, **terminal}, stdin=side, stdout=side, stderr=side, start_new_session=True
        )
        os.close(side)
        self._bytes = bytearray()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(SECONDS)
        self._reader.join(SECONDS)
        os.close(self._main)

    def _read(self) -> None:
        with suppress(OSError):  # closed on the other side
            while part := os.read(self._main, 65_536):
                self._bytes += part

    @property
    def shown(self) -> str:
        """All words so far: a client may place each on its own, and draw some of them again."""
        return " ".join(_SEQUENCE.sub(" ", self._bytes.decode(errors="replace")).split())

    def type(self, words: str, after: str) -> None:
        """Type a line once the terminal has shown some text."""
        wait_until(lambda: after in self.shown, lambda: f"{after!r} is shown\n{self.shown[-2000:]!r}", pause=0.1)
        time.sleep(1)  # a client draws its field for the prompt before it listens to the keys
        os.write(self._main, words.encode())
        time.sleep(0.3)  # otherwise the key counts as pasted
        os.write(self._main, b"\r")

    def end(self) -> int:
        """Ask the program to end; its exit code."""
        self.process.terminate()
        return self.process.wait(SECONDS)
