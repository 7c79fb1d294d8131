"""Real processes that refresh an index and are killed: at any call that the index makes, or after some milliseconds."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from crucible.core.settings.settings import VaultSettings
from crucible.vault.index.index import Index

_OURS = f"{os.sep}crucible{os.sep}vault{os.sep}index{os.sep}"
_WATCHED = ("index.py", "index_draft.py", "index_files.py")
"""Modules that write, or say when: a death between two calls of others changes nothing on disk."""


def in_child(work: Callable[[], object]) -> int:
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


def kill_at(root: Path, settings: VaultSettings, number: int, again: bool = False) -> bool:
    """Refresh (`again`: rebuild) in a process that gets SIGKILL at its call of that number; False when it made fewer."""
    ended = in_child(lambda: _counted(root, settings, again, _dying(number)))
    assert ended in {0, -signal.SIGKILL}
    return ended != 0


def calls_of(root: Path, settings: VaultSettings, again: bool = False) -> int:
    """How many calls such a process makes when nobody kills it."""
    into, out = os.pipe()

    def work() -> None:
        calls = 0

        def count(number: int) -> None:
            nonlocal calls
            calls = number

        _counted(root, settings, again, count)
        os.write(out, str(calls).encode())

    assert in_child(work) == 0
    os.close(out)
    with os.fdopen(into) as said:
        return int(said.read())


def _dying(number: int) -> Callable[[int], None]:
    def heard(at: int) -> None:
        if at == number:
            os.kill(os.getpid(), signal.SIGKILL)

    return heard


def _counted(root: Path, settings: VaultSettings, again: bool, heard: Callable[[int], None]) -> None:
    number = 0

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal number
        name = frame.f_code.co_filename
        if _OURS in name and name.endswith(_WATCHED):
            number += 1
            heard(number)

    index = Index(root, settings)
    sys.setprofile(profile)
    try:
        index.rebuild() if again else index.refresh()
    finally:
        sys.setprofile(None)
