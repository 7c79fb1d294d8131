"""Where all tasks stand, as a list and a briefing show it: counts, what is at work, ready, blocked and done, and what is annotated.

Owns how the parts come together, in few reads: of an annotation only the counts are told, and only of tasks that are shown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from crucible.memory.tasks.annotations import Shelf
from crucible.memory.tasks.client_task_lists import with_stores
from crucible.memory.tasks.pick import RecallCounts, recall_counts
from crucible.memory.tasks.readiness import Status, cut_status, status_of
from crucible.memory.tasks.task import OpenTask, Ref, Stage
from crucible.memory.tasks.task_index import Found, Owner, Scope, gather
from crucible.vault.index.schema import View


class Client(NamedTuple):
    """Where the client keeps its lists (`~/.claude`), None to look at none; which of those that no note names are wanted: `sessions` by name, None all."""

    folder: Path | None = None
    sessions: Collection[str] | None = None


NO_CLIENT = Client()
_OPEN = (Stage.PENDING, Stage.IN_PROGRESS)


class Overview(NamedTuple):
    """`status` is cut to what is shown, its counts are of all; `recall` has the counts of annotations of what is shown.

    `older` counts the open tasks of sessions out of scope; `troubles` is what could not be read, each on a line.
    """

    status: Status
    recall: Mapping[Ref, RecallCounts]
    owners: Mapping[str, Owner]
    older: int = 0
    troubles: tuple[str, ...] = ()


def tasks_now(
    view: View,
    scope: Scope,
    root: Path,
    client: Client = NO_CLIENT,
) -> tuple[Found, tuple[str, ...]]:
    """The tasks in scope by the notes and by the client's lists, and what could not be read; `root` is the vault's."""
    found = gather(view, scope)
    if client.folder is None:
        return found, ()

    def is_wanted(name: str) -> bool:
        return not scope.session and (client.sessions is None or name in client.sessions)

    return with_stores(view, found, root, client.folder, is_wanted=is_wanted, since=scope.since)


def overview(
    view: View,
    scope: Scope,
    shelf: Shelf,
    client: Client = NO_CLIENT,
    most: int | None = None,
    *,
    alive: Collection[str] | None = None,
) -> Overview:
    """Where the tasks in scope stand, at most `most` of them shown; with `alive` only those of these sessions, others count as older."""
    found, troubles = tasks_now(view, scope, shelf.root, client)
    if alive is not None:
        found = _only(found, alive)
    status = status_of(found.tasks)
    if most is not None:
        status = cut_status(status, most)
    counts, wrong = recall_counts(shelf, (task.ref for task in shown_tasks(status)))
    return Overview(status, counts, found.owners, found.older, (*troubles, *wrong))


def _only(found: Found, alive: Collection[str]) -> Found:
    """The tasks of these sessions and their subagents, and of lists that no note names."""
    owners = found.owners
    over = {one.id for one in owners.values() if one.id not in alive and one.parent not in alive}
    kept = tuple(task for task in found.tasks if task.ref.session not in over)
    left = sum(task.ref.session in over and task.stage in _OPEN for task in found.tasks)
    return found._replace(tasks=kept, older=found.older + left)


def shown_tasks(status: Status) -> tuple[OpenTask, ...]:
    """All tasks of the four lists, in their order."""
    standings = (*status.in_progress, *status.ready, *status.blocked)
    return (*(one.task for one in standings), *status.recent)
