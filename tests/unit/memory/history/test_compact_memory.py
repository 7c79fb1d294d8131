"""Compacting memory: what is shortened, what never is, and no line is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crucible.core.settings.session_settings import MemorySettings
from crucible.memory.bookmarks.bookmark import Bookmark, StopReason, append_bookmark, latest, load_bookmarks
from crucible.memory.history.compact_memory import ANNOUNCED, REACHED, Compacted, compact, live_sessions
from crucible.memory.history.memory_log import (
    Memory,
    MemoryKind,
    append_memories,
    load_memories,
    memory_id,
)
from crucible.vault.index.index import Index
from crucible.vault.notes.vault import Vault
from samples.waiting import wait_until
from tests.paths import ROOT

NOW = datetime(2026, 2, 22, 9, tzinfo=UTC)


@pytest.fixture
def small(vault: Vault) -> Vault:
    """A vault in which eight entries are enough."""
    settings = vault.settings._replace(memory=MemorySettings(8, 1 << 16), fsync=False)
    return Vault(vault.root, settings)


def bookmark(number: int, session: str = "", project: str = "shop") -> Bookmark:
    return Bookmark(
        f"b-{number}",
        session or f"2026-02-22-s{number}",
        NOW + timedelta(minutes=number),
        StopReason.ENDED,
        note=f"note {number}",
        project=project,
    )


def todo(number: int, *, done: bool = False, project: str = "shop") -> Memory:
    text, session = f"todo {number}", "2026-02-22-x"
    return Memory(
        memory_id(session, MemoryKind.TODO, text),
        MemoryKind.TODO,
        text,
        session,
        NOW + timedelta(minutes=number, hours=done),
        project=project,
        done=done,
    )


def compacted(vault: Vault, *live: str, milestone: str | None = None) -> tuple[Compacted, list[str]]:
    told: list[str] = []
    return compact(vault, lambda: live, told.append, milestone=milestone), told


def whole(vault: Vault) -> list[str]:
    return [one.id for one in load_bookmarks(vault.root).found if not one.compacted]


# --- when, and what --------------------------------------------------------------------------------------------------


def test_below_the_threshold_nothing_happens(small: Vault) -> None:
    for number in range(8):
        append_bookmark(small.root, bookmark(number), fsync=False)

    def asked() -> tuple[str, ...]:
        raise AssertionError

    told: list[str] = []
    assert compact(small, asked, told.append) == Compacted()
    assert not told


def test_one_more_and_old_bookmarks_shrink_the_newest_quarter_stays_and_it_is_announced(small: Vault) -> None:
    for number in range(9):
        append_bookmark(small.root, bookmark(number), fsync=False)
    assert compacted(small) == (Compacted(7, 0), [ANNOUNCED.format(count=7)])
    assert whole(small) == ["b-7", "b-8"]
    assert len(load_bookmarks(small.root).found) == 9
    assert compacted(small) == (Compacted(), [])


def test_the_newest_bookmark_of_a_session_that_is_active_or_paused_stays_whole(small: Vault) -> None:
    for number in range(9):
        append_bookmark(small.root, bookmark(number, "2026-02-22-a" if number < 3 else ""), fsync=False)
    compacted(small, "2026-02-22-a", "2026-02-22-s4")
    assert whole(small) == ["b-2", "b-4", "b-7", "b-8"]
    newest = latest(small.root, "2026-02-22-a")
    assert newest
    assert newest.note == "note 2"


def test_where_every_session_is_at_work_nothing_shrinks_and_nothing_is_announced(small: Vault) -> None:
    for number in range(20):
        append_bookmark(small.root, bookmark(number), fsync=False)
    assert compacted(small, *(f"2026-02-22-s{number}" for number in range(20))) == (Compacted(), [])


def test_a_file_that_is_too_large_is_compacted_too(vault: Vault) -> None:
    vault = Vault(vault.root, vault.settings._replace(memory=MemorySettings(200, 2000)))
    for number in range(12):
        append_bookmark(vault.root, bookmark(number), fsync=False)
    assert compacted(vault) == (Compacted(), [])
    for number in range(12, 24):
        append_bookmark(vault.root, bookmark(number), fsync=False)
    assert compacted(vault)[0].bookmarks > 12


def test_todos_that_are_done_shrink_and_open_ones_never_do(small: Vault) -> None:
    append_memories(small.root, [todo(number) for number in range(12)], fsync=False)
    append_memories(small.root, [todo(number, done=True) for number in range(10)], fsync=False)
    assert compacted(small) == (Compacted(0, 8), [ANNOUNCED.format(count=8)])
    found = load_memories(small.root, MemoryKind.TODO).found
    assert [one.text for one in found if not one.done] == ["todo 10", "todo 11"]
    assert sum(bool(one.compacted) for one in found) == 8
    assert len(found) == 12


def test_decisions_and_lessons_are_never_compacted(small: Vault) -> None:
    kept = [
        todo(number, done=number % 2 == 0)._replace(kind=kind)
        for number in range(50)
        for kind in (MemoryKind.DECISION, MemoryKind.LESSON)
    ]
    append_memories(small.root, kept, fsync=False)
    folder = small.root / ".crucible" / "memory"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert compacted(small) == (Compacted(), [])
    assert compacted(small, milestone="shop") == (Compacted(), [])
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_newest_bookmark_of_a_project_stays_whole_at_a_milestone_too(small: Vault) -> None:
    for number in range(3):
        append_bookmark(small.root, bookmark(number), fsync=False)
    compacted(small, milestone="shop")
    assert whole(small) == ["b-2"]


def test_a_milestone_summarises_all_of_its_project_and_nothing_of_another(small: Vault) -> None:
    for number in range(4):
        append_bookmark(small.root, bookmark(number, project="blog" if number == 1 else "shop"), fsync=False)
    append_memories(small.root, [todo(1), todo(1, done=True), todo(2)], fsync=False)
    assert compacted(small, "2026-02-22-s3", milestone="shop") == (Compacted(2, 1), [REACHED.format(count=3)])
    assert whole(small) == ["b-1", "b-3"]


def test_live_sessions_come_from_the_index(vault: Vault) -> None:
    for name, status in (
        ("2026-02-22-a", "active"),
        ("2026-02-22-p", "paused"),
        ("2026-02-22-c", "completed"),
    ):
        vault.create(name, f"---\ntype: session\nsession_id: {name}\nstatus: {status}\n---\n\n# {name}\n")
    found, _ = Index(vault.root, vault.settings).ask(live_sessions)
    assert found == {"2026-02-22-a", "2026-02-22-p"}


# --- whatever happens meanwhile --------------------------------------------------------------------------------------

_APPEND = """
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from crucible.memory.bookmarks.bookmark import append_bookmark
from crucible.memory.bookmarks.bookmark import Bookmark, StopReason
root, name = Path(sys.argv[1]), sys.argv[2]
for number in range(5000):
    if (root / "stop").exists():
        break
    at = datetime(2026, 2, 22, tzinfo=UTC) + timedelta(seconds=number)
    append_bookmark(root, Bookmark(f"b-{name}-{number}", f"2026-02-22-{name}", at, StopReason.ENDED, note="n" * 50), fsync=False)
    print(f"b-{name}-{number}", flush=True)
"""
_COMPACT = """
import sys
from pathlib import Path
from crucible.memory.history.compact_memory import compact
from crucible.core.settings.session_settings import MemorySettings
from crucible.vault.notes.vault import Vault
vault = Vault(Path(sys.argv[1]))
vault = Vault(vault.root, vault.settings._replace(memory=MemorySettings(8, 65536), fsync=False))
while True:
    if compact(vault, tuple, lambda line: None).bookmarks:
        print("did", flush=True)
"""


def _start(code: str, out: Path, *args: object) -> subprocess.Popen[bytes]:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with out.open("wb") as file:
        return subprocess.Popen([sys.executable, "-c", code, *map(str, args)], env=env, stdout=file)


def test_no_bookmark_is_lost_while_two_append_and_one_who_compacts_is_killed_again_and_again(
    vault: Vault, tmp_path: Path
) -> None:
    outs = {name: tmp_path / name for name in ("x", "y")}
    writers = [_start(_APPEND, out, vault.root, name) for name, out in outs.items()]
    for number in range(3):
        worker = _start(_COMPACT, tmp_path / f"w{number}", vault.root)
        wait_until(lambda: (tmp_path / f"w{number}").stat().st_size)  # noqa: B023
        worker.send_signal(signal.SIGKILL)
        worker.wait()
    for out in outs.values():
        wait_until(lambda: out.stat().st_size)  # noqa: B023
    (vault.root / "stop").touch()
    assert [writer.wait() for writer in writers] == [0, 0]
    told = {line for out in outs.values() for line in out.read_text().split()}
    loaded = load_bookmarks(vault.root)
    assert {one.id for one in loaded.found} == told
    assert any(one.compacted for one in loaded.found)
    assert not loaded.problems
    # What a killed one left beside the file is gone with the next one's work.
    for number in range(9):
        append_bookmark(vault.root, bookmark(number), fsync=False)
    small = Vault(vault.root, vault.settings._replace(memory=MemorySettings(8, 1 << 16)))
    assert compacted(small)[0].bookmarks
    assert {one.id for one in load_bookmarks(vault.root).found} == {*told, *(f"b-{n}" for n in range(9))}
    assert [path.name for path in (vault.root / ".crucible" / "memory").iterdir()] == ["bookmarks.jsonl"]
