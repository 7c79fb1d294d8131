"""What the notes of a folder were when they were read: the rows of the table of files, kept as text.

A folder may hold a hundred thousand notes of which one has changed, so a row is compared and written again as it
stands, and only read when it must be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from crucible.index.scanning import FolderScan, Stamp, joined
from crucible.index.schema import cell_of_path, decode_lines, encode_rows, path_of_cell
from crucible.patterns import late_pattern

__all__ = ["FileRow", "FolderRows"]


class FileRow(NamedTuple):
    """What a note's file was when it was read, and the shard its rows are in."""

    stamp: Stamp
    sha: str
    shard: str


class FolderRows:
    """The rows of `folder` by the notes' names; `lines` are those of the table, joined."""

    def __init__(self, folder: str, lines: bytes = b"") -> None:
        self.folder = folder
        self._cells: dict[str, tuple[str, str]] = {}
        """The path's cell and what follows it in the line, without the comma between."""
        if lines:
            self._take(lines.decode().rstrip("\n").split("\n"))

    def __len__(self) -> int:
        return len(self._cells)

    def get(self, name: str) -> FileRow | None:
        """The row of a note; None when it is not known."""
        if name not in self._cells:
            return None
        # None of these holds a comma; what looks like a number stands in quotes.
        size, mtime, ctime, ino, sha, shard = (cell.strip('"') for cell in self._cells[name][1].split(","))
        return FileRow((int(size), int(mtime), int(ctime), int(ino)), sha, shard)

    def differing(self, scan: FolderScan) -> dict[str, Stamp]:
        """The notes of a scan that are new, or are not what they were, with their stamps now."""
        cells, found = self._cells, {}
        for name, stamp in scan.items():
            known = cells.get(name)
            size, mtime, ctime, ino = stamp
            if known is None or not known[1].startswith(f"{size},{mtime},{ctime},{ino},"):
                found[name] = stamp
        return found

    def missing(self, scan: FolderScan) -> list[str]:
        """The notes that no scan shows any more."""
        return sorted(self._cells.keys() - set(scan.names))

    def names(self) -> list[str]:
        """Every known note."""
        return list(self._cells)

    def put(self, rows: Mapping[str, FileRow]) -> None:
        """New rows, or others in the place of old ones."""
        cells = [
            (cell_of_path(joined(self.folder, name)), *row.stamp, row.sha, row.shard)
            for name, row in rows.items()
        ]
        self._take(line.decode() for line in encode_rows("files", cells))

    def remove(self, name: str) -> FileRow | None:
        """Forget a note; what it was."""
        found = self.get(name)
        self._cells.pop(name, None)
        return found

    def encoded(self) -> bytes:
        """The lines by name, each with its line end."""
        return "".join(f"  {cell},{rest}\n" for _, (cell, rest) in sorted(self._cells.items())).encode()

    def _take(self, lines: Iterable[str]) -> None:
        start = len(self.folder) + 1 if self.folder else 0
        for line in lines:
            if line[2:3] == '"':
                self._take_quoted(line)
                continue
            cell, _, rest = line[2:].partition(",")
            name = cell[start:] if "\ufffd" not in cell else path_of_cell(cell)[start:]
            self._cells[name] = cell, rest

    def _take_quoted(self, line: str) -> None:
        (row,) = decode_lines("files", [line.encode()])
        name = path_of_cell(str(row["path"])).rpartition("/")[2]
        found = _QUOTED.fullmatch(line)
        if found:
            self._cells[name] = found[1], found[2]


_QUOTED = late_pattern(r'  ("(?:[^"\\]|\\.)*+"),(.*)')
