"""Check that the vault is writable, and find unfinished work: renames, spool, sessions, notes in old formats."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from crucible.core.errors import CrucibleError, OutsideVault, VaultError
from crucible.core.prices.price_list import load_prices
from crucible.core.settings.trust import Ask, ignored_names
from crucible.core.text import counted
from crucible.integrations.doctor import CheckResult, bad, good, notice
from crucible.integrations.install.git_hooks import find_hook, is_in_repository, is_installed
from crucible.vault.events.event_archive import verify_archive
from crucible.vault.events.event_files import archive_path
from crucible.vault.events.event_retention import archived_ids, flight_ids
from crucible.vault.events.spool_reader import load_spool
from crucible.vault.index.schema import path_of_cell
from crucible.vault.notes.discovery import DELETING, is_unfinished
from crucible.vault.notes.persona_notes import PersonaNote
from crucible.vault.notes.rename_journal import journal_path, load_journal
from crucible.vault.notes.vault import Vault

_NO_ROOM = 1 << 20
"""Minimum free disk space in bytes; with less, writing a note may fail."""
_OLD_PRICES = 120
"""Days after which prices are reported as old."""
_ROOM = "free some disk space"
_RIGHT = 'grant yourself write permission, or run "cru" as the vault\'s owner'
_REFUSALS = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EACCES: _RIGHT,
    errno.EPERM: _RIGHT,
    errno.EROFS: "mount the disk as writable",
}


def check_settings(faults: Iterable[CrucibleError], warnings: Iterable[str]) -> Iterator[CheckResult]:
    """Report errors in settings files; `faults` are those that make every other command fail."""
    for fault in faults:
        hint = fault.hint or "fix or remove the line by hand"
        yield bad("settings", f"{fault}; no other command works until then", hint)
    for warning in dict.fromkeys(warnings):
        yield notice("settings", warning, "fix its name, or remove the line")


def check_prices(own: str, today: date) -> Iterator[CheckResult]:
    """Report prices that are old, and errors in the user's own; `own` is the path of their file."""
    try:
        taken = load_prices(own).date
    except VaultError as error:
        yield bad("prices", f"{error}; costs cannot be shown until then", error.hint)
        return
    age = (today - date.fromisoformat(taken)).days
    if age > _OLD_PRICES:
        what = f"model prices are {age} days old, so newer models are unpriced"
        yield notice("prices", what, f"upgrade cru, or add prices to {own or 'prices.toml'}")
    else:
        yield good("prices", f"model prices are from {taken}")


def check_trust(asks: Sequence[Ask]) -> Iterator[CheckResult]:
    """Report what the vault asks for, and whether the user has accepted it."""
    broken = tuple(f"{ask.name}: {ask.fault}" for ask in asks if ask.fault)
    if broken:
        yield notice("trust", "requests of this vault that cannot be granted are ignored", "", broken)
    asks = [ask for ask in asks if not ask.fault]
    ignored = ignored_names(asks)
    if ignored:
        what = "requests of this vault are ignored until you accept them"
        yield notice("trust", what, "cru trust", ignored)
    elif asks:
        what = f"you accepted these requests of the vault: {', '.join(ask.name for ask in asks)}"
        yield good("trust", what)
    else:
        yield good("trust", "this vault has no requests to accept")


def check_personas(notes: Iterable[PersonaNote]) -> Iterator[CheckResult]:
    """Report personas that cannot be used."""
    if faults := tuple(fault for note in notes for fault in note.faults):
        yield bad("personas", "these personas cannot be used", "fix the notes", faults)


def check_writable(root: Path, folders: Iterable[Path]) -> Iterator[CheckResult]:
    """Check that all folders a session needs are writable, and that the disk is not full."""
    own = root / ".crucible"
    places = (root, own, *folders, *(own / name for name in ("spool", "flight", "cache", "index", "log")))
    shut = tuple(str(path) for path in places if path.is_dir() and not os.access(path, os.W_OK | os.X_OK))
    if shut:
        what = "you cannot write to the vault, so no session is recorded"
        yield bad("vault", what, _RIGHT, shut)
    try:
        free = shutil.disk_usage(root).free
    except OSError:
        return
    if free < _NO_ROOM:
        yield bad("vault", f"the disk of {root} is full", _ROOM)


def fix_of_os_error(reason: str, otherwise: str) -> str:
    """Return the fix for an operating system error, chosen by its message; `otherwise` for any other error."""
    found = (fix for number, fix in _REFUSALS.items() if os.strerror(number) in reason)
    return next(found, otherwise)


def check_git_hooks(root: Path) -> Iterator[CheckResult]:
    """Check that commits are scanned for secrets if the vault is in a git repository."""
    if not is_in_repository(root):
        return
    try:
        installed = is_installed(find_hook(root))
    except VaultError as error:
        yield notice("git-hooks", f"git cannot list its hooks: {error}", error.hint)
        return
    if installed:
        yield good("git-hooks", "commits are checked for secrets")
    else:
        what = "commits are not checked for secrets, so a secret that you typed may be committed"
        yield notice("git-hooks", what, "cru install git-hooks")


def check_renames(vault: Vault) -> Iterator[CheckResult]:
    """Report the journal of an unfinished rename or deletion.  One in progress also has a journal."""
    if not is_unfinished(vault.root):
        return
    if os.path.lexists(vault.root / DELETING):
        yield bad(
            "deletion",
            "a deletion or archiving was interrupted; the next command that opens the vault finishes it",
            "cru session list",
        )
    if not os.path.lexists(journal_path(vault.root)):
        return
    try:
        journal = load_journal(vault)
    except VaultError as error:
        yield bad("rename", str(error), error.hint)
        return
    if journal is None:
        yield bad("rename", f"{journal_path(vault.root)} is not a rename journal", "remove it")
        return
    old, new = journal.ids
    what = f"the rename of {old} to {new} was interrupted; the next command that opens the vault finishes it"
    yield bad("rename", what, f"cru session rename {old} {new}")


Row = Mapping[str, object]


def check_spool(root: Path, clients: Iterable[str], now: datetime) -> Iterator[CheckResult]:
    """Report sessions in the spool that are not imported yet, and those that have waited too long."""
    try:
        spooled = [s for client in clients for s in load_spool(root, client) if s.has_backlog]
    except OutsideVault as error:
        yield bad("spool", str(error), error.hint)
        return
    waiting = [s for s in spooled if s.left != "missing"]
    missing = tuple(s.session for s in spooled if s.left == "missing")
    last = {s.session: max((line.time for line in s.lines), default=0.0) for s in waiting}
    stuck = [
        s for s in waiting if now.timestamp() - last[s.session] > 120 and (s.has_ended or s.left in ("ended", "died"))
    ]
    if missing:
        what = counted(len(missing), "session has", "sessions have")
        what += " no transcript: the client does not keep one, or lost it"
        yield notice("spool", what, "", missing)
    if stuck:
        what = counted(len(stuck), "session has", "sessions have") + " ended but not been imported"
        fix = "cru import claude-code"
        yield bad("spool", what, fix, tuple(s.session for s in stuck))
    elif waiting:
        what = counted(len(waiting), "session is", "sessions are")
        what += " running, with events since the last phase"
        yield good("spool", what, "", tuple(s.session for s in waiting))
    elif not missing:
        yield good("spool", "the spool is empty")


def check_sessions(rows: Collection[Row], now: datetime, idle: timedelta) -> Iterator[CheckResult]:
    """Report paused sessions, active ones that have been idle too long, subagents' notes without a parent, and broken properties."""
    ids = {str(row["id"]) for row in rows}
    paused = [str(row["id"]) for row in rows if row["status"] == "paused" and not row["parent"]]
    stale = [
        str(row["id"]) for row in rows if row["status"] == "active" and not row["parent"] and _is_quiet(row, now, idle)
    ]
    lost = [f"{row['id']} (of {row['parent']})" for row in rows if row["parent"] and str(row["parent"]) not in ids]
    damaged = [path_of_cell(str(row["path"])) for row in rows if not row["status"] and not row["unreadable"]]
    if paused:
        what = counted(len(paused), "paused session") + " to review"
        yield notice("sessions", what, "cru session list --status paused", tuple(paused))
    if stale:
        what = counted(len(stale), "session is", "sessions are")
        what += " marked active, but had no events for a long time"
        fix = f"cru import, or: cru session pause {stale[0]}"
        yield bad("sessions", what, fix, tuple(stale))
    if lost:
        what = counted(len(lost), "subagent's note has no parent note", "subagents' notes have no parent note")
        yield notice("sessions", what, "cru session check", tuple(lost))
    if damaged:
        what = counted(len(damaged), "note has", "notes have") + " no status, or properties with broken YAML"
        yield notice("sessions", what, "cru session check", tuple(damaged))
    if not (paused or stale or lost or damaged):
        yield good("sessions", "no paused, stale, orphaned or broken sessions")


def known_until(row: Row) -> datetime | None:
    """Return the latest time in a note's row; None if it has none."""
    started, seconds = row["started"], row["duration_s"]
    try:
        begun = datetime.fromisoformat(str(started))
    except ValueError:
        return None
    lasted = timedelta(seconds=seconds) if isinstance(seconds, int | float) else timedelta()
    return (begun if begun.tzinfo else begun.replace(tzinfo=UTC)) + lasted


def _is_quiet(row: Row, now: datetime, idle: timedelta) -> bool:
    last = known_until(row)
    return last is not None and now - last > max(idle, timedelta(hours=24))


def check_notes(root: Path, unreadable: Collection[Row], ids: Collection[str]) -> Iterator[CheckResult]:
    """Report notes that cannot be read, and event logs without a note."""
    if unreadable:
        items = tuple(f"{row['path']}: {row['unreadable']}" for row in unreadable)
        what = counted(len(unreadable), "note") + " cannot be read"
        yield bad("sessions", what, "cru session check", items)
    homeless = sorted({*flight_ids(root), *archived_ids(root)} - {*ids})
    if homeless:
        what = counted(len(homeless), "event log has", "event logs have") + " no note; they are kept"
        fix = "cru import creates the notes again"
        yield notice("sessions", what, fix, tuple(homeless))


def check_archives(root: Path) -> Iterator[CheckResult]:
    """Report archives of events that cannot be read back."""
    broken = tuple(
        str(error) for error in map(_fault_of, (archive_path(root, name) for name in archived_ids(root))) if error
    )
    if broken:
        what = counted(len(broken), "archive") + " of events cannot be read as a whole"
        yield bad("sessions", what, "restore it from a backup; the note is not affected", broken)


def _fault_of(path: Path) -> VaultError | None:
    try:
        verify_archive(path)
    except VaultError as error:
        return error
    return None
