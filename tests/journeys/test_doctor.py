"""`cru doctor`: each fault is found, named with what mends it, and mended by that."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from crucible.clients.registry import DIALECTS
from crucible.vault.notes.vault import Vault
from tests.running import Cru
from tests.unit.clients.building import assistant, text, user
from tests.unit.integrations.hooks.playing import GONE, SESSION, Client


@pytest.fixture
def client(vault: Vault, home: Path) -> Client:
    return Client(vault.root, home)


def findings(cru: Cru, topic: str, state: str = "bad") -> list[dict[str, Any]]:
    found = json.loads(cru("doctor", "--format", "json").stdout)["checks"]
    return [each for each in found if each["topic"] == topic and each["state"] == state]


def talk(client: Client) -> None:
    client.say(user("Fix it"), assistant(text("Fixed."), stop="end_turn"))


def test_a_new_vault_is_well(cru: Cru, home: Path) -> None:
    del home
    done = cru("doctor")
    assert done.exit_code == 0
    assert "cru install claude-code" in done.stdout


def test_a_session_in_no_note_is_named_until_it_is_imported(cru: Cru, client: Client) -> None:
    talk(client)
    (found,) = findings(cru, "transcripts", "note")
    assert SESSION in found["items"][0]
    assert found["fix"] == "cru import claude-code"
    assert cru(*found["fix"].split()[1:]).exit_code == 0
    assert findings(cru, "transcripts", "note") == []


def test_a_session_that_the_client_will_delete_soon_is_bad(cru: Cru, client: Client) -> None:
    talk(client)
    old = time.time() - 25 * 86400
    os.utime(client.transcript, (old, old))
    (found,) = findings(cru, "transcripts")
    assert "it keeps files for 30 days" in found["text"]
    assert cru("doctor").exit_code == 3
    shown = cru(*found["fix"].split()[1:], "--dry-run")
    assert (shown.exit_code, shown.stdout) == (0, f"{client.transcript}\n")
    assert "transcripts: 1 session would be imported" in shown.stderr
    assert cru("doctor", "--fix", "transcripts").exit_code == 2
    fixed = cru("doctor", "--fix", "transcripts", "--yes")
    assert "transcripts: 1 note created\n" in fixed.stderr
    assert findings(cru, "transcripts", "bad") == []
    assert "transcripts: nothing to fix\n" in cru("doctor", "--fix", "transcripts").stderr


@pytest.mark.parametrize(
    ("settings", "days"),
    [
        ("", 30),
        ("[]", 30),
        ('{"general": {"sessionRetention": {"maxAge": "2w"}}}', 14),
        ('{"general": {"sessionRetention": {"maxAge": "soon"}}}', None),
        ('{"general": {"sessionRetention": {"enabled": false}}}', None),
    ],
)
def test_gemini_cli_keeps_sessions_for_the_time_in_its_settings(home: Path, settings: str, days: int | None) -> None:
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text(settings)
    assert DIALECTS["gemini"].retention_days({}, home) == days


def test_a_setting_that_makes_no_sense_is_no_reason_to_stop(cru: Cru, client: Client, home: Path) -> None:
    talk(client)
    (home / ".claude" / "settings.json").write_text('{"cleanupPeriodDays": -10000000000}')
    (found,) = findings(cru, "transcripts")
    assert "soon" in found["text"]


@pytest.mark.parametrize("days", [365, 10**10, 2**64])
def test_the_clients_own_setting_says_when_it_deletes(cru: Cru, client: Client, home: Path, days: int) -> None:
    talk(client)
    old = time.time() - 25 * 86400
    os.utime(client.transcript, (old, old))
    (home / ".claude" / "settings.json").write_text(f'{{"cleanupPeriodDays": {days}}}')
    assert findings(cru, "transcripts") == []


def test_a_transcript_without_a_word_needs_no_note(cru: Cru, client: Client) -> None:
    client.say({"type": "summary", "summary": "Nothing", "leafUuid": "x"})
    assert findings(cru, "transcripts", "note") == []


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root reads everything")
def test_a_transcript_that_may_not_be_read_is_named(cru: Cru, client: Client) -> None:
    talk(client)
    client.transcript.chmod(0)
    (found,) = findings(cru, "transcripts")
    assert str(client.transcript) in found["items"][0]


def test_a_damaged_archive_of_events_is_named(cru: Cru, client: Client, vault: Vault) -> None:
    talk(client)
    assert cru("import", "claude-code").exit_code == 0
    assert findings(cru, "sessions") == []
    (path,) = (vault.root / ".crucible" / "archive").iterdir()
    path.write_bytes(path.read_bytes()[:-1])
    (found,) = findings(cru, "sessions")
    assert found["text"] == "1 archive of events cannot be read as a whole"
    assert f"{path}: damaged: " in found["items"][0]


def test_hooks_that_are_half_there_are_put_right(cru: Cru, home: Path) -> None:
    assert cru("install", "claude-code").exit_code == 0
    path = home / ".claude" / "settings.json"
    settings = json.loads(path.read_text())
    del settings["hooks"]["Stop"]
    path.write_text(json.dumps(settings))
    (found,) = findings(cru, "hooks")
    assert found["items"] == ["Stop"]
    assert cru(*found["fix"].split()[1:]).exit_code == 0
    assert findings(cru, "hooks") == []


@pytest.mark.parametrize("how", ["gone", "no program", "no python"])
def test_hooks_that_call_a_program_that_is_gone_are_told(
    cru: Cru, home: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    program = home / "bin" / "cru"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(program)])
    cru("install", "claude-code")
    assert findings(cru, "hooks") == []
    if how == "gone":
        program.unlink()
    elif how == "no program":
        program.chmod(0o644)
    else:
        program.write_text(f"#!{home}/venv/bin/python\n")
    (found,) = findings(cru, "hooks")
    assert found["items"][0].startswith(str(program))
    assert found["fix"] == "cru install claude-code --user"
    assert "all hooks are installed" not in cru("doctor").stdout


def test_a_projects_hooks_need_a_cru_on_the_path(
    cru: Cru, vault: Vault, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(vault.root)
    cru("install", "claude-code", "--project")
    monkeypatch.setenv("PATH", str(home))
    (found,) = findings(cru, "hooks")
    assert (found["items"], found["fix"]) == (["cru"], "cru install claude-code --project")
    program = home / "cru"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert findings(cru, "hooks") == []


def test_hooks_that_do_not_fire_are_told(cru: Cru, client: Client, home: Path) -> None:
    cru("install", "claude-code")
    old = time.time() - 10**9
    os.utime(home / ".claude" / "settings.json", (old, old))
    talk(client)
    cru("import", "claude-code")
    (found,) = findings(cru, "hooks")
    assert "never" in found["text"]


def test_settings_that_cannot_be_read_are_told(cru: Cru, home: Path) -> None:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text("{nonsense")
    (found,) = findings(cru, "hooks")
    assert str(path) in found["text"]


def test_a_session_that_ended_and_waits_in_the_spool_is_told(cru: Cru, client: Client) -> None:
    talk(client)
    client.age(3600)
    client.call("SessionEnd", reason="other")
    (found,) = findings(cru, "spool")
    assert found["items"] == [SESSION]


def test_a_session_under_way_is_no_fault(cru: Cru, client: Client) -> None:
    client.call("UserPromptSubmit")
    assert findings(cru, "spool") == []


def test_faults_of_hooks_are_shown(cru: Cru, vault: Vault, home: Path) -> None:
    del home
    log = vault.root / ".crucible" / "log" / "hooks.log"
    log.parent.mkdir()
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    log.write_text(f"2020-01-01T00:00:00Z sync: ValueError: old\n{now} hook: OSError: full\n")
    (found,) = findings(cru, "hooks")
    assert found["items"] == [f"{now} hook: OSError: full"]


def test_sessions_left_behind_are_named(cru: Cru, vault: Vault, home: Path) -> None:
    del home
    for name, status, more in (
        ("2026-01-01-stale", "active", ""),
        ("2026-01-01-paused", "paused", "pause_reason: the client ended without a word\n"),
        ("2026-01-01-child", "completed", 'parent: "[[2026-01-01-gone]]"\n'),
    ):
        head = f"---\ntype: session\nsession_id: {name}\nstarted: 2026-01-01T00:00:00Z\nstatus: {status}\n{more}---\n"
        vault.create(name, f"{head}\n# T\n\n## P\n\nWords.\n")
    assert [found["items"] for found in findings(cru, "sessions")] == [["2026-01-01-stale"]]
    notes = findings(cru, "sessions", "note")
    assert [found["items"] for found in notes] == [
        ["2026-01-01-paused"],
        ["2026-01-01-child (of 2026-01-01-gone)"],
    ]


def test_whole_events_without_a_note_are_named(cru: Cru, vault: Vault, home: Path) -> None:
    del home
    (vault.root / ".crucible" / "flight" / "2026-01-01-lost").mkdir(parents=True)
    (found,) = findings(cru, "sessions", "note")
    assert found["items"] == ["2026-01-01-lost"]


def test_a_client_that_died_is_found_by_its_process(vault: Vault, home: Path) -> None:
    from crucible.integrations.hooks.client_state import is_running
    from crucible.vault.events.spool_reader import load_spool

    Client(vault.root, home, pid=GONE).call("SessionStart")
    Client(vault.root, home, "99999999-2222-3333-4444-555555555555").call("SessionStart")
    assert [is_running(each) for each in load_spool(vault.root, "claude-code")] == [False, True]


def test_a_note_that_lags_behind_its_transcript_is_named_until_it_is_imported(cru: Cru, client: Client) -> None:
    talk(client)
    cru("import", "claude-code")
    assert findings(cru, "transcripts", "note") == []
    client.rows += [{"type": "noise"}] * 600  # ten minutes
    client.say(user("More"), assistant(text("Done."), stop="end_turn"))
    (found,) = findings(cru, "transcripts", "note")
    assert SESSION in found["items"][0]
    assert cru(*found["fix"].split()[1:]).exit_code == 0
    assert findings(cru, "transcripts", "note") == []


def test_a_note_with_broken_properties_is_named(cru: Cru, client: Client, vault: Vault) -> None:
    talk(client)
    cru("import", "claude-code")
    (note,) = vault.sessions.glob("*.md")
    note.write_bytes(note.read_bytes().replace(b"\nstatus: ", b"\nstatus: [", 1))
    (found,) = [one for one in findings(cru, "sessions", "note") if one["fix"] == "cru session check"]
    assert found["text"] == "1 note has no status, or properties with broken YAML"
    assert found["items"] == [f"sessions/{note.name}"]
