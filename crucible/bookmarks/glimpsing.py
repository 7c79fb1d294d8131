"""Whose bookmarks there are, and when and why they were made, for who has no time for more.

Owns what is left unread: a line's files are most of it, and looking at each of them takes ten times as long as all else.  So
a line that `keeping` refuses for what it says further on may be seen here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from crucible.bookmarks.fields import session_of, text_of, time_of
from crucible.bookmarks.keeping import BOOKMARKS
from crucible.bookmarks.lines import read_lines

__all__ = ["Glimpse", "glimpse_bookmarks"]


class Glimpse(NamedTuple):
    """A bookmark's session, its time, which is aware, and the word for why it was made."""

    session: str
    at: datetime
    why: str


def glimpse_bookmarks(root: Path) -> list[Glimpse]:
    """Every bookmark, the oldest first.  Raises as `keeping.load_bookmarks` does."""
    found, _ = read_lines(root, BOOKMARKS, _glimpse)
    return sorted(found, key=lambda one: one.at)


def _glimpse(fields: Mapping[str, object]) -> Glimpse:
    return Glimpse(session_of(fields), time_of(fields, "at"), text_of(fields, "why"))
