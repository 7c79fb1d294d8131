"""What becomes of a candidate."""

from __future__ import annotations

import math
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.commands.capture.candidates import Candidate, CandidateKind, Handling
from crucible.commands.capture.selection import is_preselected, once_each, way_of
from crucible.core.settings.session_settings import CaptureSettings
from crucible.documents.knowledge.item_rules import likeness, words_of
from crucible.documents.knowledge.items import Attribution, Category
from crucible.documents.session.findings import Source
from tests.cases import for_each
from tests.counting import steps_of

SETTINGS = CaptureSettings()


def candidate(kind: CandidateKind, confidence: float) -> Candidate:
    return Candidate(kind, confidence, "Something", "phase-1", 10)


def attributed(category: Category, confidence: float) -> Attribution:
    return Attribution(category, "why", "what", confidence)


@pytest.mark.parametrize("kind", [CandidateKind.ADR, CandidateKind.EVIDENCE, CandidateKind.SELF_CORRECTION])
def test_some_kinds_are_kept_without_a_question(kind: CandidateKind) -> None:
    assert way_of(candidate(kind, 0.7), SETTINGS) is Handling.SILENT
    assert way_of(candidate(kind, 0.69), SETTINGS) is Handling.LIST
    assert way_of(candidate(kind, 0.59), SETTINGS) is Handling.DROP
    assert way_of(candidate(kind, 0.9), SETTINGS._replace(silent=False)) is Handling.ASK


@for_each("kind", [CandidateKind.DECISION, CandidateKind.PATTERN])
@for_each(
    ("confidence", "way"),
    [(0.59, Handling.DROP), (0.6, Handling.LIST), (0.69, Handling.LIST), (0.7, Handling.ASK), (1.0, Handling.ASK)],
)
def test_others_are_asked_about_from_point_seven_on(kind: CandidateKind, confidence: float, way: Handling) -> None:
    assert way_of(candidate(kind, confidence), SETTINGS) is way


def test_the_vault_may_want_to_be_surer() -> None:
    assert way_of(candidate(CandidateKind.DECISION, 0.75), SETTINGS._replace(min_confidence=0.8)) is Handling.DROP


@pytest.mark.parametrize(
    "kind", [CandidateKind.DECISION, CandidateKind.FAILURE, CandidateKind.CORRECTION, CandidateKind.OBSERVATION]
)
def test_explicitly_recorded_findings_are_kept_without_a_question(kind: CandidateKind) -> None:
    told = candidate(kind, 1.0)._replace(source=Source.CALLOUT)
    assert way_of(told, SETTINGS) is Handling.SILENT
    assert way_of(told, SETTINGS._replace(silent=False)) is Handling.ASK
    assert way_of(told._replace(source=Source.MODEL), SETTINGS) is Handling.ASK


@pytest.mark.parametrize(
    ("category", "confidence", "way"),
    [
        (Category.TOOL_MISUSE, 0.99, Handling.ASK),
        (Category.KNOWLEDGE_GAP, 0.84, Handling.ASK),
        (Category.CONTEXT_MISSING, 0.6, Handling.ASK),
        (Category.CONTEXT_MISSING, 0.59, Handling.DROP),
        (Category.EXTERNAL_DEP, 0.99, Handling.DROP),
        (Category.EXECUTION_ERROR, 0.99, Handling.DROP),
        (Category.REQUIREMENTS_AMBIG, 0.99, Handling.DROP),
    ],
)
def test_a_failure_goes_where_its_attribution_says(category: Category, confidence: float, way: Handling) -> None:
    found = attributed(category, confidence)
    assert way_of(candidate(CandidateKind.FAILURE, 0.9), SETTINGS, found) is way
    assert way_of(candidate(CandidateKind.FAILURE, 0.65), SETTINGS, found) is (
        Handling.LIST if way is not Handling.DROP else way
    )
    silent = Handling.DROP if way is Handling.DROP else Handling.SILENT
    assert way_of(candidate(CandidateKind.SELF_CORRECTION, 0.9), SETTINGS, found) is silent


@pytest.mark.parametrize("category", Category)
def test_what_knowledge_could_have_prevented_are_three_of_the_six(category: Category) -> None:
    preventable = {Category.KNOWLEDGE_GAP, Category.TOOL_MISUSE, Category.CONTEXT_MISSING}
    found = attributed(category, 0.9)
    assert found.preventable is (category in preventable)
    assert (way_of(candidate(CandidateKind.FAILURE, 0.9), SETTINGS, found) is Handling.ASK) is found.preventable


def test_a_confidence_that_is_no_number_is_none() -> None:
    found = attributed(Category.TOOL_MISUSE, math.nan)
    assert way_of(candidate(CandidateKind.FAILURE, 0.9), SETTINGS, found) is Handling.DROP


def test_a_failure_with_an_unknown_cause_is_asked_about() -> None:
    assert way_of(candidate(CandidateKind.FAILURE, 0.9), SETTINGS) is Handling.ASK
    assert way_of(candidate(CandidateKind.SELF_CORRECTION, 0.9), SETTINGS) is Handling.SILENT


def test_what_was_recorded_on_purpose_is_kept_whatever_its_category() -> None:
    told = candidate(CandidateKind.FAILURE, 1.0)._replace(source=Source.CALLOUT)
    assert way_of(told, SETTINGS, attributed(Category.EXTERNAL_DEP, 0.99)) is Handling.SILENT


def test_no_failure_is_kept_without_a_question() -> None:
    sure = Attribution(Category.KNOWLEDGE_GAP, "why", "what", 0.85)
    assert way_of(candidate(CandidateKind.FAILURE, 0.9), SETTINGS, sure) is Handling.ASK
    assert is_preselected(candidate(CandidateKind.FAILURE, 0.9), sure)


def test_above_point_eight_it_is_ticked_beforehand() -> None:
    assert not is_preselected(candidate(CandidateKind.DECISION, 0.8))
    assert is_preselected(candidate(CandidateKind.DECISION, 0.81))
    assert not is_preselected(candidate(CandidateKind.FAILURE, 0.95), attributed(Category.TOOL_MISUSE, 0.7))


def decisions(titles: list[str]) -> list[Candidate]:
    return [candidate(CandidateKind.DECISION, 0.9)._replace(summary=title) for title in titles]


WORDS = "alder birch cedar elm fir gum hazel ivy juniper kapok larch maple".split()  # noqa: SIM905


@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join), max_size=20))
def test_of_titles_with_nearly_the_same_words_the_first_is_kept(titles: list[str]) -> None:
    kept: list[str] = []
    for title in titles:
        if not any(likeness(words_of(title), words_of(other)) >= 0.8 for other in kept):
            kept.append(title)
    assert [one.summary for one in once_each(decisions(titles))] == kept


def test_dropping_duplicates_takes_about_twice_the_work_for_twice_the_titles() -> None:
    def titles(count: int) -> list[str]:
        return [f"Keep store {at} of worker{at} in the shared table" for at in range(count)]

    few, many = (steps_of(partial(list, once_each(decisions(titles(count))))) for count in (50, 100))
    assert many <= 2.3 * few
