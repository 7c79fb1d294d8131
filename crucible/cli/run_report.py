"""The output of `cru workflow run`: the plan, progress while it runs, and the result."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from typing import NamedTuple

from rich.console import Console
from rich.live import Live
from rich.text import Text

from crucible.cli.options import Door
from crucible.cli.output import clean_line, counted, given_width, say, write, write_json
from crucible.cli.workflow_lookup import CheckedWorkflow
from crucible.commands.run.jobs import (
    Executors,
    Job,
    JobInput,
    JobOutcome,
    JobResult,
    Plan,
    Runner,
    RunObserver,
    RunReport,
)
from crucible.commands.run.plan import is_request
from crucible.commands.run.step_prompt import command_of, spelled
from crucible.core.text.durations import elapsed_words
from crucible.documents.session.session_json import export_time
from crucible.documents.workflow.workflow import Grade

_STYLES = {
    JobOutcome.DONE: "green",
    JobOutcome.FAILED: "red",
    JobOutcome.PASSED_OVER: "yellow",
    JobOutcome.STOPPED: "yellow",
}
OUTCOME_WORDS = {
    JobOutcome.DONE: "done",
    JobOutcome.FAILED: "failed",
    JobOutcome.PASSED_OVER: "failed, skipped over",
    JobOutcome.UNMET: "left out",
    JobOutcome.HELD: "held back",
    JobOutcome.STOPPED: "stopped",
    JobOutcome.LEFT: "not begun",
}
"""How a step's fate is shown."""


def _ended(outcome: JobResult) -> str:
    took = elapsed_words(outcome.duration_ms)
    told = OUTCOME_WORDS[outcome.outcome] + (f" in {took}" if took else "")
    return told + (f": {outcome.reason}" if outcome.reason else "")


class _Lines:
    """Reports each start and end of a step in a line."""

    def __init__(self, plan: Plan) -> None:
        self.number = {job.index: at for at, job in enumerate(plan.jobs, 1)}

    def name(self, job: Job) -> str:
        """`[2/4] Clean Data`."""
        return f"[{self.number[job.index]}/{len(self.number)}] {clean_line(job.step.name)}"

    def began(self, job: Job, runner: Runner, when: datetime) -> None:
        """Report that a step begins."""
        say(f"{self.name(job)}: {runner.agent} begins")

    def ended(self, outcome: JobResult) -> None:
        """Report how a step ended."""
        say(f"{self.name(outcome.job)}: {_ended(outcome)}", style=_STYLES.get(outcome.outcome, ""))


class _Running(NamedTuple):
    job: Job
    agent: str
    since: datetime


class _OnTerminal(_Lines):
    """Lines for ended steps, and a live display of the running ones below."""

    def __init__(self, plan: Plan, console: Console) -> None:
        super().__init__(plan)
        self._console = console
        self._running: dict[int, _Running] = {}
        self.refresh: Callable[[], None] = lambda: None

    def began(self, job: Job, runner: Runner, when: datetime) -> None:
        """Add a step to the live display."""
        self._running[job.index] = _Running(job, str(runner.agent), when)
        self.refresh()

    def ended(self, outcome: JobResult) -> None:
        """Report how a step ended."""
        self._running.pop(outcome.job.index, None)
        line = clean_line(f"{self.name(outcome.job)}: {_ended(outcome)}")
        self._console.print(Text(line, style=_STYLES.get(outcome.outcome, "")))

    def __rich__(self) -> Text:
        now = datetime.now(UTC)
        lines = (
            f"{self.name(each.job)}: {each.agent}, {elapsed_words(int((now - each.since).total_seconds()) * 1000)}"
            for each in [*self._running.values()]
        )
        return Text("\n".join(map(clean_line, lines)), style="cyan")


@contextmanager
def watching(plan: Plan, door: Door) -> Iterator[RunObserver]:
    """The witness that shows progress: live on a terminal, else as lines."""
    if not sys.stderr.isatty():
        yield _Lines(plan)
        return
    console = Console(stderr=True, highlight=False, width=given_width(), no_color=door.color is False or None)
    shown = _OnTerminal(plan, console)
    with Live(shown, console=console, refresh_per_second=2, transient=True, redirect_stdout=False) as live:
        shown.refresh = live.refresh
        yield shown


_MOST = 5
"""Steps listed as the source of one input."""

_GRADES = {Grade.PLAIN: "", Grade.CRITICAL: " !", Grade.OPTIONAL: " ?"}


def write_plan(found: CheckedWorkflow, plan: Plan, executors: Executors, format_: str) -> None:
    """Write each step in order: its agent, inputs, outputs and conditions."""
    if format_ == "json":
        write_json(_plan(found, plan, executors))
        return
    write(f"Run of {plan.title or found.note.name}: {counted(len(plan.jobs), 'step')}")
    names = {job.index: job.step.name for job in plan.jobs}
    missing = {datum.name.casefold() for datum in plan.missing}
    for number, job in enumerate(plan.jobs, 1):
        write(f"{number}. {job.step.name}{_GRADES[job.step.grade]}{_marks(job)} by {_who(job, executors)}")
        for line in _lines(job, names, missing, plan.request):
            write(f"   {line}")


def write_report(found: CheckedWorkflow, report: RunReport, session_id: str, format_: str) -> None:
    """Write how each step ended, and the run's session."""
    if format_ == "json":
        steps = [_outcome(outcome) for outcome in report.outcomes]
        write_json(
            {
                "workflow": found.note.shown,
                "session": session_id,
                "status": "interrupted" if report.stopped else "done" if report.is_done else "failed",
                "halted_by": report.halted.step.name if report.halted else None,
                "steps": steps,
            }
        )
        return
    width = max([12, *(len(OUTCOME_WORDS[outcome.outcome]) for outcome in report.outcomes)])
    for outcome in report.outcomes:
        told = [outcome.job.step.name, elapsed_words(outcome.duration_ms), outcome.reason]
        write(f"{OUTCOME_WORDS[outcome.outcome]:<{width}} " + "  ".join(filter(None, told)))
    write(f"{'session':<{width}} {session_id}")


def _marks(job: Job) -> str:
    step = job.step
    return (f" @{step.agent}" if step.agent else "") + (f" #{step.channel}" if step.channel else "")


def _who(job: Job, executors: Executors) -> str:
    executor = executors.executor(job)
    return str(executor.agent) if executor else "nobody yet (--with)"


def _lines(job: Job, names: dict[int, str], missing: set[str], request: str) -> Iterator[str]:
    for handed in job.inputs:
        if request and is_request(handed.datum):
            yield f"takes {handed.datum.name}: the workflow's title and preamble, unless --input gives another"
        else:
            yield f"takes {handed.datum.name}{_origin(handed, names, missing)}"
    for datum in job.step.outputs():
        yield f"makes {datum.name}"
    for condition in job.conditions:
        command = command_of(condition)
        yield f"then runs {spelled(command)}" if command else f"then asks whether {condition.text}"


def _origin(handed: JobInput, names: dict[int, str], missing: set[str]) -> str:
    known = (f"“{names[maker]}”" for maker in reversed(handed.makers) if maker in names)
    if makers := [*islice(known, _MOST + 1)]:
        return f" of {', else '.join(makers[:_MOST])}{', else …' if len(makers) > _MOST else ''}"
    if handed.datum.name.casefold() in missing:
        return ": missing, give it with --input or as a file of that name"
    return ", which is given"


def _plan(found: CheckedWorkflow, plan: Plan, executors: Executors) -> dict[str, object]:
    return {
        "workflow": found.note.shown,
        "title": plan.title,
        "missing": [datum.name for datum in plan.missing],
        "request": plan.request or None,
        "steps": [_job(job, executors) for job in plan.jobs],
    }


def _job(job: Job, executors: Executors) -> dict[str, object]:
    executor = executors.executor(job)
    step = job.step
    return {
        "id": step.id,
        "name": step.name,
        "agent": str(step.agent) if step.agent else None,
        "channel": step.channel,
        "grade": str(step.grade),
        "runner": str(executor.agent) if executor else None,
        "inputs": [handed.datum.name for handed in job.inputs],
        "outputs": [datum.name for datum in step.outputs()],
        "conditions": [condition.text for condition in job.conditions],
    }


def _outcome(outcome: JobResult) -> dict[str, object]:
    return {
        "id": outcome.job.step.id,
        "name": outcome.job.step.name,
        "outcome": str(outcome.outcome),
        "status": str(outcome.status) if outcome.started or outcome.reason or outcome.answer else None,
        "agent": str(outcome.agent) if outcome.agent else None,
        "reason": outcome.reason or None,
        "started": export_time(outcome.started),
        "duration_ms": outcome.duration_ms,
        "tokens_used": outcome.tokens,
        "answer": outcome.answer or None,
    }
