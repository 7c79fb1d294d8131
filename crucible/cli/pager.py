"""Show long output of a command in the user's pager, as git does.

Output is held until the command has ended.  Then it is written as it is, or shown in the pager if the screen is too
small for it.  Loaded only on a terminal.
"""

from __future__ import annotations

import io
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TypeVar

import click

from crucible.cli.environment import user_settings
from crucible.cli.options import Door
from crucible.cli.output import hold_messages, warn
from crucible.clients.launch.session_marks import OWN_ENVIRONMENT

_USUAL = "less"
_OPTIONS = "FRX"
"""For `less`, if LESS is unset: quit if all fits on one screen, keep colours, and leave the text on the screen."""
_NONE = ("", "cat")
"""Pagers that mean none."""
_T = TypeVar("_T")


def run_paged(door: Door, run: Callable[[], _T]) -> _T:
    """Run a command, and show its output in the pager if it is longer than the screen."""
    pager = pager_command(os.environ, user_settings().pager) if _is_wanted(door) else []
    if not pager:
        return run()
    data = io.BytesIO()
    with hold_messages(lambda: bool(data.tell())), _held(data, pager):
        return run()


def pager_command(env: Mapping[str, str], setting: str) -> list[str]:
    """Return the pager's command line: CRU_PAGER, the user's setting, PAGER, or `less`; [] for none."""
    given = env.get("CRU_PAGER")
    chosen = given if given is not None else setting or env.get("PAGER", _USUAL)
    if chosen.strip() in _NONE or env.get("TERM") == "dumb":
        return []
    try:
        words = shlex.split(chosen, posix=os.name != "nt")
    except ValueError:  # an unclosed quote
        words = [chosen]
    if shutil.which(words[0]):
        return words
    if chosen != _USUAL:
        warn(f'the pager "{chosen}" was not found. Set CRU_PAGER or PAGER to a program, or use --no-pager.')
    return []


def _is_wanted(door: Door) -> bool:
    """True if a person can use a pager: no agent started the command, and keys come from the terminal."""
    is_asked = any(os.environ.get(name) for name in (OWN_ENVIRONMENT, "CLAUDECODE"))
    return door.terminal and door.pager and not is_asked and bool(sys.stdin) and sys.stdin.isatty()


class _Output(io.TextIOWrapper):
    """Standard output that keeps what is written, and otherwise behaves like the terminal."""

    def isatty(self) -> bool:
        return True


@contextmanager
def _held(data: io.BytesIO, pager: list[str]) -> Iterator[None]:
    """Hold standard output in `data` until the end; after an error it is written without a pager."""
    terminal = sys.stdout
    terminal.flush()
    sys.stdout = held = _Output(data, encoding=terminal.encoding, errors="replace", newline="", write_through=True)
    is_done = False
    try:
        yield
        is_done = True
    finally:
        sys.stdout = terminal
        held.detach()  # otherwise `data` would be closed with it
        if not (is_done and _is_long(data.getvalue(), terminal.encoding) and _show(pager, data.getvalue())):
            terminal.buffer.write(data.getvalue())
            terminal.flush()


def _is_long(data: bytes, encoding: str) -> bool:
    """True if the text needs more lines than the screen has, with one left for the prompt."""
    columns, lines = shutil.get_terminal_size()
    rows = 0
    for line in data.decode(encoding, "replace").split("\n"):
        rows += max(1, -(-len(click.unstyle(line)) // columns))
        if rows > lines:
            return True
    return False


def _show(pager: list[str], data: bytes) -> bool:
    """Show the text in the pager, and wait for its end; False if it cannot be started."""
    env = {"LESS": _OPTIONS, "LV": "-c", **os.environ}
    try:
        process = subprocess.Popen(pager, stdin=subprocess.PIPE, env=env)
    except OSError as error:
        warn(f"{pager[0]}: {error.strerror}. The output follows without a pager.")
        return False
    # Ctrl-C is for the pager while it runs.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with suppress(BrokenPipeError):  # the user quit before the end
            process.communicate(data)
        process.wait()
    finally:
        signal.signal(signal.SIGINT, before)
    return True
