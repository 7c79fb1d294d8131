"""Record a workflow's run: a session with a phase for each step, and marker rows in the workflow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import NamedTuple

from crucible.cli.output import counted, warn
from crucible.cli.record_options import recording_place, say_warnings
from crucible.cli.session_stop import finish_quietly
from crucible.cli.workflow_lookup import CheckedWorkflow
from crucible.commands import record
from crucible.commands.record.recorder import Recorder
from crucible.commands.run.jobs import EarlierResult, Job, JobOutcome, JobResult, Plan, Runner, RunReport
from crucible.commands.run.plan import steps_from
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
from crucible.core.errors import CrucibleError
from crucible.core.secrets.scanner import Redact
from crucible.documents.markdown.frontmatter import find_frontmatter, set_key
from crucible.documents.session.properties import link_to
from crucible.documents.session.session import Session, Status
from crucible.vault.notes.session_lock import SessionLock, hold_session
from crucible.vault.notes.vault import Vault

_CLIENT = "cru-workflow-run"


class ContinuedRun(NamedTuple):
    """A run to continue: its session, and its successful steps by index."""

    session: Session
    earlier: Mapping[int, EarlierResult]


def find_continued_run(vault: Vault, found: CheckedWorkflow, plan: Plan, first: str) -> ContinuedRun:
    """Find the newest run of a workflow; the step `first` and those after it run again."""
    session = find_run(vault, found.note.workflow, _link(vault, found))
    if session is None:
        raise CrucibleError(f"{found.note.shown}: no run to go on with", "leave --continue out to begin one")
    if session.status in (Status.COMPLETED, Status.FAILED):
        raise CrucibleError(
            f"{session.id}: this run has ended, it is {session.status}",
            "leave --continue out to begin another",
        )
    if str(session.properties.get(DIGEST)) != digest_of(found.note.workflow):
        warn(f"the workflow changed since {session.id} began; steps go by what they say now")
    again = steps_from(found.graph, first) if first else set()
    earlier = {at: each for at, each in earlier_of(plan.jobs, session).items() if at not in again}
    return ContinuedRun(session, earlier)


def open_session(vault: Vault, found: CheckedWorkflow, going: ContinuedRun | None) -> Recorder:
    """Open the session of a continued run, or a new one."""
    workflow = found.note.workflow
    if going:
        return record.open(going.session.id, vault=vault, **recording_place())
    name = workflow.title or found.note.name
    recorder = record.session(f"Run of {name}", vault=vault, **recording_place())
    for key, value in ((LINK, _link(vault, found)), (DIGEST, digest_of(workflow))):
        vault.update(
            recorder.path,
            lambda note, key=key, value=value: set_key(note.source, find_frontmatter(note.source), key, value),  # type: ignore[misc]
        )
    return recorder


def _link(vault: Vault, found: CheckedWorkflow) -> str:
    """The wikilink to a workflow in the vault; for a file elsewhere only its name, which hides this machine's paths."""
    path = found.note.path
    if not path.is_relative_to(vault.root):
        return path.name
    return link_to(vault.relative(path).removesuffix(".md"))


class RunRecord:
    """Writes each step into the session and the workflow's note.  `report` is the result, None if unknown."""

    def __init__(
        self, vault: Vault, found: CheckedWorkflow, recorder: Recorder, held: SessionLock, redact: Redact
    ) -> None:
        self.report: RunReport | None = None
        self._vault, self._found, self._recorder, self._held, self._redact = (
            vault,
            found,
            recorder,
            held,
            redact,
        )
        self._last: datetime | None = None

    def started(self, pid: int) -> None:
        """Note the agent's process id, so that it can be found if this process is killed."""
        self._held.started(pid)

    def began(self, job: Job, runner: Runner, when: datetime) -> None:
        """Write nothing yet: phases of parallel steps would mix."""

    def ended(self, outcome: JobResult) -> None:
        """Write a phase for a step that ran, and a marker for one that ended."""
        if outcome.started is not None:
            self._tell(outcome)
        if outcome.outcome is not JobOutcome.STOPPED:
            self._mark(outcome)

    def close(self) -> None:
        """End the session, or pause it so that the run can continue."""
        report = self.report
        if report is None:
            self._recorder.pause("the run broke off; `cru workflow run --continue` goes on")
        elif report.is_done:
            self._recorder.end(_summary(report))
        else:
            why = "interrupted" if report.stopped else "a step failed"
            if report.halted:
                why = f"halted at “{report.halted.step.name}”"
            self._recorder.pause(f"{why}; `cru workflow run --continue` goes on")
        finish_quietly(self._vault, self._recorder.path)

    def _tell(self, outcome: JobResult) -> None:
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
            skipped = "skipped over, since the step is optional" if outcome.outcome is JobOutcome.PASSED_OVER else None
            recorder.error(why, resolution=skipped, at=over)
        # Else the phase would last until the next one begins, and a run may go on days later.
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
    """Hold the session while the run lasts; it never stays active afterwards."""
    with hold_session(vault.root, recorder.id, client=_CLIENT, now=datetime.now(UTC)) as held:
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
    return f"{counted(done, 'step')} done" + (f", {left} left out." if left else ".")
