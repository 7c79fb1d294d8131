"""What `cru workflow run` shows and records: the plan, progress, a session with one phase per step, and the result."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from typing import NamedTuple

from rich.console import Console
from rich.live import Live
from rich.text import Text

from crucible.cli.options import Door, is_data, local_now
from crucible.cli.output import clean_line, given_width, say, warn, write, write_data
from crucible.cli.record_options import recording_place, say_warnings
from crucible.cli.session_stop import finish_quietly
from crucible.cli.workflow_list import CheckedWorkflow
from crucible.commands import record
from crucible.commands.record.recorder import Recorder
from crucible.commands.run.jobs import (
    EarlierResult,
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
from crucible.commands.run.plan import is_request, steps_from
from crucible.commands.run.run_record import (
    DIGEST,
    LINK,
    add_marker,
    condition_lines,
    digest_of,
    earlier_of,
    find_run,
    row_of,
    step_ref,
)
from crucible.commands.run.step_prompt import command_of, spelled
from crucible.core.errors import CrucibleError
from crucible.core.secrets.scanner import Redact
from crucible.core.text import counted, elapsed_words
from crucible.documents.markdown.frontmatter import find_frontmatter, set_key
from crucible.documents.session.session import Session, Status
from crucible.documents.session.session_json import export_time
from crucible.documents.workflow.workflow import Grade
from crucible.vault.notes.session_lock import SessionLock, hold_session
from crucible.vault.notes.vault import Vault

_STYLES = {
    JobOutcome.DONE: "green",
    JobOutcome.FAILED: "red",
    JobOutcome.PASSED_OVER: "yellow",
    JobOutcome.STOPPED: "yellow",
}
OUTCOME_WORDS = {
    JobOutcome.DONE: "done",
    JobOutcome.FAILED: "failed",
    JobOutcome.PASSED_OVER: "failed, optional",
    JobOutcome.UNMET: "skipped",
    JobOutcome.HELD: "held back",
    JobOutcome.STOPPED: "stopped",
    JobOutcome.LEFT: "not started",
}
"""The words that describe each outcome of a step."""


def _ended(outcome: JobResult) -> str:
    took = elapsed_words(outcome.duration_ms)
    result = OUTCOME_WORDS[outcome.outcome] + (f" in {took}" if took else "")
    return result + (f": {outcome.reason}" if outcome.reason else "")


class _Lines:
    """Reports the start and end of each step, one line each."""

    def __init__(self, plan: Plan) -> None:
        self.number = {job.index: at for at, job in enumerate(plan.jobs, 1)}

    def name(self, job: Job) -> str:
        """Return a step's number and name, such as `[2/4] Clean Data`."""
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
    """Prints a line for each ended step, above a live display of the running ones."""

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
    """Show the progress of a run: live on a terminal, otherwise one line per event."""
    if not sys.stderr.isatty():
        yield _Lines(plan)
        return
    console = Console(stderr=True, highlight=False, width=given_width(), no_color=door.color is False or None)
    shown = _OnTerminal(plan, console)
    with Live(shown, console=console, refresh_per_second=2, transient=True, redirect_stdout=False) as live:
        shown.refresh = live.refresh
        yield shown


_MOST = 5
"""Maximum steps to list as the source of one input."""

_GRADES = {Grade.PLAIN: "", Grade.CRITICAL: " !", Grade.OPTIONAL: " ?"}


def write_plan(found: CheckedWorkflow, plan: Plan, executors: Executors, format_: str) -> None:
    """Write the steps in order, each with its agent, inputs, outputs and conditions."""
    if is_data(format_):
        write_data(_plan(found, plan, executors), format_)
        return
    write(f"Run of {plan.title or found.note.name}: {counted(len(plan.jobs), 'step')}")
    names = {job.index: job.step.name for job in plan.jobs}
    missing = {datum.name.casefold() for datum in plan.missing}
    for number, job in enumerate(plan.jobs, 1):
        write(f"{number}. {job.step.name}{_GRADES[job.step.grade]}{_marks(job)} {_who(job, executors)}")
        for line in _lines(job, names, missing, plan.request):
            write(f"   {line}")


def write_report(found: CheckedWorkflow, report: RunReport, session_id: str, format_: str) -> None:
    """Write how each step ended, and the id of the run's session."""
    if is_data(format_):
        steps = [_outcome(outcome) for outcome in report.outcomes]
        write_data(
            {
                "workflow": found.note.shown,
                "session": session_id,
                "status": "interrupted" if report.stopped else "done" if report.is_done else "failed",
                "halted_by": report.halted.step.name if report.halted else None,
                "steps": steps,
            },
            format_,
        )
        return
    width = max([12, *(len(OUTCOME_WORDS[outcome.outcome]) for outcome in report.outcomes)])
    for outcome in report.outcomes:
        cells = [outcome.job.step.name, elapsed_words(outcome.duration_ms), outcome.reason]
        write(f"{OUTCOME_WORDS[outcome.outcome]:<{width}} " + "  ".join(filter(None, cells)))
    write(f"{'session':<{width}} {session_id}")


def _marks(job: Job) -> str:
    step = job.step
    return (f" @{step.agent}" if step.agent else "") + (f" #{step.channel}" if step.channel else "")


def _who(job: Job, executors: Executors) -> str:
    executor = executors.executor(job)
    return f"by {executor.who}" if executor else "(no agent yet; use --with)"


def _lines(job: Job, names: dict[int, str], missing: set[str], request: str) -> Iterator[str]:
    for handed in job.inputs:
        if request and is_request(handed.datum):
            yield f"takes {handed.datum.name}: the workflow's title and preamble, or --input"
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
        return ": missing; give it with --input or as a file with this name"
    return ", given"


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
        "duration_s": outcome.duration_ms and outcome.duration_ms / 1000,
        "tokens": outcome.tokens,
        "answer": outcome.answer or None,
    }


class ContinuedRun(NamedTuple):
    """A run to continue: its session, and the results of its successful steps by index."""

    session: Session
    earlier: Mapping[int, EarlierResult]


def find_continued_run(vault: Vault, found: CheckedWorkflow, plan: Plan, first: str) -> ContinuedRun:
    """Find the newest run of a workflow; the step `first` and those after it will run again."""
    session = find_run(vault, found.note.workflow, _link(vault, found))
    if session is None:
        raise CrucibleError(f"{found.note.shown}: no run to continue", "remove --continue to start one")
    if session.status in (Status.COMPLETED, Status.FAILED):
        why = f"{session.id}: this run has ended ({session.status})"
        raise CrucibleError(why, "remove --continue to start another")
    if str(session.properties.get(DIGEST)) != digest_of(found.note.workflow):
        warn(f"the workflow changed after {session.id} started; its current text is used")
    again = steps_from(found.graph, first) if first else set()
    earlier = {at: each for at, each in earlier_of(plan.jobs, session).items() if at not in again}
    return ContinuedRun(session, earlier)


def open_session(vault: Vault, found: CheckedWorkflow, continued: ContinuedRun | None) -> Recorder:
    """Open the session of a continued run, or begin a new one."""
    workflow = found.note.workflow
    if continued:
        return record.open(continued.session.id, vault=vault, **recording_place())
    name = workflow.title or found.note.name
    recorder = record.session(f"Run of {name}", vault=vault, now=local_now, **recording_place())
    for key, value in ((LINK, _link(vault, found)), (DIGEST, digest_of(workflow))):
        vault.update(
            recorder.path,
            lambda note, key=key, value=value: set_key(note.source, find_frontmatter(note.source), key, value),  # type: ignore[misc]
        )
    return recorder


def _link(vault: Vault, found: CheckedWorkflow) -> str:
    """Return the wikilink to a workflow in the vault; for a file elsewhere only its name, to hide local paths."""
    path = found.note.path
    if not path.is_relative_to(vault.root):
        return path.name
    return f"[[{vault.relative(path).removesuffix('.md')}]]"


class RunRecord:
    """Writes each step to the session and the workflow's note.  `report` is the result of the run, None if unknown."""

    def __init__(
        self, vault: Vault, found: CheckedWorkflow, recorder: Recorder, held: SessionLock, redact: Redact
    ) -> None:
        self.report: RunReport | None = None
        self._vault, self._found, self._recorder = vault, found, recorder
        self._held, self._redact = held, redact
        self._last: datetime | None = None

    def started(self, pid: int) -> None:
        """Record the agent's process id, so that the agent can be found if this process is killed."""
        self._held.started(pid)

    def began(self, job: Job, runner: Runner, when: datetime) -> None:
        """Write nothing yet: phases of parallel steps would be interleaved."""

    def ended(self, outcome: JobResult) -> None:
        """Write a phase if the step ran, and a marker unless it was stopped."""
        if outcome.started is not None:
            self._write_phase(outcome)
        if outcome.outcome is not JobOutcome.STOPPED:
            self._mark(outcome)

    def close(self) -> None:
        """End the session, or pause it so that the run can continue."""
        report = self.report
        if report is None:
            self._recorder.pause('the run was interrupted; continue with "cru workflow run --continue"')
        elif report.is_done:
            self._recorder.end(_summary(report))
        else:
            why = "interrupted" if report.stopped else "a step failed"
            if report.halted:
                why = f"halted at “{report.halted.step.name}”"
            self._recorder.pause(f'{why}; continue with "cru workflow run --continue"')
        finish_quietly(self._vault, self._recorder.path)

    def _write_phase(self, outcome: JobResult) -> None:
        step, recorder = outcome.job.step, self._recorder
        begun = max(filter(None, (outcome.started, self._last)))
        self._last = over = outcome.ended or begun
        recorder.phase(
            step.name.strip() or step.id or "Step",
            agent=str(outcome.agent or ""),
            channel=step.channel or "",
            tokens=outcome.tokens,
            at=begun,
        )
        recorder.observation(step.prose.strip() or step.name.strip() or "Step", at=begun)
        if outcome.answer.strip():
            recorder.prose(outcome.answer, at=over)
        for line in condition_lines(outcome):
            recorder.decision(line, at=over)
        if outcome.outcome in (JobOutcome.FAILED, JobOutcome.PASSED_OVER, JobOutcome.STOPPED):
            why = outcome.reason or str(outcome.outcome)
            skipped = (
                "failed; skipped because the step is optional" if outcome.outcome is JobOutcome.PASSED_OVER else None
            )
            recorder.error(why, resolution=skipped, at=over)
        # Otherwise the phase would last until the next one begins, perhaps days later.
        recorder.end_phase(at=over)

    def _mark(self, outcome: JobResult) -> None:
        try:
            spot = step_ref(self._found.graph.steps, outcome.job.index)
            row = row_of(outcome, self._recorder.id, self._redact)
            add_marker(self._vault, self._found.note.path, spot, row)
        except CrucibleError as error:
            warn(f"no marker for “{outcome.job.step.name}”: {error}")


@contextmanager
def recording_run(vault: Vault, found: CheckedWorkflow, recorder: Recorder, redact: Redact) -> Iterator[RunRecord]:
    """Lock the session during the run, and end or pause it afterwards."""
    with hold_session(vault.root, recorder.id, client="cru-workflow-run", now=datetime.now(UTC)) as held:
        if recorder.read_head().status is not Status.ACTIVE:
            recorder.wake()
        made = RunRecord(vault, found, recorder, held, redact)
        try:
            yield made
        finally:
            made.close()
            say_warnings(recorder)


def _summary(report: RunReport) -> str:
    done = sum(outcome.outcome is JobOutcome.DONE for outcome in report.outcomes)
    left = len(report.outcomes) - done
    return f"{counted(done, 'step')} done" + (f", {left} skipped." if left else ".")
