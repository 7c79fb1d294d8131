"""What the notes of a folder were when they were read: the rows of the table of files, kept as text.

A folder may hold a hundred thousand notes of which one has changed, so a row is compared and written again as it
stands, and only read when it must be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from crucible.vault.index.scan import FolderScan, Stamp, joined
from crucible.vault.index.schema import cell_of_path, decode_lines, encode_rows, path_of_cell


class FileRow(NamedTuple):
    """What a note's file was when it was read, and the shard its rows are in."""

    stamp: Stamp
    sha: str
    shard: str


class FolderRows:
    """The rows of `folder` by the notes' names; `lines` are those of the table, joined."""

    def __init__(self, folder: str, lines: bytes = b"") -> None:
        self.folder = folder
        self._start = 2 + (len(folder) + 1 if folder else 0)
        """Where the name begins in a line that has neither quotes nor bytes that were no UTF-8."""
        self._lines: dict[str, str] = {}
        self._sorted = True
        if lines:
            self._take(lines.decode().rstrip("\n"))

    def __len__(self) -> int:
        return len(self._lines)

    def get(self, name: str) -> FileRow | None:
        """The row of a note; None when it is not known."""
        if name not in self._lines:
            return None
        # None of these holds a comma; what looks like a number stands in quotes.
        _, size, mtime, ctime, ino, sha, shard = self._lines[name].rsplit(",", 6)
        stamp = int(size), int(mtime), int(ctime), int(ino)
        return FileRow(stamp, sha.strip('"'), shard.strip('"'))

    def differing(self, scan: FolderScan) -> dict[str, Stamp]:
        """The notes of a scan that are new, or are not what they were, with their stamps now."""
        lines, start, found = self._lines, self._start, {}
        for name, stamp in scan.items():
            size, mtime, ctime, ino = stamp
            line = lines.get(name, "")
            if not line.startswith(f",{size},{mtime},{ctime},{ino},", start + len(name)):
                known = self.get(name) if line else None
                if known is None or known.stamp != stamp:
                    found[name] = stamp
        return found

    def missing(self, scan: FolderScan) -> list[str]:
        """The notes that no scan shows any more."""
        return sorted(self._lines.keys() - set(scan.names))

    def names(self) -> list[str]:
        """Every known note."""
        return list(self._lines)

    def put(self, rows: Mapping[str, FileRow]) -> None:
        """New rows, or others in the place of old ones."""
        if not rows:
            return
        cells = [
            (cell_of_path(joined(self.folder, name)), *row.stamp, row.sha, row.shard) for name, row in rows.items()
        ]
        self._sorted = self._sorted and rows.keys() <= self._lines.keys()
        self._take(b"\n".join(encode_rows("files", cells)).decode())

    def remove(self, name: str) -> FileRow | None:
        """Forget a note; what it was."""
        found = self.get(name)
        self._lines.pop(name, None)
        return found

    def encoded(self) -> bytes:
        """The lines by name, each with its line end."""
        lines = self._lines.values() if self._sorted else [self._lines[name] for name in sorted(self._lines)]
        return "".join([f"{line}\n" for line in lines]).encode()

    def _take(self, text: str) -> None:
        start, lines = self._start, text.split("\n")
        if '"' in text or "\ufffd" in text:
            self._lines.update((self._name_in(line), line) for line in lines)
        else:
            self._lines.update([(line[start : line.index(",", start)], line) for line in lines])

    def _name_in(self, line: str) -> str:
        if line[2:3] == '"':
            (row,) = decode_lines("files", [line.encode()])
            return path_of_cell(str(row["path"]))[self._start - 2 :]
        return path_of_cell(line[2 : line.index(",")])[self._start - 2 :]
