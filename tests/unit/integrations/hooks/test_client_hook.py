"""`cru hook claude-code`: what it stores, and that it never prints or fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from crucible.clients.launch.session_marks import OWN_ENVIRONMENT
from crucible.vault.notes.vault import Vault
from samples.waiting import wait_until
from tests.paths import TESTS
from tests.unit.integrations.hooks.playing import SESSION, Client, log_of, run_hook, spool_lines

PAYLOADS = (TESTS / "data" / "hooks" / "claude-code-2.1.jsonl").read_text().splitlines()


@pytest.fixture
def client(vault: Vault, tmp_path: Path) -> Client:
    return Client(vault.root, tmp_path / "home")


def test_every_payload_of_the_real_client_is_a_line_without_content(vault: Vault) -> None:
    sent = [json.loads(line) | {"cwd": str(vault.root)} for line in PAYLOADS]
    for payload in sent:
        done = run_hook(json.dumps(payload).encode())
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    lines = spool_lines(vault.root, sent[0]["session_id"])
    assert [line["event"] for line in lines] == [payload["hook_event_name"] for payload in sent]
    allowed = {
        "time",
        "pid",
        "event",
        "session",
        "transcript",
        "agent",
        "call",
        "source",
        "reason",
        "trigger",
        "said",
    }
    assert {key for line in lines for key in line} <= allowed
    spooled = json.dumps(lines)
    for words in ("retry bug", "grep -rn", "import sys", "exponential", "Exit code"):
        assert words not in spooled


def test_ids_of_calls_and_subagents_are_kept(client: Client) -> None:
    client.hook("PostToolUse", tool_use_id="toolu_1", agent_id="a1", tool_input={"session_id": "forged"})
    (line,) = spool_lines(client.root)
    assert (line["session"], line["call"], line["agent"]) == (SESSION, "toolu_1", "a1")


def test_reading_stops_where_the_object_ends(client: Client) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "crucible", "hook", "claude-code"],
        stdin=subprocess.PIPE,
    )
    assert process.stdin
    text = json.dumps(client.payload("PostToolUse", tool_response={"stdout": "}" * 200_000}))
    for start in range(0, len(text), 30_000):
        process.stdin.write(text[start : start + 30_000].encode())
        process.stdin.flush()
    assert process.wait(timeout=30) == 0  # stdin is still open
    process.stdin.close()
    assert len(spool_lines(client.root)) == 1


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe\x00{}",
        b'{"session_id": "../../x", "hook_event_name": "Stop", "cwd": "CWD"}',
        b'{"session_id": ".hidden", "hook_event_name": "Stop", "cwd": "CWD"}',
        b'{"session_id": 7, "hook_event_name": "Stop", "cwd": "CWD"}',
        b'{"session_id": "s", "hook_event_name": "../Stop", "cwd": "CWD"}',
        b'{"session_id": "s", "hook_event_name": null, "cwd": "CWD"}',
        b'{"a":' * 5000,
    ],
)
def test_an_invalid_payload_is_only_logged(vault: Vault, payload: bytes) -> None:
    done = run_hook(payload.replace(b"CWD", str(vault.root).encode()))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not list((vault.root / ".crucible").glob("spool/**/*.jsonl"))
    if b"CWD" in payload:
        assert "not a session's payload" in log_of(vault.root)


def test_a_spool_that_leads_out_of_the_vault_is_not_written(client: Client, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (client.root / ".crucible" / "spool").symlink_to(outside)
    assert client.hook("PostToolUse").returncode == 0
    assert not list(outside.rglob("*"))
    assert "points outside the vault" in log_of(client.root)


def test_a_failed_write_does_not_affect_the_client(client: Client) -> None:
    (client.root / ".crucible" / "spool").write_text("a file")
    done = client.hook("PostToolUse")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert "Error" in log_of(client.root)


def test_a_session_that_cru_started_is_left_alone(client: Client) -> None:
    client.hook("PostToolUse", env={OWN_ENVIRONMENT: "1"})
    assert spool_lines(client.root) == []


def test_the_vault_is_the_nearest_one_above(client: Client) -> None:
    below = client.root / "a" / "b"
    below.mkdir(parents=True)
    run_hook(json.dumps(client.payload("PostToolUse") | {"cwd": str(below)}).encode())
    assert len(spool_lines(client.root)) == 1


def test_a_folder_that_is_gone_still_has_parents(client: Client) -> None:
    run_hook(json.dumps(client.payload("PostToolUse") | {"cwd": str(client.root / "gone" / "b")}).encode())
    assert len(spool_lines(client.root)) == 1


def test_the_environment_names_the_vault_first(client: Client, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / ".crucible").mkdir(parents=True)
    client.hook("PostToolUse", env={"CRUCIBLE_VAULT": str(other)})
    assert spool_lines(client.root) == []
    assert len(spool_lines(other)) == 1


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        ('default_vault = "VAULT"\n', True),
        ('default_vault = "VAULT"\n[hooks]\nelsewhere = "default"\n', True),
        ('default_vault = "VAULT"\n[hooks]\nelsewhere = "ignore"\n', False),
        ('hooks = {elsewhere = "ignore"}\n"default_vault" = "VAULT"\n', False),
        ('"default_vault" = "VAULT"\n', True),
        ("", False),
        ("broken = [", False),
    ],
)
def test_a_folder_in_no_vault_goes_where_the_settings_say(
    client: Client, tmp_path: Path, settings: str, kept: bool
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(settings.replace("VAULT", str(client.root)))
    away = tmp_path / "away"
    away.mkdir()
    payload = client.payload("PostToolUse") | {"cwd": str(away)}
    done = run_hook(json.dumps(payload).encode(), {"CRUCIBLE_CONFIG": str(config)})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert len(spool_lines(client.root)) == kept
    assert not list(away.iterdir())


def test_a_line_after_a_truncated_one_is_whole(client: Client) -> None:
    client.call("SessionStart")
    path = client.root / ".crucible" / "spool" / "claude-code" / f"{SESSION}.jsonl"
    path.write_bytes(path.read_bytes() + b'{"event": "Post')
    client.hook("PostToolUse")
    lines = [line for line in path.read_text().split("\n") if line]
    assert json.loads(lines[-1])["event"] == "PostToolUse"


def test_hooks_at_once_lose_no_line(client: Client) -> None:
    text = json.dumps(client.payload("PostToolUse")).encode()
    command = [sys.executable, "-m", "crucible", "hook", "claude-code"]
    running = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(20)]
    for process in running:
        process.communicate(text, timeout=60)
    assert len(spool_lines(client.root)) == 20


def test_it_imports_next_to_nothing(client: Client) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "crucible", "hook", "claude-code"],
        input=json.dumps(client.payload("PostToolUse")).encode(),
        capture_output=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    assert not loaded & {"re", "json", "typing", "pathlib", "subprocess", "click", "orjson", "dataclasses"} - _by_m()


def _by_m() -> set[str]:
    """What `python -m` itself imports."""
    done = subprocess.run([sys.executable, "-X", "importtime", "-m", "this"], capture_output=True, check=True)
    return {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")
def test_the_client_is_distinguished_from_the_shell_between(client: Client) -> None:
    script = f"{sys.executable} -m crucible hook claude-code; true"
    subprocess.run(["sh", "-c", script], input=json.dumps(client.payload("PostToolUse")).encode(), check=True)
    (line,) = spool_lines(client.root)
    assert line["pid"] == os.getpid()


def test_a_phases_end_writes_the_note(client: Client) -> None:
    from tests.unit.clients.building import assistant, text, user

    client.say(user("Fix it"), assistant(text("Done so."), stop="end_turn"))
    client.hook("Stop", last_assistant_message="Done so.")
    wait_until(lambda: list(client.root.glob("sessions/*.md")))
    (note,) = client.root.glob("sessions/*.md")
    assert "Done so." in note.read_text()


def test_a_compaction_waits_until_all_is_written_down(client: Client) -> None:
    from tests.unit.clients.building import assistant, text, use, user

    client.say(user("Fix it"), assistant(text("Half way."), use("Bash", command="ls")))
    client.hook("PreCompact", trigger="auto")
    (note,) = client.root.glob("sessions/*.md")
    assert "`Bash ls`" in note.read_text()
