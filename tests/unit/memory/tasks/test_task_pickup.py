"""A picked-up task comes with all that is known for it; lists show counts."""

from __future__ import annotations

from pathlib import Path

from crucible.memory.tasks.annotations import AnnotationFolder, annotate, annotation_path
from crucible.memory.tasks.decision_flow import sources_of
from crucible.memory.tasks.task import Annotation, Inherited, OpenTask, Recalled, Ref, Stage, TaskDecision
from crucible.memory.tasks.task_pickup import TAG, RecallCounts, pick_up, recall_counts
from crucible.vault.events.event_reader import EventRecord


def task(ident: str, *needs: str, stage: Stage = Stage.PENDING) -> OpenTask:
    return OpenTask(Ref("s", ident), f"do {ident}", stage, needs=needs)


def test_counts_are_of_the_tasks_that_have_an_annotation(tmp_path: Path) -> None:
    annotate(AnnotationFolder(tmp_path), Annotation(Ref("s", "1"), "d", recalled=Recalled(("a", "b"), ("c",))))
    annotation_path(AnnotationFolder(tmp_path), Ref("s", "2")).mkdir()
    counts, troubles = recall_counts(AnnotationFolder(tmp_path), [Ref("s", "1"), Ref("s", "2"), Ref("s", "3")])
    assert counts == {Ref("s", "1"): RecallCounts(2, 1, 0)}
    assert len(troubles) == 1


def test_a_task_inherits_from_tasks_completed_before_it_was_added(tmp_path: Path) -> None:
    done = Stage.COMPLETED
    tasks = [task("1", stage=done), task("2", "1", stage=done), task("3", "2"), task("4", stage=done)]
    for ident in "124":
        annotate(
            AnnotationFolder(tmp_path),
            Annotation(Ref("s", ident), "d", choices=(TaskDecision(f"by {ident}", propagate=True),)),
        )
    annotate(AnnotationFolder(tmp_path), Annotation(Ref("s", "3"), "d", inherited=(Inherited("2", "by 2"),)))
    records = [EventRecord(1, "observation", values={"content": "x", "tag": TAG, "task_id": "4"})]
    found = pick_up(AnnotationFolder(tmp_path), tasks[2], tasks, records)
    assert found.inherited == (Inherited("2", "by 2"), Inherited("1", "by 1"))
    assert [one.text for one in found.discoveries] == ["x"]
    assert not found.troubles


def test_read_errors_are_reported_and_the_rest_is_there(tmp_path: Path) -> None:
    path = annotation_path(AnnotationFolder(tmp_path), Ref("s", "1"))
    path.parent.mkdir(parents=True)
    path.write_text("description: d\n]: [\n")
    found = pick_up(AnnotationFolder(tmp_path), task("1"), [task("1")])
    assert found.annotation
    assert "task 1: its annotation, line 2" in found.troubles[0]


def test_sources_in_a_circle_are_found_once() -> None:
    tasks = [
        task("1", "2"),
        task("2", "3", stage=Stage.COMPLETED),
        task("3", "1", "2", stage=Stage.COMPLETED),
    ]
    assert [one.ref.id for one in sources_of(tasks[0], tasks)] == ["2", "3"]
