"""All cases of a session: those that were planted, those of the real clients, and what holds of each."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from crucible.acts.evidence import Evidence
from crucible.cases.extracting import extract
from crucible.cases.hiding import leaks
from crucible.cases.making import measured
from crucible.cases.model import (
    Case,
    CaseType,
    Choice,
    Correction,
    Delegation,
    Puzzle,
    Trajectory,
)
from crucible.cases.texts import texts_of
from tests.cases.extracted import call, cases_of, extract_all, imported, session_of, user
from tests.cases.planted import Generated, generate, score

CLIENTS = ("claude-code", "codex", "opencode")
SEEDS = 60


@pytest.fixture(scope="module")
def planted() -> list[tuple[Generated, list[Case]]]:
    made = [generate(random.Random(f"tests:{seed}")) for seed in range(SEEDS)]
    return [(one, extract_all(one)) for one in made]


@pytest.mark.parametrize("kind", [kind for kind in CaseType if kind is not CaseType.WORKFLOW])
def test_what_was_planted_is_found_and_nothing_else(
    kind: CaseType, planted: list[tuple[Generated, list[Case]]]
) -> None:
    found = score(planted)[kind]
    assert len(found.found) > 20
    assert found.recall >= 0.98, found.missed
    assert found.precision >= 0.98, found.wrong


def test_no_two_cases_have_one_id(planted: list[tuple[Generated, list[Case]]]) -> None:
    ids = [case.id for _, cases in planted for case in cases]
    assert len(ids) == len(set(ids))


def test_cases_stand_in_the_order_of_their_note(planted: list[tuple[Generated, list[Case]]]) -> None:
    for generated, cases in planted:
        for ident in generated.sessions:
            lines = [case.place.line for case in cases if case.place.session == ident]
            assert lines == sorted(lines)
            assert all(lines)


def test_a_session_gives_the_same_cases_again(planted: list[tuple[Generated, list[Case]]]) -> None:
    assert [extract_all(one) for one, _ in planted[:5]] == [cases for _, cases in planted[:5]]


def test_whether_a_delegation_was_used_is_told_where_it_can_be(
    planted: list[tuple[Generated, list[Case]]],
) -> None:
    told = [
        (one.used, case.body.used)
        for one, case in score(planted)[CaseType.DELEGATION].found
        if isinstance(case.body, Delegation)
    ]
    wrong = [pair for pair in told if pair[0] is not None and pair[0] is not pair[1]]
    assert len(wrong) <= len(told) // 20, told


def test_the_reason_of_a_decision_is_what_was_said(planted: list[tuple[Generated, list[Case]]]) -> None:
    for one, case in score(planted)[CaseType.DECISION].found:
        assert isinstance(case.body, Choice)
        assert one.rationale.casefold() in case.body.rationale.casefold()
        assert one.choice.casefold() in case.body.choice.casefold()


# --- the real clients -------------------------------------------------------------------------------------------------


def _bodies(cases: list[Case], kind: CaseType) -> list[object]:
    return [case.body for case in cases if case.type is kind]


@pytest.mark.parametrize("client", CLIENTS)
def test_the_retry_session_holds_exactly_its_cases(client: str, tmp_path: Path) -> None:
    _, cases = imported(tmp_path / "v", client, "retry")
    [puzzle] = _bodies(cases, CaseType.PUZZLE)
    assert isinstance(puzzle, Puzzle)
    assert "connection reset" in puzzle.failure
    [correction] = _bodies(cases, CaseType.CORRECTION)
    assert isinstance(correction, Correction)
    assert correction.words == "No, jitter must never be zero. Add a floor."
    assert correction.goal == "Fix the retry bug in app.py"
    assert correction.did
    assert "You are right" in correction.then[0].text
    [choice] = _bodies(cases, CaseType.DECISION)
    assert isinstance(choice, Choice)
    assert choice.choice == "exponential backoff with jitter"
    assert choice.rationale == "it prevents a thundering herd on recovery"
    assert "jitter must never be zero" in choice.outcome
    [delegation] = _bodies(cases, CaseType.DELEGATION)
    assert isinstance(delegation, Delegation)
    assert delegation.task == "Find how retries are done in this repository and report."
    assert delegation.used is True


@pytest.mark.parametrize("client", CLIENTS)
def test_the_limiter_session_holds_exactly_its_cases(client: str, tmp_path: Path) -> None:
    _, cases = imported(tmp_path / "v", client, "limiter")
    [puzzle] = _bodies(cases, CaseType.PUZZLE)
    assert isinstance(puzzle, Puzzle)
    assert "test_third" in puzzle.failure
    assert "monotonic" in puzzle.expected
    [correction] = _bodies(cases, CaseType.CORRECTION)
    assert isinstance(correction, Correction)
    assert correction.words == "It must be per user, not global"
    choices = [body for body in _bodies(cases, CaseType.DECISION) if isinstance(body, Choice)]
    assert [(one.choice, one.options) for one in choices] == [
        ("a token bucket", ("a token bucket", "a sliding log")),
        ("a dict of buckets keyed by user id", ()),
    ]
    delegations = [body for body in _bodies(cases, CaseType.DELEGATION) if isinstance(body, Delegation)]
    assert [one.task for one in delegations] == [
        "Is time.time() safe for a limiter?",
        "Write a test for TokenBucket and run it.",
    ]
    assert all(one.used is not False for one in delegations)
    assert {case.type for case in cases} - set(CaseType) == set()


# --- what holds of each -------------------------------------------------------------------------------------------------

FIRST = (user("Add a limiter."), "I chose a dict over a list because it is quick.", call("Bash make test", "ok"), "Done.")  # fmt: skip
SECOND = (user("No, not global."), "Understood.", call("Edit limiter.py", "updated, +1 −1"), "Per user.")


def test_an_id_stays_when_the_note_grows() -> None:
    before = {case.id: case for case in cases_of(session_of(FIRST))}
    after = {case.id: case for case in cases_of(session_of(FIRST, SECOND))}
    kept = {one.id for one in before.values() if one.type is not CaseType.WORKFLOW}
    assert kept
    assert kept <= set(after)


def test_the_second_of_the_same_has_another_id() -> None:
    asked = (
        user("Add it."),
        "Done.",
        user("no"),
        "Otherwise, then.",
        call("Edit a.py"),
        user("no"),
        "Again.",
    )
    ids = [case.id for case in cases_of(session_of(asked)) if case.type is CaseType.CORRECTION]
    assert len(set(ids)) == len(ids) == 2
    assert all(one.startswith("2026-05-04-told-correction-") for one in ids)


def test_a_session_that_gets_another_name_keeps_what_tells_its_cases_apart() -> None:
    told = session_of((user("Add it."), "Done.", call("Bash ls"), user("no"), "So.", call("Edit a.py"), user("no"), "So."))  # fmt: skip
    one, other = (
        [case.id.removeprefix(name) for case in cases_of(replace(told, id=name))] for name in ("one", "other")
    )
    assert len(one) == len(set(one)) > 2
    assert one == other


def test_a_digest_is_of_the_words_and_not_of_their_place() -> None:
    late = session_of((user("Look."), "Looked.", call("Bash ls")), FIRST)
    one = next(case for case in cases_of(session_of(FIRST)) if case.type is CaseType.DECISION)
    two = next(case for case in cases_of(late) if case.type is CaseType.DECISION)
    assert isinstance(one.body, Choice)
    assert isinstance(two.body, Choice)
    same = replace(two, body=replace(two.body, situation=one.body.situation))
    assert measured(same).digest == one.digest
    assert measured(replace(one, body=replace(one.body, choice="a set"))).digest != one.digest


def test_a_case_says_where_it_comes_from() -> None:
    case = next(one for one in cases_of(session_of(FIRST)) if one.type is CaseType.DECISION)
    assert (case.agent, case.model, case.project) == ("claude-code@2.1", "some-model", "shop")
    assert (case.place.phase, case.place.phase_name) == ("phase-1", "Phase 1")
    assert case.started is not None
    assert case.tokens > 0


def test_secrets_are_taken_out_and_counted_and_looked_for_once() -> None:
    seen: list[str] = []

    def redact(text: str) -> tuple[str, dict[str, int]]:
        seen.append(text)
        return text.replace("hunter2", "[REDACTED:password]"), {"password": 1} if "hunter2" in text else {}

    told = session_of((user("Add it."), "I use hunter2 in /home/mira/x.", call("Bash ls"), user("no, not hunter2"), "Sorry."))  # fmt: skip
    cases = extract(told, {}, lambda _: Evidence(), redact)
    assert cases
    assert "hunter2" not in repr(cases)
    assert "/home/mira/x" in repr(cases)  # taken out on export
    assert {case.redactions.get("password") for case in cases if case.type is CaseType.CORRECTION} == {2}
    assert len(seen) == len(set(seen))


def test_a_session_without_anything_has_no_case() -> None:
    assert cases_of(session_of()) == ()
    assert cases_of(session_of((user("hello"),))) == ()


def test_a_workflow_tells_all_turns() -> None:
    flow = next(case.body for case in cases_of(session_of(FIRST)) if case.type is CaseType.WORKFLOW)
    assert isinstance(flow, Trajectory)
    assert [turn.text for turn in flow.turns if turn.text][-1] == "Done."


def test_no_extracted_puzzle_holds_its_solution(planted: list[tuple[Generated, list[Case]]]) -> None:
    """What a workflow tells whole is not put back into the puzzle of the same calls."""
    bodies = [case.body for _, cases in planted for case in cases if isinstance(case.body, Puzzle)]
    assert any("[…]" in str(body.tried) for body in bodies)
    assert [body for body in bodies if leaks(body)] == []


def test_what_cases_share_is_cleaned_and_counted_in_each(planted: list[tuple[Generated, list[Case]]]) -> None:
    def without(text: str) -> tuple[str, Mapping[str, int]]:
        return text.replace("e", "#"), {"letter": text.count("e")} if "e" in text else {}

    for generated, cases in planted[:10]:
        for clean, plain in zip(extract_all(generated, without), cases, strict=True):
            assert not any("e" in text for text in texts_of(clean.body))
            assert sum(clean.redactions.values()) >= sum(text.count("e") for text in texts_of(plain.body))
