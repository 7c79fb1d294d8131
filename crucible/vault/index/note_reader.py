"""Notes read for the index, on all cores when they are many.

Owns from a path to a `Reading`.  What a note means for the tables is `deriving`'s, imported here and late: in a vault
where nothing changed, nothing is read, and reading takes 30 ms to import.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from crucible.core.processes import cores, spread

if TYPE_CHECKING:
    from crucible.vault.index.note_rows import Reading


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


def read_notes(root: str, asked: Sequence[Asked], progress: Progress | None = None) -> Generator[Reading, None, None]:
    """Each note's reading, in order; `root` must be real."""
    done = 0
    for some in _chunks_read(root, asked):
        yield from some
        done += len(some)
        if progress:
            progress(done, len(asked))


def _chunks_read(root: str, asked: Sequence[Asked]) -> Iterator[list[Reading]]:
    chunks = [(root, asked[at : at + _CHUNK]) for at in range(0, len(asked), _CHUNK)]
    many = len(asked) >= _WORTH_PROCESSES
    if many:
        # Late for the reason above; once, before the processes part.
        import crucible.vault.index.note_rows  # noqa: F401, PLC0415
    yield from spread(_read_chunk, chunks, cores() if many else 1)


def _read_chunk(given: Chunk) -> list[Reading]:
    from crucible.vault.index.note_rows import read_for_index  # noqa: PLC0415  late for the reason above

    root, asked = given
    return [read_for_index(root, path, sha) for path, sha in asked]
