"""A task across sessions, and its annotation, as values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from crucible.documents.markdown.containment import normal_line


class Stage(StrEnum):
    """The stage of a task. `DROPPED` tasks were cancelled or deleted: they are neither shown nor waited for."""

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
"""A note's three words, and what clients and people write beside them; any other word is a task that waits."""


def stage_of(word: str) -> Stage:
    """The stage for a status; an unknown one is pending, so that no task is lost."""
    return _WORDS.get(word.strip().lower().replace("-", "_").replace(" ", "_"), Stage.PENDING)


class Ref(NamedTuple):
    """Which task is meant: an id means something only in the list of its session."""

    session: str
    id: str

    def __str__(self) -> str:
        return f"{self.session}.{self.id}"


@dataclass(frozen=True, slots=True)
class OpenTask:
    """A task of a session's list.

    `needs` are ids of the same list; `held` means that the list calls it blocked; `started` and `completed` are as
    written, or None.
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
    """A task by the status of its list; `more` are other fields."""
    held = status.strip().lower() == "blocked"
    return OpenTask(ref, normal_line(content), stage_of(status), held=held, **more)


class DecisionKind(StrEnum):
    """What a decision is about, as settings and annotations write it."""

    TECHNOLOGY = "technology_choice"
    API = "api_design"
    ARCHITECTURE = "architecture_pattern"
    DETAIL = "implementation_detail"
    BUG_FIX = "bug_fix"


FLOWING = (DecisionKind.TECHNOLOGY, DecisionKind.API, DecisionKind.ARCHITECTURE)
"""The kinds that flow to dependent tasks unless a vault's settings say otherwise."""


def kinds_named(names: Iterable[str]) -> tuple[DecisionKind, ...]:
    """The kinds that a setting names; words that name none are passed over."""
    return tuple(kind for kind in DecisionKind if kind.value in names)


@dataclass(frozen=True, slots=True)
class TaskDecision:
    """A decision made during a task.

    `finding` is the id of the finding in the session's note, "" if the decision was annotated by hand. `propagate` is
    an explicit mark.
    """

    summary: str
    rationale: str = ""
    kind: DecisionKind | None = None
    propagate: bool | None = None
    finding: str = ""


@dataclass(frozen=True, slots=True)
class Inherited:
    """A decision that came down from a finished task of the same list."""

    from_task_id: str
    decision: str
    rationale: str = ""
    finding: str = ""

    def is_same(self, other: Inherited) -> bool:
        """True if both are one decision, whatever a human made of its words."""
        if self.from_task_id != other.from_task_id:
            return False
        return self.decision == other.decision or bool(self.finding and self.finding == other.finding)


@dataclass(frozen=True, slots=True)
class Recalled:
    """Ids of what recall found when the task was created, and the query; an empty `query`: recall was never asked."""

    patterns: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    query: str = ""


@dataclass(frozen=True, slots=True)
class Annotation:
    """What is kept with a task; the fields are those of its file, in their order."""

    ref: Ref
    description: str
    created_at: datetime | None = None
    recalled: Recalled = Recalled()
    inherited: tuple[Inherited, ...] = ()
    choices: tuple[TaskDecision, ...] = ()
    discoveries: tuple[str, ...] = ()
    captured_to: tuple[str, ...] = ()
