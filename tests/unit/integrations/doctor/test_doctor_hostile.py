"""`cru doctor` from other folders, in folders with odd names, and with sessions that can never be imported."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from crucible.vault.notes.vault import Vault
from tests.running import Cru
from tests.unit.clients.building import assistant, text, user
from tests.unit.integrations.hooks.playing import SESSION, Client, sync


def findings(cru: Cru, topic: str) -> list[dict[str, Any]]:
    return [each for each in json.loads(cru("doctor", "--format", "json").stdout)["checks"] if each["topic"] == topic]


def test_hooks_of_the_vaults_own_project_are_seen_from_elsewhere(
    cru: Cru, vault: Vault, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (vault.root / ".git").mkdir()
    # The project's hooks call `cru` by its name.
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.chdir(vault.root)
    assert cru("install", "claude-code", "--project").exit_code == 0
    monkeypatch.chdir(home)
    told = [each["text"] for each in findings(cru, "hooks")]
    assert f"{vault.root / '.claude' / 'settings.json'}: all hooks are installed" in told
    assert not any("not installed" in text for text in told)


def test_a_session_without_a_transcript_is_a_note_and_no_fault(cru: Cru, vault: Vault, home: Path) -> None:
    client = Client(vault.root, home)
    client.age(3600)
    client.call("UserPromptSubmit")
    client.call("SessionEnd", reason="other")
    sync(client)
    (found,) = findings(cru, "spool")
    assert (found["state"], found["items"], found["fix"]) == ("note", [SESSION], None)


def test_the_named_command_fixes_ended_sessions_that_wait(cru: Cru, vault: Vault, home: Path) -> None:
    client = Client(vault.root, home)
    client.age(3600)
    client.say(user("Fix it"), assistant(text("Fixed."), stop="end_turn"))
    client.call("Stop", said="Fixed.")
    client.call("SessionEnd", reason="other")
    (found,) = findings(cru, "spool")
    assert (found["state"], found["fix"]) == ("bad", "cru import claude-code")
    assert cru(*found["fix"].split()[1:]).exit_code == 0
    (found,) = findings(cru, "spool")
    assert found["state"] == "good"
    assert "status: completed" in next(vault.sessions.glob("*.md")).read_text()


def test_the_log_is_named_as_a_shell_wants_it(vault: Vault, home: Path, tmp_path: Path) -> None:
    del home
    root = tmp_path / "my vault"
    vault.root.rename(root)
    log = root / ".crucible" / "log" / "hooks.log"
    log.parent.mkdir(exist_ok=True)
    log.write_text(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} hook: OSError: full\n")
    found = findings(Cru(Vault(root)), "hooks")
    assert any((each["fix"] or "").endswith(f"rm '{log}'") for each in found)
