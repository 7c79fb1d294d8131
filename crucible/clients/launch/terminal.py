"""Running a client in the user's terminal, to its end.

Owns that the terminal and its keys belong to the client while it runs, that a request to end is passed on to it, and what
is said when it cannot be started.  Which program with which arguments is the caller's.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import IO, Any

from crucible.core.errors import CrucibleError, reason_of


class ClientMissing(CrucibleError):
    """A client's program is not there, or cannot be run."""


class ClientFailed(CrucibleError):
    """A client ended with an error."""


def check_installed(program: str, env: Mapping[str, str], hint: str) -> str:
    """The path of a program as the shell would find it; `ClientMissing` with the hint when there is none."""
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
    """Run a command in a folder and wait for its end; its exit code, or minus the signal that killed it.

    `program` is the file that is run, `command` what it is told, its own name first.  Its standard streams are ours; `stdin`
    takes the place of the first.  `started` is told its process.  Raises `ClientMissing` when the system does not start it.
    """
    # Some clients believe PWD before their working directory.
    told = {**env, "PWD": str(folder)}
    running: list[subprocess.Popen[bytes]] = []
    with _terminal_kept(), _keys_passed_on(running), ExitStack() as stack:
        try:
            process = subprocess.Popen(
                list(command),
                executable=os.path.abspath(program),
                cwd=folder,
                env=told,
                stdin=None if stdin is None else stack.enter_context(_file_of(stdin)),
            )
        except (OSError, ValueError) as error:
            why = reason_of(error) if isinstance(error, OSError) else str(error)
            raise ClientMissing(f"{command[0]}: cannot be started: {why}") from error
        running.append(process)
        started(process.pid)
        return process.wait()


@contextmanager
def _file_of(text: bytes) -> Iterator[IO[bytes]]:
    """A file without a name: in a pipe we would wait for whoever holds it, and who reads it after our end would get a part."""
    with tempfile.TemporaryFile() as file:
        file.write(text)
        file.seek(0)
        yield file


@contextmanager
def _terminal_kept() -> Iterator[None]:
    """A client that was killed leaves the terminal as it used it, and then nobody sees what he types."""
    before = _terminal()
    try:
        yield
    finally:
        if before:
            _set_terminal(before)


def _terminal() -> list[Any]:
    """How the terminal is set, [] where there is none."""
    try:
        import termios  # noqa: PLC0415  there is none on Windows
    except ImportError:
        return []
    with suppress(OSError, termios.error):
        return termios.tcgetattr(0)
    return []


def _set_terminal(settings: list[Any]) -> None:
    import termios  # noqa: PLC0415  as above

    with suppress(OSError, termios.error):
        termios.tcsetattr(0, termios.TCSADRAIN, settings)


_KEYS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGQUIT") if hasattr(signal, name))
_ENDS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def _keys_passed_on(running: Sequence[subprocess.Popen[bytes]]) -> Iterator[None]:
    """The terminal sends its keys' signals to the client too, who knows what they mean: here they mean nothing.

    A handler that does nothing, since a signal that we ignore would be ignored by the client that we start as well.
    Whoever ends us ends the client, and we write down what it did.
    """

    def leave(_number: int, _frame: FrameType | None) -> None:
        return

    def pass_on(number: int, _frame: FrameType | None) -> None:
        for process in running:
            with suppress(ProcessLookupError):
                process.send_signal(number)

    with _handling(dict.fromkeys(_KEYS, leave) | dict.fromkeys(_ENDS, pass_on)):
        yield


_LATE_KEYS = 2.0
"""Seconds after a client's end in which a key is still meant for the client: some are ended by pressing one twice."""


@contextmanager
def unbroken() -> Iterator[Callable[[], None]]:
    """What is written down after a client's end is not broken off by what was meant for the client.

    A terminal that is closed hangs up several times: we go on without it.  Whoever wants us to end gets that by an exception,
    so that everybody on the way can tidy up.  Yields what is to be called when the client is gone.
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
    """What is ignored stays so, here and in the client: somebody wanted that, as `nohup` does."""
    before = {}
    try:
        with suppress(ValueError):  # only the main thread may
            for number, handler in handlers.items():
                if signal.getsignal(number) is not signal.SIG_IGN:
                    before[number] = signal.signal(number, handler)
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old if old is not None else signal.SIG_DFL)


def ending_of(code: int) -> str:
    """How a client ended, in words; "" for a good end."""
    if not code:
        return ""
    if code > 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"
