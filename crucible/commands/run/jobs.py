"""What a run passes on: the steps that are to be carried out, and how each of them ended.

Owns the values between the parts of this room, and whom a run talks to: agents, and those who watch it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from crucible.clients.launch.ask import Asker
from crucible.documents.session.session import AgentRef
from crucible.documents.workflow.workflow import Condition, Datum, Flow, RunStatus, Step


class JobStatus(StrEnum):
    """What became of a step."""

    DONE = "done"
    FAILED = "failed"
    PASSED_OVER = "passed over"
    """It failed, and is optional."""
    UNMET = "unmet"
    """None of the conditions that lead to it held, or it needs only what such steps would have made."""
    HELD = "held back"
    """What it depends on failed."""
    STOPPED = "stopped"
    """It was ended in the middle, by the user."""
    LEFT = "left"
    """Its turn never came: the run was halted or stopped before."""


class Link(NamedTuple):
    """A job waits for the job at `source` of `Graph.steps`; `is_bare` when no data passes."""

    source: int
    condition: Condition | None = None
    is_bare: bool = False


class LinkGroup(NamedTuple):
    """A job waits for all of these, as `Link` says it of one; a tuple that many jobs share."""

    sources: tuple[int, ...]
    condition: Condition | None = None
    is_bare: bool = False


class JobInput(NamedTuple):
    """A datum that a job takes, and the jobs that make it, in the order of the run; none for an input of the workflow."""

    datum: Datum
    makers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """A step that is carried out: `index` is its place in `Graph.steps`, `within` the steps around it, outermost first.

    It waits for its `links` and for its `crowds`, which are those that would be too many links.  `closes` are those frames whose
    conditions are asked behind this job, the last in them; it comes `after` all else in them, however that ends.  `inside` is the
    job around it that comes before it, None for none: what becomes of that becomes of this one.
    """

    index: int
    step: Step
    within: tuple[Step, ...] = ()
    links: tuple[Link, ...] = ()
    inputs: tuple[JobInput, ...] = ()
    crowds: tuple[LinkGroup, ...] = ()
    closes: tuple[Step, ...] = ()
    after: tuple[int, ...] = ()
    inside: int | None = None

    def waits(self) -> Iterator[Link]:
        """All that it waits for, one by one."""
        yield from self.links
        for crowd in self.crowds:
            yield from (Link(source, crowd.condition, crowd.is_bare) for source in crowd.sources)

    @property
    def conditional(self) -> tuple[tuple[Flow, ...], ...]:
        """The flows behind it that have a condition: its own, then those of each frame that it closes."""
        return tuple(tuple(flow for flow in step.flows if flow.condition) for step in (self.step, *self.closes))

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What is asked behind it, in the order of its flows, each once; an `Otherwise` is not asked."""
        found = (flow.condition for flows in self.conditional for flow in flows)
        return tuple(dict.fromkeys(each for each in found if each and not each.is_otherwise))


@dataclass(frozen=True, slots=True)
class RunInputs:
    """What the workflow takes: values by name in small letters.  `folder` is where the agents work, a real path."""

    folder: str
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """The jobs of a run, in the order in which they are carried out one by one.

    `missing` are data that nobody makes and nobody gave: neither a value nor a file of that name.  A datum called `request` is never
    one of them: it is what the workflow is for, and where nobody gave it, `request` is the workflow's title and preamble; else "".
    """

    title: str
    preamble: str
    jobs: tuple[Job, ...]
    missing: tuple[Datum, ...] = ()
    request: str = ""


@dataclass(frozen=True, slots=True)
class EarlierResult:
    """A job that an earlier part of this run carried out well: its answer, and which of its conditions held."""

    answer: str = ""
    held: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JobResult:
    """How a job ended.  `task` is what was asked in our own words, `answer` what came back, without secrets.

    `held` has the conditions behind it by their text.  Times are None for what was never begun.
    """

    job: Job
    fate: JobStatus
    answer: str = ""
    reason: str = ""
    is_late: bool = False
    agent: AgentRef | None = None
    started: datetime | None = None
    ended: datetime | None = None
    tokens: int | None = None
    held: Mapping[str, bool] = field(default_factory=dict)

    @property
    def status(self) -> RunStatus:
        """As a marker says it.  The failure of an optional step counts as skipped over."""
        if self.fate is JobStatus.DONE:
            return RunStatus.SUCCESS
        if self.fate is JobStatus.FAILED:
            return RunStatus.TIMEOUT if self.is_late else RunStatus.FAILED
        return RunStatus.SKIPPED

    @property
    def duration_ms(self) -> int | None:
        """How long it took."""
        if self.started is None or self.ended is None:
            return None
        return max(0, round((self.ended - self.started).total_seconds() * 1000))


class RunReport(NamedTuple):
    """A whole run.  `halted` is the critical step that failed; `stopped` whether the user ended it."""

    outcomes: tuple[JobResult, ...]
    halted: Job | None = None
    stopped: bool = False

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do: every step was carried out, or rightly left out."""
        undone = (JobStatus.FAILED, JobStatus.HELD, JobStatus.STOPPED, JobStatus.LEFT)
        return not self.stopped and not any(outcome.fate in undone for outcome in self.outcomes)


class Runner(NamedTuple):
    """Who carries a step out: its name as a note has it, and whom to ask."""

    agent: AgentRef
    asker: Asker


class RunObserver(Protocol):
    """Who is told of a run while it goes on, always in the thread that runs it."""

    def began(self, job: Job, runner: Runner, when: datetime) -> None:
        """A step is being carried out."""
        ...

    def ended(self, outcome: JobResult) -> None:
        """A step has ended, or will not be carried out.  What is `LEFT` is not told."""
        ...


Witnesses = Sequence[RunObserver]
