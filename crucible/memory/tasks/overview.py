"""The state of all tasks, for lists and briefings, from the index, clients' own task lists and annotations."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from crucible.core.errors import BadSessionId
from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.source import Problem
from crucible.documents.session.session_id import check_session_id
from crucible.memory.tasks.annotations import AnnotationFolder
from crucible.memory.tasks.readiness import TasksStatus, cut_status, status_of
from crucible.memory.tasks.task import OpenTask, Ref, Stage, join_lists, listed_task, read_store
from crucible.memory.tasks.task_pickup import RecallCounts, recall_counts
from crucible.vault.index.query import SessionQuery, archived_rows, find_row, matching
from crucible.vault.index.schema import Row, View, path_of_cell, shard_of, split_list
from crucible.vault.notes.note_heads import read_head
from crucible.vault.notes.note_tail import read_tail

_OPEN_TASK_INDEX = ("pending", "in_progress")
"""Statuses that count as open for tasks out of scope; statuses that users made up are not counted there."""


class TaskScope(NamedTuple):
    """A filter by project, session (id or unique prefix) and start; "" and None match all."""

    project: str = ""
    session: str = ""
    since: datetime | None = None


EVERYTHING = TaskScope()


class Owner(NamedTuple):
    """The session of a list.  `path` is relative to the vault; `parent` is the session that started a subagent.

    `problems` is the number of problems in the note.
    """

    id: str
    path: str
    status: str = ""
    project: str = ""
    parent: str = ""
    problems: int = 0


class FoundTasks(NamedTuple):
    """Tasks, newest session first; all sessions in scope by id; and the number of open tasks out of scope."""

    tasks: tuple[OpenTask, ...] = ()
    owners: Mapping[str, Owner] = {}
    older: int = 0


def gather(view: View, scope: TaskScope = EVERYTHING) -> FoundTasks:
    """Return the tasks in scope.  Raises `SessionNotFound` and `AmbiguousSession` for the scope's session."""
    if scope.session:
        row = find_row(view, scope.session)
        return _found([row], view.rows("tasks", [shard_of(str(row["started"] or ""))], [str(row["id"])]))
    wish = SessionQuery(project=scope.project or None, children=True)
    rows = list(matching(view, wish._replace(since=scope.since)))
    shards = list(dict.fromkeys(shard_of(str(row["started"] or "")) for row in rows))
    found = _found(rows, view.rows("tasks", shards))
    if scope.since is None:
        return found
    still_open = list(_paths_of_open(view))
    left = {*still_open} - {row["path"] for row in (*rows, *archived_rows(view))}
    if left and scope.project:
        left &= {row["path"] for row in matching(view, wish)}
    return found._replace(older=sum(path in left for path in still_open))


def tasks_with_prefix(view: View, beginning: str) -> FoundTasks:
    """Return all tasks of sessions whose id starts with `beginning`; of all sessions if it is ""."""
    rows = [
        row
        for row in view.rows("sessions", None, [beginning] if beginning else [])
        if str(row["id"]).startswith(beginning)
    ]
    shards = list(dict.fromkeys(shard_of(str(row["started"] or "")) for row in rows))
    return _found(rows, view.rows("tasks", shards, [beginning] if beginning else []))


def _found(sessions: Iterable[Row], rows: Iterable[Row]) -> FoundTasks:
    owners = {row["path"]: _owner(row) for row in sessions}
    lists: dict[str, list[OpenTask]] = {owner.id: [] for owner in owners.values()}
    for row in rows:
        owner = owners.get(row["path"])
        if owner:
            lists[owner.id].append(_task(row, owner.id))
    tasks = tuple(task for listed in lists.values() for task in listed)
    return FoundTasks(tasks, {owner.id: owner for owner in owners.values()})


def _paths_of_open(view: View) -> Iterator[str | int | None]:
    """Yield the note's path for each open task of any session."""
    for word in _OPEN_TASK_INDEX:
        yield from (row["path"] for row in view.rows("tasks", None, [word]) if row["status"] == word)


def _owner(row: Row) -> Owner:
    return Owner(
        str(row["id"]),
        path_of_cell(str(row["path"])),
        str(row["status"] or ""),
        str(row["project"] or ""),
        str(row["parent"] or ""),
        int(row["problems"] or 0),
    )


def _task(row: Row, session: str) -> OpenTask:
    return listed_task(
        Ref(session, str(row["task_id"])),
        str(row["content"] or ""),
        str(row["status"] or ""),
        priority=str(row["priority"] or "medium"),
        needs=split_list(str(row["depends_on"] or "")),
        started=_text(row["started"]),
        completed=_text(row["completed"]),
    )


def _text(cell: str | int | None) -> str | None:
    return None if cell is None else str(cell)


MOST_LISTS = 500
"""Maximum number of lists to read, latest first."""

_SOURCE = late_pattern(rb"\bclaude-code:([A-Za-z0-9._-]{1,128})(?![\w./-])")
_UNFINISHED = ("active", "paused")
"""Statuses with which the client's list counts; after a session has ended, its note is more reliable."""


def lists_in(client_folder: Path, since: datetime | None = None) -> dict[str, Path]:
    """Return the folders of a client's lists changed `since`, by name, newest first; symlinks are skipped.

    `client_folder` is the client's own folder (`~/.claude`), which may be missing.
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
    found: FoundTasks,
    root: Path,
    client_folder: Path,
    *,
    is_wanted: Callable[[str], bool],
    since: datetime | None = None,
) -> tuple[FoundTasks, tuple[str, ...]]:
    """Add the client's current lists to the tasks; also return read errors, one line each.

    `root` is the vault's.  Lists of known sessions that are not in `found` are skipped.  A list of no known session is
    added if `is_wanted(name)` is true.
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
        if session in owned and found.owners[session].status in _UNFINISHED:
            stored, wrong = read_store(owned[session], session)
            problems += wrong
        joined += join_lists(noted, stored)
    foreign = {name: folder for name, folder in waiting.items() if is_wanted(name)}
    if foreign:
        for name in _named(root, tasks_with_prefix(view, "").owners.values(), foreign):
            del foreign[name]
    owners = dict(found.owners)
    known = {(task.ref.id, task.content) for task in joined}
    for name, folder in foreign.items():
        tasks, wrong = read_store(folder, name)
        problems += wrong
        # Tasks in a list shared by several sessions are also in their notes.
        new = [task for task in tasks if (task.ref.id, task.content) not in known]
        if new:
            owners[name] = Owner(name, "")
            joined += new
    return FoundTasks(tuple(joined), owners, found.older), tuple(one.message for one in problems)


def _named(root: Path, owners: Iterable[Owner], lists: Mapping[str, Path]) -> dict[str, str]:
    """Return the list of each session, from their notes.  Reads no more notes than necessary."""
    named: dict[str, str] = {}
    for owner in owners:
        if len(named) == len(lists):
            break
        with suppress(OSError):
            path = os.path.join(root, owner.path)
            for source in _SOURCE.findall(read_head(path) + read_tail(path)):
                name = source.decode()
                if name in lists:
                    named.setdefault(name, owner.id)
    return named


class ClientLists(NamedTuple):
    """The client's folder (`~/.claude`), or None to skip it, and the unclaimed lists to include (None for all)."""

    folder: Path | None = None
    sessions: Collection[str] | None = None


NO_CLIENT = ClientLists()
_OPEN = (Stage.PENDING, Stage.IN_PROGRESS)


class Overview(NamedTuple):
    """The state of the tasks in scope.  `status` lists the shown tasks and counts all; `recall` is for the shown ones.

    `older` counts the open tasks of sessions out of scope; `troubles` are read errors, one line each.
    """

    status: TasksStatus
    recall: Mapping[Ref, RecallCounts]
    owners: Mapping[str, Owner]
    older: int = 0
    troubles: tuple[str, ...] = ()


def tasks_now(
    view: View,
    scope: TaskScope,
    root: Path,
    client: ClientLists = NO_CLIENT,
) -> tuple[FoundTasks, tuple[str, ...]]:
    """Return the tasks in scope from notes and the client's lists, and read errors; `root` is the vault's."""
    found = gather(view, scope)
    if client.folder is None:
        return found, ()

    def is_wanted(name: str) -> bool:
        return not scope.session and (client.sessions is None or name in client.sessions)

    return with_stores(view, found, root, client.folder, is_wanted=is_wanted, since=scope.since)


def overview(
    view: View,
    scope: TaskScope,
    shelf: AnnotationFolder,
    client: ClientLists = NO_CLIENT,
    most: int | None = None,
    *,
    alive: Collection[str] | None = None,
) -> Overview:
    """Return the state of the tasks in scope, with at most `most` shown.

    Tasks of sessions that are not in `alive` count as older.
    """
    found, troubles = tasks_now(view, scope, shelf.root, client)
    if alive is not None:
        found = _only(found, alive)
    status = status_of(found.tasks)
    if most is not None:
        status = cut_status(status, most)
    counts, wrong = recall_counts(shelf, (task.ref for task in shown_tasks(status)))
    return Overview(status, counts, found.owners, found.older, (*troubles, *wrong))


def _only(found: FoundTasks, alive: Collection[str]) -> FoundTasks:
    """Return the tasks of these sessions and their subagents, and of lists without a session."""
    owners = found.owners
    over = {one.id for one in owners.values() if one.id not in alive and one.parent not in alive}
    kept = tuple(task for task in found.tasks if task.ref.session not in over)
    left = sum(task.ref.session in over and task.stage in _OPEN for task in found.tasks)
    return found._replace(tasks=kept, older=found.older + left)


def shown_tasks(status: TasksStatus) -> tuple[OpenTask, ...]:
    """Return all tasks in the four lists, in order."""
    unfinished = (*status.in_progress, *status.ready, *status.blocked)
    return (*(one.task for one in unfinished), *status.recent)
