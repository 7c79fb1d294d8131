"""Run code in forked processes that kill themselves with SIGKILL: before a write to the disk, or at a call.

`make test` kills at some steps, `make soak` at every one.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType

from crucible.cli.main import main

_EVERY = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
STRIDE = 1 if _EVERY else 7
"""A command is killed at every such step."""
DEATHS = 500 if _EVERY else 9
"""How often work is killed that makes thousands of calls."""
LAST = 10_000
"""A step that no command of the tests reaches."""
_STEPS = {"os.link", "os.rename", "os.remove", "os.mkdir", "os.truncate"}

Work = Callable[[], object]
Watched = Callable[[str], bool]
"""Whether the calls of a file's functions count."""


class _Killer:
    """Kills this process before its step `last` below the folder `under`, or before it renames what has `place` in its path."""

    def __init__(self, under: Path, last: int, place: str) -> None:
        self.under, self.left, self.place = str(under), last, place

    def __call__(self, event: str, args: tuple[object, ...]) -> None:
        writes = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR)
        if not writes and event not in _STEPS:
            return
        path = os.fsdecode(args[0]) if isinstance(args[0], str | bytes | os.PathLike) else ""
        if path.startswith(self.under):
            self.left -= 1
            if not self.left or (self.place and event == "os.rename" and self.place in path):
                os.kill(os.getpid(), signal.SIGKILL)


def in_child(work: Work) -> int:
    """Run it in a forked process; how that ended, as `os.waitstatus_to_exitcode` has it."""
    child = os.fork()
    if not child:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed(under: Path, *args: str | Path, step: int = LAST, place: str = "") -> bool:
    """Run `cru` and kill it before its n-th write to the disk; False if it finished before that step.

    An audit hook counts what changes files (opening to write, linking, renaming, removing, making folders), so the
    command itself needs no test code.
    """

    def work() -> None:
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        os.dup2(1, 2)
        sys.addaudithook(_Killer(under, step, place))
        with suppress(SystemExit):
            main([*map(str, args)])

    return in_child(work) < 0


def killed_at_call(number: int, work: Work, watched: Watched = bool) -> bool:
    """Run work that is killed at its n-th call or return; False if it made fewer."""

    def heard(at: int) -> None:
        if at == number:
            os.kill(os.getpid(), signal.SIGKILL)

    ended = in_child(lambda: _counted(work, watched, heard))
    assert ended in {0, -signal.SIGKILL}
    return ended != 0


def deaths_of(work: Work, watched: Watched = bool) -> list[int]:
    """Numbers for `killed_at_call`, from the first call to one after the last, at which the work is not killed."""
    into, out = os.pipe()

    def count() -> None:
        calls = [0]
        _counted(work, watched, calls.append)
        os.write(out, str(calls[-1]).encode())

    assert in_child(count) == 0
    os.close(out)
    with os.fdopen(into) as said:
        calls = int(said.read())
    return sorted({1 + at * calls // (DEATHS - 1) for at in range(DEATHS)})


def _counted(work: Work, watched: Watched, heard: Callable[[int], object]) -> None:
    number = 0

    def profile(frame: FrameType, _event: str, _: object) -> None:
        nonlocal number
        if watched(frame.f_code.co_filename):
            number += 1
            heard(number)

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
