"""Compare a scan with what the index knows: which notes must be read again, and which are gone.

A note is not read if its size, times and inode are those of its last reading, and its times are older than that
reading. Of any other note the hash of its bytes decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from crucible.vault.index.index_files import FolderBlock, IndexFolder, Manifest
from crucible.vault.index.scan import FolderScan, Stamp, joined, parted
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


class Suspects:
    """What differs, collected in place: `look` are notes to be read, by path from the vault, `gone` those that are no more.

    What is to be read comes with the stamp that it has now.  `files` holds the rows of every folder that one of them is
    in; a draft puts the new ones there.  `blank` are folders without a digest whose notes are all as they were.
    """

    def __init__(self) -> None:
        self.look: dict[str, Stamp] = {}
        self.gone: list[str] = []
        self.files: dict[str, FolderRows] = {}
        self.blank: list[str] = []

    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.look or self.gone or self.blank)

    def sha_of(self, path: str) -> str:
        """The hash that a note had when it was last read; "" when it never was."""
        folder, name = parted(path)
        row = self.files[folder].get(name) if folder in self.files else None
        return row.sha if row else ""


def compare_folders(
    index: IndexFolder, manifest: Manifest, scans: Iterable[FolderScan], within: Iterable[str]
) -> Suspects:
    """Compare whole folders; what the index has in or below `within` ("" for everything) and no scan shows is gone.

    Raises `IndexBroken` when the index cannot say what it knows.
    """
    found = Suspects()
    doubtful = _by_folder(manifest.doubtful)
    seen = set()
    for scan in scans:
        seen.add(scan.folder)
        block = manifest.folders.get(scan.folder)
        young = doubtful.get(scan.folder, set())
        if block and block.digest and not scan.odd and not young and block.digest == scan.digest():
            continue
        _compare_folder(found, scan, _rows_of_block(index, manifest, scan.folder), young, block)
    for folder in manifest.folders:
        if folder not in seen and any(_is_within(folder, place) for place in within):
            found.files[folder] = _rows_of_block(index, manifest, folder)
            found.gone.extend(joined(folder, name) for name in found.files[folder].names())
    return found


def _compare_folder(
    found: Suspects, scan: FolderScan, rows: FolderRows, young: set[str], block: FolderBlock | None
) -> None:
    look = rows.differing(scan)
    if young or scan.odd:
        stamps = dict(scan.items())
        look |= {name: stamps[name] for name in (*young, *scan.odd) if name in stamps}
    gone = rows.missing(scan)
    found.files[scan.folder] = rows
    found.look.update((joined(scan.folder, name), stamp) for name, stamp in look.items())
    found.gone.extend(joined(scan.folder, name) for name in gone)
    if not look and not gone and scan.names and not (block and block.digest == scan.digest()):
        found.blank.append(scan.folder)


def compare_names(index: IndexFolder, manifest: Manifest, stamps: Mapping[str, Stamp | None], found: Suspects) -> None:
    """Compare single notes, by path; a stamp of None says that there is none.  Adds to `found`, the whole folders'."""
    scanned = set(found.files)
    for path, stamp in stamps.items():
        folder, name = parted(path)
        if folder in scanned:
            continue
        if folder not in found.files:
            found.files[folder] = _rows_of_block(index, manifest, folder)
        row = found.files[folder].get(name)
        if stamp is None:
            found.gone.extend([path] if row else [])
        elif row is None or row.stamp != stamp or stamp[3] < 0 or path in manifest.doubtful:
            found.look[path] = stamp


def in_doubt(stamp: Stamp, clock: int) -> bool:
    """Whether a write after `clock`, the file system's time before a reading, could have left these times."""
    return max(stamp[1], stamp[2]) >= clock


def _rows_of_block(index: IndexFolder, manifest: Manifest, folder: str) -> FolderRows:
    block = manifest.folders.get(folder)
    return FolderRows(folder, index.read_block(manifest, block)) if block else FolderRows(folder)


def _by_folder(paths: Iterable[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in paths:
        folder, name = parted(path)
        found.setdefault(folder, set()).add(name)
    return found


def _is_within(folder: str, within: str) -> bool:
    return not within or folder == within or folder.startswith(f"{within}/")
