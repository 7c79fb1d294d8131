"""No log of a deleted session brings it back: other clients, moved, grown and remaining parts, and continuations."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from crucible.vault.notes.vault import Vault
from tests.paths import TESTS
from tests.running import Cru
from tests.unit.commands.imports.halves import main_note, prompt_of, second_half, ticket_for

LOGS = TESTS / "data" / "transcripts"
HOMES = {
    "claude-code": ".claude",
    "codex": ".codex",
    "gemini": ".gemini",
    "opencode": ".local/share/opencode",
}
CLIENTS = pytest.mark.parametrize("client", HOMES)


def run_import(cru: Cru, client: str, *args: str | Path) -> dict[str, list[str]]:
    return dict(json.loads(cru("import", client, *args, "--format", "json").stdout))


def imported(cru: Cru, client: str, vault: Vault) -> tuple[Path, str]:
    """Import a real session with subagents from the client's own folder."""
    folder = Path(shutil.copytree(LOGS / client / "limiter", Path(os.environ["HOME"]) / HOMES[client]))
    assert run_import(cru, client)["created"]
    return folder, main_note(vault).name


@CLIENTS
def test_a_deleted_session_stays_deleted_for_every_client(vault: Vault, cru: Cru, client: str, tmp_path: Path) -> None:
    folder, trunk = imported(cru, client, vault)
    assert cru("session", "delete", trunk, "--yes").exit_code == 0
    assert run_import(cru, client)["created"] == []
    assert run_import(cru, client, "--refresh")["created"] == []
    moved = shutil.move(folder, tmp_path / "elsewhere")
    assert run_import(cru, client, moved)["created"] == []
    assert cru("doctor", "--fix", "all", "--yes").exit_code in (0, 3)
    assert vault.session_ids() == set()
    assert cru("session", "delete", "--undo").exit_code == 0
    assert run_import(cru, client, moved)["created"] == []
    assert main_note(vault).name == trunk


def test_a_subagent_stays_deleted_where_only_its_own_log_is_left(vault: Vault, cru: Cru) -> None:
    folder, trunk = imported(cru, "codex", vault)
    assert cru("session", "delete", trunk, "--yes").exit_code == 0
    min(folder.rglob("*.jsonl")).unlink()
    assert "16b9" not in str([*folder.rglob("*.jsonl")])  # the parent's
    assert run_import(cru, "codex")["created"] == []


def test_a_subagent_in_a_database_stays_deleted_without_its_parent(vault: Vault, cru: Cru) -> None:
    folder, trunk = imported(cru, "opencode", vault)
    assert cru("session", "delete", trunk, "--yes").exit_code == 0
    with sqlite3.connect(folder / "opencode.db") as base:
        base.execute("DELETE FROM session WHERE parent_id IS NULL")
    base.close()
    assert run_import(cru, "opencode")["created"] == []


@CLIENTS
def test_a_log_that_continues_a_deleted_session_makes_no_note(
    vault: Vault, cru: Cru, client: str, tmp_path: Path
) -> None:
    _, trunk = imported(cru, "claude-code", vault)
    half = second_half(client, tmp_path / "half", prompt_of(ticket_for(vault, trunk, client)))
    assert cru("session", "delete", trunk, "--yes").exit_code == 0
    assert half.read(vault).created == ()
    assert vault.session_ids() == set()
    assert cru("session", "delete", "--undo").exit_code == 0
    assert trunk in half.read(vault).updated


def test_undo_is_refused_while_another_folder_has_a_note_with_this_id(vault: Vault, cru: Cru) -> None:
    _, trunk = imported(cru, "claude-code", vault)
    assert cru("session", "delete", trunk, "--yes").exit_code == 0
    other = vault.sessions / "2026" / f"{trunk}.md"
    other.parent.mkdir()
    other.write_text("---\ntype: session\nstatus: completed\n---\n\n# Mine\n")
    result = cru("session", "delete", "--undo")
    assert result.exit_code == 1
    assert f"sessions/2026/{trunk}.md: already exists" in result.stderr
    assert vault.session_ids() == {trunk}
    assert cru("session", "rename", trunk, "mine").exit_code == 0
    assert cru("session", "delete", "--undo").exit_code == 0
    assert {trunk, "mine"} <= set(vault.session_ids())


def test_a_fork_of_a_deleted_session_is_a_session_of_its_own(vault: Vault, cru: Cru) -> None:
    folder, trunk = imported(cru, "claude-code", vault)
    (log,) = (folder / "projects").glob("*/*.jsonl")
    fork = log.with_name("0f0f0f0f-0000-4000-8000-000000000000.jsonl")
    rows = [json.loads(line) for line in log.read_text().replace(log.stem, fork.stem).splitlines()]
    last = rows[-1] | {"uuid": "0f0f0f0f-0000-4000-8000-000000000001", "timestamp": "2026-11-21T22:00:00.000Z"}
    fork.write_text("".join(json.dumps(row) + "\n" for row in [*rows, last]))
    assert cru("session", "delete", trunk, "--yes").exit_code == 0
    created = run_import(cru, "claude-code")["created"]
    assert created
    assert cru("session", "delete", min(created, key=len), "--yes").exit_code == 0
    assert run_import(cru, "claude-code")["created"] == []
