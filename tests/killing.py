"""Run `cru` in a forked process that kills itself with SIGKILL before its n-th write to the disk.

An audit hook counts what changes files (opening to write, linking, renaming, removing, making folders), so the command itself
needs no test code.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from crucible.cli.main import main

LAST = 10_000
"""A step that no command of the tests reaches."""
_STEPS = {"os.link", "os.rename", "os.remove", "os.mkdir", "os.truncate"}


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


def killed(under: Path, *args: str | Path, step: int = LAST, place: str = "") -> bool:
    """Whether the command was killed; False if it finished before that step."""
    child = os.fork()
    if not child:
        try:
            os.dup2(os.open(os.devnull, os.O_RDWR), 1)
            os.dup2(1, 2)
            sys.addaudithook(_Killer(under, step, place))
            main([*map(str, args)])
        except SystemExit:
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)
