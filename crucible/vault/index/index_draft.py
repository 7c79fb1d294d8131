"""The next version of the index, made in batches.  Each batch is stored on disk, or in memory if that fails.

A stored batch is a valid index of its notes, so an interrupted build can resume.  The order of lines is fixed
(`sessions` newest first, then by id; other tables by path), so the same notes always give the same shard.
"""

from __future__ import annotations

import os
from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from heapq import merge
from typing import TYPE_CHECKING
from zlib import crc32

from crucible.core.errors import reason_of
from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.vault.index.freshness import FileRow, FolderRows, Suspects, in_doubt
from crucible.vault.index.index_files import FolderBlock, IndexFolder, Manifest, next_token
from crucible.vault.index.scan import FolderScan, parted
from crucible.vault.index.schema import TABLES, cell_of_path, encode_cell, head_of

_CELL = rb'(?:"(?:[^"\\]|\\.)*"|[^,]*)'
_SESSION = late_pattern(rb"  (" + _CELL + rb"),(" + _CELL + rb"),(" + _CELL + rb")")
_FIRST = late_pattern(rb"  (" + _CELL + rb")")
_NEWEST_FIRST = bytes.maketrans(b"0123456789", b"9876543210")


class MergedLines(NamedTuple):
    """The merged lines, their number, and whether they differ from the old ones."""

    rows: int
    lines: Iterable[bytes]
    changed: bool


def merged_lines(table: str, old: bytes, old_rows: int, drop: AbstractSet[bytes], new: list[bytes]) -> MergedLines:
    """Merge the old lines, except those with a path cell in `drop`, with the new lines, in order."""
    key, path_of = (_session_key, _session_path) if table == "sessions" else (_path_key, _path)
    if not drop and len(new) * _FEW > old_rows:
        lines = merge(split_lines(old), sorted(new, key=key), key=key)
        return MergedLines(old_rows + len(new), lines, bool(new))
    kept = _without(split_lines(old), drop, path_of)
    changed = bool(new) or len(kept) != old_rows
    if len(new) * _FEW > len(kept):
        return MergedLines(len(kept) + len(new), merge(kept, sorted(new, key=key), key=key), changed)
    for line in new:
        insort(kept, line, key=key)
    return MergedLines(len(kept), kept, changed)


_FEW = 50
"""If there are more old lines than this per new line, inserting by binary search is faster than merging."""


def _without(lines: Iterable[bytes], drop: AbstractSet[bytes], path_of: Callable[[bytes], bytes]) -> list[bytes]:
    if len(drop) == 1:
        (path,) = drop
        return [line for line in lines if path not in line or path_of(line) != path]
    return [line for line in lines if path_of(line) not in drop] if drop else list(lines)


def split_lines(text: bytes) -> Iterator[bytes]:
    """Yield the lines one by one, so that a large shard is in memory only once."""
    at = 0
    while at < len(text):
        end = text.find(b"\n", at)
        end = len(text) if end < 0 else end
        yield text[at:end]
        at = end + 1


def _session_key(line: bytes) -> tuple[bytes, ...]:
    """Return a sort key.  Times have a fixed length, so inverting their digits sorts the newest first."""
    found = _SESSION.match(line)
    return (found[1].translate(_NEWEST_FIRST), found[2], found[3]) if found else (line,)


def _session_path(line: bytes) -> bytes:
    found = _SESSION.match(line)
    return found[3] if found else b""


def _path_key(line: bytes) -> tuple[bytes, ...]:
    return (_path(line),)


def _path(line: bytes) -> bytes:
    if line[2:3] != b'"':
        return line[2 : line.find(b",")]
    found = _FIRST.match(line)
    return found[1] if found else b""


if TYPE_CHECKING:
    from crucible.vault.index.note_rows import NoteReading, NoteRows


class Change(NamedTuple):
    """A change to one note since the last refresh: `added`, `changed` or `removed`.

    `path` is relative to the vault.
    """

    kind: str
    path: str


class IndexDraft:
    """A version of the index that is being built.

    `unsaved` is why nothing is written to disk, or ""; `suspects` are the notes that may change.
    """

    def __init__(
        self, index: IndexFolder, manifest: Manifest, suspects: Suspects | None = None, unsaved: str = ""
    ) -> None:
        self.manifest = manifest
        self.unsaved = unsaved
        self._kept = manifest
        self._index = index
        self._suspects = suspects or Suspects()
        self._memory: dict[tuple[str, str], bytes] = {}
        self._token = ""
        self._touched_folders: set[str] = set()
        self._touched_shards: set[str] = set()
        self._changing: set[str] = set()
        """Folders with a note that changed after the scan."""
        self._is_first = not manifest.token

    def shards(self) -> list[str]:
        """Return all shards that have sessions."""
        in_memory = {shard for (shard, table), text in self._memory.items() if table == "sessions" and text}
        return sorted({*self.manifest.months(), *in_memory})

    def read(self, table: str, shard: str) -> bytes:
        """Return the joined lines of a table's shard."""
        if (shard, table) in self._memory:
            return self._memory[shard, table]
        found = self.manifest.shards.get((shard, table))
        return self._index.read_shard(found) if found else b""

    def apply(self, readings: Iterable[NoteReading], gone: Iterable[str], clock: int) -> list[Change]:
        """Apply a batch in memory and return its changes.

        `clock` is the file system's time before the notes were read.
        """
        self._token = os.urandom(4).hex()
        batch = _Batch(self._suspects, clock)
        for path in gone:
            batch.remove(path)
        for reading in readings:
            batch.take(reading)
        batch.settle()
        for shard in {*batch.drop, *batch.add}:
            self._merge(shard, batch.drop.get(shard, set()), batch.add.get(shard, {}))
        self._touched_folders |= batch.folders
        self._changing |= batch.changing
        self._touched_shards |= {*batch.drop, *batch.add}
        doubtful = (self.manifest.doubtful - batch.settled) | batch.doubtful
        self.manifest = self.manifest._replace(doubtful=doubtful)
        return batch.changes

    def keep(self, scans: Iterable[FolderScan] = (), *, whole: bool = False) -> None:
        """Store the draft as the index, unless nothing changed.  `whole` means that every note was examined.

        `scans` provide digests, so that unchanged folders need no row-by-row comparison next time.
        """
        if self.unsaved:
            return
        try:
            self.manifest = self._with_files()
            self.manifest = self._with_digests(scans)
            self.manifest = self.manifest._replace(whole=whole or self.manifest.whole)
            if self.manifest == self._kept and self.manifest.token:
                return
            self.manifest = self.manifest._replace(token=next_token(self._kept.token))
            self._index.commit(self.manifest)
        except OSError as error:
            self._give_up(error)
            return
        self._kept = self.manifest
        self._index.sweep(self.manifest, None if self._is_first else self._touched_shards)
        self._touched_shards = set()

    def _merge(self, shard: str, drop: set[bytes], add: Mapping[str, list[bytes]]) -> None:
        for table in TABLES:
            old, rows = self._old(shard, table)
            new = add.get(table, [])
            merged = merged_lines(table, old, rows, drop, new)
            if not merged.changed:
                continue
            if not self.unsaved:
                try:
                    self._write(shard, table, merged)
                    continue
                except OSError as error:
                    self._give_up(error)
                    merged = merged_lines(table, old, rows, drop, new)
            self._memory[shard, table] = b"\n".join(merged.lines)

    def _give_up(self, error: OSError) -> None:
        """Continue in memory, and delete files written since the last stored version: they would only take up space."""
        self.unsaved = reason_of(error)
        before, now = self._kept.shards, self.manifest.shards
        for key in {*before, *now}:
            found = now.get(key)
            if found != before.get(key):
                self._memory[key] = self._index.read_shard(found) if found else b""
                if found:
                    self._index.remove(found.file)
        self.manifest = self.manifest._replace(shards=before)

    def _old(self, shard: str, table: str) -> tuple[bytes, int]:
        text = self.read(table, shard)
        if (shard, table) in self._memory:
            return text, sum(1 for _ in split_lines(text))
        found = self.manifest.shards.get((shard, table))
        return text, found.rows if found else 0

    def _write(self, shard: str, table: str, merged: MergedLines) -> None:
        shards = dict(self.manifest.shards)
        if merged.rows:
            shards[shard, table] = self._index.write_shard(shard, table, merged.lines, merged.rows, self._token)
        else:
            shards.pop((shard, table), None)
        self.manifest = self.manifest._replace(shards=dict(sorted(shards.items())))

    def _with_files(self) -> Manifest:
        """Return the manifest with the file rows rewritten for all changed folders."""
        if not self._touched_folders and self.manifest.files:
            return self.manifest
        blocks = self._index.read_blocks(self.manifest, set(self.manifest.folders) - self._touched_folders)
        counts = {folder: self.manifest.folders[folder].notes for folder in blocks}
        for folder in self._touched_folders:
            if rows := self._suspects.files[folder]:
                blocks[folder], counts[folder] = rows.encoded(), len(rows)
        head = head_of("files", sum(counts.values()))
        folders, start = {}, len(head)
        for folder, block in sorted(blocks.items()):
            known = self.manifest.folders.get(folder)
            digest = known.digest if known and folder not in self._touched_folders else ""
            folders[folder] = FolderBlock(folder, counts[folder], start, len(block), crc32(block), digest)
            start += len(block)
        name = self._index.write_files(head, (blocks[folder] for folder in folders), os.urandom(4).hex())
        self._touched_folders = set()
        return self.manifest._replace(files=name, folders=folders)

    def _with_digests(self, scans: Iterable[FolderScan]) -> Manifest:
        """Add the digest of each folder that now matches its scan: all notes were read, and none changed since."""
        folders = dict(self.manifest.folders)
        for scan in scans:
            block = folders.get(scan.folder)
            compared = scan.folder in self._suspects.files and scan.folder not in self._changing
            if block and compared:
                folders[scan.folder] = block._replace(digest=scan.digest())
        return self.manifest._replace(folders=folders)


class _Batch:
    """The changes from several readings: lines to drop and add by shard, file rows, and recently modified notes."""

    def __init__(self, suspects: Suspects, clock: int) -> None:
        self.seen = suspects.to_read
        self.files = suspects.files
        self.clock = clock
        self.drop: dict[str, set[bytes]] = {}
        self.add: dict[str, dict[str, list[bytes]]] = {}
        self.folders: set[str] = set()
        self.changing: set[str] = set()
        self.settled: set[str] = set()
        self.doubtful: set[str] = set()
        self.changes: list[Change] = []
        self._rows: dict[str, dict[str, FileRow]] = {}

    def remove(self, path: str) -> None:
        """Remove a note that no longer exists."""
        folder, name = parted(path)
        row = self.files[folder].remove(name) if folder in self.files else None
        self.settled.add(path)
        if row:
            self.drop.setdefault(row.shard, set()).add(encode_cell(cell_of_path(path)))
            self.folders.add(folder)
            self.changes.append(Change("removed", path))

    def take(self, reading: NoteReading) -> None:
        """Add the reading of a note."""
        folder, name = parted(reading.path)
        if reading.gone or reading.stamp != self.seen.get(reading.path):
            self.changing.add(folder)
        if reading.gone:
            self.remove(reading.path)
            return
        known = self.files.setdefault(folder, FolderRows(folder)).get(name)
        shard = self._replace(reading.path, reading.rows, known) if reading.rows else known.shard if known else ""
        row = FileRow(reading.stamp, reading.sha, shard)
        if row != known:
            self._rows.setdefault(folder, {})[name] = row
        (self.doubtful if in_doubt(reading.stamp, self.clock) else self.settled).add(reading.path)

    def settle(self) -> None:
        """Store the collected file rows."""
        for folder, rows in self._rows.items():
            self.files[folder].put(rows)
            self.folders.add(folder)

    def _replace(self, path: str, rows: NoteRows, known: FileRow | None) -> str:
        """Replace a note's lines, and return the shard of the new lines."""
        if known:
            self.drop.setdefault(known.shard, set()).add(encode_cell(cell_of_path(path)))
        tables = self.add.setdefault(rows.shard, {})
        for table, text in zip(TABLES, rows.tables, strict=True):
            if text:
                tables.setdefault(table, []).extend(text.split(b"\n"))
        self.changes.append(Change("changed" if known else "added", path))
        return rows.shard
