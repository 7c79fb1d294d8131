"""The context for a picked-up task is quoted, limited, and never an instruction."""

from __future__ import annotations

from hypothesis import given

from crucible.core.settings.settings import VaultSettings
from crucible.memory.tasks.task import Annotation, Inherited, OpenTask, Recalled, Ref, Stage, TaskDecision
from crucible.memory.tasks.task_knowledge import LABEL, TEMPLATE, task_text
from crucible.memory.tasks.task_pickup import Discovery, Pickup, recalled_ids
from crucible.search.recall import Event, EventKind
from crucible.vault.notes.vault import Vault
from samples.hostile_texts import hostile_text
from tests.trusting import trusted

RECALLED = Recalled(("P-1",), ("F-1",), ("old#1",), "q")


def pickup(words: str = "Use Stripe") -> Pickup:
    task = OpenTask(Ref("s", "2"), words, priority="high")
    note = Annotation(task.ref, words, None, RECALLED, (), (TaskDecision(words, words),), (words,))
    return Pickup(task, note, (Inherited("1", words, words),), (Discovery(words, "3", (words,), None, 1),))


def items(words: str) -> list[Event]:
    kinds = {
        "P-1": EventKind.KNOWLEDGE,
        "F-1": EventKind.KNOWLEDGE,
        "old#1": EventKind.DECISION,
        "?": EventKind.KNOWLEDGE,
    }
    return [Event(ident, "old", kind, words, title="A title") for ident, kind in kinds.items()]


def test_every_part_names_its_origin() -> None:
    waits = [OpenTask(Ref("s", "1"), "Design", Stage.IN_PROGRESS)]
    text = task_text(VaultSettings(), pickup(), items("Retry with jitter"), waits).text
    assert text.startswith("# Task s.2\n\nYou are starting a task")
    for label in (
        "[task]\n  Use Stripe\n[priority]\n  high\n[waits for, in progress]\n  1: Design",
        "[decision]\n  Use Stripe\n  Rationale: Use Stripe\n  from task 1",
        "[discovery]\n  Use Stripe\n  for: Use Stripe\n  from task 3",
        "[pattern]\n  A title\n  Retry with jitter\n  from P-1",
        "[failure]\n  A title",
        "from session old",
        "[item]\n",
    ):
        assert label in text
    assert "cru task done s.2" in text
    assert recalled_ids(RECALLED) == ("P-1", "F-1", "old#1")


def test_empty_parts_have_no_heading() -> None:
    text = task_text(VaultSettings(), Pickup(OpenTask(Ref("s", "2"), "x"))).text
    assert "##" not in text


@given(hostile_text())
def test_foreign_words_never_leave_their_fences(words: str) -> None:
    text = task_text(VaultSettings(), pickup(words), items(words)).text
    outside, marks = [], ""
    for line in text.split("\n"):
        if not marks and line.startswith("```"):
            marks = line.removesuffix("text")
        elif marks and line == marks:
            marks = ""
        elif not marks:
            outside.append(line)
        else:
            assert line.startswith(("  ", "[")) or not line
    assert not marks
    known = ("# Task", "## ", "Note what you decide", *LABEL.split("\n"))
    assert all(line.startswith(known) for line in outside if line)


def test_a_vaults_broken_template_is_named_and_ours_is_used(vault: Vault) -> None:
    own = vault.root / ".crucible" / "templates" / TEMPLATE.name
    own.write_text("Mine\n{{ label }}\n{{ task }}")
    assert task_text(trusted(vault.root), pickup()).text.startswith("Mine\nYou are starting")
    for bad, where in (
        ("{{ label }}\n{% if %}", ":2:"),
        ("{{ task }}", "{{ label }}"),
        ("{{ nothing }}", ":1:"),
    ):
        own.write_text(bad)
        told = task_text(trusted(vault.root), pickup())
        assert f"{TEMPLATE.name}:" in told.problem
        assert where in told.problem
        assert told.text.startswith("# Task s.2")
