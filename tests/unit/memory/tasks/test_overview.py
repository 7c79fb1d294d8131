"""Tasks of many sessions come from the index, and from the client's lists that their notes name."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crucible.memory.tasks.annotations import AnnotationFolder, annotate
from crucible.memory.tasks.overview import (
    EVERYTHING,
    ClientLists,
    FoundTasks,
    TaskScope,
    gather,
    lists_in,
    overview,
    tasks_now,
    tasks_with_prefix,
    with_stores,
)
from crucible.memory.tasks.task import Annotation, OpenTask, Recalled, Ref, Stage
from crucible.memory.tasks.task_pickup import RecallCounts
from crucible.vault.index.index import Index
from crucible.vault.index.schema import View
from crucible.vault.notes.vault import Vault
from tests.conftest import ROOT

NATIVE = "2efaab17-4298-45ef-bba4-e6df39d7a7e3"
REAL = ROOT / "tests" / "data" / "claude_tasks" / NATIVE
NOW = datetime(2026, 11, 22, tzinfo=UTC)


def put(vault: Vault, name: str, tasks: Iterable[tuple[str, str]], source: str = "", **keys: str) -> None:
    known = {
        "type": "session",
        "started": f"{name[:10]}T10:00:00Z",
        "status": "paused",
        "project": "shop",
        **keys,
    }
    head = "".join(f"{key}: {value}\n" for key, value in known.items())
    head += f"sources:\n  - claude-code:{source}\n" if source else ""
    items = [{"id": ident, "content": f"do {ident}", "status": status} for ident, status in tasks]
    vault.create(name, f"---\n{head}---\n\n# {name}\n\n```tasks\n{json.dumps(items)}\n```\n\n## Work\n\nDone.\n")


def view_of(vault: Vault) -> View:
    return Index(vault.root, vault.settings).refresh().view


def refs(tasks: Iterable[OpenTask]) -> list[str]:
    return [str(task.ref) for task in tasks]


@pytest.fixture
def two(vault: Vault) -> Vault:
    put(vault, "2026-11-20-new", [("2", "in_progress"), ("10", "pending"), ("1", "completed")])
    put(vault, "2026-08-01-old", [("1", "pending"), ("2", "completed"), ("3", "in_progress")], project="bank")
    return vault


def test_the_newest_session_comes_first_and_its_tasks_in_their_order(two: Vault) -> None:
    found = gather(view_of(two))
    assert refs(found.tasks) == [
        *(f"2026-11-20-new.{n}" for n in (2, 10, 1)),
        *(f"2026-08-01-old.{n}" for n in (1, 2, 3)),
    ]
    assert found.tasks[0] == OpenTask(Ref("2026-11-20-new", "2"), "do 2", Stage.IN_PROGRESS)
    assert [*found.owners] == ["2026-11-20-new", "2026-08-01-old"]


def test_what_is_open_in_older_sessions_is_counted(two: Vault) -> None:
    view = view_of(two)
    found = gather(view, TaskScope(since=NOW - timedelta(days=30)))
    assert ({task.ref.session for task in found.tasks}, found.older) == ({"2026-11-20-new"}, 2)
    assert gather(view, TaskScope("shop", since=NOW - timedelta(days=30))).older == 0
    assert gather(view, TaskScope("bank", since=NOW)) == FoundTasks((), {}, 2)


def test_a_scope_limits_tasks_to_a_session_or_project(two: Vault) -> None:
    view = view_of(two)
    assert {task.ref.session for task in gather(view, TaskScope(session="2026-08")).tasks} == {"2026-08-01-old"}
    assert {task.ref.session for task in gather(view, TaskScope("bank")).tasks} == {"2026-08-01-old"}
    assert {task.ref.session for task in tasks_with_prefix(view, "2026-11-20").tasks} == {"2026-11-20-new"}


# --- a client's lists --------------------------------------------------------------------------------------------------


@pytest.fixture
def client(tmp_path: Path) -> Path:
    shutil.copytree(REAL, tmp_path / "claude" / "tasks" / NATIVE)
    return tmp_path / "claude"


def test_a_real_list_of_claude_code_is_read(vault: Vault, client: Path) -> None:
    found, troubles = tasks_now(view_of(vault), EVERYTHING, vault.root, ClientLists(client))
    assert not troubles
    assert [(one.ref.id, one.content, one.stage, one.needs) for one in found.tasks] == [
        ("1", "Design the limiter", Stage.COMPLETED, ()),
        ("2", "Implement the limiter", Stage.IN_PROGRESS, ("1",)),
        ("4", "Write the docs", Stage.PENDING, ()),
    ]
    assert {one.ref.session for one in found.tasks} == {NATIVE}


def test_a_list_and_the_note_of_its_session_tell_one_task_once(vault: Vault, client: Path) -> None:
    put(vault, "2026-11-22-limiter", [("1", "in_progress"), ("2", "pending"), ("9", "pending")], NATIVE)
    found, _ = tasks_now(view_of(vault), EVERYTHING, vault.root, ClientLists(client))
    assert [(str(one.ref), one.content, one.stage) for one in found.tasks] == [
        ("2026-11-22-limiter.1", "do 1", Stage.COMPLETED),
        ("2026-11-22-limiter.2", "do 2", Stage.IN_PROGRESS),
        ("2026-11-22-limiter.9", "do 9", Stage.PENDING),
        ("2026-11-22-limiter.4", "Write the docs", Stage.PENDING),
    ]


def test_an_ended_session_has_the_tasks_of_its_note(vault: Vault, client: Path) -> None:
    put(vault, "2026-11-22-limiter", [("2", "pending")], NATIVE, status="completed")
    found, _ = tasks_now(view_of(vault), EVERYTHING, vault.root, ClientLists(client))
    assert [(str(one.ref), one.stage) for one in found.tasks] == [("2026-11-22-limiter.2", Stage.PENDING)]


def test_a_list_of_a_session_out_of_scope_is_left_out(vault: Vault, client: Path) -> None:
    put(vault, "2026-11-22-limiter", [("1", "pending")], NATIVE, project="bank")
    put(vault, "2026-11-22-other", [("1", "pending")], f"{NATIVE}/agent-1")
    found, _ = tasks_now(view_of(vault), TaskScope("shop"), vault.root, ClientLists(client))
    assert refs(found.tasks) == ["2026-11-22-other.1"]


def test_a_list_without_a_note_is_included_only_if_requested(vault: Vault, client: Path) -> None:
    view = view_of(vault)
    assert not tasks_now(view, EVERYTHING, vault.root, ClientLists(client, frozenset()))[0].tasks
    assert len(tasks_now(view, EVERYTHING, vault.root, ClientLists(client, {NATIVE}))[0].tasks) == 3
    assert not tasks_now(view, EVERYTHING, vault.root, ClientLists(client / "none"))[0].tasks


def test_a_shared_list_is_not_listed_twice(vault: Vault, client: Path) -> None:
    (client / "tasks" / NATIVE).rename(client / "tasks" / "shared")
    put(vault, "2026-11-22-limiter", [("7", "pending")])
    put(vault, "2026-11-22-x", [])
    shared = client / "tasks" / "shared"
    (shared / "7.json").write_text(json.dumps({"id": "7", "subject": "do 7", "status": "pending"}))
    found, _ = tasks_now(view_of(vault), EVERYTHING, vault.root, ClientLists(client))
    assert refs(found.tasks) == ["2026-11-22-limiter.7", "shared.1", "shared.2", "shared.4"]


def test_broken_files_are_named_and_links_are_no_lists(vault: Vault, client: Path, tmp_path: Path) -> None:
    (client / "tasks" / NATIVE / "3.json").write_text("{")
    (client / "tasks" / "link").symlink_to(REAL)
    (client / "tasks" / "a b").mkdir()
    (client / "tasks" / "file").write_text("x")
    os.utime(client / "tasks" / NATIVE, (1, 1))
    assert [*lists_in(client)] == [NATIVE]
    assert not lists_in(client, NOW)
    found, troubles = tasks_now(view_of(vault), EVERYTHING, vault.root, ClientLists(client))
    assert (len(found.tasks), troubles) == (3, ("3.json: not JSON",))
    none = with_stores(view_of(vault), found, vault.root, tmp_path / "gone", is_wanted=lambda _: True)
    assert none == (found, ())


def test_an_overview_counts_all_and_shows_some(two: Vault) -> None:
    shelf = AnnotationFolder(two.root)
    for ident in ("2", "10"):
        annotate(shelf, Annotation(Ref("2026-11-20-new", ident), "d", recalled=Recalled(("p", "q"), ("f",))))
    told = overview(view_of(two), TaskScope("shop"), shelf, most=1)
    assert (told.status.completed, told.status.in_progress_count, told.status.pending) == (1, 1, 1)
    assert [str(one.task.ref) for one in told.status.in_progress] == ["2026-11-20-new.2"]
    assert not told.status.ready
    assert told.status.left_out == 1
    assert told.recall == {Ref("2026-11-20-new", "2"): RecallCounts(2, 1, 0)}
