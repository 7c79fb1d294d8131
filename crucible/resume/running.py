"""Whether somebody else is at work on an active session.

Owns what counts as at work: a client that runs, or news within the idle time.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from crucible.errors import CrucibleError
from crucible.index.moments import age_words
from crucible.resume.position import last_active
from crucible.session.model import Session, Status

__all__ = ["check_at_rest"]


def check_at_rest(
    session: Session, files: Sequence[Path], client: str, *, now: datetime, idle: timedelta
) -> None:
    """Refuse an active session that somebody may be at work on.

    `files` are those that grow while it runs, its note's and its spool's; `client` is the client that runs, "" for none.
    """
    if session.status is not Status.ACTIVE:
        return
    hint = f"`cru session pause {session.id}` stops it for now, --force goes on all the same"
    if client:
        raise CrucibleError(f"{session.id}: it is active, and its client still runs: {client}", hint)
    times = [time for path in files if (time := _written(path))]
    newest = max([*times, *filter(None, [last_active(session, None)])], default=None)
    if newest and now - newest < idle:
        raise CrucibleError(f"{session.id}: it is active, something happened {age_words(now - newest)}", hint)


def _written(path: Path) -> datetime | None:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return None
