"""The tasks of many sessions from the index, without opening a note.

Sessions that began before `TaskScope.since` are skipped, and their open tasks are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from crucible.memory.tasks.task import OpenTask, Ref, listed_task
from crucible.vault.index.query import SessionQuery, find_row, matching
from crucible.vault.index.schema import Row, View, path_of_cell, shard_of, split_list

_OPEN = ("pending", "in_progress")
"""Words of a status that are looked for in what is left out; others of a human's own are not counted there."""


class TaskScope(NamedTuple):
    """A filter by project, by session (id or unique prefix) and by start; "" and None filter nothing."""

    project: str = ""
    session: str = ""
    since: datetime | None = None


EVERYTHING = TaskScope()


class Owner(NamedTuple):
    """The session of a list; `path` is relative to the vault, `parent` the delegating session.

    `problems` counts what is untidy in the note.
    """

    id: str
    path: str
    status: str = ""
    project: str = ""
    parent: str = ""
    problems: int = 0


class FoundTasks(NamedTuple):
    """Tasks, newest session first; all sessions in scope by id; the number of open tasks out of scope."""

    tasks: tuple[OpenTask, ...] = ()
    owners: Mapping[str, Owner] = {}
    older: int = 0


def gather(view: View, scope: TaskScope = EVERYTHING) -> FoundTasks:
    """The tasks in scope; raises `SessionNotFound` and `AmbiguousSession` for the named session."""
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
    left = {*still_open} - {row["path"] for row in rows}
    if left and scope.project:
        left &= {row["path"] for row in matching(view, wish)}
    return found._replace(older=sum(path in left for path in still_open))


def tasks_called(view: View, beginning: str) -> FoundTasks:
    """All tasks of sessions whose id starts with `beginning`, of all sessions for ""."""
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
    """The note of each open task, of every session."""
    for word in _OPEN:
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
