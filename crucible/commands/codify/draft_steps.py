"""What codifying passes on: the steps that are made of what a session did.

Owns the values between the parts of this room: `drafting` makes steps, `aligning` makes one workflow of
several sessions, `settling` gives them data flow and markers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from crucible.analysis.tools.tool_acts import Act
from crucible.documents.session.session import AgentRef
from crucible.documents.workflow.workflow import Datum, Grade, RunStatus


class RemarkKind(StrEnum):
    """What a line of a step's prose is; `settling` has its label."""

    ASKED = "asked"
    CONSTRAINT = "constraint"
    DECIDED = "decided"
    DID = "did"
    LEARNED = "learned"
    LOOK = "look"
    RUN = "run"
    CHECK = "check"
    ONLY_IN = "only-in"
    """In a workflow of several sessions: those that had this step, if no earlier step could lead to it."""


@dataclass(frozen=True, slots=True)
class Remark:
    """One line of a step's prose: foreign text, decoded; `why` is what else is said of it, `points` its parts.

    `finding` is the id of the finding that it comes from, "" for what the user asked and for commands.
    """

    kind: RemarkKind
    text: str
    why: str = ""
    finding: str = ""
    points: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Figures:
    """One session's execution of a step; `duration_ms` and `tokens` None where unknown."""

    session: str
    status: RunStatus
    agent: AgentRef | None = None
    started: datetime | None = None
    duration_ms: int | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """`If condition → proceed to` the step called `target`; an empty condition is `Otherwise`."""

    condition: str
    target: str


@dataclass(frozen=True, slots=True)
class DraftStep:
    """A step to be.

    `report` is what it hands on beside the files that it wrote: what a subagent hands back to who delegated to it or, of work that
    left no file, its findings or output.  `takes` are such data that this step was given.
    A step with children has no acts of its own.  `branches` lead on after it.  Names are unique in a whole draft by `key_of`.
    """

    name: str
    agent: AgentRef | None = None
    channel: str | None = None
    grade: Grade = Grade.PLAIN
    remarks: tuple[Remark, ...] = ()
    acts: tuple[Act, ...] = ()
    report: Datum | None = None
    takes: tuple[Datum, ...] = ()
    branches: tuple[Branch, ...] = ()
    children: tuple[DraftStep, ...] = ()
    runs: tuple[Figures, ...] = ()

    def walk(self) -> Iterator[DraftStep]:
        """Itself, then every step below it, in order."""
        yield self
        for child in self.children:
            yield from child.walk()
