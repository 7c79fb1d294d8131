"""Where the work stands when no session is paused: at the last one's end.

Owns the words for it.  What is said of a paused session is the doors'.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from crucible.briefing.quoting import Quoter, whole_words
from crucible.briefing.rows import Known, time_of
from crucible.index.schema import Row
from crucible.note.fencing import fence

__all__ = ["last_position"]

_UNITS = ((86400, "d"), (3600, "h"), (60, "min"))


def last_position(known: Known, now: datetime, quoter: Quoter, *, paused: bool = True) -> str:
    """The newest session's id, title, status and age; "" where there is none.  Without `paused` a paused one is passed over."""
    rows = known.newest or filter(None, [known.last])
    row = next((one for one in rows if paused or one["status"] != "paused"), None)
    if row is None:
        return ""
    lines = [
        f"last session: {quoter.line(str(row['id']), 130)}",
        f"title: {quoter.line(whole_words(row['title']), 120)}",
        f"status: {quoter.line(str(row['status'] or 'unknown'), 40)}",
        f"last active: {_age(row, now)}",
    ]
    return fence(line for line in lines if not line.endswith(": "))


def _age(row: Row, now: datetime) -> str:
    started, ended = time_of(row["started"]), time_of(row["ended"])
    lasted = row["duration_s"]
    if ended is None and started and isinstance(lasted, int):
        ended = started + timedelta(seconds=min(max(lasted, 0), 10**9))
    at = ended or started
    if at is None:
        return ""
    seconds = int((now - (at if at.tzinfo else at.replace(tzinfo=UTC))).total_seconds())
    return next((f"{seconds // size} {unit} ago" for size, unit in _UNITS if seconds >= size), "just now")
