"""A session's end adds lines to memory, and marks lines as done."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given

from crucible.core.errors import VaultError
from crucible.core.secrets.redaction import redact_of
from crucible.documents.session.findings import findings_of
from crucible.documents.session.session import (
    AgentRef,
    Callout,
    Decision,
    Failure,
    FindingItem,
    Grounds,
    Intervention,
    Phase,
    Prose,
    Session,
    Status,
    Subagent,
    Task,
)
from crucible.documents.session.session import Entry as NoteEntry
from crucible.memory.history.memory_log import (
    FILES,
    Memory,
    MemoryKind,
    completes_milestone,
    load_memories,
    move_memories,
    remember,
)
from crucible.vault.notes.vault import Vault
from tests.unit.documents.session.session_strategies import sessions

NOW = datetime(2026, 11, 22, 9, tzinfo=UTC)
THEN = datetime(2026, 11, 21, 9, tzinfo=UTC)
DECISION, LESSON, TODO = MemoryKind.DECISION, MemoryKind.LESSON, MemoryKind.TODO
SECRET = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ0cD2fG4hJ6"


def session(*entries: NoteEntry, **more: object) -> Session:
    phase = Phase("Build", entries=entries, id="phase-1", started=THEN)
    return Session("2026-11-21-x", **{"phases": (phase,), "project": "shop", **more})  # type: ignore[arg-type]


def remembered(vault: Vault, told: Session, hours: int = 0) -> tuple[Memory, ...]:
    redact = redact_of(vault.settings.secrets)
    return remember(vault, told, now=NOW + timedelta(hours=hours), redact=redact)


def held(vault: Vault, kind: MemoryKind) -> list[Memory]:
    return [one for one in load_memories(vault.root, kind).found if not one.done]


def texts(vault: Vault, kind: MemoryKind) -> list[str]:
    return [one.text for one in held(vault, kind)]


# --- what is found ---------------------------------------------------------------------------------------------------


def test_a_decision_is_kept_with_its_reason_phase_time_and_project(vault: Vault) -> None:
    told = session(Decision("Token bucket", "constant memory", by="user"))
    remembered(vault, told)
    (one,), (finding,) = held(vault, DECISION), findings_of(told)
    assert (one.text, one.why, one.by, one.phase, one.at, one.project, one.source, one.finding) == (
        "Token bucket",
        "constant memory",
        "user",
        "phase-1",
        THEN,
        "shop",
        "callout",
        finding.id,
    )


def test_every_line_of_a_finding_has_its_id_and_its_summary(vault: Vault) -> None:
    told = session(
        Decision("Redis", grounds=Grounds("reply", 0.8, ("3a77d35a",))),
        Failure("It ran backwards", "use the monotonic one", cause="the wall clock"),
        findings=(FindingItem("correction", "Build the data in the test"), FindingItem("open_end", "Who pays for it")),
    )
    remembered(vault, told)
    found = {one.id: one.summary for one in findings_of(told)}
    assert {one.finding: one.text for kind in MemoryKind for one in held(vault, kind)} == found
    (lesson,) = (one for one in held(vault, LESSON) if one.why)
    assert lesson.why == "the wall clock → use the monotonic one"


def test_several_sessions_are_remembered_in_one_go(vault: Vault) -> None:
    told = [replace(session(Decision(f"Part {n}")), id=f"2026-11-21-{n}") for n in range(3)]
    redact = redact_of(vault.settings.secrets)
    assert len(remember(vault, *told, now=NOW, redact=redact)) == 3
    assert remember(vault, *told, now=NOW, redact=redact) == ()


def test_a_plain_text_is_no_decision(vault: Vault) -> None:
    remembered(vault, session(Intervention("We decided to keep the queue in Redis."), Prose("We decided on UTC.")))
    assert not held(vault, DECISION)


def test_a_models_finding_is_inferred(vault: Vault) -> None:
    remembered(vault, session(Decision("UTC for every time", grounds=Grounds("model", 0.7, ("5ad1908e",)))))
    assert [one.source for one in held(vault, DECISION)] == ["model"]


def test_a_fixed_error_a_correction_and_a_fact_are_lessons(vault: Vault) -> None:
    remembered(
        vault,
        session(
            Failure("The clock ran backwards", "use the monotonic one"),
            Failure("Nobody knows", None),
            findings=(
                FindingItem("correction", "Build the data in the test", "refused: Edit orders.json"),
                FindingItem("environment", "make test needs a running Postgres"),
                FindingItem("outcome", "The import skips empty lines"),
            ),
        ),
    )
    assert {(one.text, one.why, one.finding.partition("-")[0]) for one in held(vault, LESSON)} == {
        ("The clock ran backwards", "use the monotonic one", "failure"),
        ("Build the data in the test", "refused: Edit orders.json", "correction"),
        ("make test needs a running Postgres", "", "environment"),
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


# --- again and again -------------------------------------------------------------------------------------------------


@given(told=sessions())
def test_remembering_twice_writes_nothing_twice(tmp_path_factory: pytest.TempPathFactory, told: Session) -> None:
    vault = Vault(tmp_path_factory.mktemp("v"))
    told = replace(told, id="2026-11-21-x")
    redact = redact_of(vault.settings.secrets)
    first = remember(vault, told, now=NOW, redact=redact)
    folder = vault.root / ".crucible" / "memory"
    data = {path.name: path.read_bytes() for path in folder.glob("*")} if folder.exists() else {}
    assert remember(vault, told, now=NOW + timedelta(days=1), redact=redact) == ()
    assert len({one.id for one in first}) == len(first)
    assert data == ({path.name: path.read_bytes() for path in folder.glob("*")} if folder.exists() else {})


def test_a_task_that_is_done_closes_its_todo_and_opens_it_again(vault: Vault) -> None:
    remembered(vault, session(tasks=(Task("1", "Test it"),)))
    done = remembered(vault, session(tasks=(Task("1", "Test it", "completed"),)), 1)
    assert ([one.text for one in done if one.done], texts(vault, TODO)) == (["Test it"], [])
    remembered(vault, session(tasks=(Task("1", "Test it"),)), -5)
    assert texts(vault, TODO) == ["Test it"]


def test_a_decision_that_its_note_says_no_more_holds_no_more_and_its_line_stays(vault: Vault) -> None:
    remembered(vault, session(Decision("Redis"), Decision("UTC")))
    before = (vault.root / ".crucible" / "memory" / FILES[DECISION]).read_bytes()
    remembered(vault, session(Decision("Valkey"), Decision("UTC")), 1)
    assert set(texts(vault, DECISION)) == {"Valkey", "UTC"}
    assert (vault.root / ".crucible" / "memory" / FILES[DECISION]).read_bytes().startswith(before)


def test_a_renamed_session_is_not_listed_twice(vault: Vault) -> None:
    told = session(Decision("UTC"), tasks=(Task("1", "Test it"),))
    remembered(vault, told)
    move_memories(vault.root, told.id, "2026-11-21-z")
    assert remembered(vault, replace(told, id="2026-11-21-z"), 1) == ()
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

    with pytest.raises(VaultError, match="nothing was written"):
        remember(vault, session(Decision("UTC")), now=NOW, redact=broken)
    assert not load_memories(vault.root, DECISION).found


# --- milestones ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "is_one"),
    [
        (session(Callout("milestone", "All green"), status=Status.COMPLETED), True),
        (
            session(tasks=(Task("1", "a", "completed"), Task("2", "b", "cancelled")), status=Status.COMPLETED),
            True,
        ),
        (session(tasks=(Task("1", "a", "completed"), Task("2", "b")), status=Status.COMPLETED), False),
        (session(Callout("milestone", "All green"), status=Status.PAUSED), False),
        (session(status=Status.COMPLETED), False),
    ],
)
def test_a_completed_session_with_a_milestone_or_all_its_tasks_done_is_one(told: Session, is_one: bool) -> None:
    assert completes_milestone(told) is is_one
