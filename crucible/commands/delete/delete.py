"""Delete or archive a session: a deletion moves its notes, events and memory to the vault's trash, past all imports.

First plan, then write the journal, then move. The next command finishes an interrupted deletion, and `restore` undoes
a finished one.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from crucible.clients.registry import DIALECTS
from crucible.commands.delete.trash import (
    Archiving,
    Deleting,
    Entry,
    archiving_edits,
    bring_back,
    count_lines,
    forget_journal,
    hold_journal,
    load_entries,
    load_entry,
    load_journal,
    mark_notes,
    remove_entry,
    take_away,
    taken_paths,
    trash_folder,
    write_entry,
    write_journal,
)
from crucible.core.batches import forget_batches
from crucible.core.errors import (
    BadSessionId,
    CrucibleError,
    LockTimeout,
    NoteExists,
    OutsideVault,
    SessionNotFound,
    UsageError,
    VaultError,
)
from crucible.core.processes import remove_leftovers
from crucible.documents.markdown.frontmatter import find_frontmatter
from crucible.documents.markdown.wikilinks import find_links, find_property_links
from crucible.documents.session.property_values import id_in
from crucible.documents.session.session import Status
from crucible.memory.history.history_folder import entry_path
from crucible.memory.tasks.annotations import annotation_files, shelf_of
from crucible.search.embedded.index_update import forget_notes
from crucible.vault.events.event_files import archive_path, flight_folder, fold_path
from crucible.vault.events.event_keys import forget_keys
from crucible.vault.logs.jsonl_store import time_text
from crucible.vault.logs.tombstones import LogHash, Tombstone, append_restored, append_tombstone, hash_log
from crucible.vault.notes.discovery import DELETING, is_unfinished
from crucible.vault.notes.links import LinkTable
from crucible.vault.notes.session_lock import hold_session
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import CASES

LogsOf = Callable[[Collection[str]], Collection[LogHash]]
"""Returns the hashes of the transcripts with these sources that exist on this machine."""

_UNUSUAL = re.compile(r"[^A-Za-z0-9._-]")
_IMPORT_SECONDS = 60.0
"""Seconds to wait for a running import."""


@dataclass(frozen=True, slots=True)
class Deletion:
    """What deleting a session moves to the trash. Paths are relative to the vault.

    `kept` are notes made from the session: its history and cases. `links` counts links to the moved notes by the path
    of each note that stays.
    """

    note: Note
    subagents: tuple[Note, ...] = ()
    files: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    lines: int = 0
    links: dict[str, int] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[Note, ...]:
        """The session's note, then its subagents'."""
        return (self.note, *self.subagents)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the session and its subagents."""
        return tuple(note.name for note in self.notes)


def plan_deletion(vault: Vault, note: Note, children: Sequence[Path], *, with_kept: bool = False) -> Deletion:
    """Plan to delete a session with its subagents' notes `children`; `with_kept` adds its history and cases.

    Raises `UsageError` for a subagent's note while its session exists.
    """
    parent = note.session.parent
    if parent and parent in vault.session_ids():
        raise UsageError(f"{note.name} is a subagent of {parent}", f'Run "cru session delete {parent}" to delete both.')
    subagents = tuple(vault.read(path) for path in children)
    names = [each.name for each in (note, *subagents)]
    own = [vault.relative(each.path) for each in (note, *subagents)]
    links, cases = _links_to(vault, {*own})
    histories = [vault.relative(path) for name in names if (path := _history(vault, name))]
    made = [*histories, *(case for case in cases if case not in histories)]
    moved = [*own, *_events(vault, names), *_annotations(vault, names), *(made if with_kept else [])]
    staying = {at: count for at, count in links.items() if at not in made}
    return Deletion(note, subagents, tuple(moved), () if with_kept else tuple(made), count_lines(vault, names), staying)


def delete_session(vault: Vault, plan: Deletion, now: datetime, *, logs_of: LogsOf, force: bool = False) -> Entry:
    """Carry out a deletion, and return its entry in the trash. If it fails, everything is moved back.

    Raises `VaultError` for an active session without `force`, and `SessionHeld` while a client continues it.
    """
    status = plan.note.session.status
    if status is Status.ACTIVE and not force:
        raise VaultError(
            f"{plan.note.name} is still active",
            f'Run "cru session end {plan.note.name}" first, or pass --force to delete it now.',
        )
    with ExitStack() as stack:
        with suppress(BadSessionId):  # a file name may not be a valid id; no client continues such a session
            stack.enter_context(hold_session(vault.root, plan.note.name, client="delete", now=now, force=force))
        stack.enter_context(hold_journal(vault, vault.settings.lock_seconds))
        stack.enter_context(vault.locked_for_import(_IMPORT_SECONDS))
        finish_held(vault, now)
        entry = _new_entry(vault, plan, now, logs_of)
        write_entry(vault, entry)
        write_journal(vault, Deleting(entry.name))
        try:
            _carry_out(vault, entry)
        except CrucibleError:
            _roll_back(vault, entry, now)
            raise
        forget_journal(vault)
    return entry


def restore(vault: Vault, session: str, now: datetime) -> Entry:
    """Undo the last deletion of a session, or the last of all for "". Raises `SessionNotFound` and `NoteExists`."""
    with ExitStack() as stack:
        stack.enter_context(hold_journal(vault, vault.settings.lock_seconds))
        stack.enter_context(vault.locked_for_import(_IMPORT_SECONDS))
        finish_held(vault, now)
        entry = find_entry(vault, session)
        if taken := taken_paths(vault, entry):
            raise NoteExists(f"{taken[0]}: already exists", "Move it away, then undo again.")
        write_journal(vault, Deleting(entry.name, undo=True))
        _undo(vault, entry, now)
    return entry


def find_entry(vault: Vault, session: str) -> Entry:
    """Return the newest entry of the trash, of one session unless `session` is ""."""
    entries = list(load_entries(vault))
    for entry in reversed(entries):
        if session in ("", entry.session):
            return entry
    if not session:
        raise SessionNotFound("the trash is empty", 'Run "cru session list" to see the sessions of the vault.')
    names = ", ".join(entry.session for entry in reversed(entries[-10:])) or "nothing"
    raise SessionNotFound(f'no session in the trash matches "{session}"', f"The trash holds {names}.")


def finish_deletion(vault: Vault, now: datetime) -> Entry | None:
    """Finish an interrupted deletion, archiving or undoing; None if no deletion was finished, or if it still runs.

    Raises `CrucibleError` if that fails.
    """
    if not is_unfinished(vault.root) or not os.path.lexists(vault.root / DELETING):
        return None
    try:
        with hold_journal(vault, 0.0), vault.locked_for_import(0.0):
            return finish_held(vault, now)
    except LockTimeout:
        return None


def hash_logs(sources: Collection[str], env: Mapping[str, str], home: Path) -> set[LogHash]:
    """Return the hashes of the transcripts with these sources in the clients' own folders.

    A file that holds several sessions, such as a database, has no hash.
    """
    found: set[LogHash] = set()
    for dialect in (DIALECTS[name] for name in {source.partition(":")[0] for source in sources} & {*DIALECTS}):
        files_seen: Counter[Path] = Counter()
        own: list[Path] = []
        with suppress(CrucibleError, OSError):
            for one in dialect.find(dialect.default_folder(env, home)):
                files_seen[one.path] += 1
                own += [one.path] if one.source in sources else []
        found |= {log for path in own if files_seen[path] == 1 and (log := hash_log(path))}
    return found


# --- the steps -------------------------------------------------------------------------------------------------------


def _new_entry(vault: Vault, plan: Deletion, now: datetime, logs_of: LogsOf) -> Entry:
    sources = tuple(dict.fromkeys(source for note in plan.notes for source in note.session.sources))
    base = (
        f"{time_text(now.replace(microsecond=0)).replace('-', '').replace(':', '')}-{_UNUSUAL.sub('-', plan.note.name)}"
    )
    name, number = base, 2
    while os.path.lexists(trash_folder(vault.root) / name):
        name, number = f"{base}.{number}", number + 1
    logs = tuple((log.size, log.sha256) for log in logs_of(sources))
    title = plan.note.session.title
    return Entry(name, plan.note.name, title, time_text(now), plan.ids, sources, logs, plan.files)


def _carry_out(vault: Vault, entry: Entry) -> None:
    # The tombstone comes first: an import must not bring back what is moved next.
    append_tombstone(vault.root, _tombstone(entry), fsync=vault.settings.fsync)
    take_away(vault, entry)
    for each in entry.ids:
        with suppress(BadSessionId):
            forget_keys(vault.root, each)
    for source in entry.sources:
        with suppress(OSError):
            fold_path(vault.root, source).unlink(missing_ok=True)
    _forget_texts(vault, entry.files)


def _forget_texts(vault: Vault, paths: Collection[str]) -> None:
    """Remove the caches that may contain text of the moved notes."""
    with suppress(OutsideVault):
        forget_batches(vault.root)
    remove_leftovers(vault.root / ".crucible" / "cache" / "importing")
    forget_notes(vault.root, paths)


def _undo(vault: Vault, entry: Entry, now: datetime) -> None:
    taken = bring_back(vault, entry)
    append_restored(vault.root, _tombstone(entry), now, fsync=vault.settings.fsync)
    if not taken:
        remove_entry(vault, entry.name)
    forget_journal(vault)
    if taken:
        older = trash_folder(vault.root) / entry.name
        raise NoteExists(f"{taken[0]}: already exists", f"The deleted version stays in {older}.")


def _roll_back(vault: Vault, entry: Entry, now: datetime) -> None:
    """Undo a deletion that failed. If that fails too, the journal stays, and the next command tries again."""
    with suppress(CrucibleError):
        write_journal(vault, Deleting(entry.name, undo=True))
        _undo(vault, entry, now)


def _tombstone(entry: Entry) -> Tombstone:
    at = datetime.fromisoformat(entry.deleted)
    return Tombstone(entry.name, entry.session, at, entry.sources, tuple(LogHash(*log) for log in entry.logs))


def finish_held(vault: Vault, now: datetime) -> Entry | None:
    """Finish what the journal names, while the caller holds it. An entry without a manifest was about to be removed."""
    found = load_journal(vault)
    entry = None
    if isinstance(found, Archiving):
        mark_notes(vault, found)
    elif found:
        entry = load_entry(vault, found.entry)
        if entry and found.undo:
            _undo(vault, entry, now)
        elif entry:
            _carry_out(vault, entry)
        elif found.undo:
            with suppress(BadSessionId):
                remove_entry(vault, found.entry)
    forget_journal(vault)
    return entry


# --- what belongs to a session ---------------------------------------------------------------------------------------


def _history(vault: Vault, session_id: str) -> Path | None:
    try:
        path = entry_path(vault, session_id)
    except CrucibleError:  # a file name may not be a valid id
        return None
    return path if path.is_file() else None


def _events(vault: Vault, names: Collection[str]) -> Iterator[str]:
    for name in names:
        with suppress(BadSessionId):
            for path in (flight_folder(vault.root, name), archive_path(vault.root, name)):
                if path.exists():
                    yield vault.relative(path)


def _annotations(vault: Vault, names: Collection[str]) -> Iterator[str]:
    for name in names:
        with suppress(BadSessionId):
            yield from map(vault.relative, annotation_files(shelf_of(vault), name))


def _links_to(vault: Vault, own: Collection[str]) -> tuple[dict[str, int], list[str]]:
    """Return the number of links to these notes by linking note, and the cases made from them."""
    paths = {vault.relative(path): path for path in vault.note_paths()}
    table = LinkTable(paths)
    needles = [Path(each).stem.encode() for each in own]
    found: dict[str, int] = {}
    cases: list[str] = []
    for at, path in paths.items():
        if at in own:
            continue
        with suppress(CrucibleError):  # an unreadable note is reported by other commands
            note = vault.read(path)
            if any(needle in note.data for needle in needles):
                top = find_frontmatter(note.source)
                links = [*find_property_links(note.source, top.span), *find_links(note.source, top.span.end)]
                count = sum(table.resolve(link.target, at).path in own for link in links)
                found |= {at: count} if count else {}
                session = id_in(str(top.values.get("session", "")))
                if at.startswith(f"{CASES}/") and table.resolve(session, at).path in own:
                    cases.append(at)
    return found, cases


def archive_session(
    vault: Vault, note: Note, subagents: Sequence[Note], now: datetime, *, undo: bool = False, force: bool = False
) -> int:
    """Archive a session and its subagents or, with `undo`, bring them back. Returns the number of changed notes.

    If it fails, nothing is changed. Raises `UsageError` for a subagent's note, `VaultError` for an active session
    without `force`, `EditRefused` for frontmatter that cannot be edited, and `SessionHeld` while a client continues it.
    """
    _check(vault, note, undo=undo, force=force)
    changed = [one for one in (note, *subagents) if archiving_edits(one, undo=undo)]
    with ExitStack() as stack:
        with suppress(BadSessionId):  # a file name may not be a valid id; no client continues such a session
            stack.enter_context(hold_session(vault.root, note.name, client="archive", now=now, force=force))
        stack.enter_context(hold_journal(vault, vault.settings.lock_seconds))
        finish_held(vault, now)
        work = Archiving(tuple(vault.relative(one.path) for one in changed), undo)
        write_journal(vault, work)
        try:
            mark_notes(vault, work)
        except CrucibleError:
            with suppress(CrucibleError):
                mark_notes(vault, Archiving(work.notes, not undo))
                forget_journal(vault)
            raise
        forget_journal(vault)
    return len(changed)


def _check(vault: Vault, note: Note, *, undo: bool, force: bool) -> None:
    parent = note.session.parent
    if parent and parent in vault.session_ids():
        what = "archive --undo" if undo else "archive"
        raise UsageError(f"{note.name} is a subagent of {parent}", f'Run "cru session {what} {parent}" for both.')
    if note.session.status is Status.ACTIVE and not (undo or force):
        raise VaultError(
            f"{note.name} is still active",
            f'Run "cru session end {note.name}" first, or pass --force to archive it now.',
        )
