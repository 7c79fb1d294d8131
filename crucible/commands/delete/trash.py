"""An entry of the vault's trash, `.crucible/trash/<time>-<id>/`: what a deletion moved there, and its manifest.

The journal lets the next command finish an interrupted deletion or archiving.  The vault may be untrusted: paths in a
manifest are checked before anything is moved, and a path in the journal must be a session note.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from crucible.core import files
from crucible.core.errors import BadSessionId, CrucibleError, OutsideVault, VaultError, reason_of
from crucible.core.files import locked
from crucible.core.locks import Lock
from crucible.documents.markdown.source import Edit
from crucible.documents.session.task_edits import set_fields
from crucible.memory.bookmarks.bookmark import BOOKMARKS
from crucible.memory.history.history_folder import HISTORY
from crucible.memory.history.memory_log import FILES
from crucible.vault.events.event_files import hold_events
from crucible.vault.logs.jsonl_store import InvalidRecord, append_lines, is_inner_path, record_of, rewrite_lines
from crucible.vault.notes.discovery import DELETING
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import CASES, is_markdown, note_name

MEMORY_FILES = (BOOKMARKS, *FILES.values())
"""Memory files with lines about one session."""
_MANIFEST = "manifest.json"
_LARGEST = 1 << 24
_NAME = re.compile(r"[0-9TZ]{8,24}-[A-Za-z0-9._-]+\Z")


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the trash. `files` are paths relative to the vault, `ids` the deleted session and its subagents."""

    name: str
    session: str
    title: str
    deleted: str
    ids: tuple[str, ...]
    sources: tuple[str, ...]
    logs: tuple[tuple[int, str], ...]
    files: tuple[str, ...]


def trash_folder(root: Path) -> Path:
    """Return the folder of the trash. Raises `OutsideVault` if a symlink leads out of the vault."""
    return files.inside(root, root / ".crucible" / "trash")


def write_entry(vault: Vault, entry: Entry) -> None:
    """Create an entry's folder with its manifest; nothing is moved yet."""
    files.make_folders(vault.root, _folder(vault, entry.name))
    data = json.dumps({"schema": 1, **asdict(entry)}, indent=1).encode()
    files.write_atomic(_folder(vault, entry.name) / _MANIFEST, data, fsync=vault.settings.fsync)


def load_entry(vault: Vault, name: str) -> Entry | None:
    """Return an entry; None if there is no manifest, or if it names anything that a deletion does not move."""
    try:
        path = _folder(vault, name) / _MANIFEST
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST:
            return None
        values = json.loads(path.read_bytes())
        deleted = str(values["deleted"])
        if datetime.fromisoformat(deleted).tzinfo is None:
            return None
        entry = Entry(
            name,
            str(values["session"]),
            str(values["title"]),
            deleted,
            tuple(map(str, values["ids"])),
            tuple(map(str, values["sources"])),
            tuple((int(size), str(sha)) for size, sha in values["logs"]),
            tuple(map(str, values["files"])),
        )
        return entry if _is_safe(vault, entry) else None
    except OSError as error:
        raise VaultError(f"{name}: {reason_of(error)}", "make it readable, then try again") from error
    except (ValueError, KeyError, TypeError, RecursionError, CrucibleError):
        return None


def load_entries(vault: Vault) -> Iterator[Entry]:
    """Yield the entries of the trash, oldest first."""
    try:
        names = sorted(os.listdir(trash_folder(vault.root)))
    except OSError:
        return
    yield from filter(None, (load_entry(vault, name) for name in names if _NAME.match(name)))


def take_away(vault: Vault, entry: Entry) -> None:
    """Move the entry's files and memory lines into the trash. Can be repeated."""
    for name in MEMORY_FILES:
        _take_lines(vault, entry, name)
    for each in entry.files:
        _move(vault, vault.root / each, _kept(vault, entry, each))


def bring_back(vault: Vault, entry: Entry) -> list[str]:
    """Move everything back, and return the paths that are taken. Can be repeated."""
    taken = [each for each in entry.files if not _move(vault, _kept(vault, entry, each), vault.root / each)]
    for name in MEMORY_FILES:
        path = _folder(vault, entry.name) / "memory" / name
        if path.is_file():
            lines = [record_of(line) for line in path.read_bytes().split(b"\n") if line]
            append_lines(vault.root, name, lines, fsync=vault.settings.fsync)
            path.unlink()
    return taken


def taken_paths(vault: Vault, entry: Entry) -> list[str]:
    """Return the paths that are in the way of the entry's files: their own, or a note with the same id elsewhere."""
    ids = vault.session_ids()
    taken = []
    for each in entry.files:
        if not _waits(vault, entry, each):
            continue
        name = note_name(PurePosixPath(each).name)
        is_session = (vault.root / each).is_relative_to(vault.sessions)
        other = vault.path_of(name) if is_session and name in ids else None
        if other or os.path.lexists(vault.root / each):
            taken.append(vault.relative(other) if other else each)
    return taken


def remove_entry(vault: Vault, name: str) -> None:
    """Remove an entry's folder, the manifest last, so that an interrupted removal is recognised."""
    folder = _folder(vault, name)
    with files.append_errors(folder, "removed"):
        for each in ("files", "memory"):
            shutil.rmtree(folder / each, ignore_errors=True)
        (folder / _MANIFEST).unlink(missing_ok=True)
        with suppress(OSError):
            folder.rmdir()


def _folder(vault: Vault, name: str) -> Path:
    folder = trash_folder(vault.root) / name
    if not _NAME.match(name) or os.path.realpath(folder) != str(folder):
        raise BadSessionId(f"{name!r} is not an entry in the trash")
    return folder


def _kept(vault: Vault, entry: Entry, each: str) -> Path:
    return _folder(vault, entry.name) / "files" / each


def _waits(vault: Vault, entry: Entry, each: str) -> bool:
    return os.path.lexists(_kept(vault, entry, each))


def _is_safe(vault: Vault, entry: Entry) -> bool:
    """Return whether an entry's paths are those that a deletion moves, and no symlink leads them elsewhere."""
    folder = _folder(vault, entry.name)
    try:
        for each in entry.files:
            files.inside(vault.root, (vault.root / each).parent)
            files.inside(folder, _kept(vault, entry, each).parent)
        for name in MEMORY_FILES:
            files.inside(folder, folder / "memory" / name)
    except OutsideVault:
        return False
    return all(_may_move(vault, each) for each in entry.files)


def _may_move(vault: Vault, path: str) -> bool:
    """Return whether a deletion may have moved this path: a note, an event log, its archive, or a task's annotation."""
    if not is_inner_path(path):
        return False
    parts = PurePosixPath(path).parts
    if parts[:1] == (".crucible",):
        kind = parts[1] if len(parts) == 3 else ""
        suffixes = {"flight": "", "archive": ".jsonl.zst"}
        if kind in suffixes:
            return parts[2].endswith(suffixes[kind]) and not parts[2].startswith(".")
        return path.startswith(f"{vault.settings.tasks.annotations_dir}/") and path.endswith(".yaml")
    folders = [PurePosixPath(name).parts for name in (vault.settings.sessions, HISTORY, CASES)]
    is_ours = any(parts[: len(folder)] == folder for folder in folders)
    return is_ours and is_markdown(path) and not any(part.startswith(".") for part in parts)


def _move(vault: Vault, old: Path, new: Path) -> bool:
    """Move a file or folder; False if there is something else at `new`. Does nothing if `old` is gone."""
    if not os.path.lexists(old):
        return True
    if os.path.lexists(new):
        return not old.is_dir() and files.finish_move(old, new)
    files.make_folders(vault.root, new.parent)
    if old.is_dir() and not old.is_symlink():
        _move_folder(vault, old, new)
    else:
        files.move_exclusive(old, new, fsync=vault.settings.fsync)
        if is_markdown(old.name):
            vault.touched |= {path for path in (old, new) if ".crucible" not in path.relative_to(vault.root).parts}
    return True


def _move_folder(vault: Vault, old: Path, new: Path) -> None:
    """Move an event log while no process writes to it."""
    with files.append_errors(old, "moved"):
        if os.name == "nt":  # Windows cannot move open files
            old.rename(new)
            return
        with hold_events(old, vault.settings.lock_seconds, make=False):
            old.rename(new)


def _take_lines(vault: Vault, entry: Entry, name: str) -> None:
    """Move the lines about the entry's sessions from a memory file to the trash.

    The lines are on disk in the trash before they are removed; duplicates are ignored when they are read again.
    """
    needles = [f'"{each}"'.encode() for each in entry.ids]

    def change(lines: Sequence[bytes]) -> list[bytes] | None:
        own = {line for line in lines if any(needle in line for needle in needles) and _is_about(line, entry.ids)}
        if not own:
            return None
        path = files.make_folders(vault.root, _folder(vault, entry.name) / "memory") / name
        earlier = path.read_bytes() if path.exists() else b""
        new = b"".join(line + b"\n" for line in dict.fromkeys(lines) if line in own)
        files.write_atomic(path, earlier + new, fsync=vault.settings.fsync)
        return [line for line in lines if line not in own]

    rewrite_lines(vault.root, name, change, fsync=vault.settings.fsync)


def count_lines(vault: Vault, ids: Sequence[str]) -> int:
    """Return how many memory lines are about these sessions."""
    count = 0
    for name in MEMORY_FILES:
        with suppress(OSError):
            lines = {*(vault.root / ".crucible" / "memory" / name).read_bytes().split(b"\n")}
            count += sum(_is_about(line, ids) for line in lines)
    return count


def _is_about(line: bytes, ids: Sequence[str]) -> bool:
    try:
        return record_of(line).get("session") in ids
    except InvalidRecord:
        return False


_LARGEST_JOURNAL = 1 << 20


@dataclass(frozen=True, slots=True)
class Deleting:
    """A deletion, or its undoing, by the name of its entry in the trash."""

    entry: str
    undo: bool = False


@dataclass(frozen=True, slots=True)
class Archiving:
    """Notes to archive or, with `undo`, to bring back; paths relative to the vault."""

    notes: tuple[str, ...]
    undo: bool = False


Journal: TypeAlias = Deleting | Archiving


def hold_journal(vault: Vault, seconds: float) -> AbstractContextManager[Lock]:
    """Return the lock for all deletions in a vault, which share one journal."""
    return locked(vault.root, vault.root / DELETING, seconds)


def write_journal(vault: Vault, journal: Journal) -> None:
    """Record what is about to be done."""
    data = json.dumps(asdict(journal)).encode()
    files.write_atomic(files.inside(vault.root, vault.root / DELETING), data, fsync=vault.settings.fsync)


def load_journal(vault: Vault) -> Journal | None:
    """Return what was interrupted; None if nothing was, or if the journal cannot be parsed."""
    path = vault.root / DELETING
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST_JOURNAL:
            return None
        return _journal(vault, json.loads(path.read_bytes()))
    except OSError as error:
        raise VaultError(f"{DELETING}: {reason_of(error)}", "make it readable, then try again") from error
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def forget_journal(vault: Vault) -> None:
    """Remove the journal: nothing is left to be done."""
    with files.append_errors(vault.root / DELETING, "removed"):
        (vault.root / DELETING).unlink(missing_ok=True)


def mark_notes(vault: Vault, journal: Archiving) -> None:
    """Set or remove the property `archived` of the notes. Notes that are gone are skipped. Can be repeated."""

    def edits_of(note: Note) -> list[Edit]:
        return archiving_edits(note, undo=journal.undo)

    for each in journal.notes:
        if (vault.root / each).is_file():
            vault.update(vault.root / each, edits_of)


def archiving_edits(note: Note, *, undo: bool) -> list[Edit]:
    """Return the edits that archive a note or, with `undo`, bring it back; none if it is so already."""
    if note.session.archived is not undo:
        return []
    return set_fields(note.source, note.session, {"archived": None if undo else True})


def _journal(vault: Vault, values: Mapping[str, object]) -> Journal:
    undo = values["undo"] is True
    if "entry" in values:
        return Deleting(str(values["entry"]), undo)
    notes = values["notes"]
    if not isinstance(notes, list):
        raise TypeError(DELETING)
    return Archiving(tuple(each for each in map(str, notes) if _is_session(vault, each)), undo)


def _is_session(vault: Vault, path: str) -> bool:
    if not is_inner_path(path) or path[-3:].lower() != ".md":
        return False
    with suppress(OutsideVault):  # through a symlink
        return files.inside(vault.root, vault.root / path).is_relative_to(os.path.realpath(vault.sessions))
    return False
