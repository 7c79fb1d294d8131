"""Running a client in the user's terminal, to its end.

Owns that the terminal and its keys belong to the client while it runs, that a request to end is passed on to it, and what
is said when it cannot be started.  Which program with which arguments is the caller's.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from crucible.errors import CrucibleError, reason_of

__all__ = ["ClientFailed", "ClientMissing", "check_installed", "ending_of", "run_client"]


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
    with _terminal_kept(), _keys_passed_on(running):
        try:
            pipe = None if stdin is None else subprocess.PIPE
            process = subprocess.Popen(
                list(command), executable=os.path.abspath(program), cwd=folder, env=told, stdin=pipe
            )
        except (OSError, ValueError) as error:
            why = reason_of(error) if isinstance(error, OSError) else str(error)
            raise ClientMissing(f"{command[0]}: cannot be started: {why}") from error
        running.append(process)
        started(process.pid)
        if stdin is not None:
            _tell(process, stdin)
        return process.wait()


def _tell(process: subprocess.Popen[bytes], text: bytes) -> None:
    assert process.stdin is not None  # noqa: S101  it was asked for
    with suppress(BrokenPipeError):  # it need not read it
        process.stdin.write(text)
    with suppress(BrokenPipeError):
        process.stdin.close()


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

    before = {}
    try:
        with suppress(ValueError):  # only the main thread may
            for number in (*_KEYS, *_ENDS):
                before[number] = signal.signal(number, leave if number in _KEYS else pass_on)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)


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
