"""Write archives of event logs.

An archive is changed only while the session's files are held: a new one is written next to the old one, and replaces it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import orjson

from crucible.core.files import append_errors, fsync_folder
from crucible.vault.events.archive_blocks import (
    Block,
    Packer,
    compress_block,
    copy_blocks,
    is_small,
    load_places,
    read_block,
    write_blocks,
)
from crucible.vault.events.event_archive import (
    EventLine,
    after_archived,
    archive_errors,
    archived_lines,
    archived_meta,
    damaged,
    folder_lines,
    identity,
    joined_meta,
    keys_of,
    last_of,
    parse_summary,
)
from crucible.vault.events.event_files import (
    EVENTS,
    LOCK_SECONDS,
    TOOLS,
    EventFiles,
    archive_path,
    flight_folder,
    hold_events,
)
from crucible.vault.events.event_keys import forget_keys
from crucible.vault.events.event_summary import (
    COUNTS,
    META_FILES,
    Facts,
    complete_meta,
    known_facts,
    last_time,
    load_own_meta,
    with_counts,
)

_FORM = 2


_NO_FACTS = Facts()


class NewLine(NamedTuple):
    """A numbered record to archive: the file that it belongs to, its key, and its bytes."""

    file: str
    key: bytes
    data: bytes


def archive_events(vault_root: Path, session_id: str, facts: Facts, *, lock_seconds: float = LOCK_SECONDS) -> None:
    """Archive the events of a session that has ended, and store facts in the archive's summary.

    Without events nothing is written.  Raises `LockTimeout`, `OutsideVault` and `VaultError`; nothing is lost then.
    """
    folder, path = flight_folder(vault_root, session_id), archive_path(vault_root, session_id)
    has_folder = folder.is_dir()
    if not has_folder and not path.is_file():
        return
    with hold_events(folder, lock_seconds) as files:
        if has_folder and any(files.sizes.values()):
            put_away(vault_root, session_id, files, facts)
        elif path.is_file():
            _keep_facts(path, facts)
        if path.is_file():
            forget_keys(vault_root, session_id)
            remove_files(files)


def archive_new(vault_root: Path, session_id: str, lines: Sequence[NewLine], started: datetime, last: datetime) -> None:
    """Write the archive of a session without other events.  The session's files must be held.

    The archive survives a crash of this process, and a power failure once `archive_events` was called.
    """
    packer, written = Packer(), Counter(line.file for line in lines)
    for line in lines:
        packer.add(line.data, line.key)
    packer.close()
    meta = complete_meta({"started": started, "session_id": session_id, **{k: written[n] for n, k in COUNTS.items()}})
    head = {"archive": _FORM, **meta, "last_seq": len(lines), "last": last}
    _replace(archive_path(vault_root, session_id), head, packer.blocks, sync=False)


def put_away(vault_root: Path, session_id: str, files: EventFiles, facts: Facts = _NO_FACTS) -> None:
    """Archive a session: write the lines in an existing archive, then those in the folder.

    Leaves the folder unchanged.  Raises `VaultError` if the archive cannot be written, or if an existing one cannot be
    read; the existing one is then unchanged.
    """
    path, folder = archive_path(vault_root, session_id), files.folder
    with archive_errors(path), folder_lines(folder) as later:
        first = next(later, None)
        if first is None:
            return
        work = _Work(archived_meta(vault_root, session_id))
        if not (path.is_file() and work.add_after(path, later, first)):
            work.add_all(after_archived(archived_lines(path), chain((first,), later)))
        work.packer.close()
    meta = with_counts(load_own_meta(folder), folder) | known_facts(facts)
    _replace(path, work.head(meta, last_time(folder)) | {"session_id": session_id}, work.packer.blocks)


class _Work:
    """The lines of a new archive, as they are added; `old` is the summary of the existing one."""

    def __init__(self, old: Mapping[str, object]) -> None:
        self.packer = Packer()
        self._old = old
        self._written: Counter[str] = Counter()
        self._records = self._last = 0

    def add_all(self, lines: Iterable[EventLine]) -> None:
        """Add lines, each with its key."""
        for line in lines:
            self._records += line.number > 0
            self._written[line.path.name] += line.number > 0
            self._last = max(self._last, line.number)
            self.packer.add(line.data, identity(line))

    def add_after(self, path: Path, later: Iterable[EventLine], first: EventLine) -> bool:
        """Copy the blocks of an archive and add the lines in the folder that it lacks.

        False, without an effect, if the archive's keys are unknown or the lines must be numbered again.
        """
        last, records = self._old.get("last_seq"), self._old.get("records")
        with path.open("rb") as file:
            places = load_places(file)[1:]
            if not places or not isinstance(last, int) or not isinstance(records, int) or first.number <= last:
                return False
            self._last, self._records = last, records
            tail = places.pop() if is_small(places[-1]) else None
            known = set(keys_of(places)) | set(keys_of([tail] if tail else []))
            self.packer.blocks.extend(copy_blocks(file, places))
            if tail:
                self.packer.add(read_block(file, tail), tail.keys)
        self.add_all(line for line in chain((first,), later) if identity(line) not in known)
        return True

    def head(self, later: Mapping[str, object], last: datetime | None) -> dict[str, object]:
        """Return the summary; `later` is that of the folder, and `last` the time of its last record."""
        meta = joined_meta(self._old, later, self._written)
        last = max(filter(None, (last, last_of(self._old))), default=None)
        # Use the actual counts, whatever an older summary says.
        return {**meta, "archive": _FORM, "records": self._records, "last_seq": self._last, "last": last}


def remove_files(files: EventFiles) -> None:
    """Remove a session's files, the locked one last.

    A process that waits for the lock then sees that the file is gone and starts a new folder.
    """
    folder = files.folder
    with append_errors(folder, "removed"):
        for name in META_FILES:
            (folder / name).unlink(missing_ok=True)
        if os.name == "nt":  # Windows cannot delete open files
            files.empty()
            return
        (folder / TOOLS).unlink(missing_ok=True)
        (folder / EVENTS).unlink(missing_ok=True)
        with suppress(OSError):  # the folder contains other files, or was created again
            folder.rmdir()


def _keep_facts(path: Path, facts: Facts) -> None:
    """Replace the summary; the blocks of records are copied.  Summaries of version 1 stay as they are."""
    with archive_errors(path), path.open("rb") as file:
        places = load_places(file)
        head = parse_summary(read_block(file, places[0]), path) if places else {}
        blocks = list(copy_blocks(file, places[1:]))
    if places:
        _replace(path, {**head, **known_facts(facts)}, blocks)


def _replace(path: Path, head: Mapping[str, object], blocks: Iterable[Block], *, sync: bool = True) -> None:
    """Replace an archive, after reading back what is new in it."""
    new = path.with_name(f"{path.name}.tmp")
    blocks = [compress_block(orjson.dumps(head, option=orjson.OPT_UTC_Z) + b"\n"), *blocks]
    with append_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            new.unlink(missing_ok=True)  # left by a killed process, or a symlink
            write_blocks(new, blocks, sync=sync)
            _check(new, blocks)
            new.replace(path)
            if sync:
                fsync_folder(path.parent)
        finally:
            new.unlink(missing_ok=True)


def _check(new: Path, blocks: Sequence[Block]) -> None:
    with archive_errors(new), new.open("rb") as file:
        places = load_places(file)
        written = [
            crc32(read_block(file, place))
            for place, block in zip(places, blocks, strict=False)
            if block.crc is not None
        ]
    if len(places) != len(blocks) or written != [block.crc for block in blocks if block.crc is not None]:
        raise damaged(new, "what was written could not be read back")
