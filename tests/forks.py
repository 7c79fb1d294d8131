"""Run `python -m crucible` of a test as a fork of the test's process instead of a new interpreter.

A new interpreter imports for longer than most commands take; a fork has imported everything.  It is a real process:
it has its own streams, folder and environment, and can be waited for and killed.  `new_interpreters` switches this off
for tests of the start itself.  Other programs, and Python with other options, start as usual.

Why a fork cannot deadlock: a lock that another thread holds stays locked in the fork.  So `cru` is forked only while no
other thread of Python code runs; otherwise it is a new interpreter.  The thread in which pytest-xdist receives messages
always runs, but `cru` uses none of its locks, and it imports nothing.  The C library releases its own locks in a fork.

A server of forks, without threads, would be safer, but its forks are not children of the test: `subprocess` could
neither wait for them nor pass them what `preexec_fn` does.
"""

from __future__ import annotations

import atexit
import faulthandler
import gc
import os
import runpy
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import Any

CRU = [sys.executable, "-m", "crucible"]
new_process: Callable[..., int] = subprocess._fork_exec  # type: ignore[attr-defined]
"""How `subprocess` itself starts a process."""


def fork(args: Sequence[Any], *rest: Any) -> int:
    """Start a process as `new_process` does, `cru` as a fork; returns its id."""
    words = [os.fsdecode(arg) for arg in args]
    if words[:3] != CRU or b"PYTHONPROFILEIMPORTTIME=1" in (rest[4] or ()) or _is_threaded():
        return new_process(args, *rest)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python counts the thread of pytest-xdist, too
        child = os.fork()
    if child == 0:
        code = 1
        try:
            _take_place(*rest)
            code = _run(words[3:])
        except BaseException:  # noqa: BLE001  nothing may come back into the test
            traceback.print_exc()
        os._exit(code)
    return child


def _is_threaded() -> bool:
    """True if another thread of Python code runs.  Those of pytest-xdist are unknown to `threading`, or dummies."""
    return any(type(one).__name__ != "_DummyThread" for one in threading.enumerate() if one is not _MAIN)


_MAIN = threading.main_thread()


def _take_place(_: Any, close: bool, kept: Sequence[int], cwd: Any, env: Sequence[bytes] | None, *rest: Any) -> None:
    """Take the streams, folder and variables that `subprocess` was asked for."""
    gc.freeze()
    told, session, prepare = rest[7], rest[9], rest[15]
    for at, number in enumerate(
        [os.dup(number) if 0 <= number < 3 else number for number in (rest[0], rest[3], rest[5])]
    ):
        if number >= 0:
            os.dup2(number, at)
    if cwd is not None:
        os.chdir(cwd)
    if session:
        os.setsid()
    if prepare is not None:
        prepare()
    if env is not None:
        os.environ.clear()
        os.environb.update({name: value for name, _, value in (pair.partition(b"=") for pair in env)})
    time.tzset()
    begin = 3
    for number in [*sorted({*kept} - {told}), 1 << 16 if close else begin]:
        os.closerange(begin, number)
        begin = number + 1
    if not close:
        os.close(told)  # so `subprocess` knows that the program runs


def _run(words: list[str]) -> int:
    """Run the command as a new interpreter does; returns its exit code."""
    _forget_the_test()
    sys.argv = ["crucible", *words]
    code: Any = 0
    try:
        runpy.run_module("crucible", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    return int(code or 0)


def _forget_the_test() -> None:
    """Put back what pytest, and the tests before, changed in this interpreter."""
    faulthandler.disable()
    atexit._clear()
    warnings.resetwarnings()
    warnings.simplefilter("ignore")
    sys.unraisablehook, threading.excepthook = sys.__unraisablehook__, threading.__excepthook__
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    encoding, _, errors = os.environ.get("PYTHONIOENCODING", "utf-8").partition(":")
    given: dict[str, Any] = {"encoding": encoding, "closefd": False}
    sys.stdin = sys.__stdin__ = open(0, errors=errors or None, **given)  # type: ignore[misc]  # noqa: SIM115
    sys.stdout = sys.__stdout__ = open(1, "w", errors=errors or None, **given)  # type: ignore[misc]  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(2, "w", 1, errors="backslashreplace", **given)  # type: ignore[misc]  # noqa: SIM115
