"""The work of learning from a session grows with its length and no faster."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from crucible.analysis.tools.recorded_calls import RecordedCalls
from crucible.commands.learn.case_gathering import extract
from crucible.core.secrets import Scanner
from crucible.documents.markdown.source import NOWHERE
from crucible.documents.session.session import Decision, Entry, FindingItem, Grounds, Outcome, Phase, Session
from tests.counting import steps_of
from tests.unit.commands.learn.sample_timelines import asked, done, error, failed, says


def _work(at: int) -> tuple[Entry, ...]:
    return (
        asked(f"Please make the limiter number {at} fair to every worker."),
        failed(f"Bash pytest tests/test_{at}.py", f"E  AssertionError: limiter{at} is not fair"),
        done(f"Edit src/limiter{at}.py"),
        done(f"Bash pytest tests/test_{at}.py", "1 passed"),
        error(f"pytest: limiter{at} is not fair", f"limiter{at}.py counts per worker now"),
        Decision(f"Which store for limiter{at}? SQLite for number {at}", "one file", "Postgres"),
        says(f"All is done in number {at}, and the tests of limiter{at} pass."),
    )


def _repeated(_: int) -> tuple[Entry, ...]:
    """Findings that are all alike, with calls that name the same file."""
    again = failed("Bash pytest", "E  AssertionError: limiter.py is not fair")
    return (says("No, not so."), again, done("Edit limiter.py"), error("pytest: limiter is not fair", "it is now"))


def _wordless(at: int) -> tuple[Entry, ...]:
    """Callouts, short prompts and rejected calls, without a call that fails or passes."""
    refused = failed(f"Edit src/limiter{at}.py", f"not in number {at}, please", Outcome.REJECTED)
    return (
        asked("Go on now"),
        refused,
        error(f"limiter{at} is not fair", "it is now"),
        Decision(f"Store {at}", "", ""),
    )


def _session(count: int) -> Session:
    """A session of many phases."""
    phases = tuple(Phase(f"Phase {at}", entries=_work(at), id=f"phase-{at + 1}") for at in range(count))
    return Session("one", phases=phases, findings=_findings(count))


def _phase(work: Callable[[int], tuple[Entry, ...]], count: int) -> Session:
    """A session of one phase with many findings."""
    entries = tuple(entry for at in range(count) for entry in work(at))
    return Session("one", phases=(Phase("Phase", entries=entries, id="phase-1"),), findings=_findings(count))


def _findings(count: int) -> tuple[FindingItem, ...]:
    outcomes = (f"All is done in number {at}, and the tests of limiter{at} pass." for at in range(count))
    words = (f"Please make the limiter number {at} fair" for at in range(0, count, 4))
    refusals = (f"not in number {at}, please" for at in range(count))
    return (
        *(FindingItem("outcome", text, lines=NOWHERE) for text in outcomes),
        *(FindingItem("correction", text, grounds=Grounds("reply", 0.8)) for text in words),
        *(FindingItem("correction", text, grounds=Grounds("rejected call", 0.8)) for text in refusals),
    )


@pytest.mark.parametrize(
    "session",
    [_session, *(partial(_phase, work) for work in (_work, _repeated, _wordless))],
    ids=["phases", "one phase", "repeated", "without calls"],
)
def test_extracting_cases_takes_about_twice_the_work_for_twice_the_findings(session: Callable[[int], Session]) -> None:
    redact = Scanner().redact
    extract(session(2), {}, RecordedCalls(), redact)  # compiles the patterns
    few, many = (steps_of(partial(extract, session(count), {}, RecordedCalls(), redact)) for count in (15, 30))
    assert many <= 2.2 * few
