"""What a finished task decided comes down to those that depend on it, and nothing else does."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.errors import VaultError
from crucible.tasks.annotations import Shelf, annotate, annotation_path, read_annotation
from crucible.tasks.flowing import (
    MOST_TOLD,
    Flowed,
    dependents_of,
    flow_down,
    flows,
    kind_of,
    note_choice,
)
from crucible.tasks.model import Annotation, Choice, ChoiceKind, Inherited, OpenTask, Recalled, Ref, Stage
from crucible.tasks.picking import pick_up

NOW = datetime(2026, 1, 25, 10, 30, tzinfo=UTC)


def task(ident: str, *needs: str, stage: Stage = Stage.PENDING) -> OpenTask:
    return OpenTask(Ref("s", ident), f"do {ident}", stage, needs=needs)


@pytest.mark.parametrize(
    ("summary", "kind"),
    [
        ("Using Stripe for payments", ChoiceKind.TECHNOLOGY),
        ("Idempotency keys use UUIDv7", ChoiceKind.TECHNOLOGY),
        ("Switched to pnpm and Postgres", ChoiceKind.TECHNOLOGY),
        ("We chose the fast SQLite store", ChoiceKind.TECHNOLOGY),
        ("POST /payments returns 202 Accepted", ChoiceKind.API),
        ("The endpoint answers with a cursor", ChoiceKind.API),
        ("Event sourcing for payment state", ChoiceKind.ARCHITECTURE),
        ("Split billing into a separate service", ChoiceKind.ARCHITECTURE),
        ("Used mutex instead of channel", ChoiceKind.DETAIL),
        ("Renamed the loop variable", ChoiceKind.DETAIL),
        ("Fixed nil pointer in handler", ChoiceKind.BUG_FIX),
        ("Fix the POST /payments crash", ChoiceKind.BUG_FIX),
    ],
)
def test_a_decisions_kind_is_told_by_its_words(summary: str, kind: ChoiceKind) -> None:
    assert kind_of(Choice(summary)) is kind


@given(st.text(), st.sampled_from(ChoiceKind))
def test_a_kind_that_was_written_counts_and_a_mark_wins_over_it(text: str, kind: ChoiceKind) -> None:
    assert kind_of(Choice(text, kind=kind)) is kind
    assert flows(Choice(text, kind=kind)) is (kind not in {ChoiceKind.DETAIL, ChoiceKind.BUG_FIX})
    assert flows(Choice(text, kind=kind, propagate=True))
    assert not flows(Choice(text, kind=kind, propagate=False))


def test_a_vault_says_itself_which_kinds_flow() -> None:
    assert flows(Choice("x", kind=ChoiceKind.BUG_FIX), [ChoiceKind.BUG_FIX])


def test_dependents_are_found_through_others_and_in_a_circle_once() -> None:
    tasks = [
        task("1", "3"),
        task("2", "1"),
        task("3", "2", "2"),
        task("4"),
        task("5", "3", stage=Stage.COMPLETED),
    ]
    assert [one.ref.id for one in dependents_of(Ref("s", "1"), tasks)] == ["2", "3"]


def test_other_lists_depend_on_nothing_here() -> None:
    assert not dependents_of(Ref("other", "1"), [task("2", "1")])


def test_decisions_flow_down_once(tmp_path: Path) -> None:
    tasks = [task("1", stage=Stage.COMPLETED), task("2", "1"), task("3", "2"), task("4")]
    annotate(Shelf(tmp_path), Annotation(Ref("s", "1"), "do 1"))
    recalled = Recalled(("P-1",), query="q")
    annotate(Shelf(tmp_path), Annotation(Ref("s", "2"), "do 2", recalled=recalled))
    note_choice(Shelf(tmp_path), Ref("s", "1"), Choice("Using Stripe for payments", "webhooks"))
    note_choice(Shelf(tmp_path), Ref("s", "1"), Choice("Using Stripe for payments", "webhooks"))
    note_choice(Shelf(tmp_path), Ref("s", "1"), Choice("Used mutex instead of channel"))
    flowed = flow_down(Shelf(tmp_path), Ref("s", "1"), tasks, NOW)
    assert flowed == Flowed((Ref("s", "2"), Ref("s", "3")))
    inherited = (Inherited("1", "Using Stripe for payments", "webhooks"),)
    assert read_annotation(Shelf(tmp_path), Ref("s", "2"))[0] == Annotation(
        Ref("s", "2"), "do 2", recalled=recalled, inherited=inherited
    )
    assert read_annotation(Shelf(tmp_path), Ref("s", "3"))[0] == Annotation(
        Ref("s", "3"), "do 3", NOW, inherited=inherited
    )
    assert read_annotation(Shelf(tmp_path), Ref("s", "4"))[0] is None
    assert flow_down(Shelf(tmp_path), Ref("s", "1"), tasks, NOW) == Flowed()


def test_a_task_without_decisions_writes_nothing(tmp_path: Path) -> None:
    assert flow_down(Shelf(tmp_path), Ref("s", "1"), [task("2", "1")], NOW) == Flowed()
    assert not list(tmp_path.iterdir())


def test_a_decision_needs_an_annotation(tmp_path: Path) -> None:
    with pytest.raises(VaultError):
        note_choice(Shelf(tmp_path), Ref("s", "1"), Choice("x"))


def test_a_dependent_that_cannot_be_told_is_named_and_the_others_are_told(tmp_path: Path) -> None:
    annotate(Shelf(tmp_path), Annotation(Ref("s", "1"), "d", choices=(Choice("x", propagate=True),)))
    annotation_path(Shelf(tmp_path), Ref("s", "2")).mkdir()
    flowed = flow_down(Shelf(tmp_path), Ref("s", "1"), [task("2", "1"), task("3", "1")], NOW)
    assert flowed.told == (Ref("s", "3"),)
    assert [ref for ref, _ in flowed.failed] == [Ref("s", "2")]


def test_of_very_many_dependents_the_nearest_are_told_and_the_others_when_they_are_picked_up(
    tmp_path: Path,
) -> None:
    shelf, first = Shelf(tmp_path), Ref("s", "0")
    chain = [task("0", stage=Stage.COMPLETED), *(task(str(n), str(n - 1)) for n in range(1, MOST_TOLD + 50))]
    annotate(shelf, Annotation(first, "a", NOW, choices=(Choice("Use Stripe", propagate=True),)))
    told = flow_down(shelf, first, chain, NOW).told
    assert told == tuple(Ref("s", str(n)) for n in range(1, MOST_TOLD + 1))
    assert pick_up(shelf, chain[-1], chain).inherited == (Inherited("0", "Use Stripe"),)
