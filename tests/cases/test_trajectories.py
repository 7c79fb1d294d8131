"""Which phases and sessions are whole."""

from __future__ import annotations

from crucible.acts.evidence import Evidence
from crucible.cases.model import Trajectory
from crucible.cases.timeline import build_timeline
from crucible.cases.trajectories import find_trajectories
from crucible.session.model import (
    Callout,
    Entry,
    Failure,
    Intervention,
    Outcome,
    Phase,
    Session,
    Status,
)
from tests.cases.extracted import call, session_of, user

DONE: tuple[Entry | str, ...] = (user("Add it."), "On it.", call("Edit a.py"), "Done.")
MORE: tuple[Entry | str, ...] = (user("Test it."), "Testing.", call("Bash make test"), "Tested.")


def found(*phases: tuple[Entry | str, ...], status: Status = Status.COMPLETED) -> list[tuple[str, bool]]:
    timeline = build_timeline(session_of(*phases, status=status), Evidence())
    cases = [(case.place.phase, case.body) for case in find_trajectories(timeline)]
    return [(phase, body.whole) for phase, body in cases if isinstance(body, Trajectory)]


def test_each_whole_phase_is_one_and_so_is_the_session() -> None:
    assert found(DONE, MORE) == [("phase-1", False), ("phase-2", False), ("phase-1", True)]


def test_the_only_phase_is_the_session() -> None:
    assert found(DONE) == [("phase-1", True)]


def test_the_last_phase_of_a_session_that_goes_on_is_none() -> None:
    assert found(DONE, MORE, status=Status.ACTIVE) == [("phase-1", False)]


def test_what_failed_was_stopped_or_did_nothing_is_none() -> None:
    failed = (*DONE, Failure("It broke."))
    last = (*DONE, call("Bash make test", "red", Outcome.FAILED))
    stopped = (*DONE, Callout("observation", "Interrupted", "The user stopped the agent."))
    refused = (*DONE, call("Bash rm x", "", Outcome.REJECTED))
    talk = (user("Why?"), "Because.")
    for part in (failed, last, stopped, refused, talk):
        assert found(part, MORE) == [("phase-2", False)]


def test_a_phase_that_comes_before_others_changes_the_id_of_none() -> None:
    def ids(*phases: Phase) -> dict[str, str]:
        session = Session("s", status=Status.COMPLETED, phases=phases)
        found = find_trajectories(build_timeline(session, Evidence()))
        return {case.place.phase_name: case.id for case in found if not getattr(case.body, "whole", False)}

    def phase(name: str) -> Phase:
        return Phase(name, entries=(Intervention(name), call("Bash make")))

    before = ids(phase("Add it"), phase("Test it"))
    after = ids(phase("Look around"), phase("Add it"), phase("Test it"))
    assert len(before) == 2
    assert before.items() <= after.items()
