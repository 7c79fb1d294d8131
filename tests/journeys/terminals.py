"""A terminal for a command to write to."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

from crucible.vault.notes.vault import Vault
from tests.conftest import ROOT
from tests.running import CruProcess

_PATIENCE = 20.0


def on_a_terminal(run: CruProcess, vault: Vault, columns: int, *args: str, **env: str) -> list[str]:
    """What a terminal of so many columns gets on stdout, without colours."""
    main, side = pty.openpty()
    surroundings = {"COLUMNS": str(columns), "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"}
    # A terminal holds some thousand bytes until they are read; this is less.
    done = run("--vault", vault.root, *args, env={**surroundings, **env}, capture_output=False, stdout=side)
    os.close(side)
    assert done.returncode == 0
    return all_shown(main).decode().splitlines()


def all_shown(main: int) -> bytes:
    """What a terminal got until its other side was closed; closes it."""
    shown = b""
    with os.fdopen(main, "rb", buffering=0) as terminal, suppress(OSError):  # Linux says so at the end
        while part := terminal.read(65_536):
            shown += part
    return shown


class Typing:
    """`cru` on a terminal of its own, for a test that types and looks at what is shown."""

    def __init__(
        self, *args: str | Path, cwd: Path, columns: int = 80, lines: int = 24, env: Mapping[str, str] | None = None
    ) -> None:
        main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        known = {"TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
        kept = {name: value for name, value in os.environ.items() if name not in ("CLAUDECODE", "COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "crucible", *map(str, args)],
            stdin=side,
            stdout=side,
            stderr=side,
            cwd=cwd,
            env={**kept, **known, **(env or {})},
            start_new_session=True,
            # Ctrl-C reaches only the processes of a controlling terminal.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509
        )
        os.close(side)
        self._main = main
        self.shown = ""
        self._seen = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._main)

    def see(self, text: str) -> None:
        """Wait until the text is shown, after what was seen before."""
        begin = time.monotonic()
        while (at := self.shown.find(text, self._seen)) < 0:
            assert time.monotonic() - begin < _PATIENCE, f"{text!r} is not in {self.shown!r}"
            assert self._read(), f"{text!r} is not in {self.shown!r}"
        self._seen = at + len(text)

    def type(self, keys: str) -> None:
        os.write(self._main, keys.encode())

    def end(self) -> int:
        """Wait for the end, and return the exit code."""
        while self._read():
            pass
        return self.process.wait(_PATIENCE)

    def interrupt(self) -> int:
        """Press Ctrl-C until the program ends, and return the exit code.

        readline misses a signal that comes just before it waits for a key.
        """
        begin = time.monotonic()
        while time.monotonic() - begin < _PATIENCE:
            self.type("\x03")
            while select.select([self._main], [], [], 0.5)[0]:
                if not self._read():
                    return self.process.wait(_PATIENCE)
        raise AssertionError(f"not interrupted: {self.shown!r}")

    def _read(self) -> bool:
        """Read what is there, waiting for something; False at the end."""
        ready, _, _ = select.select([self._main], [], [], _PATIENCE)
        assert ready, f"nothing more after {self.shown!r}"
        try:
            part = os.read(self._main, 65_536)
        except OSError:  # Linux says so when the other side is closed and all is read
            return False
        self.shown += part.decode("utf-8", "replace")
        return bool(part)
