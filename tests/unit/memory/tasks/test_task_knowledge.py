"""Recall is asked once for each task, and the ids of the results are stored."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from crucible.core.errors import ServerFailed
from crucible.core.secrets.redaction import redact_of
from crucible.documents.knowledge.items import Item, ItemType
from crucible.memory.knowledge.add_item import add_item
from crucible.memory.tasks.annotations import annotate, annotation_path, read_annotation, shelf_of
from crucible.memory.tasks.task import Annotation, Inherited, OpenTask, Recalled, Ref, Stage
from crucible.memory.tasks.task_knowledge import LIMIT, AnnotatedTasks, annotate_new
from crucible.search.recall import Answer, Event, EventKind, Hit, Question, Snippet
from crucible.vault.notes.vault import Vault

NOW = datetime(2026, 11, 22, tzinfo=UTC)
TOKEN = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ0cD2fG4hJ6"
TASK = OpenTask(Ref("s", "1"), "Implement retry")


class Asked:
    """A recall that answers with these."""

    def __init__(self, *hits: Hit, fails: bool = False) -> None:
        self.hits, self.fails = hits, fails
        self.questions: list[Question] = []

    def ask(self, question: Question, now: datetime) -> Answer:
        assert now == NOW
        self.questions.append(question)
        if self.fails:
            raise ServerFailed("down")
        return Answer(self.hits)

    def get(self, ids: Sequence[str]) -> tuple[Event, ...]:
        raise AssertionError(ids)

    def around(self, anchor: str, before: int, after: int) -> tuple[Event, ...]:
        raise AssertionError(anchor, before, after)


def hit(vault: Vault, kind: ItemType) -> Hit:
    added = add_item(
        vault,
        Item(kind, f"about {kind}", f"text of {kind}"),
        now=NOW,
        redact=redact_of(vault.settings.secrets),
    )
    assert added.path
    path = vault.relative(added.path)
    return Hit(Event(added.id, "", EventKind.KNOWLEDGE, "t"), 1.0, {}, Snippet("t"), path=path)


def decision(session: str) -> Hit:
    return Hit(Event(f"{session}#00000001", session, EventKind.DECISION, "t"), 1.0, {}, Snippet("t"), path="x.md")


def made(vault: Vault, recall: Asked, *tasks: OpenTask) -> AnnotatedTasks:
    return annotate_new(vault, tasks or [TASK], recall, now=NOW, redact=redact_of(vault.settings.secrets))


def test_results_are_stored_by_kind_and_searched_once(vault: Vault) -> None:
    hits = [hit(vault, kind) for kind in (ItemType.PATTERN, ItemType.OBSERVATION, ItemType.FAILURE, ItemType.DECISION)]
    recall = Asked(*hits, decision("other"), decision("s"))
    pattern, _, failure, settled = (one.event.id for one in hits)
    found = Recalled((pattern,), (failure,), (settled, "other#00000001"), "Implement retry")
    assert made(vault, recall) == AnnotatedTasks(((TASK.ref, found),))
    assert read_annotation(shelf_of(vault), TASK.ref)[0] == Annotation(TASK.ref, "Implement retry", NOW, found)
    assert made(vault, recall) == AnnotatedTasks()
    assert len(recall.questions) == 1


def test_no_more_than_a_few_are_kept(vault: Vault) -> None:
    recall = Asked(*(decision(f"s{number}") for number in range(LIMIT + 3)))
    ((_, found),) = made(vault, recall).asked
    assert found.decisions == tuple(f"s{number}#00000001" for number in range(LIMIT))


def test_a_task_that_only_inherited_is_asked_for_and_keeps_that(vault: Vault) -> None:
    inherited = (Inherited("0", "Use Stripe"),)
    annotate(shelf_of(vault), Annotation(TASK.ref, "old words", NOW, inherited=inherited))
    made(vault, Asked(decision("other")))
    found, _ = read_annotation(shelf_of(vault), TASK.ref)
    assert found == Annotation(
        TASK.ref,
        "old words",
        NOW,
        Recalled(decisions=("other#00000001",), query="Implement retry"),
        inherited,
    )


def test_a_fault_of_one_keeps_no_other_from_its_own(vault: Vault) -> None:
    broken = annotation_path(shelf_of(vault), Ref("s", "2"))
    broken.mkdir()
    over = OpenTask(Ref("s", "3"), "x", Stage.COMPLETED)
    came = made(vault, Asked(), OpenTask(Ref("s", "2"), "x"), over, TASK)
    assert ([ref.id for ref, _ in came.asked], [ref.id for ref, _ in came.failed]) == (["1"], ["2"])
    assert made(vault, Asked(fails=True), OpenTask(Ref("s", "4"), "x")).failed == ((Ref("s", "4"), "down"),)
    assert not annotation_path(shelf_of(vault), Ref("s", "4")).exists()


def test_a_secret_is_neither_asked_for_nor_kept(vault: Vault) -> None:
    recall = Asked()
    made(vault, recall, OpenTask(Ref("s", "1"), f"use {TOKEN}"))
    assert TOKEN not in recall.questions[0].text
    assert TOKEN not in annotation_path(shelf_of(vault), TASK.ref).read_text()


@pytest.mark.parametrize("folder", [".crucible/tasks", ".crucible/mine/notes"])
def test_the_folder_is_the_settings(vault: Vault, folder: str) -> None:
    tasks = vault.settings.tasks._replace(annotations_dir=folder)
    other = Vault(vault.root, vault.settings._replace(tasks=tasks))
    made(other, Asked())
    assert (vault.root / folder / "s.1.yaml").is_file()
