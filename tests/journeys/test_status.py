from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from crucible.vault.index.index import Index
from crucible.vault.index.query import SessionQuery, select
from crucible.vault.notes.vault import Vault
from tests.journeys.notes import note, write
from tests.journeys.terminals import on_a_terminal
from tests.running import Cru, CruProcess

SHOP_NOTE = """\
---
type: session
session_id: {id}
started: {started}
status: {status}
project: shop
{more}---

# {title}

## Work

{body}
"""
QUESTION = "> [!decision_needed] Which database?\n> Postgres or SQLite?\n"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the project `shop`, which is the working directory."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def _session(vault: Vault, name: str, *, hours: int = 1, status: str = "completed", **given: str) -> None:
    started = f"{datetime.now(UTC) - timedelta(hours=hours):%Y-%m-%dT%H:%M:%SZ}"
    values = {"title": name.title(), "body": "Done.", "more": "", **given}
    write(vault, name, SHOP_NOTE.format(id=name, started=started, status=status, **values))


def _status(cru: Cru) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(cru("--json").stdout)
    return found


def test_the_page_shows_sessions_what_is_paused_and_why_and_what_waits(vault: Vault, cru: Cru, shop: Path) -> None:
    _session(vault, "first", hours=30, status="failed")
    _session(vault, "second", hours=3, status="paused", more="pause_reason: no API key\n", body=QUESTION)
    cases = vault.root / "cases"
    cases.mkdir()
    (cases / "one.md").write_text("---\ntype: case\nstatus: proposed\n---\n")
    (cases / "two.md").write_text("---\ntype: case\nstatus: accepted\n---\n")
    result = cru()
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0] == "project shop"
    assert lines[lines.index("Last sessions") + 1 :][:2] == [
        "  3 h     paused     Second",
        "  1 d     failed     First",
    ]
    assert lines[lines.index("Paused") + 1 :][:2] == ["  3 h     Second", "          no API key"]
    assert "Waiting for you: 1 question, 1 case to review" in lines
    assert lines[lines.index("Next") + 1].split()[:3] == ["cru", "session", "resume"]
    assert len(lines) <= 20


def test_json_has_the_same_facts(vault: Vault, cru: Cru, shop: Path) -> None:
    _session(vault, "second", status="paused", more="pause_reason: 'it''s late'\n", body=QUESTION)
    found = _status(cru)
    assert found["schema"] == 1
    assert (found["project"], found["vault"]) == ("shop", str(vault.root))
    assert [one["id"] for one in found["sessions"]] == ["second"]
    assert found["paused"][0]["pause_reason"] == "it's late"
    assert found["waiting"] == {"inbox": 1, "tasks": 0, "cases": 0}
    assert found["next"][:2] == ["cru session resume", "cru inbox"]


def test_a_question_asked_twice_or_answered_long_ago_is_not_counted_again(vault: Vault, cru: Cru, shop: Path) -> None:
    _session(vault, "open", status="paused", body=f"{QUESTION}\n{QUESTION}")
    _session(vault, "old", hours=24 * 40, body=QUESTION)
    assert _status(cru)["waiting"]["inbox"] == 1
    assert len(cru("inbox").stdout.splitlines()) == 2


def test_without_sessions_of_the_project_the_newest_of_the_vault_are_shown(
    vault: Vault, cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _session(vault, "parent")
    write(vault, "child", note("child", parent="'[[parent]]'", title="x"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    lines = cru().stdout.splitlines()
    assert "Project elsewhere has no sessions yet. The vault has 1 session, the newest first:" in lines
    assert any(line.endswith("shop: Parent") for line in lines)
    assert _status(cru)["vault_sessions"] == 1


def test_an_empty_vault_says_so_and_names_the_next_command(vault: Vault, cru: Cru, shop: Path) -> None:
    result = cru()
    assert "The vault has no sessions yet" in result.stdout
    assert "cru import" in result.stdout
    assert result.exit_code == 0


@pytest.mark.parametrize("columns", [40, 80])
def test_the_page_fits_a_terminal(vault: Vault, cru_process: CruProcess, shop: Path, columns: int) -> None:
    long = "A title that is much longer than any narrow terminal is wide, with words " * 2
    for number in range(7):
        _session(vault, f"s{number}", hours=number, status="paused", title=long, more=f"pause_reason: {long}\n")
    lines = on_a_terminal(cru_process, vault, columns, PYTHONUTF8="1")
    assert max(map(len, lines)) <= columns
    assert len(lines) <= 24


def test_with_an_index_nothing_is_written(vault: Vault, cru: Cru, shop: Path) -> None:
    _session(vault, "first")
    cru("session", "list")
    _session(vault, "second", hours=0)
    before = {path: path.stat().st_mtime_ns for path in vault.root.rglob("*")}
    assert [one["id"] for one in _status(cru)["sessions"]] == ["second", "first"]
    assert {path: path.stat().st_mtime_ns for path in vault.root.rglob("*")} == before


def test_a_vault_in_which_no_index_can_be_kept_has_a_status(vault: Vault, cru: Cru, shop: Path) -> None:
    _session(vault, "first")
    (vault.root / ".crucible" / "index").write_text("in the way")
    result = cru()
    assert result.exit_code == 0
    assert "First" in result.stdout


def test_broken_notes_do_not_stop_the_page(vault: Vault, cru: Cru, shop: Path) -> None:
    _session(vault, "good", status="paused", more='pause_reason: "broken\n')
    (vault.sessions / "broken.md").write_bytes(b"---\n\xff: [\n---\n")
    (vault.sessions / "folder.md").mkdir()
    os.mkfifo(vault.root / "pipe.md")
    (vault.root / "cases").mkdir()
    os.mkfifo(vault.root / "cases" / "pipe.md")
    for _ in range(2):  # without and with an index
        result = cru()
        assert result.exit_code == 0
        assert "Good" in result.stdout


def test_control_characters_of_a_note_do_not_reach_the_terminal(vault: Vault, cru: Cru, shop: Path) -> None:
    _session(vault, "bad", status="paused", title="Red \x1b[31m title", more='pause_reason: "a\\u001b[2Jb"\n')
    assert "\x1b" not in cru().stdout
    assert "␛" in cru().stdout


def test_installed_hooks_are_seen(vault: Vault, cru: Cru, shop: Path) -> None:
    assert _status(cru)["capture"] is False
    assert "cru install claude-code" in _status(cru)["next"]
    assert cru("install", "claude-code", "--user").exit_code == 0
    assert _status(cru)["capture"] is True
    assert "capture on" in cru().stdout


def test_json_goes_with_no_command(cru: Cru) -> None:
    result = cru("--json", "session", "list")
    assert (result.exit_code, result.stdout) == (2, "")


def test_the_count_of_sessions_is_that_of_the_list(vault: Vault) -> None:
    for name, title in (("a", "Plain"), ("b", '"With, commas and \\"quotes\\""'), ("c", "null,null")):
        _session(vault, name, title=title)
    write(vault, "d", note("d", parent="'[[a]]'"))
    view = Index(vault.root, vault.settings).refresh().view
    assert view.count_sessions() == len(select(view, SessionQuery())) == 3
