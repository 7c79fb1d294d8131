"""Compact memory: shorten old bookmarks and completed todos to one-line summaries.

Decisions and lessons are never shortened. The full lines stay in git.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Collection, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple, TypeVar

from crucible.core.settings.session_settings import MemorySettings
from crucible.memory.bookmarks import bookmark as bookmarks
from crucible.memory.bookmarks.bookmark import Bookmark
from crucible.memory.history import memory_log as memories
from crucible.memory.history.memory_log import Memory, MemoryKind
from crucible.vault.index.query import SessionQuery, matching
from crucible.vault.index.schema import View
from crucible.vault.notes.vault import Vault

ANNOUNCED = "Memory is nearly full. Compacting {count} old entries…"
REACHED = "Milestone reached. Compacting {count} old entries…"
"""The message before compacting, by trigger: size or milestone."""
_STAY = 4
"""Divisor of the limits: a quarter stays in full, so that the next line does not exceed the limit again."""


class Compacted(NamedTuple):
    """The number of shortened bookmarks and todos."""

    bookmarks: int = 0
    todos: int = 0


_One = TypeVar("_One", Bookmark, Memory)


def compact(
    vault: Vault,
    live: Callable[[], Collection[str]],
    announce: Callable[[str], None],
    *,
    milestone: str | None = None,
) -> Compacted:
    """Shorten old entries if there are too many, and all entries of the project `milestone`, which reached a milestone.

    `live` returns the ids of active and paused sessions, and is only called if needed: the newest bookmark of each, and
    of each project, is kept in full.  `announce` gets a line before anything is written.  Raises `VaultError` if a file
    cannot be rewritten; that file is then unchanged.
    """
    settings, root = vault.settings.memory, vault.root
    old, closed = _old_bookmarks(root, settings, live, milestone), _old_todos(root, settings, milestone)
    if not (old or closed):
        return Compacted()
    announce((ANNOUNCED if milestone is None else REACHED).format(count=len(old) + len(closed)))
    fsync = vault.settings.fsync
    return Compacted(
        bookmarks.shorten_bookmarks(root, old, fsync=fsync) if old else 0,
        memories.shorten_todos(root, closed, fsync=fsync) if closed else 0,
    )


def live_sessions(view: View) -> frozenset[str]:
    """Return the ids of active and paused sessions in the index, including subagents."""
    return frozenset(
        str(row["id"])
        for status in ("active", "paused")
        for row in matching(view, SessionQuery(status=status, children=True, archived=True))
    )


def _old_bookmarks(
    root: Path, settings: MemorySettings, live: Callable[[], Collection[str]], milestone: str | None
) -> frozenset[str]:
    whole = [one for one in bookmarks.load_bookmarks(root).found if not one.compacted]
    old = _beyond(whole, bookmarks.bytes_of, settings, len(whole), milestone)
    if not old:
        return old
    live_ids = live()
    newest = {one.session: one.id for one in whole if one.session in live_ids}
    last = {one.project: one.id for one in whole}
    return old - {*newest.values(), *last.values()}


def _old_todos(root: Path, settings: MemorySettings, milestone: str | None) -> frozenset[str]:
    whole = [one for one in memories.load_memories(root, MemoryKind.TODO).found if not one.compacted]
    closed = [one for one in whole if one.done]
    # A completed todo has two lines.
    return _beyond(closed, lambda one: 2 * memories.bytes_of(one), settings, len(whole), milestone)


def _beyond(
    found: Sequence[_One],
    bytes_of: Callable[[_One], int],
    settings: MemorySettings,
    count: int,
    milestone: str | None,
) -> frozenset[str]:
    """Return the ids of entries to shorten in `found`, oldest first; `count` is the number of entries in their file."""
    sizes = [*accumulate(map(bytes_of, reversed(found)))]
    staying = frozenset(one.id for one in found)
    if count > settings.max_entries or sum(sizes[-1:]) > settings.max_bytes:
        fits = bisect(sizes, settings.max_bytes // _STAY)
        staying = frozenset(one.id for one in found[::-1][: min(fits, settings.max_entries // _STAY)])
    return frozenset(
        one.id for one in found if one.id not in staying or (milestone is not None and one.project == milestone)
    )
