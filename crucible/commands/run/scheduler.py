"""Run a plan: start each job when its dependencies are done, until all jobs have ended or the run must stop.

Each job asks its agent in a separate thread. Observers are called in the thread that called `run_plan`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from queue import SimpleQueue
from typing import NamedTuple

from crucible.clients.launch.answering_process import Exited, Reins, Stopped, TimedOut
from crucible.clients.launch.ask import read_answer
from crucible.commands.run.jobs import (
    EarlierResult,
    Job,
    JobOutcome,
    JobResult,
    Link,
    Plan,
    RunInputs,
    Runner,
    RunObserver,
    RunReport,
)
from crucible.commands.run.step_prompt import Commands, build_prompt, decide_conditions, parse_answer
from crucible.core.errors import AgentFailed, CrucibleError
from crucible.core.secrets import Redact
from crucible.core.templates import Renderer
from crucible.documents.workflow.workflow import Condition, Grade

_BROKEN = (JobOutcome.FAILED, JobOutcome.HELD)


# --- deciding on a job -----------------------------------------------------------------------------------------------


class Decision(NamedTuple):
    """Whether to run a job: `outcome` is None to run it, or `HELD` or `UNMET` with the reason."""

    outcome: JobOutcome | None = None
    reason: str = ""


def conditions_held(job: Job, held: Mapping[str, bool]) -> dict[Condition, bool]:
    """Return which conditions after a job hold; `Otherwise` holds if no condition before it in the step does."""
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
    outcomes: Mapping[int, JobOutcome],
    holds: Callable[[int, Condition], bool],
    name: Callable[[int], str],
) -> Decision | None:
    """Decide whether to run a job; None to wait.

    `outcomes` has every other job of the run, `LEFT` until the job has ended; jobs missing from it count as done.
    `holds` returns whether a condition after a finished job holds.
    """
    links = [link for link in job.waits() if link.source in outcomes]
    around = job.after if job.inside is None else (*job.after, job.inside)
    if any(outcomes.get(at) is JobOutcome.LEFT for at in (*(link.source for link in links), *around)):
        return None
    if job.inside is not None and (found := _unless_done([job.inside], outcomes, name)):
        return found
    gated = any(link.condition for link in links)
    gates = [link for link in links if link.condition or link.is_bare] if gated else []
    if gates and not any(_is_open(link, outcomes, holds) for link in gates):
        reason = f"no condition after “{name(gates[-1].source)}” leads here"
        return _held_back([link.source for link in gates], outcomes, name) or Decision(JobOutcome.UNMET, reason)
    needed = [link.source for link in links if not link.condition and not (gated and link.is_bare)]
    found = _held_back(needed, outcomes, name) if gated else _unless_done(needed, outcomes, name)
    return found or Decision()


def _unless_done(
    sources: Sequence[int], outcomes: Mapping[int, JobOutcome], name: Callable[[int], str]
) -> Decision | None:
    """Return the decision not to run a job if one of the sources failed or all were skipped, else None."""
    if sources and all(outcomes.get(source) is JobOutcome.UNMET for source in sources):
        return Decision(JobOutcome.UNMET, f"“{name(sources[-1])}” was skipped")
    return _held_back(sources, outcomes, name)


def _held_back(
    sources: Iterable[int], outcomes: Mapping[int, JobOutcome], name: Callable[[int], str]
) -> Decision | None:
    broken = next((source for source in sources if outcomes.get(source) in _BROKEN), None)
    if broken is None:
        return None
    ended = "failed" if outcomes[broken] is JobOutcome.FAILED else "was held back"
    return Decision(JobOutcome.HELD, f"“{name(broken)}” {ended}")


def _is_open(link: Link, outcomes: Mapping[int, JobOutcome], holds: Callable[[int, Condition], bool]) -> bool:
    is_done = outcomes[link.source] is JobOutcome.DONE
    return is_done and (link.condition is None or holds(link.source, link.condition))


# --- the run ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunSetup:
    """What a run needs in addition to its plan.

    `redact` is applied to every answer before anything else. `jobs` is the maximum number of parallel jobs.
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
    """Asks a run to stop; usable in a signal handler.

    The first request asks running agents to end, the second kills them.
    """

    def __init__(self) -> None:
        self.queue: SimpleQueue[JobResult | BaseException | None] = SimpleQueue()

    def end(self) -> None:
        """Request a stop and return immediately."""
        self.queue.put(None)


def run_plan(
    plan: Plan,
    setup: RunSetup,
    observers: Sequence[RunObserver] = (),
    *,
    earlier: Mapping[int, EarlierResult] | None = None,
    signals: StopSignals | None = None,
) -> RunReport:
    """Run the jobs that are not in `earlier`, and report how every job ended.

    A failed agent is an outcome, not an exception. If an observer raises, all running jobs are stopped and the
    exception is raised again.
    """
    run = _Run(plan, setup, observers, signals or StopSignals())
    for job in plan.jobs:
        if found := (earlier or {}).get(job.index):
            run.settle(JobResult(job, JobOutcome.DONE, found.answer, held=found.held))
    try:
        while not run.events.empty():  # a stop was requested before the start
            run.take(run.events.get())
        run.advance()
        while run.running:
            run.take(run.events.get())
            run.advance()
    except BaseException:
        setup.reins.stop(at_once=True)
        raise
    ended = tuple(run.results.get(job.index, JobResult(job, JobOutcome.LEFT)) for job in plan.jobs)
    return RunReport(ended, run.halted, run.stopped)


class _Run:
    """The state of a run; its methods are called in a single thread."""

    def __init__(self, plan: Plan, setup: RunSetup, observers: Sequence[RunObserver], signals: StopSignals) -> None:
        self._plan, self._setup, self._observers, self.events = plan, setup, observers, signals.queue
        self.results: dict[int, JobResult] = {}
        self.running: set[int] = set()
        self.halted: Job | None = None
        self.stopped = False
        self._names = {job.index: job.step.name for job in plan.jobs}
        self._outcomes = dict.fromkeys(self._names, JobOutcome.LEFT)

    def settle(self, result: JobResult) -> None:
        """Record a job that ended."""
        self.results[result.job.index] = result
        self._outcomes[result.job.index] = result.outcome

    def advance(self) -> None:
        """Start or skip jobs until nothing changes, since skipping a job may release others."""
        moved = True
        while moved:
            moved = False
            for job in self._plan.jobs:
                if self.halted or self.stopped:
                    return
                if job.index not in self.results and job.index not in self.running:
                    moved = self._start_or_skip(job) or moved

    def take(self, event: JobResult | BaseException | None) -> None:
        """Handle a result, an exception to raise, or a request to stop (None)."""
        if isinstance(event, BaseException):
            raise event
        if event is None:
            self._setup.reins.stop(at_once=self.stopped)
            self.stopped = True
            return
        self.running.remove(event.job.index)
        self._end(event)

    def _start_or_skip(self, job: Job) -> bool:
        """Start or skip a job if it is ready; returns True if the job was skipped."""
        decision = decide(job, self._outcomes, self._holds, self._names.__getitem__)
        if decision and decision.outcome:
            self._end(JobResult(job, decision.outcome, reason=decision.reason))
            return True
        if decision and len(self.running) < self._setup.jobs:
            self._start(job)
        return False

    def _holds(self, index: int, condition: Condition) -> bool:
        result = self.results[index]
        return conditions_held(result.job, result.held).get(condition, False)

    def _start(self, job: Job) -> None:
        setup, when = self._setup, self._setup.now()
        runner = setup.runner(job)
        answers = {index: each.answer for index, each in self.results.items() if each.outcome is JobOutcome.DONE}
        prompt = build_prompt(self._plan, job, setup.given, answers, setup.template)
        self.running.add(job.index)
        for observer in self._observers:
            observer.began(job, runner, when)

        def work() -> None:
            try:
                self.events.put(_ask(setup, job, runner, prompt, when))
            except BaseException as error:  # noqa: BLE001  raised in the waiting thread
                self.events.put(error)

        threading.Thread(target=work, name=f"step {job.index}", daemon=True).start()

    def _end(self, result: JobResult) -> None:
        self.settle(result)
        if result.outcome is JobOutcome.FAILED and result.job.step.grade is Grade.CRITICAL:
            self.halted = self.halted or result.job
        for observer in self._observers:
            observer.ended(result)


# --- one job, in its thread ------------------------------------------------------------------------------------------


def _ask(setup: RunSetup, job: Job, runner: Runner, prompt: str, when: datetime) -> JobResult:
    """Ask the agent, then decide the conditions after the step."""
    failed = JobOutcome.PASSED_OVER if job.step.grade is Grade.OPTIONAL else JobOutcome.FAILED
    ended = partial(JobResult, job, agent=runner.agent, started=when)
    text, reason = "", ""
    tokens: int | None = None
    held: Mapping[str, bool] = {}
    outcome, is_late = JobOutcome.DONE, False
    try:
        answer = runner.asker.ask(prompt)
        parsed = parse_answer(_clean(setup, answer.text))
        text, tokens = parsed.text, answer.tokens_used
        if parsed.is_done is False:
            outcome, reason = failed, parsed.why or "it reported a failure"
        else:
            held = decide_conditions(job, text, runner.asker, setup.commands)
    except AgentFailed as error:
        outcome, is_late = JobOutcome.STOPPED if isinstance(error, Stopped) else failed, isinstance(error, TimedOut)
        if isinstance(error, Exited) and not text:
            text = _last_words(setup, error)
        reason = str(error)
    reason = " ".join(_clean(setup, reason).split())
    return ended(outcome, text, reason, is_late, ended=setup.now(), tokens=tokens, held=held)


def _last_words(setup: RunSetup, error: Exited) -> str:
    try:
        return parse_answer(_clean(setup, read_answer(error.output.decode("utf-8", "replace"), "").text)).text
    except CrucibleError as failure:
        return _clean(setup, str(failure))


def _clean(setup: RunSetup, text: str) -> str:
    return setup.redact(text)[0]
