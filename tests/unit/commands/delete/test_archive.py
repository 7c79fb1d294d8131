"""An archived session is out of the way, can be found and brought back byte for byte, also after kill -9."""

from __future__ import annotations

import json
import os
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crucible.core.settings.settings import VaultSettings
from crucible.vault.notes.session_lock import hold_session
from crucible.vault.notes.vault import Vault
from tests.journeys.notes import CLOCK, LIMITER, write
from tests.killing import LAST, STRIDE, killed
from tests.paths import TESTS
from tests.running import Cru

A, CHILD, OTHER = "2026-11-21-limiter", "2026-11-21-clock", "2026-11-22-other"
REAL = TESTS / "data" / "transcripts" / "claude-code" / "limiter"
unix = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")


@pytest.fixture
def scene(vault: Vault, cru: Cru) -> Vault:
    """A session with a subagent, and one that links to it."""
    write(vault, A, LIMITER)
    write(vault, CHILD, CLOCK)
    assert cru("session", "end", A).exit_code == 0
    write(vault, OTHER, f"---\ntype: session\nstatus: completed\n---\n\n# Other\n\nSee [[{A}]].\n")
    return vault


def notes_of(vault: Vault) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in vault.sessions.glob("*.md")}


def ids(cru: Cru, *args: str) -> set[str]:
    return {row["id"] for row in json.loads(cru("session", "list", "--format", "json", *args).stdout)["sessions"]}


def archived(vault: Vault) -> set[str]:
    return {name.removesuffix(".md") for name, data in notes_of(vault).items() if b"\narchived: true\n" in data}


def test_one_line_archives_a_session_and_its_subagents_and_undo_removes_it(scene: Vault, cru: Cru) -> None:
    before = notes_of(scene)
    result = cru("session", "archive", A)
    assert (result.stdout, result.exit_code) == (f"archived  {A}\n", 0)
    now = notes_of(scene)
    assert {name: data.replace(b"archived: true\n", b"") for name, data in now.items()} == before
    assert archived(scene) == {A, CHILD}
    assert f"{A} is already archived" in cru("session", "archive", A).stderr
    assert cru("session", "archive", "--undo", A).stdout == f"restored  {A}\n"
    assert notes_of(scene) == before
    assert not (scene.root / ".crucible/deleting.json").exists()


def test_lists_and_recall_leave_it_out_unless_asked(scene: Vault, cru: Cru) -> None:
    def found(*args: str) -> bool:
        return A in cru("recall", "constant memory", "--format", "json", *args).stdout

    assert found()
    cru("session", "archive", A)
    assert ids(cru) == ids(cru, "--children") == {OTHER}
    assert ids(cru, "--archived") == {A, OTHER}
    assert ids(cru, "--archived", "--where", "archived = true", "--children") == {A, CHILD}
    assert not found()
    assert found("--archived")
    assert found("--session", A)
    assert A not in cru("task", "list", "--format", "json").stdout
    assert A not in cru("inbox", "--format", "json").stdout
    assert A not in cru("--json").stdout
    assert A not in cru("briefing", "--format", "json").stdout
    assert json.loads(cru("session", "show", A, "--format", "json").stdout)["sessions"][0]["archived"] is True
    cru("session", "archive", "--undo", A)
    assert found()
    assert ids(cru) == {A, OTHER}


def test_statistics_still_count_it(scene: Vault, cru: Cru) -> None:
    before = cru("session", "stats", "--format", "json").stdout
    cru("session", "archive", A)
    assert cru("session", "stats", "--format", "json").stdout == before


def test_it_is_not_resumed(scene: Vault, cru: Cru) -> None:
    cru("session", "archive", A)
    result = cru("session", "resume", A, "--force", "--print")
    assert result.exit_code == 1
    assert result.stderr == f'error: {A} is archived\n       Run "cru session archive --undo {A}" to resume it.\n'


def test_a_running_one_and_a_subagents_note_are_refused(scene: Vault, cru: Cru) -> None:
    path = scene.sessions / f"{OTHER}.md"
    path.write_text(path.read_text().replace("completed", "active"))
    before = notes_of(scene)
    assert cru("session", "archive", OTHER).exit_code == 1
    assert cru("session", "archive", CHILD).exit_code == 2
    assert cru("session", "archive", "2026-01-01-nothing").exit_code == 1
    with hold_session(scene.root, OTHER, client="codex", now=datetime(2026, 11, 22, tzinfo=UTC)):
        assert "held by codex" in cru("session", "archive", OTHER, "--force").stderr
    assert notes_of(scene) == before
    assert cru("session", "archive", OTHER, "--force").exit_code == 0


def test_without_an_id_a_pipe_is_told_the_archived_ones(scene: Vault, cru: Cru) -> None:
    cru("session", "archive", A)
    assert f"Name one: {OTHER}." in cru("session", "archive").stderr
    assert f"Name one: {A}." in cru("session", "archive", "--undo").stderr


def test_an_archived_session_can_be_deleted_and_comes_back_archived(scene: Vault, cru: Cru) -> None:
    cru("session", "archive", A)
    before = notes_of(scene)
    assert cru("session", "delete", A, "--yes").exit_code == 0
    assert not {f"{A}.md", f"{CHILD}.md"} & {*notes_of(scene)}
    assert cru("session", "delete", "--undo", A).exit_code == 0
    assert notes_of(scene) == before


def import_claude(cru: Cru, *args: str) -> dict[str, list[str]]:
    found = json.loads(cru("import", "claude-code", "--format", "json", *args).stdout)
    return {name: found[name] for name in ("created", "updated", "unchanged")}


def test_an_import_updates_the_note_where_it_is_and_new_subagents_are_archived_too(vault: Vault, cru: Cru) -> None:
    folder = Path(shutil.copytree(REAL, Path(os.environ["HOME"]) / ".claude"))
    (log,) = (folder / "projects").glob("*/*.jsonl")
    logs = folder / "projects" / log.parent.name / log.stem / "subagents"
    aside = logs.rename(folder / "aside")
    rows = log.read_bytes().splitlines(keepends=True)
    before_subagents = next(at for at, row in enumerate(rows) if b'"name":"Agent"' in row)
    log.write_bytes(b"".join(rows[:before_subagents]))
    created = import_claude(cru)["created"]
    trunk = min(created, key=len)
    assert cru("session", "archive", trunk).exit_code == 0
    aside.rename(logs)
    log.write_bytes(b"".join(rows))
    again = import_claude(cru)
    assert trunk in again["updated"]
    assert again["created"]
    assert archived(vault) == {*created, *again["created"]}
    assert archived(vault) == {name.removesuffix(".md") for name in notes_of(vault)}
    assert import_claude(cru, "--refresh")["created"] == []
    assert ids(cru, "--children") == set()


@unix
@pytest.mark.parametrize("undo", [False, True])
def test_kill_9_at_any_step_leaves_all_notes_or_none(scene: Vault, tmp_path: Path, *, undo: bool) -> None:
    before = notes_of(scene)
    assert Cru(scene)("session", "archive", A).exit_code == 0
    after = notes_of(scene)
    if undo:
        before, after = after, before
    else:
        Cru(scene)("session", "archive", "--undo", A)
    for step in range(1, LAST, STRIDE):
        vault = Vault(shutil.copytree(scene.root, tmp_path / f"v{step}"), VaultSettings(fsync=False))
        command: list[str | Path] = ["--vault", vault.root, "session", "archive", A, *(["--undo"] if undo else [])]
        if not killed(vault.root, *command, step=step):
            break
        assert Cru(vault)("session", "list").exit_code == 0
        assert notes_of(vault) in (before, after), step
        shutil.rmtree(vault.root)
    assert notes_of(vault) == after
    assert step > 5


def test_a_journal_of_a_stranger_edits_only_session_notes(scene: Vault, cru: Cru) -> None:
    start = scene.root / "start.md"
    start.write_text("---\na: b\n---\n")
    (scene.root / "x.md").write_text("---\na: b\n---\n")
    names = ["start.md", "sessions/../x.md", "/etc/hosts", f"sessions/{OTHER}.md", "sessions/gone.md"]
    (scene.root / ".crucible/deleting.json").write_text(json.dumps({"notes": names, "undo": False}))
    assert cru("session", "list").exit_code == 0
    assert archived(scene) == {OTHER}
    assert start.read_text() == "---\na: b\n---\n"
    assert not (scene.root / ".crucible/deleting.json").exists()
