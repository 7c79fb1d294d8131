"""Report a rename that was interrupted."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from crucible.core.errors import OutsideVault, VaultError
from crucible.documents.session.session_id import LONGEST_ID
from crucible.integrations.doctor.check_results import Finding, State, numbered
from crucible.vault.events.spooled import load_spool
from crucible.vault.notes.discovery import is_unfinished
from crucible.vault.notes.rename_journal import journal_path, load_journal
from crucible.vault.notes.vault import Vault


def check_renames(vault: Vault) -> Iterator[Finding]:
    """Report the journal of an unfinished rename.  A rename that is running has one too."""
    if not is_unfinished(vault.root):
        return
    try:
        journal = load_journal(vault)
    except VaultError as error:
        yield Finding("rename", State.BAD, str(error), error.hint)
        return
    if journal is None:
        yield Finding("rename", State.BAD, f"{journal_path(vault.root)} is not a rename journal", "remove it")
        return
    old, new = journal.ids
    what = f"the rename of {old} to {new} was interrupted; the next command that opens the vault finishes it"
    yield Finding("rename", State.BAD, what, f"cru session rename {old} {new}")


Row = Mapping[str, object]


def check_spool(root: Path, clients: Iterable[str], now: datetime) -> Iterator[Finding]:
    """What hooks put in and no note has yet, and what has been there for long."""
    try:
        spooled = [s for client in clients for s in load_spool(root, client) if s.has_backlog]
    except OutsideVault as error:
        yield Finding("spool", State.BAD, str(error), error.hint)
        return
    waiting = [s for s in spooled if s.left != "missing"]
    missing = tuple(s.session for s in spooled if s.left == "missing")
    last = {s.session: max((line.time for line in s.lines), default=0.0) for s in waiting}
    stuck = [
        s for s in waiting if now.timestamp() - last[s.session] > 120 and (s.has_ended or s.left in ("ended", "died"))
    ]
    if missing:
        what = numbered(len(missing), "session has", "sessions have")
        what += " no transcript: the client was told to keep none, or lost it"
        yield Finding("spool", State.NOTE, what, "", missing)
    if stuck:
        what = numbered(len(stuck), "session has", "sessions have") + " ended and not been written down"
        mend = "cru import claude-code"
        yield Finding("spool", State.BAD, what, mend, tuple(s.session for s in stuck))
    elif waiting:
        what = numbered(len(waiting), "session is", "sessions are")
        what += " under way, with events since the last phase"
        yield Finding("spool", State.GOOD, what, "", tuple(s.session for s in waiting))
    elif not missing:
        yield Finding("spool", State.GOOD, "nothing waits in the spool")


def check_sessions(rows: Collection[Row], now: datetime, idle: timedelta) -> Iterator[Finding]:
    """Sessions whose client died, and those that say `active` and are long quiet."""
    ids = {str(row["id"]) for row in rows}
    paused = [str(row["id"]) for row in rows if row["status"] == "paused" and not row["parent"]]
    stale = [
        str(row["id"]) for row in rows if row["status"] == "active" and not row["parent"] and _is_old(row, now, idle)
    ]
    lost = [f"{row['id']} (of {row['parent']})" for row in rows if row["parent"] and str(row["parent"]) not in ids]
    if paused:
        what = numbered(len(paused), "session is paused, and waits", "sessions are paused, and wait")
        what += " to be looked through"
        yield Finding("sessions", State.NOTE, what, f"cru session resume {paused[0]}", tuple(paused))
    if stale:
        what = numbered(len(stale), "session says it is", "sessions say they are")
        what += " active, and nothing happened for long"
        mend = f"cru import auto, or: cru session pause --session {stale[0]}"
        yield Finding("sessions", State.BAD, what, mend, tuple(stale))
    if lost:
        what = numbered(len(lost), "subagent's note has lost its parent", "subagents' notes have lost their parents")
        yield Finding("sessions", State.NOTE, what, "cru session check", tuple(lost))
    if not (paused or stale or lost):
        yield Finding("sessions", State.GOOD, "no session was left behind")


def known_until(row: Row) -> datetime | None:
    """The last time that a note tells; None when it tells none."""
    started, seconds = row["started"], row["duration_s"]
    try:
        begun = datetime.fromisoformat(str(started))
    except ValueError:
        return None
    lasted = timedelta(seconds=seconds) if isinstance(seconds, int | float) else timedelta()
    return (begun if begun.tzinfo else begun.replace(tzinfo=UTC)) + lasted


def _is_old(row: Row, now: datetime, idle: timedelta) -> bool:
    last = known_until(row)
    return last is not None and now - last > max(idle, timedelta(hours=24))


def check_notes(root: Path, unreadable: Collection[Row], ids: Collection[str]) -> Iterator[Finding]:
    """Notes that cannot be read, and whole events that belong to none."""
    if unreadable:
        items = tuple(f"{row['path']}: {row['unreadable']}" for row in unreadable)
        what = numbered(len(unreadable), "note") + " cannot be read"
        yield Finding("sessions", State.BAD, what, "cru session check", items)
    flights = root / ".crucible" / "flight"
    names = sorted(path.name for path in flights.iterdir() if path.is_dir()) if flights.is_dir() else []
    homeless = [name for name in names if name not in ids and not name.startswith(".") and len(name) <= LONGEST_ID]
    if homeless:
        what = (
            numbered(len(homeless), "folder of whole events has", "folders of whole events have")
            + " no note; all is kept"
        )
        mend = "cru import auto makes the notes anew"
        yield Finding("sessions", State.NOTE, what, mend, tuple(homeless))
