"""Ask about other processes; spread work over processes and yield the results in order.

Worker processes ignore interrupts and end with their parent.  If a worker dies, its work is redone in this process.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TypeVar

from crucible.core.named_tuples import NamedTuple

_AHEAD = 4
"""Maximum chunks per process queued ahead of the consumer."""

_Chunk = TypeVar("_Chunk")
_Result = TypeVar("_Result")


def cores() -> int:
    """Return the number of cores available to this process."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def remove_leftovers(folder: Path) -> None:
    """Delete the files of processes that have ended, by their names, which begin with a process's number and `-`."""
    with suppress(OSError):
        for name in os.listdir(folder):
            if name.partition("-")[0].isdigit() and not is_alive(int(name.partition("-")[0])):
                os.unlink(folder / name)


class Workers(NamedTuple):
    """Where to do work: in `processes` of this machine, or on the Dask cluster of `scheduler`, an address like `tls://host:8786`.

    `copy` is the address of a copy of the vault, `s3://bucket/prefix`, from which the workers take it; "" for the vault.
    """

    processes: int = 1
    scheduler: str = ""
    copy: str = ""


if sys.platform == "win32":

    def is_alive(pid: int) -> bool:
        """Return whether a process exists, also another user's."""
        import ctypes  # noqa: PLC0415  rarely needed

        # `os.kill(pid, 0)` would send Ctrl+C here.
        still_active, query, access_denied = 259, 0x1000, 5
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.OpenProcess.restype = ctypes.c_void_p
        process = ctypes.c_void_p(kernel.OpenProcess(query, False, pid & 0xFFFFFFFF))
        if not process.value:
            return ctypes.get_last_error() == access_denied
        code = ctypes.c_ulong()
        try:
            return bool(kernel.GetExitCodeProcess(process, ctypes.byref(code))) and code.value == still_active
        finally:
            kernel.CloseHandle(process)

else:

    def is_alive(pid: int) -> bool:
        """Return whether a process exists, also another user's.  A zombie process exists."""
        try:
            os.kill(pid, 0)
        except (ProcessLookupError, OverflowError):
            return False
        except OSError:
            return True  # the process belongs to another user
        return True


def spread(
    work: Callable[[_Chunk], _Result],
    chunks: Sequence[_Chunk],
    workers: Workers,
    begin: Callable[[], None] | None = None,
) -> Generator[_Result, None, None]:
    """Yield the result of `work` for each chunk, in order.  With one process, the work runs in the current one.

    `work`, `begin`, chunks and results must be picklable.  `begin` is called once in each process that does work,
    including this one if it takes over.  Raises `ClusterError` if the cluster cannot be used.
    """
    done = 0
    for result in _by_others(work, chunks, workers, begin):
        yield result
        done += 1
    # The system may have killed a worker because memory ran out.
    if done < len(chunks) and begin:
        begin()
    yield from map(work, chunks[done:])


def _by_others(
    work: Callable[[_Chunk], _Result],
    chunks: Sequence[_Chunk],
    workers: Workers,
    begin: Callable[[], None] | None,
) -> Generator[_Result, None, None]:
    """Yield the results of other processes, in order; stops early if one dies."""
    if workers.scheduler:
        from crucible.core.cluster import spread_on_cluster  # noqa: PLC0415  an extra, and slow

        yield from spread_on_cluster(work, chunks, workers.scheduler, begin)
    elif workers.processes > 1:
        yield from _by_processes(work, chunks, workers.processes, begin)


def _by_processes(
    work: Callable[[_Chunk], _Result],
    chunks: Sequence[_Chunk],
    processes: int,
    begin: Callable[[], None] | None,
) -> Generator[_Result, None, None]:
    """Yield results in order; stops early if a process dies."""
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor  # noqa: PLC0415  rare and slow
    from multiprocessing import get_context  # noqa: PLC0415

    # A forked child has our modules loaded, but only one of our threads, so locks of other threads stay held forever.
    forks = sys.platform == "linux" and threading.active_count() == 1
    pool = ProcessPoolExecutor(processes, get_context("fork" if forks else "spawn"), _begin_worker, (begin,))
    left = iter(chunks)
    try:
        pending = deque(pool.submit(work, chunk) for chunk in islice(left, processes * (1 + _AHEAD)))
        while pending:
            result = pending.popleft().result()
            pending.extend(pool.submit(work, chunk) for chunk in islice(left, 1))
            yield result
    except BrokenProcessPool:
        return
    finally:
        pool.shutdown(cancel_futures=True)


def _begin_worker(begin: Callable[[], None] | None) -> None:
    """Set up a worker: ignore interrupts, and end with the parent."""
    import signal  # noqa: PLC0415  takes a millisecond, and only workers need it

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if begin:
        begin()


def _end_with_parent() -> None:
    from multiprocessing import parent_process  # noqa: PLC0415

    parent = parent_process()
    if parent:
        parent.join()
        os._exit(1)
