"""Sessions that nobody ended: in the spool, in notes, and in the flight recorder.

Owns what an orphan is.  Rows of the index are told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path

from crucible.doctor.findings import Finding, State
from crucible.flight.spooled import load_spool
from crucible.session.identity import LONGEST_ID

__all__ = ["check_notes", "check_sessions", "check_spool"]

Row = Mapping[str, object]


def check_spool(root: Path, clients: Iterable[str], now: datetime) -> Iterator[Finding]:
    """What hooks put in and no note has yet, and what has been there for long."""
    spooled = [s for client in clients for s in load_spool(root, client) if s.has_backlog]
    waiting = [s for s in spooled if s.left != "missing"]
    missing = tuple(s.session for s in spooled if s.left == "missing")
    last = {s.session: max((line.time for line in s.lines), default=0.0) for s in waiting}
    stuck = [
        s
        for s in waiting
        if now.timestamp() - last[s.session] > 120 and (s.has_ended or s.left in ("ended", "died"))
    ]
    if missing:
        what = f"{len(missing)} sessions have no transcript: their client was told to keep none, or lost it"
        yield Finding("spool", State.NOTE, what, "", missing)
    if stuck:
        what = f"{len(stuck)} sessions have ended and are not written down"
        mend = "start the client once"
        yield Finding("spool", State.BAD, what, mend, tuple(s.session for s in stuck))
    elif waiting:
        what = f"{len(waiting)} sessions are under way, and have events since their last phase"
        yield Finding("spool", State.GOOD, what, "", tuple(s.session for s in waiting))
    elif not missing:
        yield Finding("spool", State.GOOD, "nothing waits in the spool")


def check_sessions(rows: Collection[Row], now: datetime, idle: timedelta) -> Iterator[Finding]:
    """Sessions whose client died, and those that say `active` and are long quiet."""
    ids = {str(row["id"]) for row in rows}
    paused = [str(row["id"]) for row in rows if row["status"] == "paused" and not row["parent"]]
    stale = [
        str(row["id"])
        for row in rows
        if row["status"] == "active" and not row["parent"] and _is_old(row, now, idle)
    ]
    lost = [
        f"{row['id']} (of {row['parent']})" for row in rows if row["parent"] and str(row["parent"]) not in ids
    ]
    if paused:
        what = f"{len(paused)} sessions are paused, and wait to be looked through"
        yield Finding("sessions", State.NOTE, what, f"cru session show {paused[0]}", tuple(paused))
    if stale:
        what = f"{len(stale)} sessions say they are active and have been quiet for long"
        mend = f"cru import auto, or: cru session pause --session {stale[0]}"
        yield Finding("sessions", State.BAD, what, mend, tuple(stale))
    if lost:
        what = f"{len(lost)} subagents' notes have lost their parents"
        yield Finding("sessions", State.NOTE, what, "cru session check", tuple(lost))
    if not (paused or stale or lost):
        yield Finding("sessions", State.GOOD, "no session was left behind")


def _is_old(row: Row, now: datetime, idle: timedelta) -> bool:
    started, seconds = row["started"], row["duration_s"]
    try:
        begun = datetime.fromisoformat(str(started))
    except ValueError:
        return False
    lasted = timedelta(seconds=seconds) if isinstance(seconds, int | float) else timedelta()
    return now - (begun + lasted) > max(idle, timedelta(hours=24))


def check_notes(root: Path, unreadable: Collection[Row], ids: Collection[str]) -> Iterator[Finding]:
    """Notes that cannot be read, and whole events that belong to none."""
    if unreadable:
        items = tuple(f"{row['path']}: {row['unreadable']}" for row in unreadable)
        yield Finding(
            "sessions", State.BAD, f"{len(unreadable)} notes cannot be read", "cru session check", items
        )
    flights = root / ".crucible" / "flight"
    names = sorted(path.name for path in flights.iterdir() if path.is_dir()) if flights.is_dir() else []
    homeless = [
        name for name in names if name not in ids and not name.startswith(".") and len(name) <= LONGEST_ID
    ]
    if homeless:
        what = f"{len(homeless)} folders of whole events have no note; they are kept"
        yield Finding("sessions", State.NOTE, what, f"cru flight show {homeless[0]}", tuple(homeless))
