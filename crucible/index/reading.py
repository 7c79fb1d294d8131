"""Notes read for the index, on all cores when they are many.

Owns from a path to a `Reading`.  What a note means for the tables is `deriving`'s, imported here and late: in a vault
where nothing changed, nothing is read, and reading takes 30 ms to import.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from crucible.index.deriving import Reading

__all__ = ["Asked", "Progress", "read_notes"]

Progress = Callable[[int, int], None]
"""Told how many notes of how many were read."""

_WORTH_PROCESSES = 200
"""Notes; fewer are read sooner by one process than by several that must start."""

_CHUNK = 50
"""Notes handed to a process at a time."""


class Asked(NamedTuple):
    """A note to look at, by its path from the vault, and the `sha` that it had; "" when it is new."""

    path: str
    sha: str


Chunk = tuple[str, Sequence[Asked]]
"""The vault's root, and notes."""


def read_notes(
    root: str, asked: Sequence[Asked], progress: Progress | None = None
) -> Generator[Reading, None, None]:
    """Each note's reading, in order; `root` must be real."""
    done = 0
    for some in _chunks_read(root, asked):
        yield from some
        done += len(some)
        if progress:
            progress(done, len(asked))


def _chunks_read(root: str, asked: Sequence[Asked]) -> Iterator[list[Reading]]:
    chunks = [(root, asked[at : at + _CHUNK]) for at in range(0, len(asked), _CHUNK)]
    cores = _cores()
    if len(asked) < _WORTH_PROCESSES or cores == 1:
        yield from map(_read_chunk, chunks)
        return
    done = 0
    for some in _read_by_processes(chunks, cores):
        yield some
        done += 1
    # The system may have ended a process, for want of memory.
    yield from map(_read_chunk, chunks[done:])


def _read_by_processes(chunks: Sequence[Chunk], cores: int) -> Iterator[list[Reading]]:
    """What could be read, in order; less than all when a process died."""
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor  # noqa: PLC0415  rare and slow
    from multiprocessing import get_context  # noqa: PLC0415

    # Late for the reason above; once, before the processes part.
    import crucible.index.deriving  # noqa: F401, PLC0415

    # A forked child has read our modules already, but of our threads it has one only: their locks would never be
    # released in it.
    forks = sys.platform == "linux" and threading.active_count() == 1
    pool = ProcessPoolExecutor(cores, get_context("fork" if forks else "spawn"), _begin_worker)
    try:
        yield from pool.map(_read_chunk, chunks)
    except BrokenProcessPool:
        return
    finally:
        pool.shutdown(cancel_futures=True)


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _begin_worker() -> None:
    """In a process that reads: interrupts are the parent's, and it does not outlive its parent."""
    import signal  # noqa: PLC0415  takes a millisecond, and only these processes need it

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    from multiprocessing import parent_process  # noqa: PLC0415

    parent = parent_process()
    if parent:
        parent.join()
        os._exit(1)


def _read_chunk(given: Chunk) -> list[Reading]:
    from crucible.index.deriving import read_for_index  # noqa: PLC0415  late for the reason above

    root, asked = given
    return [read_for_index(root, path, sha) for path, sha in asked]
