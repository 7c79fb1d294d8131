"""A vault of the last release is read without a loss, and `cru doctor --fix` brings it over once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from crucible.documents.session.session import Session
from crucible.integrations.doctor.note_fixes import FIXES
from crucible.vault.notes.vault import Vault
from tests.running import Cru

OLD = Path(__file__).resolve().parents[1] / "data" / "vault-0.1.0"
READ: dict[str, Any] = json.loads((OLD / "read.json").read_text(encoding="utf-8"))
LIMITER, RETRY = "2026-11-21-add-rate-limiter-project", "2026-11-21-fix-retry-bug-app-py"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    root = tmp_path / "old"
    shutil.copytree(OLD, root, ignore=shutil.ignore_patterns("read.json", "ORIGIN.md"))
    return Vault(root)


@pytest.fixture
def cru(vault: Vault) -> Cru:
    return Cru(vault)


def told(session: Session) -> dict[str, object]:
    return {
        "status": str(session.status),
        "title": session.title,
        "phases": [phase.name for phase in session.phases],
        "tasks": [[task.id, task.content, task.status, task.priority, dict(task.extra)] for task in session.tasks],
        "findings": [[str(item.kind), item.text] for item in session.findings],
        "entries": [type(entry).__name__ for entry in session.all_entries()],
        "sources": list(session.sources),
    }


def sessions(vault: Vault) -> dict[str, Session]:
    return {path.stem: vault.read(path).session for path in vault.session_paths()}


def files(vault: Vault) -> dict[str, bytes]:
    paths = (path for path in vault.root.rglob("*") if path.is_file())
    names = {path.relative_to(vault.root).as_posix(): path for path in paths}
    derived = ("index", "cache", "locks", "log", "spool", "import")
    return {
        name: path.read_bytes() for name, path in names.items() if name.split("/")[1:2] not in [[d] for d in derived]
    }


def test_what_the_last_release_read_is_read(vault: Vault, cru: Cru) -> None:
    assert {name: told(session) for name, session in sessions(vault).items()} == READ
    listed = json.loads(cru("session", "list", "--json").stdout)["sessions"]
    assert {row["id"] for row in listed} <= set(READ)
    assert cru("task", "show", f"{LIMITER}.2").exit_code == 0


@pytest.mark.parametrize("check", [fix.name for fix in FIXES])
def test_a_dry_run_and_a_fix_without_a_yes_write_nothing(vault: Vault, cru: Cru, check: str) -> None:
    before = {name: data for name, data in files(vault).items() if not name.startswith(".crucible/")}
    assert cru("doctor", "--fix", check, "--dry-run").exit_code == 0
    assert cru("doctor", "--fix", check).exit_code in (0, 2)
    assert {name: data for name, data in files(vault).items() if not name.startswith(".crucible/")} == before


def test_all_fixes_keep_what_the_notes_say_and_the_second_run_changes_nothing(vault: Vault, cru: Cru) -> None:
    before = sessions(vault)
    assert cru("doctor", "--fix", "all", "--yes").exit_code == 0
    after = sessions(vault)
    assert {name: told(session) for name, session in after.items()} == READ
    assert {name: session.tasks for name, session in after.items()} == {name: s.tasks for name, s in before.items()}
    text = vault.load(LIMITER).source.text
    assert "mood:   good  # mine\n" in text
    assert f"\n\nMine: compare with [[{RETRY}]] and `[[x]]`.  \n" in text
    assert '- Pending: Test the token bucket (`{"owner": "me"}`) ^task-2\n' in text
    retry = vault.load(RETRY).data
    assert b"\r\n\r\nMine, without a newline at the end" in retry
    assert retry.count(b"\n") == retry.count(b"\r\n")
    fixed = files(vault)
    again = cru("doctor", "--fix", "all", "--yes")
    assert (again.exit_code, "fixed" in again.stderr) == (0, False)
    assert files(vault) == fixed


def test_every_link_of_a_fixed_vault_leads_to_one_note(vault: Vault, cru: Cru) -> None:
    cru("doctor", "--fix", "all", "--yes")
    told = cru("session", "check").stdout
    assert "ambiguous-link" not in told
    assert "broken-link" not in told.replace("[[x]]", "")
