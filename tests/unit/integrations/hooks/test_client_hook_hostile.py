"""`cru hook claude-code` in bad conditions: pipes instead of files, locks that are never released, odd payloads."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crucible.integrations.hooks import background
from crucible.integrations.hooks.client_hook import vault_of
from crucible.integrations.hooks.hook_log import log_fault
from crucible.vault.events import spool
from crucible.vault.events.spool import append, syncing
from crucible.vault.notes.vault import Vault
from tests.unit.integrations.hooks.playing import SESSION, Client, log_of, run_hook, spool_lines

pytestmark = pytest.mark.skipif(os.name != "posix", reason="named pipes and flock")

_STOPPED = """
import fcntl, os, signal, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
os.kill(os.getpid(), signal.SIGSTOP)
"""


@pytest.fixture
def client(vault: Vault, tmp_path: Path) -> Client:
    return Client(vault.root, tmp_path / "home")


@pytest.fixture
def spool_file(vault: Vault) -> Path:
    return vault.root / ".crucible" / "spool" / "claude-code" / f"{SESSION}.jsonl"


@pytest.fixture
def stopped(spool_file: Path) -> Iterator[None]:
    """A process that holds the lock of the session's spool file and never goes on."""
    spool_file.parent.mkdir(parents=True)
    with subprocess.Popen([sys.executable, "-c", _STOPPED, str(spool_file)], stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        yield
        process.kill()


def _take_seconds(client: Client, event: str = "PostToolUse", env: dict[str, str] | None = None) -> float:
    begun = time.monotonic()
    done = client.hook(event, env)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    return time.monotonic() - begun


def test_pipes_where_settings_are_expected_keep_no_hook(client: Client, tmp_path: Path) -> None:
    config = client.root / ".crucible" / "config.toml"
    config.unlink(missing_ok=True)
    os.mkfifo(config)
    assert _take_seconds(client) < 30
    assert len(spool_lines(client.root)) == 1
    pipe = tmp_path / "user.toml"
    os.mkfifo(pipe)
    elsewhere = json.dumps(client.payload("PostToolUse") | {"cwd": str(tmp_path)}).encode()
    assert run_hook(elsewhere, {"CRUCIBLE_CONFIG": str(pipe)}).returncode == 0


def test_a_pipe_in_the_spools_place_keeps_no_hook(client: Client, spool_file: Path) -> None:
    spool_file.parent.mkdir(parents=True)
    os.mkfifo(spool_file)
    assert _take_seconds(client) < 30
    assert "OSError" in log_of(client.root)


def test_a_pipe_with_a_reader_in_the_spools_place_gets_no_word(client: Client, spool_file: Path) -> None:
    spool_file.parent.mkdir(parents=True)
    os.mkfifo(spool_file)
    reader = os.open(spool_file, os.O_RDONLY | os.O_NONBLOCK)
    try:
        client.hook("PostToolUse")
        assert os.read(reader, 100) == b""
    finally:
        os.close(reader)


def test_a_pipe_instead_of_the_log_does_not_block(tmp_path: Path) -> None:
    (tmp_path / ".crucible" / "log").mkdir(parents=True)
    os.mkfifo(tmp_path / ".crucible" / "log" / "hooks.log")
    log_fault(str(tmp_path), "hook", ValueError("x"))


def test_a_pipe_where_the_state_is_lets_a_compaction_go(client: Client, spool_file: Path) -> None:
    spool_file.parent.mkdir(parents=True)
    os.mkfifo(spool_file.with_suffix(".state"))
    assert _take_seconds(client, "PreCompact") < 30


@pytest.mark.usefixtures("stopped")
def test_a_lock_that_a_stopped_process_holds_costs_a_moment_and_no_line(client: Client) -> None:
    assert _take_seconds(client) < 30
    assert len(spool_lines(client.root)) == 1


@pytest.mark.usefixtures("stopped")
def test_a_locked_session_is_not_removed(spool_file: Path) -> None:
    begun = time.monotonic()
    assert not spool.remove(str(spool_file.parent), SESSION, 0)
    assert time.monotonic() - begun < 30
    assert spool_file.exists()


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_spools_and_syncs(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(_file: int, _how: int, /) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(spool, "flock", refuse)
    append(spool.spool_folder(str(vault.root), "claude-code"), SESSION, b'{"event":"Stop"}')
    assert len(spool_lines(vault.root)) == 1
    with syncing(str(vault.root)) as lock:
        assert lock.held


@pytest.mark.timed
@pytest.mark.parametrize(
    "said", ["}" * 10_000_000, "}\n" * 5_000_000, "x" * 50_000_000], ids=["braces", "lines", "50 MB"]
)
def test_a_huge_payload_is_taken_in_no_time(client: Client, said: str) -> None:
    payload = json.dumps(client.payload("PostToolUse", tool_response={"stdout": said})).encode()
    begun = time.monotonic()
    assert run_hook(payload).returncode == 0
    assert time.monotonic() - begun < 4
    assert len(spool_lines(client.root)) == 1


def test_a_line_break_after_the_payload_does_not_block(client: Client) -> None:
    process = subprocess.Popen([sys.executable, "-m", "crucible", "hook", "claude-code"], stdin=subprocess.PIPE)
    assert process.stdin
    process.stdin.write(json.dumps(client.payload("PostToolUse")).encode() + b"\n")
    process.stdin.flush()
    begun = time.monotonic()
    assert process.wait(timeout=30) == 0  # stdin is still open
    process.stdin.close()
    assert time.monotonic() - begun < 30
    assert len(spool_lines(client.root)) == 1


def test_a_number_beyond_every_limit_loses_no_event(client: Client) -> None:
    text = json.dumps(client.payload("PostToolUse", tool_input={"n": 0})).replace('"n": 0', '"n": ' + "1" * 10_000)
    run_hook(text.encode())
    assert len(spool_lines(client.root)) == 1


def test_a_lone_surrogate_loses_no_event(client: Client) -> None:
    client.hook("SessionEnd", reason="\ud800", transcript_path="/home/\ud800 \U0001f600.jsonl")
    (line,) = spool_lines(client.root)
    assert (line["event"], line["transcript"]) == ("SessionEnd", "/home/? \U0001f600.jsonl")


def test_the_log_is_never_written_outside_the_vault(vault: Vault, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (vault.root / ".crucible" / "log").symlink_to(outside)
    log_fault(str(vault.root), "hook", ValueError("x"))
    assert list(outside.iterdir()) == []


def test_control_characters_do_not_reach_the_log(vault: Vault) -> None:
    log_fault(str(vault.root), "hook", ValueError("a\x1b[2J\x9b\u202eb"))
    log = log_of(vault.root).removesuffix("\n")
    assert log.isprintable()
    assert log.endswith("a?[2J??b")


@pytest.mark.parametrize("key", ["reason", "source", "trigger", "tool_use_id", "agent_id"])
def test_words_in_an_ids_place_are_not_spooled(client: Client, key: str) -> None:
    for words in ("the password is hunter2", "x" * 200):
        run_hook(json.dumps(client.payload("SessionEnd", **{key: words})).encode())
    lines = spool_lines(client.root)
    assert [line["event"] for line in lines] == ["SessionEnd", "SessionEnd"]
    assert "hunter2" not in json.dumps(lines)
    assert "x" * 129 not in json.dumps(lines)


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_a_payload_that_is_nested_too_deep_gives_its_ids(
    vault: Vault, tmp_path: Path, separators: tuple[str, str]
) -> None:
    client = Client(vault.root, tmp_path / "home")
    payload = json.dumps(client.payload("PostToolUse"), separators=separators)
    deep = "[" * 1500 + '{"session_id":"other"}' + "]" * 1500
    done = run_hook(f'{payload[:-1]}{separators[0]}"tool_input"{separators[1]}{deep},"x":1}}'.encode())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert [line["event"] for line in spool_lines(vault.root)] == ["PostToolUse"]
    assert log_of(vault.root) == ""


def test_a_vault_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    log_fault(str(gone), "hook", ValueError("x"))
    background.main(str(gone))
    assert not gone.exists()


def test_a_vault_that_another_user_planted_gets_no_session(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.root.chmod(0o1777)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert vault_of(str(client.root)) == ""
    monkeypatch.setenv("CRUCIBLE_VAULT", str(client.root))
    assert vault_of(str(tmp_path)) == str(client.root)
