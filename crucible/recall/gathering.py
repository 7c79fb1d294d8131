"""Notes read for the index, on all cores when they are many.

Owns from a path to what `deriving` makes of it, which is imported late: where nothing changed, nothing is read, and what
reading takes is loaded in twice the time of a query.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crucible.recall.deriving import Derived

__all__ = ["Progress", "derive_all"]

Progress = Callable[[int, int], None]
"""Told how many notes of how many were read."""

_WORTH_PROCESSES = 100
"""Notes; fewer are read sooner by one process than by several that must start."""
_CHUNK = 20
"""Notes handed to a process at a time."""

_Chunk = tuple[str, Sequence[str]]


def derive_all(
    root: str, paths: Sequence[str], progress: Progress | None = None
) -> Generator[Derived | None, None, None]:
    """What the index takes of each note, in order; None for one that is gone or cannot be read."""
    done = 0
    for some in _chunks(root, paths):
        yield from some
        done += len(some)
        if progress:
            progress(done, len(paths))


def _chunks(root: str, paths: Sequence[str]) -> Iterator[list[Derived | None]]:
    chunks = [(root, paths[at : at + _CHUNK]) for at in range(0, len(paths), _CHUNK)]
    cores = _cores()
    if len(paths) < _WORTH_PROCESSES or cores == 1:
        yield from map(_derive_chunk, chunks)
        return
    done = 0
    for some in _by_processes(chunks, cores):
        yield some
        done += 1
    # The system may have ended a process, for want of memory.
    yield from map(_derive_chunk, chunks[done:])


def _by_processes(chunks: Sequence[_Chunk], cores: int) -> Iterator[list[Derived | None]]:
    """What could be read, in order; less than all when a process died."""
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor  # noqa: PLC0415  rare and slow
    from multiprocessing import get_context  # noqa: PLC0415

    # Late for the reason above; once, before the processes part.
    import crucible.recall.deriving  # noqa: F401, PLC0415

    # A forked child has read our modules already, but of our threads it has one only.
    forks = sys.platform == "linux" and threading.active_count() == 1
    pool = ProcessPoolExecutor(cores, get_context("fork" if forks else "spawn"), _begin_worker)
    try:
        yield from pool.map(_derive_chunk, chunks)
    except BrokenProcessPool:
        return
    finally:
        pool.shutdown(cancel_futures=True)


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _begin_worker() -> None:
    """In a process that reads: interrupts are the parent's, and it does not outlive its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    from multiprocessing import parent_process  # noqa: PLC0415  loaded already, in these processes only

    parent = parent_process()
    if parent:
        parent.join()
        os._exit(1)


def _derive_chunk(given: _Chunk) -> list[Derived | None]:
    from crucible.recall.deriving import derive_note  # noqa: PLC0415  late for the reason above

    root, paths = given
    return [derive_note(root, path) for path in paths]
