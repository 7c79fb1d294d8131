"""Carrying a plan out: one step after the other, or independent ones side by side, until all are done or it must end.

Owns the order, what is begun when, and what happens when somebody wants it to end: nothing else is begun, what runs is ended, and
what has ended is told all the same.  Each step runs in a thread of its own, which waits for the agent; witnesses, who write it
down, are told in the thread that called us, so nothing of them is broken off.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from queue import SimpleQueue
from typing import NamedTuple

from crucible.clients.launch.answering_process import Exited, Reins, Stopped, TimedOut
from crucible.clients.launch.ask import read_answer
from crucible.commands.run.jobs import (
    EarlierResult,
    Job,
    JobResult,
    JobStatus,
    Link,
    Plan,
    RunInputs,
    Runner,
    RunObserver,
    RunReport,
)
from crucible.commands.run.step_prompt import Commands, build_prompt, hold, read_said
from crucible.core.errors import AgentFailed, CrucibleError
from crucible.core.secrets import Redact
from crucible.core.templates import Renderer
from crucible.documents.workflow.workflow import Condition, Grade

_BROKEN = (JobStatus.FAILED, JobStatus.HELD)


class Decision(NamedTuple):
    """`fate` is `HELD` or `UNMET` for a step that is not carried out, with the reason; None for one that is."""

    fate: JobStatus | None = None
    reason: str = ""


def ways_of(job: Job, held: Mapping[str, bool]) -> dict[Condition, bool]:
    """Which conditional ways out of a job hold; `Otherwise` when none of those before it in the step does."""
    found: dict[Condition, bool] = {}
    for flows in job.conditional:
        any_before = False
        for condition in (flow.condition for flow in flows if flow.condition):
            if condition.is_otherwise:
                found[condition] = found.get(condition, False) or not any_before
            else:
                found[condition] = held.get(condition.text, False)
                any_before = any_before or found[condition]
    return found


def decide(
    job: Job,
    fates: Mapping[int, JobStatus],
    holds: Callable[[int, Condition], bool],
    name: Callable[[int], str],
) -> Decision | None:
    """What to do with a job, None to wait.

    `fates` has every other job of the run, None of it for one that is not over; who is not in it counts as done before.  `holds` says whether a
    condition behind a job that is done holds.
    """
    if any(fates.get(link.source) is JobStatus.LEFT for link in job.waits()):
        return None
    if any(fates.get(at) is JobStatus.LEFT for at in (*job.after, job.inside) if at is not None):
        return None
    if job.inside is not None and (around := _around(fates.get(job.inside), name(job.inside))):
        return around
    links = [link for link in job.waits() if link.source in fates]
    gated = any(link.condition for link in links)
    if gated:
        gates = [link for link in links if link.condition or link.is_bare]
        if not any(_is_open(link, fates, holds) for link in gates):
            return _shut(gates, fates, name)
    needed = [link for link in links if not link.condition and not (gated and link.is_bare)]
    broken = next((link for link in needed if fates[link.source] in _BROKEN), None)
    if broken:
        return Decision(JobStatus.HELD, _why(fates[broken.source], name(broken.source)))
    if needed and not gated and all(fates[link.source] is JobStatus.UNMET for link in needed):
        return Decision(JobStatus.UNMET, f"“{name(needed[-1].source)}” was left out")
    return Decision()


def _around(fate: JobStatus | None, name: str) -> Decision | None:
    """What becomes of a step because of the one that it is a part of; None when it goes by its own ways."""
    if fate in _BROKEN:
        return Decision(JobStatus.HELD, _why(fate, name))
    return Decision(JobStatus.UNMET, f"“{name}” was left out") if fate is JobStatus.UNMET else None


def _is_open(link: Link, fates: Mapping[int, JobStatus], holds: Callable[[int, Condition], bool]) -> bool:
    if fates[link.source] is not JobStatus.DONE:
        return False
    return link.condition is None or holds(link.source, link.condition)


def _shut(gates: list[Link], fates: Mapping[int, JobStatus], name: Callable[[int], str]) -> Decision:
    broken = next((link for link in gates if fates[link.source] in _BROKEN), None)
    if broken:
        return Decision(JobStatus.HELD, _why(fates[broken.source], name(broken.source)))
    return Decision(JobStatus.UNMET, f"no condition behind “{name(gates[-1].source)}” leads here")


def _why(fate: JobStatus, name: str) -> str:
    return f"“{name}” failed" if fate is JobStatus.FAILED else f"“{name}” was held back"


@dataclass(frozen=True, slots=True)
class RunSetup:
    """What a run is carried out with.

    `runner` says who carries a step out.  `redact` takes secrets out of what comes back, before anybody else is told.  `now` is the clock.
    """

    given: RunInputs
    runner: Callable[[Job], Runner]
    template: Renderer
    commands: Commands
    reins: Reins
    redact: Redact
    now: Callable[[], datetime]
    jobs: int = 1


class StopSignals:
    """Asks a run to end, from a signal's handler too: first what runs is asked to, the second time it is killed."""

    def __init__(self) -> None:
        self.queue: SimpleQueue[JobResult | BaseException | None] = SimpleQueue()

    def end(self) -> None:
        """Never waits for anything."""
        self.queue.put(None)


@dataclass(slots=True)
class _State:
    """What is known while it goes on."""

    plan: Plan
    means: RunSetup
    witnesses: Sequence[RunObserver]
    signals: StopSignals
    outcomes: dict[int, JobResult] = field(default_factory=dict)
    running: dict[int, Job] = field(default_factory=dict)
    halted: Job | None = None
    stopped: bool = False
    names: Mapping[int, str] = field(init=False)
    fates: dict[int, JobStatus] = field(init=False)

    def __post_init__(self) -> None:
        self.names = {job.index: job.step.name for job in self.plan.jobs}
        self.fates = dict.fromkeys(self.names, JobStatus.LEFT)

    def settle(self, outcome: JobResult) -> None:
        """A step is over."""
        self.outcomes[outcome.job.index] = outcome
        self.fates[outcome.job.index] = outcome.fate


def run_plan(
    plan: Plan,
    means: RunSetup,
    witnesses: Sequence[RunObserver] = (),
    *,
    earlier: Mapping[int, EarlierResult] | None = None,
    signals: StopSignals | None = None,
) -> RunReport:
    """Carry out what is not in `earlier`, and say how every step ended.

    A failure of an agent is an outcome.  Whatever a witness raises ends what runs, and comes through.
    """
    state = _State(plan, means, witnesses, signals or StopSignals())
    for job in plan.jobs:
        found = (earlier or {}).get(job.index)
        if found:
            state.settle(JobResult(job, JobStatus.DONE, found.answer, held=found.held))
    try:
        while not state.signals.queue.empty():  # somebody wants it to end already
            _take(state, state.signals.queue.get())
        _go_on(state)
        while state.running:
            _take(state, state.signals.queue.get())
            _go_on(state)
    except BaseException:
        means.reins.stop(at_once=True)
        raise
    ended = tuple(state.outcomes.get(job.index, JobResult(job, JobStatus.LEFT)) for job in plan.jobs)
    return RunReport(ended, state.halted, state.stopped)


def _go_on(state: _State) -> None:
    """Begin what can begin, and leave out what is to be left out; one may follow from the other."""
    moved = True
    while moved and not state.halted and not state.stopped:
        moved = False
        for job in state.plan.jobs:
            if job.index not in state.outcomes and job.index not in state.running:
                moved = _turn(state, job) or moved
            if state.halted or state.stopped:
                return


def _turn(state: _State, job: Job) -> bool:
    decision = decide(job, state.fates, lambda at, condition: _holds(state, at, condition), state.names.__getitem__)
    if decision is None:
        return False
    if decision.fate:
        _end(state, JobResult(job, decision.fate, reason=decision.reason))
        return True
    if len(state.running) >= state.means.jobs:
        return False
    _begin(state, job)
    return False


def _holds(state: _State, index: int, condition: Condition) -> bool:
    outcome = state.outcomes[index]
    return ways_of(outcome.job, outcome.held).get(condition, False)


def _begin(state: _State, job: Job) -> None:
    means, when = state.means, state.means.now()
    runner = means.runner(job)
    answers = {index: each.answer for index, each in state.outcomes.items() if each.fate is JobStatus.DONE}
    prompt = build_prompt(state.plan, job, means.given, answers, means.template)
    state.running[job.index] = job
    for witness in state.witnesses:
        witness.began(job, runner, when)

    def work() -> None:
        try:
            state.signals.queue.put(_carried_out(means, job, runner, prompt, when))
        except BaseException as error:  # noqa: BLE001  it goes through in the thread that waits
            state.signals.queue.put(error)

    threading.Thread(target=work, name=f"step {job.index}", daemon=True).start()


def _take(state: _State, event: JobResult | BaseException | None) -> None:
    if isinstance(event, BaseException):
        raise event
    if event is None:
        state.means.reins.stop(at_once=state.stopped)
        state.stopped = True
        return
    del state.running[event.job.index]
    _end(state, event)


def _end(state: _State, outcome: JobResult) -> None:
    state.settle(outcome)
    if outcome.fate is JobStatus.FAILED and outcome.job.step.grade is Grade.CRITICAL:
        state.halted = state.halted or outcome.job
    for witness in state.witnesses:
        witness.ended(outcome)


# --- one step, in its thread -----------------------------------------------------------------------------------------


def _carried_out(means: RunSetup, job: Job, runner: Runner, prompt: str, when: datetime) -> JobResult:
    """Ask the agent, then what stands behind the step; secrets come out of what it says first."""

    def ended(fate: JobStatus, answer: str = "", reason: str = "", **more: object) -> JobResult:
        told = " ".join(_clean(means, reason).split())
        return JobResult(
            job,
            fate,
            answer,
            told,
            agent=runner.agent,
            started=when,
            ended=means.now(),
            **more,  # type: ignore[arg-type]
        )

    failed = JobStatus.PASSED_OVER if job.step.grade is Grade.OPTIONAL else JobStatus.FAILED
    text = ""
    tokens: int | None = None
    try:
        answer = runner.asker.ask(prompt)
        said = read_said(_clean(means, answer.text))
        text, tokens = said.text, answer.tokens_used
        if said.is_done is False:
            return ended(failed, text, said.why or "it says that it failed", tokens=tokens)
        held = hold(job, text, runner.asker, means.commands)
    except Stopped as error:
        return ended(JobStatus.STOPPED, text, str(error), tokens=tokens)
    except TimedOut as error:
        return ended(failed, text, str(error), tokens=tokens, is_late=True)
    except AgentFailed as error:
        if isinstance(error, Exited) and not text:
            text = _last_words(means, error)
        return ended(failed, text, str(error), tokens=tokens)
    return ended(JobStatus.DONE, text, tokens=tokens, held=held)


def _last_words(means: RunSetup, error: Exited) -> str:
    try:
        return read_said(_clean(means, read_answer(error.said.decode("utf-8", "replace"), "").text)).text
    except CrucibleError as told:
        return _clean(means, str(told))


def _clean(means: RunSetup, text: str) -> str:
    return means.redact(text)[0]
