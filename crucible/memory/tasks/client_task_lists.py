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

from crucible.core.errors import BadSessionId
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.source import Problem
from crucible.documents.session.session_id import check_session_id
from crucible.memory.tasks.task import OpenTask
from crucible.memory.tasks.task_index import Found, Owner, tasks_called
from crucible.memory.tasks.task_reading import join_lists, read_store
from crucible.vault.index.schema import View
from crucible.vault.notes.walk import read_head

MOST_LISTS = 500
"""Lists that are looked at, the ones that changed last."""

_SOURCE = late_pattern(rb"\bclaude-code:([A-Za-z0-9._-]{1,128})(?![\w./-])")
_GOES_ON = ("active", "paused")
"""The note of a session that has ended knows more than what the client left lying about."""


def lists_in(client_folder: Path, since: datetime | None = None) -> dict[str, Path]:
    """The folders of the lists that changed `since` by name, the newest first; `client_folder` is the client's own (`~/.claude`).

    A folder that is not there has none; a symlink is none.
    """
    found: list[tuple[float, str, Path]] = []
    with suppress(OSError), os.scandir(client_folder / "tasks") as entries:
        for entry in entries:
            with suppress(OSError, BadSessionId):
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode) and (since is None or status.st_mtime >= since.timestamp()):
                    found.append((-status.st_mtime, check_session_id(entry.name), Path(entry.path)))
    return {name: path for _, name, path in sorted(found)[:MOST_LISTS]}


def with_stores(
    view: View,
    found: Found,
    root: Path,
    client_folder: Path,
    *,
    is_wanted: Callable[[str], bool],
    since: datetime | None = None,
) -> tuple[Found, tuple[str, ...]]:
    """The same tasks, with what the client's lists say of them now, and those that only such a list has; and lines on what could not be read.

    `root` is the vault's.  A list that a session out of `found` names is left out; of one that no session names `is_wanted` says whether it
    is to be there.
    """
    waiting = lists_in(client_folder, since)
    if not waiting:
        return found, ()
    named = _named(root, found.owners.values(), waiting)
    owned = {session: waiting.pop(name) for name, session in named.items()}
    problems: list[Problem] = []
    lists: dict[str, list[OpenTask]] = {session: [] for session in found.owners}
    for task in found.tasks:
        lists[task.ref.session].append(task)
    joined: list[OpenTask] = []
    for session, noted in lists.items():
        stored: tuple[OpenTask, ...] = ()
        if session in owned and found.owners[session].status in _GOES_ON:
            stored, wrong = read_store(owned[session], session)
            problems += wrong
        joined += join_lists(noted, stored)
    foreign = {name: folder for name, folder in waiting.items() if is_wanted(name)}
    if foreign:
        for name in _named(root, tasks_called(view, "").owners.values(), foreign):
            del foreign[name]
    owners = dict(found.owners)
    known = {(task.ref.id, task.content) for task in joined}
    for name, folder in foreign.items():
        tasks, wrong = read_store(folder, name)
        problems += wrong
        # A list that sessions share is told by their notes, too.
        new = [task for task in tasks if (task.ref.id, task.content) not in known]
        if new:
            owners[name] = Owner(name, "")
            joined += new
    return Found(tuple(joined), owners, found.older), tuple(one.message for one in problems)


def _named(root: Path, owners: Iterable[Owner], lists: Mapping[str, Path]) -> dict[str, str]:
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
