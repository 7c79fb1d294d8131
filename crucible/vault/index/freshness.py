"""What a scan says against what the index knows: which notes must be read again, and which are gone.

Owns the rule of when a note is believed unread: its size, times and inode are those of its last reading, and its times
are older than the moment of that reading, so that no later write can have left them.  Everything else is read, and the
hash of its bytes decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from crucible.vault.index.file_rows import FolderRows
from crucible.vault.index.index_files import IndexFolder
from crucible.vault.index.index_manifest import FolderBlock, Manifest
from crucible.vault.index.scan import FolderScan, Stamp, joined, parted


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
