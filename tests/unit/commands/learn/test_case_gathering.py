"""All cases of a session: those of sample sessions, those of real clients, and what holds for each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from crucible.analysis.tools.recorded_calls import RecordedCalls
from crucible.commands.learn.case import (
    CaseType,
    Choice,
    Delegation,
    Trajectory,
    with_digest,
)
from crucible.commands.learn.case_gathering import extract
from crucible.documents.session.findings import findings_of
from crucible.documents.session.session import Decision, FindingItem, Grounds
from tests.unit.commands.learn.sample_sessions import call, cases_of, corrected, imported, session_of, user

CLIENTS = ("claude-code", "codex", "opencode")


# --- the real clients -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("client", CLIENTS)
def test_delegations_of_a_real_session_are_found(client: str, tmp_path: Path) -> None:
    _, cases = imported(tmp_path / "v", client, "limiter")
    delegations = [case.body for case in cases if isinstance(case.body, Delegation)]
    assert [one.task for one in delegations] == [
        "Is time.time() safe for a limiter?",
    ]
    assert all(one.used for one in delegations)


# --- every case ------------------------------------------------------------------------------------------------------

FIRST = (user("Add a limiter."), Decision("A dict.", "It is quick."), call("Edit limiter.py", "ok"), "Done with it.")  # fmt: skip
ADDED = FindingItem("outcome", "Done with it.", grounds=Grounds("closing text", 0.9))
SECOND = (user("No, not global."), "Understood.", call("Edit limiter.py", "updated, +1 −1"), "Per user.")


def test_an_id_stays_when_the_note_grows() -> None:
    before = {case.id: case for case in cases_of(session_of(FIRST))}
    after = {case.id: case for case in cases_of(session_of(FIRST, SECOND))}
    kept = {one.id for one in before.values() if one.type is not CaseType.WORKFLOW}
    assert kept
    assert kept <= set(after)


def test_equal_cases_of_a_session_get_different_ids() -> None:
    asked = (
        user("Add it."),
        call("Edit a.py"),
        user("no, not there"),
        "The billing module then.",
        call("Edit b.py"),
        user("Now the other one."),
        call("Edit a.py"),
        user("no, not there"),
        "The billing module then.",
        call("Edit b.py"),
    )
    session = session_of(asked, findings=(corrected("no, not there"), corrected("no, not there")))
    ids = [case.id for case in cases_of(session) if case.type is CaseType.CORRECTION]
    assert len(set(ids)) == len(ids) == 2
    assert all(one.startswith("2026-05-04-told-correction-") for one in ids)


def test_renaming_a_session_keeps_the_hash_in_its_case_ids() -> None:
    phase = (user("Add it."), call("Edit a.py"), user("no, not there"), "The billing module then.", call("Edit b.py"), user("Go on."), call("Edit a.py"), user("no, not here"), "In the shop.", call("Edit c.py"))  # fmt: skip
    session = session_of(phase, findings=(corrected("no, not there"), corrected("no, not here")))
    one, other = (
        [case.id.removeprefix(name) for case in cases_of(replace(session, id=name))] for name in ("one", "other")
    )
    assert len(one) == len(set(one)) == 2
    assert one == other


def test_the_digest_depends_on_words_and_not_on_the_origin() -> None:
    late = session_of((user("Look."), "Looked.", call("Bash ls")), FIRST)
    one = next(case for case in cases_of(session_of(FIRST)) if case.type is CaseType.DECISION)
    two = next(case for case in cases_of(late) if case.type is CaseType.DECISION)
    assert isinstance(one.body, Choice)
    assert isinstance(two.body, Choice)
    same = replace(two, body=replace(two.body, situation=one.body.situation))
    assert with_digest(same).digest == one.digest
    assert with_digest(replace(one, body=replace(one.body, choice="a set"))).digest != one.digest


def test_a_case_names_its_origin() -> None:
    case = next(one for one in cases_of(session_of(FIRST)) if one.type is CaseType.DECISION)
    assert (case.agent, case.model, case.project) == ("claude-code@2.1", "some-model", "shop")
    assert (case.place.phase, case.place.phase_name) == ("phase-1", "Phase 1")
    assert case.started is not None
    assert case.tokens > 0


def test_secrets_are_redacted_and_counted() -> None:
    def redact(text: str) -> tuple[str, dict[str, int]]:
        return text.replace("hunter2", "[REDACTED:password]"), {"password": 1} if "hunter2" in text else {}

    session = session_of((user("Add it."), "I use hunter2 in /home/mira/x.", call("Bash ls"), user("no, not hunter2"), "Sorry.", call("Edit a.py")), findings=(corrected("no, not hunter2"),))  # fmt: skip
    cases = extract(session, {}, RecordedCalls(), redact)
    assert cases
    assert "hunter2" not in repr(cases)
    assert "/home/mira/x" in repr(cases)  # taken out on export
    assert {case.redactions.get("password") for case in cases if case.type is CaseType.CORRECTION} == {3}


def test_an_empty_session_has_no_cases() -> None:
    assert cases_of(session_of()) == ()
    assert cases_of(session_of((user("hello"),))) == ()


def test_a_workflow_has_all_turns() -> None:
    flow = next(case.body for case in cases_of(session_of(FIRST, findings=(ADDED,))) if case.type is CaseType.WORKFLOW)
    assert isinstance(flow, Trajectory)
    assert [turn.text for turn in flow.turns if turn.text][-1] == "Done with it."


def test_each_case_is_made_of_a_finding() -> None:
    session = session_of(FIRST, SECOND, findings=(ADDED, corrected("No, not global.")))
    summaries = {one.id: one.summary for one in findings_of(session)}
    cases = cases_of(session)
    assert {case.type for case in cases} == {CaseType.DECISION, CaseType.CORRECTION}
    assert all(summaries[case.finding] == case.title for case in cases)


def test_the_texts_of_a_case_stay_within_their_limits() -> None:
    long = "\n".join(f"line {number} of a very long output" for number in range(9000))
    phase = (user("Add it."), long, call("Edit a.py", long), user(f"no, not there {long}"), f"In billing. {long}", call("Edit b.py", long))  # fmt: skip
    [case] = cases_of(session_of(phase, findings=(corrected("no, not there"),)))
    assert case.tokens < 4000
