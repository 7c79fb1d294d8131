"""Tasks are made, begun and ended in a session that nobody need be at work in."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from crucible.commands import record
from crucible.commands.record import SessionEnded
from crucible.commands.record.tasks import NewTask, TaskWriter
from crucible.core.errors import UsageError
from crucible.core.secrets.redaction import redact_of
from crucible.documents.session.session import Session, Status
from crucible.vault.notes.vault import Vault
from tests.unit.vault.events.flights import load_flight

WHEN = datetime(2026, 11, 22, 10, tzinfo=UTC)
TOKEN = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.fixture
def recorder(vault: Vault) -> record.Recorder:
    begun = record.session("Fix it", vault=vault, now=lambda: WHEN)
    begun.phase("Work")
    begun.add_tasks("One", {"id": "x", "content": "Two"})
    return begun


def writer(vault: Vault, recorder: record.Recorder, *, ours: bool = False) -> TaskWriter:
    return TaskWriter(vault, recorder.id, now=WHEN, redact=redact_of(vault.settings.secrets), ours=ours)


def read(vault: Vault, recorder: record.Recorder) -> Session:
    return vault.load(recorder.id).session


def test_new_tasks_get_ids_and_a_milestone_each(vault: Vault, recorder: record.Recorder) -> None:
    made = writer(vault, recorder).add([NewTask("A", needs=("x",)), NewTask("B", (0,)), NewTask("C", (0, 1), ("1",))])
    assert [(task.id, task.depends_on) for task in made] == [
        ("2", ("x",)),
        ("3", ("2",)),
        ("4", ("1", "2", "3")),
    ]
    note = read(vault, recorder)
    assert note.tasks[2:] == made
    assert [entry.text for entry in note.phases[-1].entries] == [f"Task created: {name}" for name in "ABC"]  # type: ignore[union-attr]


def test_a_task_that_depends_on_nothing_known_is_refused_with_all(vault: Vault, recorder: record.Recorder) -> None:
    before = vault.load(recorder.id).data
    with pytest.raises(UsageError, match="depends on 'y'") as refused:
        writer(vault, recorder).add([NewTask("A"), NewTask("B", needs=("y",))])
    assert refused.value.hint == "there are: 1, x"
    with pytest.raises(UsageError, match="needs a `content`"):
        writer(vault, recorder).add([NewTask(" ")])
    assert vault.load(recorder.id).data == before


@pytest.mark.parametrize("ours", [False, True])
def test_a_paused_session_becomes_active_only_for_its_own_worker(
    vault: Vault, recorder: record.Recorder, ours: bool
) -> None:
    recorder.pause("later")
    writer(vault, recorder, ours=ours).move("1", "in_progress")
    note = read(vault, recorder)
    assert (note.status is Status.ACTIVE) is ours
    assert (note.tasks[0].status, note.tasks[0].started) == ("in_progress", "2026-11-22T10:00:00Z")


def test_an_ended_session_gets_no_task_and_lets_its_own_be_ended(vault: Vault, recorder: record.Recorder) -> None:
    recorder.end()
    with pytest.raises(SessionEnded):
        writer(vault, recorder, ours=True).add([NewTask("A")])
    before = vault.load(recorder.id).source.lines
    writer(vault, recorder, ours=True).move("x", "completed")
    after = vault.load(recorder.id).source.lines
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert len(changed) == 1
    assert changed == ["- [x] Two (completed 2026-11-22T10:00:00Z) ^task-x"]


def test_a_secret_stays_out_of_the_note_and_of_the_whole_events(vault: Vault, recorder: record.Recorder) -> None:
    put = writer(vault, recorder)
    (made,) = put.add([NewTask(f"Use {TOKEN}")])
    put.log_created(made, 3)
    put.log_discovery("429", "2", "parallel-discovery", ["stripe"])
    assert TOKEN not in vault.load(recorder.id).source.text
    records = load_flight(vault.root, recorder.id).records
    assert TOKEN not in repr(records)
    told = {one.type: one.values for one in records}
    assert told["milestone"]["recall_items"] == 3
    assert told["observation"]["applies_to"] == ["stripe"]
