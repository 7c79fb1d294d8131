"""Hooks of clients other than Claude Code: what they spool, which log is read then, and how a session ends."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from crucible.clients.registry import HOOKS
from crucible.integrations.hooks import sync as syncing
from crucible.integrations.hooks.client_hook import CLIENTS
from crucible.vault.events.spool import append, spool_folder
from crucible.vault.notes.vault import Vault
from tests.clients.replaying import PLACES
from tests.trusting import user_of_test
from tests.unit.commands.imports.places import DATA, notes_of
from tests.unit.integrations.hooks.playing import GONE, log_of, run_hook

QWEN = "99c9b0b7-dac7-4c91-8878-24c8fc024971"
SESSIONS = {
    "codex": "01a1fff8-16b9-7013-ae61-0f9910658347",
    "copilot": "2024dde3-fc71-4a8b-aaf3-7fb708b015af",
    "qwen-code": QWEN,
}


@pytest.fixture
def logs(vault: Vault) -> Path:
    """The logs of Qwen Code in the home folder of the test; the log of the one session."""
    return play("qwen-code")


def play(client: str) -> Path:
    """Put a recording into a client's folder; its first log."""
    folder = Path.home() / PLACES[client][0]
    shutil.copytree(DATA / "transcripts" / client / "limiter", folder, dirs_exist_ok=True)
    return min(path for path in folder.rglob("*") if path.suffix in (".jsonl", ".db"))


def call(vault: Vault, client: str, event: str, session: str = QWEN, transcript: str = "", pid: int = 0) -> None:
    """A line in the spool."""
    line = {"time": time.time(), "pid": pid or os.getpid(), "event": event, "session": session}
    append(spool_folder(str(vault.root), client), session, json.dumps(line | {"transcript": transcript}).encode())


def sync(vault: Vault) -> list[str]:
    """Do what a hook starts; the status of each note of a main session."""
    syncing.sync_vault(vault.root, user_of_test(), {})
    return [str(note.session.status) for note in notes_of(vault).values() if not note.session.parent]


def lines_of(vault: Vault, client: str) -> list[dict[str, Any]]:
    paths = (vault.root / ".crucible" / "spool" / client).glob("*.jsonl")
    return [json.loads(line) for path in paths for line in path.read_text().split("\n") if line]


def test_every_client_with_hooks_may_call_them() -> None:
    assert sorted(CLIENTS) == sorted(HOOKS)


def test_a_payload_becomes_a_line_with_claude_codes_name_of_the_event(vault: Vault) -> None:
    payload = {"session_id": "s1", "cwd": str(vault.root), "transcript_path": "/p.jsonl", "prompt_response": "Words."}
    done = run_hook(json.dumps({**payload, "hook_event_name": "AfterAgent"}).encode(), client="gemini")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (line,) = lines_of(vault, "gemini")
    assert (line["event"], line["session"], line["transcript"]) == ("Stop", "s1", "/p.jsonl")
    assert "Words." not in str(line)


@pytest.mark.parametrize(
    "more",
    [
        {"hook_event_name": "PostToolUse"},
        {"agent_id": "a1"},
        {"session_id": "../up"},
        {"session_id": 7},
        {"hook_event_name": ["Stop"]},
        {"cwd": "relative"},
    ],
)
def test_any_other_payload_leaves_no_line(vault: Vault, more: dict[str, Any]) -> None:
    payload = {"session_id": "s1", "cwd": str(vault.root), "hook_event_name": "Stop", **more}
    assert run_hook(json.dumps(payload).encode(), client="qwen-code").returncode == 0
    assert lines_of(vault, "qwen-code") == []


def test_an_unknown_client_is_an_error_of_usage() -> None:
    done = subprocess.run([sys.executable, "-m", "crucible", "hook", "other"], capture_output=True, check=False)
    assert done.returncode == 2


@pytest.mark.parametrize("client", SESSIONS)
def test_a_turn_is_written_when_it_ends_and_the_session_ends_with_its_client(vault: Vault, client: str) -> None:
    play(client)
    call(vault, client, "Stop", SESSIONS[client])
    assert sync(vault) == ["active"]
    call(vault, client, "SessionEnd", SESSIONS[client])
    assert sync(vault) == ["completed"]
    assert log_of(vault.root) == ""


def test_only_the_session_that_is_named_is_read_from_a_database(vault: Vault) -> None:
    play("opencode")
    call(vault, "opencode", "SessionEnd", "ses_unknown")
    assert sync(vault) == []


def test_a_path_outside_the_clients_folder_is_not_read(vault: Vault, logs: Path, tmp_path: Path) -> None:
    outside = tmp_path / logs.name
    logs.rename(outside)
    for path in (str(outside), f"{logs.parent}/../../../../{outside.relative_to('/')}", "\0", str(logs.parent)):
        call(vault, "qwen-code", "Stop", transcript=path)
    call(vault, "qwen-code", "SessionEnd", transcript=str(outside))
    assert sync(vault) == []
    assert f"no transcript of {QWEN}" in log_of(vault.root)


def test_a_path_through_a_link_is_the_one_that_was_checked(vault: Vault, logs: Path, tmp_path: Path) -> None:
    elsewhere, log = tmp_path / "a" / "b", logs.relative_to(Path.home())
    (elsewhere / "deep").mkdir(parents=True)
    (Path.home() / "link").symlink_to(elsewhere / "deep")
    (elsewhere / log).parent.mkdir(parents=True)
    logs.rename(elsewhere / log)
    # As text, `link/..` is the home folder; the system goes to the folder above the link's target.
    call(vault, "qwen-code", "SessionEnd", transcript=f"{Path.home()}/link/../{log}")
    assert sync(vault) == []


def test_a_pipe_in_a_logs_place_is_not_waited_for(vault: Vault, logs: Path) -> None:
    logs.unlink()
    os.mkfifo(logs)
    for session in (QWEN, "other"):
        call(vault, "qwen-code", "SessionEnd", session, transcript=str(logs))
    assert sync(vault) == []


def test_a_client_that_ends_with_its_turn_has_ended(vault: Vault, logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syncing, "is_running", lambda spooled: spooled.left == "")
    call(vault, "qwen-code", "Stop", transcript=str(logs), pid=GONE)
    syncing.write_down(vault.root)
    assert [str(note.session.status) for note in notes_of(vault).values() if not note.session.parent] == ["completed"]
    assert [line["event"] for line in lines_of(vault, "qwen-code")] == ["Stop", "SessionEnd"]
