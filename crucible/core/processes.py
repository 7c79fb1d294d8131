"""Spread work over all cores and keep the order of its results.

No process outlives us or answers an interrupt; what one that died left undone is done here.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from itertools import islice
from typing import TypeVar

_AHEAD = 2
"""Chunks that each process may be ahead of who takes the results."""

_Chunk = TypeVar("_Chunk")
_Result = TypeVar("_Result")


def cores() -> int:
    """How many of them we may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def spread(
    work: Callable[[_Chunk], _Result],
    chunks: Sequence[_Chunk],
    processes: int,
    begin: Callable[[], None] | None = None,
) -> Generator[_Result, None, None]:
    """`work` done to each chunk, the results in their order; by one process it is done here.

    `work`, `begin`, chunks and results are what `pickle` takes.  `begin` is called once in every process that works, ours too if it comes to that.
    """
    done = 0
    if processes > 1:
        for result in _by_processes(work, chunks, processes, begin):
            yield result
            done += 1
    # The system may have ended a process, for want of memory.
    if done < len(chunks) and begin:
        begin()
    yield from map(work, chunks[done:])


def _by_processes(
    work: Callable[[_Chunk], _Result],
    chunks: Sequence[_Chunk],
    processes: int,
    begin: Callable[[], None] | None,
) -> Generator[_Result, None, None]:
    """What could be done, in order; less than all when a process died."""
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor  # noqa: PLC0415  rare and slow
    from multiprocessing import get_context  # noqa: PLC0415

    # A forked child has read our modules already, but of our threads it has one only: their locks would never be
    # released in it.
    forks = sys.platform == "linux" and threading.active_count() == 1
    pool = ProcessPoolExecutor(processes, get_context("fork" if forks else "spawn"), _begin_worker, (begin,))
    left = iter(chunks)
    try:
        waiting = deque(pool.submit(work, chunk) for chunk in islice(left, processes * (1 + _AHEAD)))
        while waiting:
            result = waiting.popleft().result()
            waiting.extend(pool.submit(work, chunk) for chunk in islice(left, 1))
            yield result
    except BrokenProcessPool:
        return
    finally:
        pool.shutdown(cancel_futures=True)


def _begin_worker(begin: Callable[[], None] | None) -> None:
    """In a process that works: interrupts are the parent's, and it does not outlive its parent."""
    import signal  # noqa: PLC0415  takes a millisecond, and only these processes need it

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
