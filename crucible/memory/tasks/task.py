"""Tasks across sessions and their annotations, as values; read from a session's note and from the client's files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from crucible.core.errors import UnknownId, UsageError, no_match
from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import normal_line
from crucible.documents.markdown.source import Problem

if TYPE_CHECKING:
    from crucible.documents.session.session import Session


class Stage(StrEnum):
    """The stage of a task.  `DROPPED` tasks were cancelled or deleted: they are not shown and do not block others."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    DROPPED = "dropped"


_WORDS: Mapping[str, Stage] = {
    "in_progress": Stage.IN_PROGRESS,
    "completed": Stage.COMPLETED,
    "done": Stage.COMPLETED,
    "cancelled": Stage.DROPPED,
    "canceled": Stage.DROPPED,
    "deleted": Stage.DROPPED,
}
"""Statuses used by notes, clients and users; any other status means pending."""


def stage_of(word: str) -> Stage:
    """Return the stage for a status.  An unknown status means pending, so that no task is lost."""
    return _WORDS.get(word.strip().lower().replace("-", "_").replace(" ", "_"), Stage.PENDING)


class Ref(NamedTuple):
    """A reference to a task: ids are unique only within a session."""

    session: str
    id: str

    def __str__(self) -> str:
        return f"{self.session}.{self.id}"


@dataclass(frozen=True, slots=True)
class OpenTask:
    """A task in a session's list.

    `needs` are ids in the same list; `held` is True if the list marks the task as blocked; `started` and `completed`
    are as written, or None.
    """

    ref: Ref
    content: str
    stage: Stage = Stage.PENDING
    priority: str = "medium"
    needs: tuple[str, ...] = ()
    held: bool = False
    started: str | None = None
    completed: str | None = None


def listed_task(ref: Ref, content: str, status: str, **more: Any) -> OpenTask:
    """Make a task from the status in its list; `more` are other fields."""
    held = status.strip().lower() == "blocked"
    return OpenTask(ref, normal_line(content), stage_of(status), held=held, **more)


class DecisionKind(StrEnum):
    """The subject of a decision, as named in settings and annotations."""

    TECHNOLOGY = "technology_choice"
    API = "api_design"
    ARCHITECTURE = "architecture_pattern"
    DETAIL = "implementation_detail"
    BUG_FIX = "bug_fix"


FLOWING = (DecisionKind.TECHNOLOGY, DecisionKind.API, DecisionKind.ARCHITECTURE)
"""The kinds that dependent tasks inherit by default."""


def kinds_named(names: Iterable[str]) -> tuple[DecisionKind, ...]:
    """Return the kinds named in a setting; unknown names are ignored."""
    return tuple(kind for kind in DecisionKind if kind.value in names)


@dataclass(frozen=True, slots=True)
class TaskDecision:
    """A decision made during a task.

    `finding` is the finding's id in the session's note, or "" if a user or agent annotated the decision.  `propagate`
    explicitly sets whether dependent tasks inherit it.
    """

    summary: str
    rationale: str = ""
    kind: DecisionKind | None = None
    propagate: bool | None = None
    finding: str = ""


@dataclass(frozen=True, slots=True)
class Inherited:
    """A decision inherited from a completed task of the same list."""

    from_task_id: str
    decision: str
    rationale: str = ""
    finding: str = ""

    def is_same(self, other: Inherited) -> bool:
        """Return whether both are the same decision, even if a user reworded one."""
        if self.from_task_id != other.from_task_id:
            return False
        return self.decision == other.decision or bool(self.finding and self.finding == other.finding)


@dataclass(frozen=True, slots=True)
class Recalled:
    """The ids that recall found for a task, and the query; "" if recall has not been queried."""

    patterns: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    query: str = ""


@dataclass(frozen=True, slots=True)
class Annotation:
    """The annotation of a task.  The fields are those in its file, in order."""

    ref: Ref
    description: str
    created_at: datetime | None = None
    recalled: Recalled = Recalled()
    inherited: tuple[Inherited, ...] = ()
    choices: tuple[TaskDecision, ...] = ()
    discoveries: tuple[str, ...] = ()
    captured_to: tuple[str, ...] = ()


LARGEST_TASK = 1 << 20
"""Maximum size of a task's file in bytes."""
MOST_TASKS = 10_000
"""Maximum number of files to read for one list."""

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a named pipe would block
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
)


def tasks_of(session: Session) -> tuple[OpenTask, ...]:
    """Return the tasks in a session's note, in order."""
    return tuple(
        listed_task(
            Ref(session.id, task.id),
            task.content,
            task.status,
            priority=task.priority,
            needs=task.depends_on,
            started=task.started,
            completed=task.completed,
        )
        for task in session.tasks
    )


def read_store(folder: Path, session_id: str) -> tuple[tuple[OpenTask, ...], list[Problem]]:
    """Read a client's task list as tasks of the session, in numeric order; also return problems in invalid files.

    Claude Code has a file for each task, `tasks/<list>/<id>.json`.  A missing or unreadable folder counts as empty,
    since the client may remove it at any time.
    """
    problems: list[Problem] = []
    found: dict[str, Mapping[str, object]] = {}
    for name in _names(folder):
        if name.startswith(".") or not name.endswith(".json"):
            continue
        try:
            row = _row(folder / name)
        except (OSError, ValueError) as error:
            problems.append(Problem("broken-task-file", 1, f"{normal_line(name)}: {_reason(error)}"))
        else:
            found[_word(row.get("id")) or name.removesuffix(".json")] = row
    needs = _needs(found)
    tasks = [_task(Ref(session_id, ident), row, needs[ident]) for ident, row in found.items()]
    return tuple(sorted(tasks, key=lambda task: _order(task.ref.id))), problems


def join_lists(noted: Iterable[OpenTask], stored: Iterable[OpenTask]) -> tuple[OpenTask, ...]:
    """Join both lists in the note's order, followed by tasks that only the client has.

    The client's files are newer while it is running; the note is newer after a manual change.  So the later stage
    counts, and the needs of both.  Content, priority and times come from the note if it has them.
    """
    later = {task.ref: task for task in stored}
    joined = [_join(task, later.pop(task.ref, None)) for task in noted]
    return (*joined, *later.values())


def _join(noted: OpenTask, stored: OpenTask | None) -> OpenTask:
    if stored is None:
        return noted
    ahead = noted if noted.stage in {Stage.COMPLETED, Stage.DROPPED} or stored.stage is Stage.PENDING else stored
    return OpenTask(
        noted.ref,
        noted.content or stored.content,
        ahead.stage,
        noted.priority,
        tuple(dict.fromkeys((*noted.needs, *stored.needs))),
        stored.held and ahead.stage is Stage.PENDING,
        noted.started or stored.started,
        noted.completed or stored.completed,
    )


def _names(folder: Path) -> list[str]:
    """Return the file names in a folder; none if the folder is a symlink."""
    with suppress(OSError):
        if not folder.is_symlink():
            return sorted(os.listdir(folder))[:MOST_TASKS]
    return []


def _row(path: Path) -> Mapping[str, object]:
    descriptor = os.open(path, _FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("not a regular file")
        data = file.read(LARGEST_TASK + 1)
    if len(data) > LARGEST_TASK:
        raise ValueError("too large for a task")
    row = orjson.loads(data)
    if not isinstance(row, dict) or not _text(row.get("subject")):
        raise ValueError("not a task: it has no `subject`")
    return row


def _reason(error: Exception) -> str:
    if isinstance(error, orjson.JSONDecodeError):
        return "not JSON"
    return (error.strerror or "cannot be read") if isinstance(error, OSError) else str(error)


def _needs(rows: Mapping[str, Mapping[str, object]]) -> dict[str, list[str]]:
    """Return the ids that each task depends on, from its own `blockedBy` and other tasks' `blocks`."""
    needs = {ident: _words(row.get("blockedBy")) for ident, row in rows.items()}
    for ident, row in rows.items():
        for other in _words(row.get("blocks")):
            if other in needs:
                needs[other].append(ident)
    return needs


def _task(ref: Ref, row: Mapping[str, object], needs: list[str]) -> OpenTask:
    return listed_task(ref, _text(row.get("subject")), _text(row.get("status")), needs=tuple(dict.fromkeys(needs)))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _word(value: object) -> str:
    """Return an id as a string; some programs write ids as numbers."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else _text(value)


def _words(value: object) -> list[str]:
    return [word for word in map(_word, value) if word] if isinstance(value, list) else []


def _order(ident: str) -> tuple[int, str]:
    """Return the sort key of an id: numbers by value (length, then digits), then all other ids."""
    plain = ident.isascii() and ident.isdecimal()
    return (len(ident.lstrip("0")) if plain else 1 << 30, ident)


_MARK = late_pattern(r"[.#]")
_SHOWN = 10
"""Maximum number of tasks to name in a message."""


def session_prefix(called: str) -> str:
    """Return the part of a task's name that begins the session's id, up to the first dot or `#`."""
    return _MARK.split(called, maxsplit=1)[0]


def find_task(called: str, tasks: Sequence[OpenTask], session: str = "") -> OpenTask:
    """Find a task by name or unique prefix.  Tasks of `session`, the current session, need no prefix.

    Raises `UnknownId` if there is none, and `UsageError` with the candidates if there are several.
    """
    own = [task for task in tasks if session and task.ref == (session, called)]
    exact = own or [task for task in tasks if str(task.ref) == called.replace("#", ".", 1)]
    found = exact[:1] or list(_of_split(called, tasks)) or [t for t in tasks if str(t.ref).startswith(called)]
    if not called or not found:
        known = (str(task.ref) for task in tasks)
        raise UnknownId(*no_match("task", normal_line(called), "cru task list --all", known))
    if len(found) > 1:
        names = ", ".join(str(task.ref) for task in found[:_SHOWN])
        more = " …" if len(found) > _SHOWN else ""
        raise UsageError(f"{called!r} matches {len(found)} tasks", f"one of: {names}{more}")
    return found[0]


def _of_split(called: str, tasks: Sequence[OpenTask]) -> Iterator[OpenTask]:
    """Yield the tasks with exactly this id in sessions with this prefix; the longest possible prefix counts."""
    for mark in reversed(list(_MARK.finditer(called))):
        session, ident = called[: mark.start()], called[mark.end() :]
        found = [t for t in tasks if t.ref.id == ident and t.ref.session.startswith(session)]
        if session and ident and found:
            exact = [task for task in found if task.ref.session == session]
            yield from exact[:1] or found
            return
