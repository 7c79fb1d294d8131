"""Compare a scan of the disk with the index: which notes must be read again, and which are gone.

A note is skipped if its size, times and inode are unchanged and its times are older than the last reading.  For all
other notes, a hash of the content decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crucible.core.named_tuples import NamedTuple
from crucible.vault.index.index_files import FolderBlock, IndexFolder, Manifest
from crucible.vault.index.scan import FolderScan, Stamp, joined, parted
from crucible.vault.index.schema import cell_of_path, decode_lines, encode_rows, path_of_cell


class FileRow(NamedTuple):
    """A note's file as it was last read, and the shard that contains its rows."""

    stamp: Stamp
    sha: str
    shard: str


class FolderRows:
    """The index's rows for the files in `folder`, by note name.  `lines` are the joined lines of the table."""

    def __init__(self, folder: str, lines: bytes = b"") -> None:
        self.folder = folder
        self._start = 2 + (len(folder) + 1 if folder else 0)
        """Where the name starts in a line, unless the path is quoted or was not valid UTF-8."""
        self._lines: dict[str, str] = {}
        self._sorted = True
        if lines:
            self._take(lines.decode().rstrip("\n"))

    def __len__(self) -> int:
        return len(self._lines)

    def get(self, name: str) -> FileRow | None:
        """Return a note's row; None if it is unknown."""
        if name not in self._lines:
            return None
        # None of these cells contains a comma.  A cell that looks like a number is quoted.
        _, size, mtime, ctime, ino, sha, shard = self._lines[name].rsplit(",", 6)
        stamp = int(size), int(mtime), int(ctime), int(ino)
        return FileRow(stamp, sha.strip('"'), shard.strip('"'))

    def differing(self, scan: FolderScan) -> dict[str, Stamp]:
        """Return the scanned notes that are new or changed, with their current stamps."""
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
        """Return the known notes that are missing from the scan."""
        return sorted(self._lines.keys() - set(scan.names))

    def names(self) -> list[str]:
        """Return the names of all known notes."""
        return list(self._lines)

    def put(self, rows: Mapping[str, FileRow]) -> None:
        """Add or replace rows."""
        if not rows:
            return
        cells = [
            (cell_of_path(joined(self.folder, name)), *row.stamp, row.sha, row.shard) for name, row in rows.items()
        ]
        self._sorted = self._sorted and rows.keys() <= self._lines.keys()
        self._take(b"\n".join(encode_rows("files", cells)).decode())

    def remove(self, name: str) -> FileRow | None:
        """Remove a note and return its row."""
        found = self.get(name)
        self._lines.pop(name, None)
        return found

    def encoded(self) -> bytes:
        """Return the lines sorted by name, each with its line end."""
        lines = self._lines.values() if self._sorted else [self._lines[name] for name in sorted(self._lines)]
        return "".join([f"{line}\n" for line in lines]).encode()

    def _take(self, text: str) -> None:
        start, lines = self._start, text.split("\n")
        if '"' in text or "\ufffd" in text:
            self._lines.update((self._name_in(line), line) for line in lines)
        else:
            self._lines.update({line[start:].partition(",")[0]: line for line in lines})

    def _name_in(self, line: str) -> str:
        if line[2:3] == '"':
            (row,) = decode_lines("files", [line.encode()])
            return path_of_cell(str(row["path"]))[self._start - 2 :]
        return path_of_cell(line[2 : line.index(",")])[self._start - 2 :]


class Suspects:
    """Differences between disk and index, updated in place.

    `to_read` maps the paths of notes to read to their current stamps; `gone` lists deleted notes.  `files` has the rows
    of each folder with a difference; a draft adds new rows there.  `undigested` lists folders that have no digest
    although their notes are unchanged.
    """

    def __init__(self) -> None:
        self.to_read: dict[str, Stamp] = {}
        self.gone: list[str] = []
        self.files: dict[str, FolderRows] = {}
        self.undigested: list[str] = []

    def is_empty(self) -> bool:
        """Return whether there is nothing to do."""
        return not (self.to_read or self.gone or self.undigested)

    def sha_of(self, path: str) -> str:
        """Return a note's hash from its last reading; "" if the note was never read."""
        folder, name = parted(path)
        row = self.files[folder].get(name) if folder in self.files else None
        return row.sha if row else ""


def compare_folders(
    index: IndexFolder, manifest: Manifest, scans: Iterable[FolderScan], within: Iterable[str]
) -> Suspects:
    """Compare entire folders.  Notes in or below `within` ("" for everything) that no scan contains are gone.

    Raises `IndexBroken` if the index cannot be read.
    """
    found = Suspects()
    doubtful = _by_folder(manifest.doubtful)
    seen = set()
    for scan in scans:
        seen.add(scan.folder)
        block = manifest.folders.get(scan.folder)
        recent = doubtful.get(scan.folder, set())
        if block and block.digest and not scan.odd and not recent and block.digest == scan.digest():
            continue
        _compare_folder(found, scan, _rows_of_block(index, manifest, scan.folder), recent, block)
    for folder in manifest.folders:
        if folder not in seen and any(_is_within(folder, place) for place in within):
            found.files[folder] = _rows_of_block(index, manifest, folder)
            found.gone.extend(joined(folder, name) for name in found.files[folder].names())
    return found


def _compare_folder(
    found: Suspects, scan: FolderScan, rows: FolderRows, recent: set[str], block: FolderBlock | None
) -> None:
    to_read = rows.differing(scan)
    if recent or scan.odd:
        stamps = dict(scan.items())
        to_read |= {name: stamps[name] for name in (*recent, *scan.odd) if name in stamps}
    gone = rows.missing(scan)
    found.files[scan.folder] = rows
    found.to_read.update((joined(scan.folder, name), stamp) for name, stamp in to_read.items())
    found.gone.extend(joined(scan.folder, name) for name in gone)
    if not to_read and not gone and scan.names and not (block and block.digest == scan.digest()):
        found.undigested.append(scan.folder)


def compare_names(index: IndexFolder, manifest: Manifest, stamps: Mapping[str, Stamp | None], found: Suspects) -> None:
    """Compare single notes by path, and add the differences to `found`.

    A stamp of None means that the note is missing.
    """
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
            found.to_read[path] = stamp


def in_doubt(stamp: Stamp, clock: int) -> bool:
    """Return whether a write after `clock`, the file system's time before reading, could leave this same stamp."""
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
