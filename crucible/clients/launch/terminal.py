"""Run a client in the user's terminal until the client ends.

While it runs, it owns the terminal and its keys; requests to end are forwarded to it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import IO, Any

from crucible.core.errors import CrucibleError, reason_of


class ClientMissing(CrucibleError):
    """A client's program is missing or cannot be run."""


class ClientFailed(CrucibleError):
    """A client ended with an error."""


def check_installed(program: str, env: Mapping[str, str], hint: str) -> str:
    """Return the path of a program as the shell finds it.  Raises `ClientMissing` with `hint` if there is none."""
    found = shutil.which(program, path=env.get("PATH", os.defpath))
    if found is None:
        raise ClientMissing(f"{program}: not installed, or not on PATH", hint)
    return found


def run_client(
    program: str,
    command: Sequence[str],
    folder: Path,
    env: Mapping[str, str],
    *,
    stdin: bytes | None = None,
    started: Callable[[int], None] = lambda _pid: None,
) -> int:
    """Run a client in a folder and wait; return its exit code, or minus the signal that killed it.

    `program` is the file to run, `command` its arguments, beginning with its own name.  The client inherits our
    standard streams; `stdin` replaces standard input.  `started` is called with the process id.  Raises `ClientMissing`
    if the client cannot be started.
    """
    # Some clients use PWD instead of their working directory.
    client_env = {**env, "PWD": str(folder)}
    running: list[subprocess.Popen[bytes]] = []
    with _terminal_kept(), _keys_passed_on(running), ExitStack() as stack:
        try:
            process = subprocess.Popen(
                list(command),
                executable=os.path.abspath(program),
                cwd=folder,
                env=client_env,
                stdin=None if stdin is None else stack.enter_context(_file_of(stdin)),
            )
        except (OSError, ValueError) as error:
            why = reason_of(error) if isinstance(error, OSError) else str(error)
            raise ClientMissing(f"{command[0]}: cannot be started: {why}") from error
        running.append(process)
        started(process.pid)
        return process.wait()


@contextmanager
def context_file(text: str, name: str) -> Iterator[str]:
    """Yield the path of a temporary file with a text, for clients that take a file; "" without a text or a name."""
    if not text or not name:
        yield ""
        return
    folder = tempfile.mkdtemp(prefix="crucible-briefing-")
    path = Path(folder, name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace")
        yield str(path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _file_of(text: bytes) -> Iterator[IO[bytes]]:
    """Yield a temporary file with this content, since a pipe may block, and breaks if the client outlives us."""
    with tempfile.TemporaryFile() as file:
        file.write(text)
        file.seek(0)
        yield file


@contextmanager
def _terminal_kept() -> Iterator[None]:
    """Restore the terminal's settings at the end: a client that was killed leaves changes, such as echo turned off."""
    before = _terminal()
    try:
        yield
    finally:
        if before:
            _set_terminal(before)


def _terminal() -> list[Any]:
    """Return the terminal's settings; [] if there is no terminal."""
    if sys.platform == "win32":
        return []
    import termios  # noqa: PLC0415  missing on Windows

    with suppress(OSError, termios.error):
        return termios.tcgetattr(0)
    return []


def _set_terminal(settings: list[Any]) -> None:
    if sys.platform == "win32":
        return
    import termios  # noqa: PLC0415  as above

    with suppress(OSError, termios.error):
        termios.tcsetattr(0, termios.TCSADRAIN, settings)


_KEYS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGQUIT") if hasattr(signal, name))
_ENDS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def _keys_passed_on(running: Sequence[subprocess.Popen[bytes]]) -> Iterator[None]:
    """Ignore signals from keys, which the terminal also sends to the client, and forward requests to end.

    The handler for keys does nothing, because a client would inherit an ignored signal.  After the client ends, we
    still have to record its session.
    """

    def ignore(_number: int, _frame: FrameType | None) -> None:
        return

    def pass_on(number: int, _frame: FrameType | None) -> None:
        for process in running:
            with suppress(ProcessLookupError):
                process.send_signal(number)

    with _handling(dict.fromkeys(_KEYS, ignore) | dict.fromkeys(_ENDS, pass_on)):
        yield


_LATE_KEYS = 2.0
"""Seconds after the client's end in which keys are still meant for the client: some clients end on a second key
press."""


@contextmanager
def protect_finish() -> Iterator[Callable[[], None]]:
    """Protect the work after a client's end from signals that were meant for the client.

    SIGHUP is ignored: a terminal that closes sends it several times.  SIGTERM becomes an exception, so that callers can
    clean up.  Yields a function to call when the client has ended.
    """
    gone: list[float] = []

    def key(_number: int, _frame: FrameType | None) -> None:
        if not gone or time.monotonic() - gone[0] >= _LATE_KEYS:
            raise KeyboardInterrupt

    def end(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGTERM:
            raise SystemExit(128 + number)

    with _handling(dict.fromkeys(_KEYS, key) | dict.fromkeys(_ENDS, end)):
        yield lambda: gone.append(time.monotonic())


@contextmanager
def _handling(handlers: Mapping[int, Callable[[int, FrameType | None], None]]) -> Iterator[None]:
    """Install signal handlers for the block.  Ignored signals stay ignored, as under `nohup`."""
    before = {}
    try:
        with suppress(ValueError):  # allowed only in the main thread
            for number, handler in handlers.items():
                if signal.getsignal(number) is not signal.SIG_IGN:
                    before[number] = signal.signal(number, handler)
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old if old is not None else signal.SIG_DFL)


def ending_of(code: int) -> str:
    """Return a description of how a client ended; "" for success."""
    if not code:
        return ""
    if code > 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"
