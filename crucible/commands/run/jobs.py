"""Value types of a run: the jobs of its plan, how each ended, and the programs that run them, chosen by `--with`.

A workflow never starts a program by itself: its `@agent` is a role that the user may assign to a program.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from crucible.clients.client import Answer, choice_options, command_line
from crucible.clients.launch.ask import Asker
from crucible.clients.registry import STEP_CLIENTS, client_of
from crucible.core.errors import UsageError
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import slug
from crucible.documents.personas import Persona
from crucible.documents.session.session import AgentRef
from crucible.documents.workflow.workflow import Condition, Datum, Flow, RunStatus, Step


class JobOutcome(StrEnum):
    """How a job ended."""

    DONE = "done"
    FAILED = "failed"
    PASSED_OVER = "passed over"
    """Failed, but optional."""
    UNMET = "unmet"
    """Skipped: no condition that leads to the job held, or all steps that it needs were skipped."""
    HELD = "held back"
    """Not run because a job that it depends on failed."""
    STOPPED = "stopped"
    """Ended by the user."""
    LEFT = "left"
    """Not started before the run was halted or stopped."""


class Link(NamedTuple):
    """A dependency on the job at index `source` of `Graph.steps`; `is_bare` if no data passes."""

    source: int
    condition: Condition | None = None
    is_bare: bool = False


class LinkGroup(NamedTuple):
    """Unconditional dependencies on all jobs in `sources`. Many jobs may share the tuple."""

    sources: tuple[int, ...]
    is_bare: bool = False


class JobInput(NamedTuple):
    """A datum that a job takes, and the jobs that produce it, in run order; no jobs for an input of the workflow."""

    datum: Datum
    makers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """A step to run: `index` is its position in `Graph.steps`, `within` the steps around it, outermost first.

    It waits for `links`, `groups` (used when there are too many links) and `after`. `closes` are the frames whose last
    job this is; their conditions are decided after it. `inside` is the enclosing job, which must be done first.
    """

    index: int
    step: Step
    within: tuple[Step, ...] = ()
    links: tuple[Link, ...] = ()
    inputs: tuple[JobInput, ...] = ()
    groups: tuple[LinkGroup, ...] = ()
    closes: tuple[Step, ...] = ()
    after: tuple[int, ...] = ()
    inside: int | None = None

    def waits(self) -> Iterator[Link]:
        """Yield every link, including those in groups."""
        yield from self.links
        for group in self.groups:
            yield from (Link(source, None, group.is_bare) for source in group.sources)

    @property
    def conditional(self) -> tuple[tuple[Flow, ...], ...]:
        """The conditional flows after the job: its own, then those of each frame that it closes."""
        return tuple(tuple(flow for flow in step.flows if flow.condition) for step in (self.step, *self.closes))

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions to decide after the job, without duplicates or `Otherwise`."""
        found = (flow.condition for flows in self.conditional for flow in flows)
        return tuple(dict.fromkeys(each for each in found if each and not each.is_otherwise))


@dataclass(frozen=True, slots=True)
class RunInputs:
    """The user's values by casefolded name, and the resolved path of the agents' working directory."""

    folder: str
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """The jobs of a run, in sequential order.

    `missing` lists data without a producing job, a value or a file. If only `request` is missing, it is not listed, and
    the field `request` is set to the workflow's title and preamble; otherwise the field is "".
    """

    title: str
    preamble: str
    jobs: tuple[Job, ...]
    missing: tuple[Datum, ...] = ()
    request: str = ""


@dataclass(frozen=True, slots=True)
class EarlierResult:
    """The answer of a job that an earlier part of this run finished, and which of the job's conditions held."""

    answer: str = ""
    held: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JobResult:
    """How a job ended. `answer` is redacted, `held` maps condition texts to results, times are None if not started."""

    job: Job
    outcome: JobOutcome
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
        """The status for the job's marker row; a failed optional step counts as skipped."""
        if self.outcome is JobOutcome.DONE:
            return RunStatus.SUCCESS
        if self.outcome is JobOutcome.FAILED:
            return RunStatus.TIMEOUT if self.is_late else RunStatus.FAILED
        return RunStatus.SKIPPED

    @property
    def duration_ms(self) -> int | None:
        """None if the job never started."""
        if self.started is None or self.ended is None:
            return None
        return max(0, round((self.ended - self.started).total_seconds() * 1000))


class RunReport(NamedTuple):
    """A finished run. `halted` is the critical step that failed; `stopped` is true if the user ended the run."""

    outcomes: tuple[JobResult, ...]
    halted: Job | None = None
    stopped: bool = False

    @property
    def is_done(self) -> bool:
        """True if every step was done or its conditions did not select it."""
        undone = (JobOutcome.FAILED, JobOutcome.HELD, JobOutcome.STOPPED, JobOutcome.LEFT)
        return not self.stopped and not any(result.outcome in undone for result in self.outcomes)


class Runner(NamedTuple):
    """The agent that runs a step (its name in notes) and the program to ask."""

    agent: AgentRef
    asker: Asker


class RunObserver(Protocol):
    """Receives the events of a run, in the thread that called `run_plan`."""

    def began(self, job: Job, runner: Runner, when: datetime) -> None:
        """Handle the start of a step."""
        ...

    def ended(self, outcome: JobResult) -> None:
        """Handle a step that ended or is skipped, except outcomes `LEFT`."""
        ...


_NAMES = ", ".join(STEP_CLIENTS)
_ASSIGNMENT = late_pattern(r"(@?)([\w.:/+-]+(?:@[\w.:/+-]+)?)=(.*)", 16)  # re.DOTALL


class Executor(NamedTuple):
    """A program that reads a step's prompt from standard input; `agent` is its name in notes.

    `persona` is put before each prompt, and `name` is its name.
    """

    agent: AgentRef
    words: tuple[str, ...]
    hint: str
    persona: str = ""
    name: str = ""

    @property
    def who(self) -> str:
        """The agent, and its persona."""
        return f"{self.agent} as {self.name}" if self.name else str(self.agent)


class PersonaAsker(NamedTuple):
    """Asks an agent as a persona, whose text comes before the prompt."""

    asker: Asker
    persona: str

    def ask(self, prompt: str) -> Answer:
        """Return the answer to a prompt."""
        return self.asker.ask(f"{self.persona}\n\n{prompt}")


@dataclass(frozen=True, slots=True)
class Executors:
    """The program for each step: looked up in `by_agent` by the step's casefolded agent name, else `default`."""

    default: Executor | None = None
    by_agent: Mapping[str, Executor] = field(default_factory=dict)

    def executor(self, job: Job) -> Executor | None:
        """Return the program for a job, None if there is none."""
        agent = job.step.agent
        if agent:
            for name in (str(agent), agent.name):
                if name.casefold() in self.by_agent:
                    return self.by_agent[name.casefold()]
        return self.default

    def check(self, jobs: Sequence[Job]) -> None:
        """Raise `UsageError` if a job has no program."""
        unassigned = [job.step.name for job in jobs if self.executor(job) is None]
        if unassigned:
            names = ", ".join(f"“{name}”" for name in unassigned[:5]) + (" …" if len(unassigned) > 5 else "")
            raise UsageError(
                f"no program is set to carry out {names}",
                f"use --with {_NAMES} or a command, or set agents.command in your settings",
            )

    def used(self, jobs: Sequence[Job]) -> list[Executor]:
        """Return the programs of these jobs, without duplicates."""
        found = {(executor.words, executor.name): executor for job in jobs if (executor := self.executor(job))}
        return [*found.values()]


def choose_executors(
    named: Sequence[str],
    command: str,
    roles: Collection[str],
    more: Sequence[str],
    personas: Iterable[Persona] = (),
) -> Executors:
    """Parse `--with CLIENT` and `--with AGENT=CLIENT`; `command` is the default from the settings.

    `roles` are the agents of the steps, with and without a version; `more` are arguments for every program.  A persona
    carries out the steps of the agent with its name, unless `--with` names another program for them.
    """
    default: Executor | None = None
    chosen = command.strip()
    by_agent: dict[str, Executor] = {}
    known = {role.casefold() for role in roles}
    for text in named:
        part = _ASSIGNMENT.fullmatch(text.strip())
        if part:
            if part[2].casefold() not in known:
                listed = ", ".join(f"@{role}" for role in sorted(roles)[:10])
                hint = f"its agents are {listed}" if listed else "none of its steps names an agent"
                raise UsageError(f"--with {text}: no step of this run belongs to @{part[2]}'s", hint)
            by_agent[part[2].casefold()] = _executor(part[3], more)
        elif default:
            raise UsageError("--with was given twice for all steps", "--with AGENT=CLIENT applies to one agent's steps")
        else:
            default, chosen = _executor(text, more), text
    if default is None and chosen:
        default = _executor(chosen, more)
    for persona in personas:
        if (persona.client or default) and persona.name.casefold() not in by_agent:
            by_agent[persona.name.casefold()] = _persona_executor(persona, chosen, more)
    return Executors(default, by_agent)


def _persona_executor(persona: Persona, default: str, more: Sequence[str]) -> Executor:
    client = client_of(persona.client or default.strip(), STEP_CLIENTS)
    if client is None and persona.client:
        raise UsageError(
            f"persona {persona.name}: {persona.client} cannot carry out steps",
            f"clients that can are {_NAMES}; --with {persona.name}=CLIENT names another",
        )
    options = choice_options(client, persona.model, persona.tools, more) if client else ()
    executor = _executor(persona.client or default, (*options, *more))
    told = persona.text(with_tools=not (client and client.tools_option))
    return executor._replace(persona=told, name=persona.name)


def _executor(named: str, more: Sequence[str]) -> Executor:
    client = client_of(named.strip(), STEP_CLIENTS)
    if client:
        # The user's own arguments come last, so that they take precedence.
        words = command_line(client, native="", prompt="", terminal=False, more=(*client.counted, *more))
        hint = f'"npm install -g {client.package}" installs it; --with takes {_NAMES}, or a command'
        return Executor(AgentRef(client.name), tuple(words), hint)
    try:
        split = tuple(shlex.split(named))
    except ValueError as error:
        raise UsageError(f"{named!r}: not a valid command line ({error})", "quote it as in a shell") from None
    if not split:
        raise UsageError("--with is empty", f"give {_NAMES}, or a command line")
    program = os.path.basename(split[0])
    known = client_of(program, STEP_CLIENTS)
    agent = AgentRef(known.name if known else slug(program, "agent") or "agent")
    return Executor(agent, (*split, *more), f"--with takes {_NAMES}, or an installed command")
