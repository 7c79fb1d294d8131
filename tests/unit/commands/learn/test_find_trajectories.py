"""Which phases are workflows, and which of their calls are shown."""

from __future__ import annotations

from crucible.analysis.tools.recorded_calls import RecordedCalls
from crucible.commands.learn.case import Trajectory
from crucible.commands.learn.case_finders import find_trajectories
from crucible.commands.learn.timeline import build_timeline
from crucible.documents.session.session import Callout, Entry, Failure, FindingItem, Grounds, Outcome, Status
from tests.unit.commands.learn.sample_sessions import call, session_of, user

DONE: tuple[Entry | str, ...] = (
    user("Add it to the shop."),
    "On it.",
    call("Edit a.py"),
    "Added it to a.py.",
)
MORE: tuple[Entry | str, ...] = (
    user("Now test it."),
    "Testing.",
    call("Write test_a.py"),
    "Tested with a new file.",
)
ADDED, TESTED = (
    FindingItem("outcome", text, grounds=Grounds("closing text", 0.9))
    for text in ("Added it to a.py.", "Tested with a new file.")
)


def found(*phases: tuple[Entry | str, ...], status: Status = Status.COMPLETED) -> list[str]:
    timeline = build_timeline(session_of(*phases, status=status, findings=(ADDED, TESTED)), RecordedCalls())
    return [case.place.phase for case in find_trajectories(timeline)]


def test_each_phase_with_an_outcome_is_a_workflow() -> None:
    assert found(DONE, MORE) == ["phase-1", "phase-2"]


def test_the_last_phase_of_an_active_session_is_no_workflow() -> None:
    assert found(DONE, MORE, status=Status.ACTIVE) == ["phase-1"]


def test_a_failed_stopped_or_empty_phase_is_no_workflow() -> None:
    failed = (*DONE, Failure("It broke."))
    last = (*DONE, call("Bash make test", "red", Outcome.FAILED))
    stopped = (*DONE, Callout("observation", "Interrupted", "The user stopped the agent."))
    refused = (*DONE, call("Bash rm x", "", Outcome.REJECTED))
    talk = (user("Why?"), "Because.")
    for part in (failed, last, stopped, refused, talk):
        assert found(part, MORE) == ["phase-2"]


def test_a_workflow_has_the_conclusive_calls_and_the_closing_prose() -> None:
    phase = (user("Add it to the shop."), "I look.", call("Read a.py"), "On it.", call("Edit a.py"), call("Bash make test"), DONE[-1])  # fmt: skip
    timeline = build_timeline(session_of(phase, findings=(ADDED,)), RecordedCalls())
    [case] = find_trajectories(timeline)
    assert isinstance(case.body, Trajectory)
    assert [one.name for turn in case.body.turns for one in turn.calls] == ["Edit", "Bash"]
    assert [turn.text for turn in case.body.turns] == ["On it.", "ok", "", "ok", DONE[-1]]
    assert (case.title, case.finding.partition("-")[0]) == (DONE[-1], "outcome")


def test_a_phase_that_does_not_fit_is_no_workflow() -> None:
    steps = tuple(call(f"Edit a{number}.py", "ok") for number in range(900))
    assert found((user("Add it to the shop."), *steps, DONE[-1]), MORE) == ["phase-2"]
