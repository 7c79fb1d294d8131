"""Decisions of a completed task are inherited by its dependents only."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from crucible.memory.tasks.annotations import AnnotationFolder, annotate, annotation_path, read_annotation
from crucible.memory.tasks.decision_flow import MOST_DEPENDENTS, dependents_of, flow_down, is_inherited
from crucible.memory.tasks.task import Annotation, DecisionKind, Inherited, OpenTask, Recalled, Ref, Stage, TaskDecision
from crucible.memory.tasks.task_pickup import pick_up

NOW = datetime(2026, 1, 25, 10, 30, tzinfo=UTC)


def task(ident: str, *needs: str, stage: Stage = Stage.PENDING) -> OpenTask:
    return OpenTask(Ref("s", ident), f"do {ident}", stage, needs=needs)


@given(st.text(), st.sampled_from(DecisionKind))
def test_a_decision_flows_unless_its_type_stays_and_a_mark_wins(text: str, kind: DecisionKind) -> None:
    assert is_inherited(TaskDecision(text))
    assert is_inherited(TaskDecision(text, kind=kind)) is (kind not in {DecisionKind.DETAIL, DecisionKind.BUG_FIX})
    assert is_inherited(TaskDecision(text, kind=kind, propagate=True))
    assert not is_inherited(TaskDecision(text, kind=kind, propagate=False))


def test_a_vault_configures_which_kinds_are_inherited() -> None:
    assert is_inherited(TaskDecision("x", kind=DecisionKind.BUG_FIX), [DecisionKind.BUG_FIX])


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
    recalled = Recalled(("P-1",), query="q")
    annotate(AnnotationFolder(tmp_path), Annotation(Ref("s", "2"), "do 2", recalled=recalled))
    choices = (
        TaskDecision("Use Stripe", "webhooks", finding="decision-1"),
        TaskDecision("A mutex", kind=DecisionKind.DETAIL),
    )
    annotate(AnnotationFolder(tmp_path), Annotation(Ref("s", "1"), "do 1", choices=choices))
    inherited = (Inherited("1", "Use Stripe", "webhooks", "decision-1"),)
    for _ in range(2):
        assert list(flow_down(AnnotationFolder(tmp_path), Ref("s", "1"), tasks, NOW)) == []
        assert read_annotation(AnnotationFolder(tmp_path), Ref("s", "2"))[0] == Annotation(
            Ref("s", "2"), "do 2", recalled=recalled, inherited=inherited
        )
        assert read_annotation(AnnotationFolder(tmp_path), Ref("s", "3"))[0] == Annotation(
            Ref("s", "3"), "do 3", NOW, inherited=inherited
        )
    assert read_annotation(AnnotationFolder(tmp_path), Ref("s", "4"))[0] is None


def test_a_decision_in_other_words_is_inherited_once(tmp_path: Path) -> None:
    shelf, tasks = AnnotationFolder(tmp_path), [task("1", stage=Stage.COMPLETED), task("2", "1")]
    annotate(shelf, Annotation(Ref("s", "1"), "do 1", choices=(TaskDecision("Use Stripe", finding="decision-1"),)))
    mine = Inherited("1", "Stripe, as agreed", finding="decision-1")
    annotate(shelf, Annotation(Ref("s", "2"), "do 2", inherited=(mine,)))
    assert list(flow_down(shelf, Ref("s", "1"), tasks, NOW)) == []
    note, _ = read_annotation(shelf, Ref("s", "2"))
    assert note
    assert note.inherited == pick_up(shelf, tasks[1], tasks).inherited == (mine,)


def test_a_task_without_decisions_writes_nothing(tmp_path: Path) -> None:
    assert list(flow_down(AnnotationFolder(tmp_path), Ref("s", "1"), [task("2", "1")], NOW)) == []
    assert not list(tmp_path.iterdir())


def test_a_failing_dependent_is_reported_and_others_inherit(tmp_path: Path) -> None:
    annotate(AnnotationFolder(tmp_path), Annotation(Ref("s", "1"), "d", choices=(TaskDecision("x", propagate=True),)))
    annotation_path(AnnotationFolder(tmp_path), Ref("s", "2")).mkdir()
    failed = list(flow_down(AnnotationFolder(tmp_path), Ref("s", "1"), [task("2", "1"), task("3", "1")], NOW))
    assert [ref for ref, _ in failed] == [Ref("s", "2")]
    assert read_annotation(AnnotationFolder(tmp_path), Ref("s", "3"))[0]


def test_only_the_nearest_dependents_are_updated_the_others_at_pickup(
    tmp_path: Path,
) -> None:
    shelf, first = AnnotationFolder(tmp_path), Ref("s", "0")
    chain = [task("0", stage=Stage.COMPLETED), *(task(str(n), str(n - 1)) for n in range(1, MOST_DEPENDENTS + 50))]
    annotate(shelf, Annotation(first, "a", NOW, choices=(TaskDecision("Use Stripe", propagate=True),)))
    assert list(flow_down(shelf, first, chain, NOW)) == []
    told = [one for one in chain[1:] if read_annotation(shelf, one.ref)[0]]
    assert told == chain[1 : MOST_DEPENDENTS + 1]
    assert pick_up(shelf, chain[-1], chain).inherited == (Inherited("0", "Use Stripe"),)
