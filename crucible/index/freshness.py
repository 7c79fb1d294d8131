"""What a scan says against what the index knows: which notes must be read again, and which are gone.

Owns the rule of when a note is believed unread: its size, times and inode are those of its last reading, and its times
are older than the moment of that reading, so that no later write can have left them.  Everything else is read, and the
hash of its bytes decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from crucible.index.folder import IndexFolder
from crucible.index.manifest import FolderBlock, Manifest
from crucible.index.scanning import FolderScan, Stamp, joined
from crucible.index.schema import decode_lines, path_of_cell
from crucible.index.shards import split_lines

__all__ = ["FileRow", "Suspects", "compare_folders", "compare_names", "file_rows", "in_doubt"]


class FileRow(NamedTuple):
    """What a note's file was when it was read, and the shard its rows are in."""

    stamp: Stamp
    sha: str
    shard: str


class Suspects(NamedTuple):
    """`look` are notes to be read, by path from the vault; `gone` are those that are no more.

    `files` holds the rows of every folder that one of them is in.  `blank` are folders without a digest whose notes
    are all as they were.
    """

    look: list[str]
    gone: list[str]
    files: dict[str, dict[str, FileRow]]
    blank: list[str]

    def any(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.look or self.gone or self.blank)

    def sha_of(self, path: str) -> str:
        """The hash that a note had when it was last read; "" when it never was."""
        folder, _, name = path.rpartition("/")
        row = self.files.get(folder, {}).get(name)
        return row.sha if row else ""


def compare_folders(
    index: IndexFolder, manifest: Manifest, scans: Iterable[FolderScan], within: Iterable[str]
) -> Suspects:
    """Compare whole folders; what the index has in or below `within` ("" for everything) and no scan shows is gone.

    Raises `IndexBroken` when the index cannot say what it knows.
    """
    found = Suspects([], [], {}, [])
    doubtful = _by_folder(manifest.doubtful)
    seen = set()
    for scan in scans:
        seen.add(scan.folder)
        block = manifest.folders.get(scan.folder)
        young = doubtful.get(scan.folder, set())
        if block and block.digest and not scan.odd and not young and block.digest == scan.digest():
            continue
        _compare_folder(found, scan, _rows_of_block(index, manifest, block), young, block)
    for folder, block in manifest.folders.items():
        if folder not in seen and any(_is_within(folder, place) for place in within):
            found.files[folder] = _rows_of_block(index, manifest, block)
            found.gone.extend(joined(folder, name) for name in found.files[folder])
    return found


def _compare_folder(
    found: Suspects, scan: FolderScan, rows: dict[str, FileRow], young: set[str], block: FolderBlock | None
) -> None:
    before = len(found.look) + len(found.gone)
    for name, stamp in scan.items():
        row = rows.get(name)
        if row is None or row.stamp != stamp or name in young or name in scan.odd:
            found.look.append(joined(scan.folder, name))
    found.gone.extend(joined(scan.folder, name) for name in rows.keys() - set(scan.names))
    found.files[scan.folder] = rows
    if (
        len(found.look) + len(found.gone) == before
        and scan.names
        and not (block and block.digest == scan.digest())
    ):
        found.blank.append(scan.folder)


def compare_names(
    index: IndexFolder, manifest: Manifest, stamps: Mapping[str, Stamp | None], found: Suspects
) -> None:
    """Compare single notes, by path; a stamp of None says that there is none.  Adds to `found`, the whole folders'."""
    scanned = set(found.files)
    for path, stamp in stamps.items():
        folder, _, name = path.rpartition("/")
        if folder in scanned:
            continue
        if folder not in found.files:
            found.files[folder] = _rows_of_block(index, manifest, manifest.folders.get(folder))
        row = found.files[folder].get(name)
        if stamp is None:
            found.gone.extend([path] if row else [])
        elif row is None or row.stamp != stamp or stamp[3] < 0 or path in manifest.doubtful:
            found.look.append(path)


def in_doubt(stamp: Stamp, clock: int) -> bool:
    """Whether a write after `clock`, the file system's time before a reading, could have left these times."""
    return max(stamp[1], stamp[2]) >= clock


def file_rows(lines: bytes) -> dict[str, FileRow]:
    """The rows of one folder by the notes' names."""
    rows: dict[str, FileRow] = {}
    for row in decode_lines("files", list(split_lines(lines))):
        path, size, mtime, ctime, ino, sha, shard = row.values()
        name = path_of_cell(str(path)).rpartition("/")[2]
        rows[name] = FileRow((_int(size), _int(mtime), _int(ctime), _int(ino)), str(sha), str(shard))
    return rows


def _rows_of_block(index: IndexFolder, manifest: Manifest, block: FolderBlock | None) -> dict[str, FileRow]:
    return file_rows(index.read_block(manifest, block)) if block else {}


def _int(cell: object) -> int:
    return cell if isinstance(cell, int) else -1


def _by_folder(paths: Iterable[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        found.setdefault(folder, set()).add(name)
    return found


def _is_within(folder: str, within: str) -> bool:
    return not within or folder == within or folder.startswith(f"{within}/")
