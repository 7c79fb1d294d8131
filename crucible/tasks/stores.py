"""The lists in a client's folder, and which session each belongs to.

Owns how a list finds its note: Claude Code names a list's folder after its own session, which the note names among its `sources`.  A list
that no note names is one of a session that was not imported yet, or one that several sessions share; its tasks bear its own name.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from crucible.errors import BadSessionId
from crucible.note.source import Problem
from crucible.patterns import late_pattern
from crucible.session.identity import check_session_id
from crucible.tasks.gathering import Found, Owner
from crucible.tasks.model import OpenTask
from crucible.tasks.reading import join_lists, read_store
from crucible.vault.heads import read_head

__all__ = ["MOST_LISTS", "StoreList", "lists_in", "with_stores"]

MOST_LISTS = 500
"""Lists that are looked at, the ones that changed last."""

_SOURCE = late_pattern(rb"\bclaude-code:([A-Za-z0-9._-]{1,128})(?![\w./-])")
_GOES_ON = ("active", "paused")
"""The note of a session that has ended knows more than what the client left lying about."""


class StoreList(NamedTuple):
    """A list of a client: its name and its folder."""

    id: str
    folder: Path


def lists_in(client_folder: Path, since: datetime | None = None) -> tuple[StoreList, ...]:
    """The lists that changed `since`, the newest first; `client_folder` is the client's own (`~/.claude`).

    A folder that is not there has none; a symlink is none.
    """
    found: list[tuple[float, StoreList]] = []
    folder = client_folder / "tasks"
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError, BadSessionId):
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode) and (since is None or status.st_mtime >= since.timestamp()):
                    found.append((status.st_mtime, StoreList(check_session_id(entry.name), Path(entry.path))))
    return tuple(one for _, one in sorted(found, key=lambda pair: (-pair[0], pair[1].id))[:MOST_LISTS])


def with_stores(
    found: Found,
    lists: Iterable[StoreList],
    root: Path,
    every_note: Callable[[], Iterable[Owner]],
    is_wanted: Callable[[StoreList], bool],
) -> tuple[Found, tuple[Problem, ...]]:
    """The same tasks, with what the client's lists say of them now, and those that only such a list has.

    `root` is the vault's.  `every_note` is asked only for lists that no session in `found` names: what some other session names is left
    out, and of what none names `is_wanted` says whether it is to be there.
    """
    waiting = {one.id: one for one in lists}
    if not waiting:
        return found, ()
    named = _named(root, found.owners.values(), waiting)
    owned = {session: waiting.pop(name) for name, session in named.items()}
    problems: list[Problem] = []
    joined: list[OpenTask] = []
    noted = _by_session(found.tasks)
    for session, owner in found.owners.items():
        store = owned.get(session)
        stored: tuple[OpenTask, ...] = ()
        if store and owner.status in _GOES_ON:
            stored, wrong = read_store(store.folder, session)
            problems += wrong
        joined += join_lists(noted.get(session, ()), stored)
    foreign = {name: one for name, one in waiting.items() if is_wanted(one)}
    if foreign:
        for name in _named(root, every_note(), foreign):
            del foreign[name]
    owners = dict(found.owners)
    known = {(task.ref.id, task.content) for task in joined}
    for one in foreign.values():
        tasks, wrong = read_store(one.folder, one.id)
        problems += wrong
        # A list that sessions share is told by their notes, too.
        new = [task for task in tasks if (task.ref.id, task.content) not in known]
        if new:
            owners[one.id] = Owner(one.id, "")
            joined += new
    return Found(tuple(joined), owners, found.older), tuple(problems)


def _by_session(tasks: Iterable[OpenTask]) -> Mapping[str, list[OpenTask]]:
    lists: dict[str, list[OpenTask]] = {}
    for task in tasks:
        lists.setdefault(task.ref.session, []).append(task)
    return lists


def _named(root: Path, owners: Iterable[Owner], lists: Mapping[str, StoreList]) -> dict[str, str]:
    """Which of the lists are those of sessions, by the heads of their notes; no more notes are looked at than needed."""
    named: dict[str, str] = {}
    for owner in owners:
        if len(named) == len(lists):
            break
        with suppress(OSError):
            for source in _SOURCE.findall(read_head(os.path.join(root, owner.path))):
                name = source.decode()
                if name in lists:
                    named.setdefault(name, owner.id)
    return named
