"""Notes read for the index, on all cores when they are many.

Owns from a path to what `deriving` makes of it, which is imported late: where nothing changed, nothing is read, and what
reading takes is loaded in twice the time of a query.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING

from crucible.core.processes import cores, spread

if TYPE_CHECKING:
    from crucible.search.embedded.documents import Derived


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
    many = len(paths) >= _WORTH_PROCESSES
    if many:
        # Late for the reason above; once, before the processes part.
        import crucible.search.embedded.documents  # noqa: F401, PLC0415
    yield from spread(_derive_chunk, chunks, cores() if many else 1)


def _derive_chunk(given: _Chunk) -> list[Derived | None]:
    from crucible.search.embedded.documents import derive_note  # noqa: PLC0415  late for the reason above

    root, paths = given
    return [derive_note(root, path) for path in paths]
