"""A rename is killed at each of its steps, and the next command finishes it."""

from __future__ import annotations

import json
import os
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crucible.commands.rename.rename import finish_rename
from crucible.core.settings.settings import UserSettings, VaultSettings
from crucible.integrations.hooks.sync import sync_vault
from crucible.integrations.mcp.opened_vault import vault_of
from crucible.integrations.mcp.server_context import ServerContext
from crucible.memory.bookmarks.bookmark import Bookmark, StopReason, append_bookmark, latest
from crucible.memory.bookmarks.resume_tickets import current_session_id, issue_ticket
from crucible.memory.history.memory_log import Memory, MemoryKind, append_memories, load_memories
from crucible.memory.tasks.annotations import AnnotationFolder, annotate
from crucible.memory.tasks.task import Annotation, Ref
from crucible.vault.notes.vault import Vault
from tests.journeys.notes import LIMITER, write
from tests.killing import LAST, STRIDE, killed
from tests.running import Cru

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")

A, B, C = "2026-11-21-limiter", "2026-11-21-bucket", "2026-11-21-third"
NOW = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.fixture
def scene(vault: Vault, cru: Cru) -> Vault:
    """A session with everything that refers to its id."""
    write(vault, A, LIMITER)
    write(vault, "2026-11-21-clock", f"---\ntype: session\nparent: '[[{A}]]'\n---\n\n# Clock\n\n[[{A}|it]]\n")
    write(
        vault,
        "2026-11-22-later",
        f"---\ntype: session\nsubagents:\n  - session: {A}\n---\n\n# L\n\n[[{A}]]\n",
    )
    assert cru("session", "end", A).exit_code == 0
    (vault.root / "start.md").write_text(f"[[{A}]] [[history/{A}-history|h]]\n")
    flight = vault.root / ".crucible/flight" / A
    flight.mkdir(parents=True, exist_ok=True)
    (flight / "events.jsonl").write_text("{}\n")
    (flight / "meta.json").write_text(json.dumps({"version": 1, "session_id": A}))
    (vault.root / ".crucible/archive").mkdir(exist_ok=True)
    (vault.root / f".crucible/archive/{A}.jsonl.zst").write_bytes(b"old events")
    append_bookmark(vault.root, Bookmark("b-1", A, NOW, StopReason.PAUSED, note="half done"), fsync=False)
    issue_ticket(vault.root, A, "codex", NOW, fsync=False)
    append_memories(vault.root, [Memory("d-1", MemoryKind.DECISION, "UTC", A, NOW)], fsync=False)
    annotate(AnnotationFolder(vault.root), Annotation(Ref(A, "1"), "Write the bucket"), fsync=False)
    return vault


def rename(vault: Vault, old: str, new: str) -> list[str | Path]:
    return ["--vault", vault.root, "session", "rename", old, new]


def check_whole(vault: Vault, name: str, *gone: str) -> None:
    """Assert that everything has this id, and nothing one of the `gone` ids."""
    notes = {vault.relative(path): path.read_text() for path in vault.note_paths()}
    assert {f"sessions/{name}.md", f"history/{name}-history.md"} <= set(notes)
    assert f"session_id: {name}\n" in notes[f"sessions/{name}.md"]
    assert f"session_id: {name}\n" in notes[f"history/{name}-history.md"]
    assert notes["start.md"] == f"[[{name}]] [[history/{name}-history|h]]\n"
    assert f"  - session: {name}\n" in notes["sessions/2026-11-22-later.md"]
    inner = vault.root / ".crucible"
    assert sorted(os.listdir(inner / "flight")) == [name]
    assert json.loads((inner / "flight" / name / "meta.json").read_text())["session_id"] == name
    assert os.listdir(inner / "archive") == [f"{name}.jsonl.zst"]
    assert [path.name for path in (inner / "tasks").glob("*.yaml")] == [f"{name}.1.yaml"]
    bookmark = latest(vault.root, name)
    assert bookmark is not None
    assert bookmark.note == "half done"
    assert {one.session for one in load_memories(vault.root, MemoryKind.DECISION).found} == {name}
    assert current_session_id(vault.root, A) == name
    assert not (inner / "renaming.json").exists()
    for old in gone:
        assert not [at for at, text in notes.items() if old in at or old in text]


def test_a_rename_killed_at_any_step_and_then_renamed_to_a_third_id_leaves_nothing(
    scene: Vault, tmp_path: Path
) -> None:
    def copied(number: int) -> Vault:
        return Vault(shutil.copytree(scene.root, tmp_path / f"v{number}", symlinks=True), VaultSettings(fsync=False))

    for step in range(1, LAST, STRIDE):
        vault = copied(step)
        if not killed(vault.root, *rename(vault, A, B), step=step):
            break
        now = B if B in vault.session_ids() and A not in vault.session_ids() else A
        # The user may ask for either id: the old one, or the one that the note has now.
        wanted = A if step % 2 else now
        result = Cru(vault)("session", "rename", wanted, C)
        if result.exit_code and wanted != now:  # it finished before it was killed
            result = Cru(vault)("session", "rename", now, C)
        assert result.exit_code == 0, (step, result.stderr)
        check_whole(vault, C, A, B)
        shutil.rmtree(vault.root)
    check_whole(vault, B, A)
    assert step > 30


def half_renamed(vault: Vault) -> None:
    """Kill a rename after the note got its new name and before anything else changed."""
    assert killed(vault.root, *rename(vault, A, B), place="/archive/")
    assert A not in vault.session_ids()


@pytest.mark.parametrize(
    "args",
    [
        ["session", "list"],
        ["record", "start", "Next"],
        ["task"],
        ["recall", "bucket"],
        ["session", "show", B],
    ],
)
def test_any_command_finishes_it_first_and_says_so(scene: Vault, args: list[str]) -> None:
    half_renamed(scene)
    result = Cru(scene)(*args)
    assert f"finished an interrupted rename: {A} is now {B}" in result.stderr
    assert result.exit_code == 0
    again = Cru(scene)(*args)
    assert "interrupted" not in again.stderr
    texts = "".join(path.read_text() for path in scene.note_paths())
    assert A not in texts


def test_an_agent_s_server_finishes_it_first(scene: Vault, tmp_path: Path) -> None:
    half_renamed(scene)
    vault_of(ServerContext({}, str(tmp_path), tmp_path, str(scene.root)))
    check_whole(scene, B, A)


def test_a_sync_started_by_hooks_finishes_it_first(scene: Vault) -> None:
    half_renamed(scene)
    sync_vault(scene.root, UserSettings(""), {})
    check_whole(scene, B, A)


def test_a_running_rename_is_left_alone(scene: Vault) -> None:
    half_renamed(scene)
    with scene.locked(scene.root / ".crucible/renaming.json"):
        assert finish_rename(scene) is None
        assert Cru(scene)("session", "list").exit_code == 0
        (scene.root / ".crucible/config.toml").write_text("[writing]\nlock_seconds = 0.1\n")
        assert Cru(scene)("session", "rename", B, C).exit_code == 1
    assert (scene.root / ".crucible/renaming.json").exists()
    assert B in scene.session_ids()


def test_doctor_reports_it_and_changes_nothing(scene: Vault) -> None:
    half_renamed(scene)
    result = Cru(scene)("doctor")
    assert result.exit_code == 3
    assert f"the rename of {A} to {B} was interrupted" in result.stdout
    assert f"cru session rename {A} {B}" in result.stdout
    assert (scene.root / ".crucible/renaming.json").exists()


def test_running_the_same_rename_again_finishes_it_too(scene: Vault) -> None:
    half_renamed(scene)
    result = Cru(scene)("session", "rename", A, B)
    assert result.exit_code == 0
    check_whole(scene, B, A)


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", "null", "\0", "[" * 100_000, '{"old": 1, "new": 2}',
        '{"old": "../x.md", "new": "../y.md"}', '{"old": "sessions/a.md", "new": "sessions/../../y.md"}',
        '{"old": "start.md", "new": "other.md"}', '{"old": "sessions/a.md", "new": "sessions/.b.md"}',
        f'{{"old": "sessions/gone.md", "new": "sessions/{A}.txt"}}',
    ],
)  # fmt: skip
def test_a_journal_that_says_anything_else_changes_no_note(scene: Vault, text: str) -> None:
    before = {path: path.read_bytes() for path in scene.note_paths()}
    (scene.root / ".crucible/renaming.json").write_text(text)
    assert "rename" in Cru(scene)("doctor").stdout
    assert Cru(scene)("session", "list").exit_code == 0
    assert {path: path.read_bytes() for path in scene.note_paths()} == before
    assert not (scene.root / ".crucible/renaming.json").exists()


def test_a_note_that_took_the_old_name_meanwhile_is_left_alone(scene: Vault) -> None:
    half_renamed(scene)
    mine = scene.sessions / f"{A}.md"
    mine.write_text("# Mine\n")
    Cru(scene)("session", "list")
    assert mine.read_text() == "# Mine\n"
    assert (scene.sessions / f"{B}.md").exists()
