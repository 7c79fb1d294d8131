"""Find the session to resume if the user names none: the project's most recently paused one.

Rows come from the index and may be older than the notes. Few imports, since hooks load this module at client start.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from crucible.vault.index.query import SessionQuery, select
from crucible.vault.index.schema import Row, View, path_of_cell
from crucible.vault.index.time_filters import last_active

if TYPE_CHECKING:  # imports slow down the start of a client
    from crucible.memory.bookmarks.bookmark import Bookmark


_NEWEST = 20


class Paused(NamedTuple):
    """A paused session: the path of its note in the vault, its title, and when it was paused (None if unknown)."""

    id: str
    path: str
    title: str
    at: datetime | None


def paused_rows(view: View, project: str) -> list[Row]:
    """Return the project's paused sessions except subagents; none if `project` is ""."""
    return select(view, SessionQuery(status="paused", project=project)) if project else []


def newest_rows(view: View, project: str) -> list[Row]:
    """Return the project's newest sessions of any status; none if `project` is ""."""
    return select(view, SessionQuery(project=project, limit=_NEWEST)) if project else []


def newest_first(rows: Sequence[Row], bookmarks: Iterable[Bookmark]) -> list[Paused]:
    """Sort sessions by pause time, newest first; ties by id, descending.

    `bookmarks` are all bookmarks of the vault, oldest first.
    """
    marks = {mark.session: mark for mark in bookmarks}
    found = [_paused(row, marks.get(str(row["id"]))) for row in rows]
    return sorted(found, key=lambda one: (one.at.timestamp() if one.at else 0.0, one.id), reverse=True)


def _paused(row: Row, mark: Bookmark | None) -> Paused:
    at = last_active(row, mark.at, mark.why) if mark else last_active(row)
    return Paused(str(row["id"]), path_of_cell(str(row["path"])), str(row["title"] or ""), at)
