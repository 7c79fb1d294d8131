"""What codifying passes on: what a session did, act by act, and the steps that are made of it.

Owns the values between the parts of this room: `acts` reads calls, `drafting` makes steps, `aligning` makes one workflow of
several sessions, `settling` gives them data flow and markers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from crucible.session.model import AgentRef, Outcome
from crucible.workflow.model import Datum, Grade, RunStatus

__all__ = ["Act", "Branch", "Deed", "DraftStep", "Figures", "Remark", "RemarkKind"]


class Deed(StrEnum):
    """What kind of thing a tool call, or a part of a shell command, did; the same for every client's tools."""

    READ = "read"
    WRITE = "write"
    EDIT = "edit"
    DELETE = "delete"
    SEARCH = "search"
    FETCH = "fetch"
    RUN = "run"
    TEST = "test"
    CHECK = "check"
    BUILD = "build"
    DELEGATE = "delegate"
    PLAN = "plan"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that was done.

    `what` is in one line what it was done to or with: the file's path, the command, the query.  `reads` and `writes` are the data
    it took and made, by file (paths seen from the project, never absolute) or by kind (`test_results::TestReport`); an edit stands in both.
    `PLAN` is an agent's own bookkeeping (task lists, plans, waiting), which is noise.
    """

    deed: Deed
    what: str = ""
    reads: tuple[Datum, ...] = ()
    writes: tuple[Datum, ...] = ()
    outcome: Outcome = Outcome.OK


class RemarkKind(StrEnum):
    """What a line of a step's prose is; its label is in `settling`."""

    ASKED = "asked"
    DECIDED = "decided"
    DO_NOT = "do-not"
    LEARNED = "learned"
    RUN = "run"
    ONLY_IN = "only-in"
    """Of a workflow of several sessions: those that had this step, where no step stands before it that could lead to it."""


@dataclass(frozen=True, slots=True)
class Remark:
    """One line of a step's prose to be: foreign text, decoded, of any number of lines; `why` is a decision's rationale."""

    kind: RemarkKind
    text: str
    why: str = ""


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
