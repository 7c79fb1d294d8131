"""Archive or delete old event logs, according to the vault's settings.

A session's age is that of its last record.  Sessions without a note, or that have not ended, are kept.  A folder is
removed only after its archive is on disk and verified; the next purge completes an interrupted one.  Archives of
version 1 are never deleted: earlier versions archived only what was to be kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from contextlib import nullcontext, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from crucible.core.errors import BadSessionId, CrucibleError, reason_of
from crucible.core.files import append_errors
from crucible.core.settings.settings import EventSettings
from crucible.documents.session.session_id import check_session_id
from crucible.vault.events.archive_writer import put_away, remove_files
from crucible.vault.events.event_archive import archived_meta, last_of
from crucible.vault.events.event_files import (
    EVENTS,
    LOCK_SECONDS,
    TOOLS,
    EventFiles,
    archive_folder,
    archive_path,
    flight_folder,
    flights_folder,
    hold_events,
    purged_path,
)
from crucible.vault.events.event_keys import forget_keys
from crucible.vault.events.event_summary import last_time, rename_in_meta

_ARCHIVE = ".jsonl.zst"
_DAY = timedelta(days=1)

StatusOf = Callable[[str], str]


class PurgedEvents(NamedTuple):
    """A session that was purged, or would be without `dry_run`.  `size` is the size of its files in bytes."""

    session_id: str
    last: datetime
    size: int


class KeptEvents(NamedTuple):
    """A session that is kept, and why: `recent`, `no-note`, `no-records`, its status, or an error message."""

    session_id: str
    reason: str
    last: datetime | None = None
    failed: bool = False


class PurgeReport(NamedTuple):
    """The result of a purge.  `after` is `archive` or `delete`."""

    after: str
    purged: tuple[PurgedEvents, ...] = ()
    kept: tuple[KeptEvents, ...] = ()

    @property
    def failed(self) -> tuple[KeptEvents, ...]:
        """The sessions that should have been purged but failed."""
        return tuple(one for one in self.kept if one.failed)


def purge(
    vault_root: Path,
    settings: EventSettings,
    note_ids: Collection[str],
    now: datetime,
    *,
    status_of: StatusOf,
    dry_run: bool = False,
    lock_seconds: float = LOCK_SECONDS,
) -> PurgeReport:
    """Archive or delete each session in `note_ids` whose last record is older than the retention time.

    `status_of` returns the status of an old session that must be kept (`active`, `paused`, …), or "" if it has ended.
    A dry run writes nothing, not even a lock file.  An error in one session is reported and does not stop the others.
    """
    work = _Purge(vault_root, settings, frozenset(note_ids), now, lock_seconds, status_of)
    ids = {*flight_ids(vault_root), *(archived_ids(vault_root) if work.deletes else ())}
    found = [work.take(session_id, dry_run=dry_run) for session_id in sorted(ids)]
    if not dry_run:
        _sweep(vault_root)
        stamp = purged_path(vault_root)
        with suppress(OSError):
            stamp.parent.mkdir(parents=True, exist_ok=True)
            stamp.write_text(now.isoformat(), encoding="utf-8")
    purged = tuple(one for one in found if isinstance(one, PurgedEvents))
    return PurgeReport(settings.after, purged, tuple(one for one in found if isinstance(one, KeptEvents)))


def is_due(vault_root: Path, now: datetime) -> bool:
    """Return whether the last purge was at least a day ago or is unknown.

    `OutsideVault` if the cache points outside the vault.
    """
    stamp = purged_path(vault_root)
    try:
        last = datetime.fromisoformat(stamp.read_text(encoding="utf-8"))
        return not _DAY > now - last > -_DAY
    except (OSError, ValueError, TypeError):
        return True


def flight_ids(vault_root: Path) -> list[str]:
    """List the sessions that have a folder, sorted; other folders are ignored."""
    folder = flights_folder(vault_root)
    names: list[str] = []
    with append_errors(folder, "read"), suppress(FileNotFoundError), os.scandir(folder) as entries:
        names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    return sorted(name for name in names if _is_id(name))


def archived_ids(vault_root: Path) -> list[str]:
    """List the sessions that have an archive, sorted."""
    folder = archive_folder(vault_root)
    with append_errors(folder, "read"):
        names = [path.name.removesuffix(_ARCHIVE) for path in folder.glob(f"*{_ARCHIVE}")]
    return sorted(name for name in names if _is_id(name))


class _Purge(NamedTuple):
    vault_root: Path
    settings: EventSettings
    note_ids: frozenset[str]
    now: datetime
    lock_seconds: float
    status_of: StatusOf

    @property
    def deletes(self) -> bool:
        return self.settings.after == "delete"

    def archived_last(self, session_id: str) -> datetime | None:
        return last_of(archived_meta(self.vault_root, session_id))

    def take(self, session_id: str, *, dry_run: bool) -> PurgedEvents | KeptEvents:
        try:
            folder = flight_folder(self.vault_root, session_id)
            found = self.judge(session_id, folder)
            return found if dry_run or isinstance(found, KeptEvents) else self.take_held(session_id, folder)
        except CrucibleError as error:
            return KeptEvents(session_id, str(error), failed=True)

    def take_held(self, session_id: str, folder: Path) -> PurgedEvents | KeptEvents:
        with hold_events(folder, self.lock_seconds, make=self.deletes) as files:
            found = self.judge(session_id, folder)  # another process may have written since the first check
            if isinstance(found, PurgedEvents):
                self.put_away(session_id, files)
        return found

    def judge(self, session_id: str, folder: Path) -> PurgedEvents | KeptEvents:
        archive = archive_path(self.vault_root, session_id)
        archived = self.archived_last(session_id) if self.deletes else None
        with append_errors(folder, "read"):
            lines = _size_of(folder / EVENTS, folder / TOOLS)
            # Files without a line are left over from a killed purge, or were made to hold the lock.
            last = max(filter(None, (archived, None if archived and not lines else last_time(folder))), default=None)
            size = lines + (_size_of(archive) if archived else 0)
        if session_id not in self.note_ids:
            return KeptEvents(session_id, "no-note", last)
        if last is None or not (size or archive.is_file()):
            return KeptEvents(session_id, "no-records")
        if self.now - last < timedelta(days=self.settings.retention_days):
            return KeptEvents(session_id, "recent", last)
        if status := self.status_of(session_id):
            return KeptEvents(session_id, status, last)
        return PurgedEvents(session_id, last, size)

    def put_away(self, session_id: str, files: EventFiles) -> None:
        if not self.deletes:
            put_away(self.vault_root, session_id, files)
        elif self.archived_last(session_id):
            path = archive_path(self.vault_root, session_id)
            with append_errors(path, "removed"):
                path.unlink(missing_ok=True)
        forget_keys(self.vault_root, session_id)
        remove_files(files)


def _size_of(*paths: Path) -> int:
    return sum(path.stat().st_size for path in paths if path.is_file())


def _sweep(vault_root: Path) -> None:
    """Remove partial archives from killed purges, unless the session's folder exists: a purge may be running."""
    folder = archive_folder(vault_root)
    with append_errors(folder, "removed"):
        for path in folder.glob(f"*{_ARCHIVE}.tmp"):
            name = path.name.removesuffix(f"{_ARCHIVE}.tmp")
            if _is_id(name) and not flight_folder(vault_root, name).exists():
                path.unlink(missing_ok=True)


def _is_id(name: str) -> bool:
    try:
        return bool(check_session_id(name))
    except BadSessionId:
        return False


def move_flight(vault_root: Path, old_id: str, new_id: str, *, lock_seconds: float = LOCK_SECONDS) -> str:
    """Rename a session's event log and archive; return why nothing was moved, or "".

    Raises `BadSessionId`, `OutsideVault`, `LockTimeout` and `VaultError`.
    """
    real = flight_folder(vault_root, old_id)
    flight_folder(vault_root, new_id)
    flights = flights_folder(vault_root)
    # Use the folder's own name, even if it is a symlink.
    pairs = [
        (archive_path(vault_root, old_id), archive_path(vault_root, new_id)),
        (flights / old_id, flights / new_id),
    ]
    there = [(old, new) for old, new in pairs if os.path.lexists(old)]
    taken = [new for _, new in there if os.path.lexists(new)]
    if taken:
        return f"{taken[0]} already exists"
    # Windows cannot move open files.
    waiting = hold_events(real, lock_seconds, make=False) if real.is_dir() and os.name != "nt" else nullcontext()
    with waiting:
        try:
            for old, new in there:
                old.rename(new)
        except OSError as error:
            return reason_of(error)
        with suppress(OSError):  # the next writer corrects it
            rename_in_meta(flights / new_id, new_id)
    forget_keys(vault_root, old_id)
    return ""
