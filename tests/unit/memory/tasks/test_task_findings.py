"""A finding belongs to the task that was in progress when it was made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crucible.documents.markdown.source import Source
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import Decision, Failure, Grounds, Phase, Session, Task
from crucible.documents.session.session_reader import read_session
from crucible.memory.tasks.annotations import AnnotationFolder, annotate, change_annotation, read_annotation
from crucible.memory.tasks.decision_flow import findings_by_task, pass_on_decisions
from crucible.memory.tasks.task import Annotation, Inherited, Ref, TaskDecision
from crucible.vault.events.append_entry import append_entry
from crucible.vault.events.event_reader import EventRecord
from crucible.vault.notes.vault import Vault

NAME = "2026-11-21-queue"


def time(minute: int) -> datetime:
    return datetime(2026, 11, 21, 10, minute, tzinfo=UTC)


def text(minute: int) -> str:
    return f"2026-11-21T10:{minute:02}:00Z"


def task(ident: str, begun: int | None, done: int | None = None, status: str = "") -> Task:
    return Task(
        ident,
        f"do {ident}",
        status or ("completed" if done is not None else "in_progress"),
        started=None if begun is None else text(begun),
        completed=None if done is None else text(done),
    )


def decided(row: str) -> Decision:
    return Decision(f"take {row}", grounds=Grounds("reply", 0.8, (row,)))


def session(tasks: Iterable[Task], *phases: tuple[int, tuple[Decision | Failure, ...]]) -> Session:
    listed = (
        Phase(f"Turn {n}", started=time(minute), entries=entries, id=f"phase-{n}")
        for n, (minute, entries) in enumerate(phases, 1)
    )
    return Session(NAME, started=time(0), tasks=tuple(tasks), phases=tuple(listed))


def rows(**minutes: int) -> list[EventRecord]:
    return [
        EventRecord(n, "Prompted", time(minute), row=f"{row}-and-more")
        for n, (row, minute) in enumerate(minutes.items())
    ]


def owners(told: Session, records: Iterable[EventRecord] = ()) -> dict[str, list[str]]:
    return {name: [one.summary for one in found] for name, found in findings_by_task(told, records).items()}


def test_a_decision_is_the_task_s_that_was_in_progress() -> None:
    told = session([task("1", 5, 10), task("2", 10)], (0, tuple(map(decided, ("a", "b", "c", "d")))))
    assert owners(told, rows(a=4, b=6, c=10, d=30)) == {"1": ["take b"], "2": ["take c", "take d"]}


def test_of_several_tasks_in_progress_the_last_one_to_begin_has_the_decision() -> None:
    told = session([task("1", 1, 20), task("2", 5, 15)], (0, tuple(map(decided, "abc"))))
    assert owners(told, rows(a=2, b=6, c=16)) == {"1": ["take a", "take c"], "2": ["take b"]}


def test_a_task_that_was_left_in_progress_has_no_decision_of_a_later_turn() -> None:
    told = session([task("1", 1), task("2", 5, 15)], (0, (decided("a"),)), (20, (decided("b"),)))
    assert owners(told, rows(a=16, b=21)) == {"1": ["take a"]}


@pytest.mark.parametrize("status", ["pending", "cancelled"])
def test_a_task_that_was_put_off_was_in_progress_until_the_next_one_began(status: str) -> None:
    told = session([task("1", 1, status=status), task("2", 5, 15)], (0, tuple(map(decided, "abc"))))
    assert owners(told, rows(a=4, b=6, c=16)) == {"1": ["take a"], "2": ["take b"]}


def test_without_the_whole_events_the_start_of_the_turn_counts() -> None:
    told = session([task("1", 5, 25), task("2", 25)], (0, (decided("a"),)), (10, (decided("b"),)))
    assert owners(told) == {"1": ["take b"]}


def test_a_decision_in_a_tasks_sub_phase_belongs_to_the_task() -> None:
    parts = [Phase(f"do {n}", started=time(minute), entries=(decided(row),)) for n, minute, row in PARTS]
    turn = Phase("Turn", started=time(1), entries=(decided("before"),), subphases=tuple(parts))
    told = read_session(
        Source(render_session(replace(session([task("1", 4, 8), task("2", 8, 9)]), phases=(turn,)))), NAME
    )
    assert owners(told, rows(before=2, first=2, later=2)) == {"1": ["take first"]}
    assert owners(told) == {"1": ["take first"]}


PARTS = (("1", 4, "first"), ("2", 8, "later"))


def test_what_an_agent_recorded_was_made_when_it_was_recorded() -> None:
    told = session(
        [task("1", 5, 10), task("2", 10, 20)],
        (0, (Decision("Use Stripe"), Failure("It raced", "a mutex"), Decision("By hand"))),
    )
    records = [
        EventRecord(1, "decision", time(11), values={"content": "Use Stripe", "rationale": "webhooks"}),
        EventRecord(2, "error", time(7), values={"content": "It raced"}),
    ]
    assert owners(told, records) == {"1": ["It raced"], "2": ["Use Stripe"]}


def test_a_session_without_times_of_tasks_has_no_decisions_of_tasks() -> None:
    assert owners(session([task("1", None, 10)], (0, (decided("a"),))), rows(a=3)) == {}
    assert owners(session([Task("1", "x", "completed", started="soon")], (0, (decided("a"),)))) == {}


# --- noted and passed on -------------------------------------------------------------------------------------------------


@pytest.fixture
def kept(vault: Vault) -> Session:
    told = session(
        [task("1", 5, 10), replace(task("2", 10), depends_on=("1",)), task("3", None, status="pending")],
        (6, (Decision("Use Stripe", "webhooks"),)),
        (11, (Decision("Retry thrice"),)),
    )
    vault.create(NAME, render_session(told))
    return vault.read(vault.find(NAME)).session


def hand(vault: Vault, told: Session) -> list[str]:
    return list(pass_on_decisions(vault, told, now=time(30), redact=lambda text: (text, {})))


def noted(vault: Vault, ident: str) -> Annotation:
    found, _ = read_annotation(AnnotationFolder(vault.root), Ref(NAME, ident))
    assert found
    return found


def test_every_task_s_decisions_are_noted_and_flow_once(vault: Vault, kept: Session) -> None:
    for _ in range(2):
        assert hand(vault, kept) == []
        first, second = noted(vault, "1"), noted(vault, "2")
        (stripe,), (retry,) = first.choices, second.choices
        assert (stripe.summary, stripe.rationale, retry.summary) == ("Use Stripe", "webhooks", "Retry thrice")
        assert stripe.finding.startswith("decision-")
        assert second.inherited == (Inherited("1", "Use Stripe", "webhooks", stripe.finding),)
        assert read_annotation(AnnotationFolder(vault.root), Ref(NAME, "3"))[0] is None


def test_a_decision_that_was_annotated_elsewhere_or_reworded_stays_as_it_is(vault: Vault, kept: Session) -> None:
    shelf = AnnotationFolder(vault.root)
    annotate(shelf, Annotation(Ref(NAME, "3"), "do 3", choices=(TaskDecision("retry thrice"),)))
    hand(vault, kept)
    (there,) = noted(vault, "3").choices
    assert (there.summary, there.finding[:9]) == ("retry thrice", "decision-")
    assert noted(vault, "2").choices == ()
    assert [one.decision for one in noted(vault, "2").inherited] == ["Use Stripe"]
    mine = replace(noted(vault, "1").choices[0], summary="Stripe, as agreed")
    change_annotation(shelf, noted(vault, "1"), lambda old: replace(old, choices=(mine,)))
    hand(vault, kept)
    assert noted(vault, "1").choices == (mine,)


def test_the_recorder_s_events_tell_when_a_decision_was_made(vault: Vault, kept: Session) -> None:
    append_entry(vault.root, NAME, "decision", {"content": "Retry thrice"}, now=time(7))
    assert hand(vault, kept) == []
    assert [one.summary for one in noted(vault, "1").choices] == ["Use Stripe", "Retry thrice"]


def test_an_annotation_that_cannot_be_written_is_named_and_the_others_are_written(
    vault: Vault, kept: Session, tmp_path: Path
) -> None:
    del tmp_path
    (vault.root / ".crucible" / "tasks" / f"{NAME}.1.yaml").mkdir(parents=True)
    assert {line.partition(":")[0] for line in hand(vault, kept)} == {"task 1"}
    assert [one.summary for one in noted(vault, "2").choices] == ["Retry thrice"]
