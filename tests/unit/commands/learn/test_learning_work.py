"""The work of learning from a session grows with its length and no faster."""

from __future__ import annotations

from functools import partial

from crucible.analysis.tools.recorded_calls import RecordedCalls
from crucible.commands.learn.case_gathering import extract
from crucible.core.secrets import Scanner
from crucible.documents.markdown.source import NOWHERE
from crucible.documents.session.session import Decision, Entry, FindingItem, Grounds, Phase, Session
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


def _session(count: int) -> Session:
    items = [
        FindingItem("outcome", f"All is done in number {at}, and the tests of limiter{at} pass.", lines=NOWHERE)
        for at in range(count)
    ] + [
        FindingItem("correction", f"Please make the limiter number {at} fair", grounds=Grounds("reply", 0.8))
        for at in range(0, count, 4)
    ]
    phases = tuple(Phase(f"Phase {at}", entries=_work(at), id=f"phase-{at + 1}") for at in range(count))
    return Session("one", phases=phases, findings=tuple(items))


def test_extracting_cases_takes_about_twice_the_work_for_twice_the_phases() -> None:
    redact = Scanner().redact
    extract(_session(2), {}, RecordedCalls(), redact)  # compiles the patterns
    few, many = (steps_of(partial(extract, _session(count), {}, RecordedCalls(), redact)) for count in (20, 40))
    assert many <= 2.3 * few
