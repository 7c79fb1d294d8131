"""Whether a session's client runs: its own file, its process, and hooks that outlive it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crucible.integrations.hooks.client_state import is_running
from crucible.vault.events.spool_reader import Spooled, SpoolLine
from samples.waiting import is_gone, wait_until
from tests.unit.integrations.hooks.playing import GONE, SESSION

NOW = time.time()


def spooled(*pids: int, at: float = 0.0, transcript: str = "") -> Spooled:
    lines = [SpoolLine("SessionStart", at or time.time(), pid, transcript) for pid in pids[:1]]
    lines += [SpoolLine("PostToolUse", at or time.time(), pid) for pid in pids[1:]]
    return Spooled("claude-code", SESSION, tuple(lines))


def test_our_own_process_runs_and_one_that_never_was_does_not() -> None:
    assert is_running(spooled(os.getpid()))
    assert not is_running(spooled(GONE))
    assert not is_running(Spooled("claude-code", SESSION))


def test_a_hook_that_outlived_its_client_is_not_believed() -> None:
    assert not is_running(spooled(GONE, GONE, 1))
    assert not is_running(spooled(GONE, GONE, os.getpid()))
    assert is_running(spooled(os.getpid(), os.getpid(), 1))


def test_only_the_calls_since_the_last_start_count() -> None:
    old, new = spooled(GONE, GONE, GONE), spooled(os.getpid())
    assert is_running(Spooled("claude-code", SESSION, (*old.lines, *new.lines)))


def test_a_process_that_began_after_the_call_is_another_one() -> None:
    assert not is_running(spooled(os.getpid(), at=1_000_000_000.0))


def test_without_a_process_a_client_that_called_lately_runs() -> None:
    assert is_running(spooled(0))
    assert not is_running(spooled(0, at=NOW - 86400))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")
def test_a_zombie_process_does_not_run() -> None:
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    wait_until(lambda: is_gone(child.pid))
    assert not is_running(spooled(child.pid))
    child.wait()


@pytest.mark.parametrize("runs", [True, False])
def test_the_clients_own_register_is_asked_first(tmp_path: Path, runs: bool) -> None:
    pid = os.getpid() if runs else GONE
    transcript = tmp_path / "projects" / "p" / f"{SESSION}.jsonl"
    register = tmp_path / "sessions" / f"{pid}.json"
    register.parent.mkdir()
    register.write_text(json.dumps({"pid": pid, "sessionId": SESSION}))
    assert is_running(spooled(GONE, transcript=str(transcript))) is runs
