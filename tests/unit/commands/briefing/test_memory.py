"""What memory holds still, and where work stands, from the index and bookmarks alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from crucible.commands.briefing.facts import find_known, with_memory
from crucible.commands.briefing.position import Position, find_position
from crucible.memory.bookmarks.bookmark import Bookmark, StopReason, append_bookmark
from crucible.memory.history.memory_log import Memory, MemoryKind, append_memories, memory_id
from crucible.vault.index.index import Index
from crucible.vault.notes.vault import Vault

NOW = datetime(2026, 11, 22, 9, tzinfo=UTC)
NOTE = """\
---
type: session
session_id: {id}
started: 2026-11-{day:02}T20:00:00Z
status: {status}
project: {project}
---

# {id}

```tasks
[
  {{"id": "1", "content": "Write it", "status": "completed", "priority": "medium"}},
  {{"id": "2", "content": "Test it", "status": "in_progress", "priority": "medium"}},
  {{"id": "10", "content": "Ship it", "status": "pending", "priority": "medium"}}
]
```

## Write

started:: 2026-11-{day:02}T20:05:00Z

## Tests

started:: 2026-11-{day:02}T20:10:00Z
"""


def note(vault: Vault, name: str, status: str = "paused", day: int = 21, project: str = "shop") -> str:
    vault.create(name, NOTE.format(id=name, status=status, project=project, day=day))
    return name


def position(vault: Vault, project: str = "shop") -> Position | None:
    found, _ = Index(vault.root, vault.settings).ask(lambda view: find_position(view, vault.root, project))
    return found


def decision(text: str, day: int = 0, *, done: bool = False, session: str = "2026-11-21-x") -> Memory:
    at = NOW + timedelta(days=day)
    kind = MemoryKind.DECISION
    return Memory(memory_id(session, kind, text), kind, text, session, at, project="shop", done=done)


# --- what is held ----------------------------------------------------------------------------------------------------


def test_what_holds_of_sessions_whose_notes_are_gone_is_known_newest_first(vault: Vault) -> None:
    lines = [decision("UTC"), decision("Redis", 1), decision("Gone"), decision("Gone", 3, done=True)]
    append_memories(vault.root, lines)
    assert [one.text for one in with_memory(vault, find_known(vault, None, "shop", NOW), "shop").facts] == [
        "Redis",
        "UTC",
    ]
    assert not with_memory(vault, find_known(vault, None, "blog", NOW), "blog").facts
    assert len(with_memory(vault, find_known(vault, None, "", NOW), "").facts) == 2


# --- where work stands -----------------------------------------------------------------------------------------------


def test_the_position_is_in_the_last_active_open_session(vault: Vault) -> None:
    note(vault, "2026-11-19-a", day=19)
    note(vault, "2026-11-20-b", "active", day=20)
    note(vault, "2026-11-21-c", "completed", day=21)
    note(vault, "2026-11-22-d", day=22, project="blog")
    found = position(vault)
    assert found
    assert (found.session, found.status, found.phase, found.phase_name, found.phases) == (
        "2026-11-20-b",
        "active",
        "phase-2",
        "Tests",
        2,
    )
    assert (found.task_number, found.task_count, found.task_name) == (2, 3, "Test it")
    assert found.at == datetime(2026, 11, 20, 20, 10, tzinfo=UTC)


def test_a_paused_session_is_the_position_until_another_follows(vault: Vault) -> None:
    note(vault, "2026-11-20-a", day=20)
    append_bookmark(vault.root, Bookmark("b-1", "2026-11-20-a", NOW, StopReason.PAUSED, project="shop"))
    note(vault, "2026-11-21-b", day=21)
    note(vault, "2026-11-22-c", "completed", day=22, project="blog")
    found, later = position(vault), position(vault, "blog")
    assert found
    assert later
    assert (found.session, later.session) == ("2026-11-21-b", "2026-11-22-c")
    note(vault, "2026-11-23-d", "completed", day=23)
    after = position(vault)
    assert after
    assert after.session == "2026-11-20-a"


def test_without_an_open_session_the_position_is_the_newest_end(vault: Vault) -> None:
    note(vault, "2026-11-19-a", "completed", day=19)
    note(vault, "2026-11-21-c", "failed", day=21)
    found = position(vault)
    assert found
    assert found.session == "2026-11-21-c"
    whole = position(vault, "")
    assert whole
    assert whole.session == "2026-11-21-c"


def test_a_vault_without_a_session_has_no_position(vault: Vault) -> None:
    assert position(vault) is None


@pytest.mark.parametrize(
    ("why", "at"), [(StopReason.PAUSED, NOW), (StopReason.IDLE, datetime(2026, 11, 21, 20, 10, tzinfo=UTC))]
)
def test_a_bookmark_tells_the_phase_to_go_on_from_and_when_and_what_is_in_the_way(
    vault: Vault, why: StopReason, at: datetime
) -> None:
    note(vault, "2026-11-21-c")
    append_bookmark(
        vault.root,
        Bookmark(
            *("b-1", "2026-11-21-c", NOW, why, "phase-1", "Write", "2", "Test it", 2, 3),
            note="half done",
            blockers=("no key",),
        ),
    )
    found = position(vault)
    assert found
    assert (found.phase, found.phase_name, found.at) == ("phase-1", "Write", at)
    assert (found.note, found.blockers) == ("half done", ("no key",))


def test_when_all_tasks_are_done_no_task_is_named(vault: Vault) -> None:
    vault.create(
        "2026-11-21-c",
        NOTE.format(id="2026-11-21-c", status="completed", project="shop", day=21)
        .replace("in_progress", "completed")
        .replace("pending", "cancelled"),
    )
    found = position(vault)
    assert found
    assert (found.task_number, found.task_count, found.task_name) == (0, 3, "")
