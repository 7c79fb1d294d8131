"""The quality of recall stays above floors a little below the measured figures, by kind of question and split."""

from __future__ import annotations

from collections import Counter

import pytest

from crucible.vault.notes.vault import Vault
from samples.recall_eval.measuring import Outcome, figures_by, put_all, score
from samples.recall_eval.questions import Graded, grade_all, read_questions
from samples.recall_eval.vault import documents, open_recall

SESSIONS = {
    "agent": (92, 98, 95),
    "calendar": (55, 72, 66),
    "chat": (65, 90, 78),
    "date": (75, 87, 84),
    "decision": (88, 96, 92),
    "error": (95, 97, 97),
    "followup": (60, 80, 70),
    "identifier": (97, 98, 98),
    "misspelt": (87, 87, 88),
    "pasted": (83, 97, 90),
    "prose": (85, 97, 92),
    "rambling": (75, 83, 80),
    "subagent": (90, 97, 94),
    "tool": (92, 100, 96),
    "typo": (80, 98, 88),
    "user": (91, 98, 95),
    "all": (86, 93, 90),
}
"""Floors by kind, in per cent: recall at 1, recall at 5, reciprocal rank; none where words cannot find the answer."""
EVENTS = {
    "agent": (68, 88, 76),
    "calendar": (38, 55, 49),
    "chat": (20, 36, 33),
    "date": (43, 72, 57),
    "decision": (60, 94, 74),
    "error": (66, 94, 79),
    "followup": (30, 60, 44),
    "identifier": (90, 97, 94),
    "knowledge": (88, 94, 92),
    "misspelt": (75, 87, 80),
    "pasted": (83, 97, 90),
    "prose": (40, 80, 60),
    "rambling": (33, 50, 44),
    "subagent": (40, 80, 60),
    "tool": (73, 97, 84),
    "user": (86, 97, 90),
    "all": (63, 83, 72),
}
HALVES = {"open": (87, 93, 90), "held": (84, 92, 88)}
HALVES_OF_EVENTS = {"open": (65, 82, 73), "held": (58, 79, 68)}


@pytest.fixture(scope="module")
def questions(evaluation: Vault) -> list[Graded]:
    return grade_all(read_questions(), documents(evaluation))


@pytest.fixture(scope="module")
def outcomes(evaluation: Vault, questions: list[Graded]) -> list[Outcome]:
    return put_all(questions, open_recall(evaluation).ask)


def _check(outcomes: list[Outcome], side: str, by_split: bool, floors: dict[str, tuple[int, int, int]]) -> None:
    found = figures_by(outcomes, side, lambda one: getattr(one.graded.asked, "split" if by_split else "kind"))
    for name, floor in floors.items():
        means = found[name].means
        measured = tuple(round(100 * value, 1) for value in (means.r1, means.r5, means.mrr))
        assert all(value >= least for value, least in zip(measured, floor, strict=True)), (
            f"{side} of {name}: {measured} is below {floor}; `make recall-eval` tells more"
        )


def test_session_quality_stays_above_its_floor(outcomes: list[Outcome]) -> None:
    _check(outcomes, "sessions", False, SESSIONS)


def test_event_quality_stays_above_its_floor(outcomes: list[Outcome]) -> None:
    _check(outcomes, "events", False, EVENTS)


def test_held_out_questions_do_as_well_as_open_ones(outcomes: list[Outcome]) -> None:
    _check(outcomes, "sessions", True, HALVES)
    _check(outcomes, "events", True, HALVES_OF_EVENTS)


def test_every_question_has_hits(outcomes: list[Outcome]) -> None:
    assert [one.graded.asked.text for one in outcomes if one.empty] == []


def test_there_are_enough_questions_of_every_kind_in_both_halves(questions: list[Graded]) -> None:
    kinds = Counter((one.asked.kind, one.asked.split) for one in questions)
    assert len({one.asked.text for one in questions}) >= 200
    for kind in {kind for kind, _ in kinds}:
        assert abs(kinds[kind, "open"] - kinds[kind, "held"]) <= 1, kind
    assert all(2 in one.events.values() for one in questions)


def test_the_evaluation_vault_has_many_sessions_and_projects(evaluation: Vault) -> None:
    found = [one for one in documents(evaluation) if one.path.startswith("sessions/")]
    agents = {event.agent.partition("@")[0] for one in found for event in one.events}
    assert len(found) >= 100
    assert len({one.project for one in found}) >= 7
    assert {"claude-code", "codex", "opencode", "gemini-cli"} <= agents
    assert len({one.started.strftime("%Y-%m") for one in found if one.started}) >= 12


def test_figures_count_only_the_selected_questions() -> None:
    grades = {"a": 2, "b": 2, "c": 1}
    scored = score(["x", "a", "c", "y", "b"], grades)
    assert scored[:4] == (0.0, 1.0, 1.0, 0.5)
    assert 0 < scored.ndcg < 1
    assert score(["a", "b", "c"], grades) == (1.0, 1.0, 1.0, 1.0, 1.0)
    assert score([], grades) == (0.0, 0.0, 0.0, 0.0, 0.0)
