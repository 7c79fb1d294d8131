"""The tables as one command sees them: the files of the index, and what this run had to read anew.

Owns reading rows.  Whether the files are still true is `freshness`'s to say before a view is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from crucible.core.errors import IndexBroken
from crucible.vault.index.schema import UNDATED, Row, decode_lines

_CHUNK = 2000
"""Lines turned into rows at a time: few enough for the memory, enough for the speed."""

_FIRST_CHUNK = 64
"""Who wants the newest twenty shall not wait for a month."""


class View:
    """All rows, a shard at a time.  `read` gives the lines of one table's shard, joined, without its head."""

    def __init__(self, shards: Sequence[str], read: Callable[[str, str], bytes]) -> None:
        dated = sorted((shard for shard in shards if shard != UNDATED), reverse=True)
        self.shards = (*dated, *(shard for shard in shards if shard == UNDATED))
        """Newest first, the undated one last."""
        self._read = read

    def rows(self, table: str, shards: Sequence[str] | None = None, needles: Sequence[str] = ()) -> Iterator[Row]:
        """The rows of the shards (all by default), in order; `sessions` newest first.

        Lines that lack one of the `needles` are left out without being read: each must stand as it is in the text of
        every row that is wanted, the one that the fewest lines hold first.
        """
        for shard in self.shards if shards is None else shards:
            lines = _with_needles(self._read(table, shard), needles)
            at, size = 0, _FIRST_CHUNK
            while at < len(lines):
                yield from _decoded(table, lines[at : at + size])
                at, size = at + size, _CHUNK

    def since(self, shard: str) -> View:
        """The same without the months before one."""
        return View([one for one in self.shards if one == UNDATED or one >= shard], self._read)


def _decoded(table: str, lines: Sequence[bytes]) -> list[Row]:
    try:
        return decode_lines(table, lines)
    except ValueError as error:
        raise IndexBroken(f"the index's table {table}: {error}") from error


def _with_needles(text: bytes, needles: Sequence[str]) -> list[bytes]:
    """The lines that hold every needle."""
    if not text:
        return []
    if not needles:
        return text.split(b"\n")
    first, *others = (needle.encode() for needle in needles)
    found = []
    at = text.find(first)
    while at >= 0:
        end = text.find(b"\n", at)
        end = len(text) if end < 0 else end
        line = text[text.rfind(b"\n", 0, at) + 1 : end]
        if all(other in line for other in others):
            found.append(line)
        at = text.find(first, end)
    return found
