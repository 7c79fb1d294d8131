"""What the index holds: which file has which table's shard, which notes were seen when, and what is in doubt.

Owns `manifest.toon`, the one file whose replacement makes a new index of an old one.  Pure: `folder` reads and writes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from zlib import crc32

import toons

from crucible.core.patterns import late_pattern
from crucible.vault.index.schema import SCHEMA, TABLES, cell_of_path, path_of_cell


class ShardFile(NamedTuple):
    """One table's shard: `rows` lines in `size` bytes, whose CRC-32 is `crc`, in `file` below the index's folder."""

    shard: str
    table: str
    rows: int
    size: int
    crc: int
    file: str


class FolderBlock(NamedTuple):
    """The notes of one folder, as `files.toon` has them: `notes` lines in `size` bytes from `start` on.

    `digest` is `FolderScan.digest` of the folder when every line was true, "" while some may not be.
    """

    folder: str
    notes: int
    start: int
    size: int
    crc: int
    digest: str


class Manifest(NamedTuple):
    """What is known.  `token` is "" for nothing, else `line-number`: see `next_token`.

    `files` names the table of files.  `doubtful` are notes so young that they may have changed unseen.  `whole` says
    that every note was looked at once: while an index is built it holds some of them only.  `home` is the inode of the
    folder it was made for: a copy, from a backup or in a vault that somebody sent us, says what somebody wrote into it.
    """

    token: str
    files: str
    shards: Mapping[tuple[str, str], ShardFile]
    folders: Mapping[str, FolderBlock]
    doubtful: frozenset[str]
    whole: bool = False
    home: int = 0

    def months(self) -> list[str]:
        """Every shard that has sessions."""
        return [shard for shard, table in self.shards if table == "sessions"]

    def notes(self) -> int:
        """How many notes there are."""
        return sum(block.notes for block in self.folders.values())


EMPTY = Manifest("", "", {}, {}, frozenset())


def next_token(token: str) -> str:
    """The token of what follows: one more in the same line; of an index that is made from nothing the first in a new one."""
    line, _, number = token.partition("-")
    return f"{line}-{int(number) + 1}" if token else f"{os.urandom(4).hex()}-1"


def dump_manifest(manifest: Manifest) -> str:
    """As TOON: the schema's number, totals, the tables of shards, folders and doubtful notes, and a CRC-32 of it all."""
    totals: dict[str, int] = {}
    for found in manifest.shards.values():
        totals[found.table] = totals.get(found.table, 0) + found.rows
    text = toons.dumps(
        {
            "schema": SCHEMA,
            "token": manifest.token,
            "whole": manifest.whole,
            "home": manifest.home,
            "files": manifest.files,
            "totals": {"notes": manifest.notes(), **totals},
            "shards": [found._asdict() for found in manifest.shards.values()],
            "folders": [
                {**block._asdict(), "folder": cell_of_path(block.folder)} for block in manifest.folders.values()
            ],
            "doubtful": [{"path": cell_of_path(path)} for path in sorted(manifest.doubtful)],
        }
    )
    return f"{text}{_CRC}{crc32(text.encode())}\n"


_CRC = "\ncrc: "
"""The last line: of all the text before it."""


def load_manifest(text: str) -> Manifest | None:
    """The manifest again; None for anything that this version did not write whole."""
    body, _, crc = text.rpartition(_CRC)
    if crc != f"{crc32(body.encode())}\n":
        return None
    try:
        found: Any = toons.loads(body)
        if found["schema"] != SCHEMA:
            return None
        shards = [ShardFile(**row) for row in found["shards"]]
        folders = [FolderBlock(**{**row, "folder": path_of_cell(row["folder"])}) for row in found["folders"]]
        doubtful = frozenset(path_of_cell(row["path"]) for row in found["doubtful"])
        manifest = Manifest(
            found["token"],
            found["files"],
            {(one.shard, one.table): one for one in shards},
            {one.folder: one for one in folders},
            doubtful,
            found["whole"] is True,
            found["home"],
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return manifest if _is_plausible(manifest) else None


def _is_plausible(manifest: Manifest) -> bool:
    """Types and names as we write them: a manifest must not lead a read to another place."""
    names: list[object] = [manifest.files, *(one.file for one in manifest.shards.values())]
    texts: list[object] = [*(one.digest for one in manifest.folders.values())]
    numbers: list[object] = [n for one in manifest.shards.values() for n in (one.rows, one.size, one.crc)]
    for one in manifest.folders.values():
        numbers += [one.notes, one.start, one.size, one.crc]
    return (
        _TOKEN.fullmatch(str(manifest.token)) is not None
        and all(isinstance(name, str) and _FILE.fullmatch(name) for name in names)
        and all(_SHARD.fullmatch(str(shard)) and table in TABLES for shard, table in manifest.shards)
        and all(isinstance(text, str) for text in texts)
        and all(isinstance(number, int) and 0 <= number < _LARGEST for number in numbers)
    )


_LARGEST = 2**48
_TOKEN = late_pattern(r"[0-9a-f]{8}-\d{1,15}", re.ASCII)
_SHARD = late_pattern(r"\d{4}-\d\d|undated", re.ASCII)
_FILE = late_pattern(r"(?:(?:\d{4}-\d\d|undated)/)?[a-z]+\.[0-9a-f]+\.toon", re.ASCII)
