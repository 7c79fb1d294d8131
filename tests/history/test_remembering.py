"""What a session's end adds to memory, and what it closes."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from crucible.history.gleaning import glean
from hypothesis import given, settings

from crucible.errors import VaultError
from crucible.history.memories import FILES, Memory, MemoryKind, key_of, load_memories, move_memories
from crucible.history.model import Capture, Captures, Entry, Line
from crucible.history.remembering import Remembered, completes_milestone, remember
from crucible.secrets.redacting import redact_of
from crucible.session.model import (
    AgentRef,
    Callout,
    Decision,
    Failure,
    Grounds,
    Intervention,
    Noted,
    Phase,
    Prose,
    Session,
    Status,
    Subagent,
    Task,
)
from crucible.session.model import Entry as NoteEntry
from crucible.vault.store import Vault
from tests.session.strategies import sessions

NOW = datetime(2026, 11, 22, 9, tzinfo=UTC)
THEN = datetime(2026, 11, 21, 9, tzinfo=UTC)
DECISION, LESSON, TODO = MemoryKind.DECISION, MemoryKind.LESSON, MemoryKind.TODO
SECRET = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ0cD2fG4hJ6"


def session(*entries: NoteEntry, **more: object) -> Session:
    phase = Phase("Build", entries=entries, id="phase-1", started=THEN)
    return Session("2026-11-21-x", **{"phases": (phase,), "project": "shop", **more})  # type: ignore[arg-type]


def remembered(vault: Vault, told: Session, hours: int = 0, entry: Entry | None = None) -> Remembered:
    redact = redact_of(vault.settings.secrets)
    return remember(vault, told, now=NOW + timedelta(hours=hours), redact=redact, entry=entry)


def held(vault: Vault, kind: MemoryKind) -> list[Memory]:
    return [one for one in load_memories(vault.root, kind).found if not one.done]


def texts(vault: Vault, kind: MemoryKind) -> list[str]:
    return [one.text for one in held(vault, kind)]


# --- what is found ---------------------------------------------------------------------------------------------------


def test_a_decision_is_kept_with_its_reason_phase_time_and_project(vault: Vault) -> None:
    remembered(vault, session(Decision("Token bucket", "constant memory")))
    (one,) = held(vault, DECISION)
    assert (one.text, one.why, one.phase, one.at, one.project, one.source, one.inferred) == (
        "Token bucket",
        "constant memory",
        "phase-1",
        THEN,
        "shop",
        "callout",
        False,
    )


def test_what_is_merely_said_is_no_decision(vault: Vault) -> None:
    remembered(
        vault, session(Intervention("We decided to keep the queue in Redis."), Prose("We decided on UTC."))
    )
    assert not held(vault, DECISION)


def test_what_a_model_found_is_inferred(vault: Vault) -> None:
    remembered(vault, session(Decision("UTC for every time", grounds=Grounds("model", 0.7, ("5ad1908e",)))))
    assert [(one.source, one.inferred) for one in held(vault, DECISION)] == [("model", True)]


def test_a_fixed_error_a_correction_and_a_fact_are_lessons(vault: Vault) -> None:
    remembered(
        vault,
        session(
            Failure("The clock ran backwards", "use the monotonic one"),
            Failure("Nobody knows", None),
            findings=(
                Noted("correction", "Build the data in the test", "refused: Edit orders.json"),
                Noted("environment", "make test needs a running Postgres"),
                Noted("outcome", "The import skips empty lines"),
            ),
        ),
    )
    assert {(one.text, one.why, one.source, one.inferred) for one in held(vault, LESSON)} == {
        ("The clock ran backwards", "use the monotonic one", "error", False),
        ("Build the data in the test", "refused: Edit orders.json", "correction", False),
        ("make test needs a running Postgres", "", "environment", False),
    }


def test_open_tasks_and_questions_are_to_do(vault: Vault) -> None:
    tasks = (Task("1", "Write it", "completed"), Task("2", "Test it", "in_progress"), Task("3", "Ship it"))
    remembered(vault, session(Callout("decision_needed", "Which region?"), tasks=tasks))
    assert {(one.text, one.source) for one in held(vault, TODO)} == {
        ("Test it", "task"),
        ("Ship it", "task"),
        ("Which region?", "question"),
    }


def test_a_subagents_questions_are_its_parents_affair(vault: Vault) -> None:
    remembered(vault, session(Callout("decision_needed", "Which region?"), parent="2026-11-21-y"))
    assert not held(vault, TODO)


def test_an_inline_subagents_decision_is_kept(vault: Vault) -> None:
    remembered(vault, session(Subagent(AgentRef("planner"), entries=(Decision("Inner"),))))
    assert texts(vault, DECISION) == ["Inner"]


def test_a_history_adds_what_a_human_wrote_there_and_accepted_knowledge(vault: Vault) -> None:
    captures = Captures(
        approved=(Capture("failure", "k-1", "Flush first"), Capture("adr", "k-2", "No")),
        skipped=(Capture("pattern", "", "Never"),),
    )
    entry = Entry(
        "2026-11-21-x",
        decisions=(Line("Token bucket"), Line("Written by hand", "it is so")),
        further=(Line("To do: Test it (task 2)"), Line("Blocked: no key"), Line("Ask Ada")),
        captures=captures,
    )
    remembered(vault, session(Decision("Token bucket"), tasks=(Task("2", "Test it"),)), entry=entry)
    assert {(one.text, one.source, one.inferred) for one in held(vault, DECISION)} == {
        ("Token bucket", "callout", False),
        ("Written by hand", "history", False),
    }
    assert set(texts(vault, TODO)) == {"Test it", "Ask Ada"}
    assert [(one.text, one.source) for one in held(vault, LESSON)] == [("Flush first", "knowledge")]


def test_what_a_model_told_is_inferred(vault: Vault) -> None:
    told = (Line("Rate limits live at the edge"),)
    entry = Entry("2026-11-21-x", author="some-model", decisions=told, further=told)
    remembered(vault, session(), entry=entry)
    assert [one.inferred for kind in (DECISION, TODO) for one in held(vault, kind)] == [True, True]


def test_thousands_of_decisions_are_not_held_against_each_other() -> None:
    said = tuple(
        entry
        for n in range(1500)
        for entry in (Decision(f"Keep part{n} in box{n}"), Prose(f"We decided to keep part{n} in box{n}."))
    )
    begun = time.process_time()
    found = glean(session(*said))
    assert len(found) == 1500
    assert time.process_time() - begun < 1.5


# --- again and again -------------------------------------------------------------------------------------------------


@settings(max_examples=25)
@given(told=sessions())
def test_remembering_twice_writes_nothing_twice(
    tmp_path_factory: pytest.TempPathFactory, told: Session
) -> None:
    vault = Vault(tmp_path_factory.mktemp("v"))
    told = replace(told, id="2026-11-21-x")
    redact = redact_of(vault.settings.secrets)
    first = remember(vault, told, now=NOW, redact=redact)
    folder = vault.root / ".crucible" / "memory"
    data = {path.name: path.read_bytes() for path in folder.glob("*")} if folder.exists() else {}
    assert remember(vault, told, now=NOW + timedelta(days=1), redact=redact) == Remembered()
    assert len({one.id for one in first.added}) == len(first.added)
    assert data == ({path.name: path.read_bytes() for path in folder.glob("*")} if folder.exists() else {})


@settings(max_examples=25)
@given(told=sessions())
def test_every_decision_and_open_task_of_a_session_is_gleaned(told: Session) -> None:
    found = {(one.kind, key_of(one.text)) for one in glean(told)}
    for entry in told.all_entries():
        if isinstance(entry, Decision) and entry.text.strip():
            assert (DECISION, key_of(entry.text)) in found
    for task in told.tasks:
        if task.status not in ("completed", "cancelled", "deleted") and task.content.strip():
            assert (TODO, key_of(task.content)) in found


def test_a_task_that_is_done_closes_its_todo_and_opens_it_again(vault: Vault) -> None:
    remembered(vault, session(tasks=(Task("1", "Test it"),)))
    done = remembered(vault, session(tasks=(Task("1", "Test it", "completed"),)), 1)
    assert ([one.text for one in done.closed], texts(vault, TODO)) == (["Test it"], [])
    remembered(vault, session(tasks=(Task("1", "Test it"),)), -5)
    assert texts(vault, TODO) == ["Test it"]


def test_another_session_of_the_project_may_do_it_in_the_same_words(vault: Vault) -> None:
    remembered(vault, session(tasks=(Task("1", "Test it"), Task("2", "Ship it"))))
    later = replace(session(tasks=(Task("9", "test it.", "completed"),)), id="2026-11-22-y")
    remembered(vault, replace(later, id="2026-11-22-z", project="blog"))
    assert set(texts(vault, TODO)) == {"Test it", "Ship it"}
    remembered(vault, later)
    assert texts(vault, TODO) == ["Ship it"]


def test_a_decision_that_its_note_says_no_more_holds_no_more_and_its_line_stays(vault: Vault) -> None:
    remembered(vault, session(Decision("Redis"), Decision("UTC")))
    before = (vault.root / ".crucible" / "memory" / FILES[DECISION]).read_bytes()
    remembered(vault, session(Decision("Valkey"), Decision("UTC")), 1)
    assert set(texts(vault, DECISION)) == {"Valkey", "UTC"}
    assert (vault.root / ".crucible" / "memory" / FILES[DECISION]).read_bytes().startswith(before)


def test_without_a_history_what_came_from_one_stays(vault: Vault) -> None:
    entry = Entry("2026-11-21-x", decisions=(Line("Written by hand"),))
    remembered(vault, session(), entry=entry)
    assert remembered(vault, session(), 1) == Remembered()
    assert remembered(vault, session(), 2, Entry("2026-11-21-x")).closed


def test_a_renamed_session_is_not_told_twice(vault: Vault) -> None:
    told = session(Decision("UTC"), tasks=(Task("1", "Test it"),))
    remembered(vault, told)
    move_memories(vault.root, told.id, "2026-11-21-z")
    assert remembered(vault, replace(told, id="2026-11-21-z"), 1) == Remembered()
    remembered(vault, replace(session(tasks=(Task("1", "Test it", "completed"),)), id="2026-11-21-z"), 2)
    assert texts(vault, TODO) == []


# --- nothing leaks ---------------------------------------------------------------------------------------------------


def test_no_secret_and_no_path_of_this_machine_is_kept(vault: Vault) -> None:
    told = session(
        Decision(f"Use {SECRET} for now", f"it is in /home/ada/keys.txt, \x1b[31m{SECRET}"),
        tasks=(Task("1", f"Rotate {SECRET[:10]}\x00{SECRET[10:]}"),),
    )
    remembered(vault, told)
    data = b"".join(path.read_bytes() for path in (vault.root / ".crucible" / "memory").glob("*.jsonl"))
    assert SECRET.encode() not in data
    assert b"/home/ada" not in data
    assert b"x1b" not in data


def test_without_a_scan_for_secrets_nothing_is_written(vault: Vault) -> None:
    def broken(text: str) -> tuple[str, dict[str, int]]:
        raise RuntimeError("no rules")

    with pytest.raises(VaultError, match="nothing is written"):
        remember(vault, session(Decision("UTC")), now=NOW, redact=broken)
    assert not load_memories(vault.root, DECISION).found


# --- milestones ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "is_one"),
    [
        (session(Callout("milestone", "All green"), status=Status.COMPLETED), True),
        (
            session(
                tasks=(Task("1", "a", "completed"), Task("2", "b", "cancelled")), status=Status.COMPLETED
            ),
            True,
        ),
        (session(tasks=(Task("1", "a", "completed"), Task("2", "b")), status=Status.COMPLETED), False),
        (session(Callout("milestone", "All green"), status=Status.PAUSED), False),
        (session(status=Status.COMPLETED), False),
    ],
)
def test_a_completed_session_with_a_milestone_or_all_its_tasks_done_is_one(
    told: Session, is_one: bool
) -> None:
    assert completes_milestone(told) is is_one
