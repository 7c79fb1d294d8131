"""Which session is meant by who names none: of a project's paused ones, the one that was left last.

Owns that order.  The rows come from an index and may be older than the notes.  Every start of a client comes by here, so this
imports little.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from crucible.vault.index.query import SessionQuery, select
from crucible.vault.index.schema import Row, View, path_of_cell
from crucible.vault.index.time_filters import last_active

if TYPE_CHECKING:  # a client's start waits for each import
    from crucible.memory.bookmarks.bookmark import Bookmark


_NEWEST = 20


class Paused(NamedTuple):
    """A paused session: its note's path from the vault, its title, and when it was left, None where nothing tells."""

    id: str
    path: str
    title: str
    at: datetime | None


def paused_rows(view: View, project: str) -> list[Row]:
    """The project's paused sessions that are nobody's subagent; a folder without a project has none."""
    return select(view, SessionQuery(status="paused", project=project)) if project else []


def newest_rows(view: View, project: str) -> list[Row]:
    """The project's newest sessions, whatever became of them; a folder without a project has none."""
    return select(view, SessionQuery(project=project, limit=_NEWEST)) if project else []


def newest_first(rows: Sequence[Row], bookmarks: Iterable[Bookmark]) -> list[Paused]:
    """The sessions in the order in which they were left, the last one first; of two at once the one with the greater id.

    `bookmarks` are all that there are, the oldest first.
    """
    marks = {mark.session: mark for mark in bookmarks}
    found = [_paused(row, marks.get(str(row["id"]))) for row in rows]
    return sorted(found, key=lambda one: (one.at.timestamp() if one.at else 0.0, one.id), reverse=True)


def _paused(row: Row, mark: Bookmark | None) -> Paused:
    at = last_active(row, mark.at, mark.why) if mark else last_active(row)
    return Paused(str(row["id"]), path_of_cell(str(row["path"])), str(row["title"] or ""), at)
