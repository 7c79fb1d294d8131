"""What a hook costs the agent: the installed command with a real payload, whole processes, in turns with `python -c pass`.

The command is taken from the settings file that `cru install` writes and run by a shell, as the client runs it.  The
payloads were caught from the real client; only their paths are made to fit.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from benchmarks.measuring import Figure, environment, in_turns, median_ratio
from benchmarks.transcripts import write_large

__all__ = ["BARS", "measure", "times"]

BARS = {"PostToolUse": 3.0, "SessionEnd": 6.0}
PAYLOADS = Path(__file__).resolve().parents[1] / "tests" / "data" / "hooks" / "claude-code-2.1.jsonl"
LARGE = 50_000_000
ROUNDS = 50


def times(scratch: Path, rounds: int, size: int = LARGE) -> dict[str, list[float]]:
    """Seconds of both hooks, on a session whose transcript has `size` bytes, and of an interpreter that does nothing."""
    home, vault, project = scratch / "home", scratch / "vault", scratch / "project"
    for folder in (home, project):
        folder.mkdir(parents=True)
    env = environment(home) | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for args in (["init", str(vault), "--default"], ["install", "claude-code", "--user"]):
        subprocess.run(["cru", *args], check=True, capture_output=True, env=env, cwd=project)
    entries = json.loads((home / ".claude" / "settings.json").read_text())["hooks"]
    transcript = home / ".claude" / "projects" / "-project" / "11111111-2222-4333-8444-555555555555.jsonl"
    write_large(transcript, size)
    actions: dict[str, Callable[[], float]] = {
        "nothing": lambda: _seconds([sys.executable, "-c", "pass"], b"", env, project)
    }
    for event in BARS:
        payload = _payload(event, transcript, project)
        command = ["sh", "-c", entries[event][0]["hooks"][0]["command"]]
        actions[event] = lambda command=command, payload=payload: _hooked(  # type: ignore[misc]
            command, payload, env, project, vault
        )
    in_turns(actions, 2)
    found = in_turns(actions, rounds)
    assert list(vault.glob(f".crucible/spool/claude-code/{transcript.stem}.jsonl")), "the hooks were heard"
    return found


def _payload(event: str, transcript: Path, project: Path) -> bytes:
    """The longest real payload of an event, told of this session."""
    rows = [json.loads(line) for line in PAYLOADS.read_text(encoding="utf-8").split("\n") if line]
    row = max((r for r in rows if r["hook_event_name"] == event), key=lambda r: len(json.dumps(r)))
    row |= {"session_id": transcript.stem, "transcript_path": str(transcript), "cwd": str(project)}
    return json.dumps(row).encode()


def _hooked(command: list[str], payload: bytes, env: dict[str, str], cwd: Path, vault: Path) -> float:
    """What it starts is no part of what the client waits for, and must not stand in the way of the next turn."""
    seconds = _seconds(command, payload, env, cwd)
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"crucible.hooks.starting\0{vault}".encode() in (process / "cmdline").read_bytes():
                os.kill(int(process.name), signal.SIGKILL)
    return seconds


def _seconds(command: list[str], payload: bytes, env: dict[str, str], cwd: Path) -> float:
    begin = time.perf_counter()
    ran = subprocess.run(command, input=payload, check=True, capture_output=True, env=env, cwd=cwd)
    seconds = time.perf_counter() - begin
    assert not ran.stdout, "a hook prints nothing"
    assert not ran.stderr, "a hook prints nothing"
    return seconds


def measure(scratch: Path) -> list[Figure]:
    found = times(scratch / "hooks", ROUNDS)
    took = {name: statistics.median(seconds) * 1000 for name, seconds in found.items()}
    told = {"PostToolUse": "a tool call's hook", "SessionEnd": "a session's end, transcript of 50 MB,"}
    return [
        Figure(
            f"{told[event]} over `python -c pass`",
            median_ratio(found, event, "nothing"),
            bar,
            detail=f"{took[event]:.0f} ms, {took['nothing']:.0f} ms",
        )
        for event, bar in BARS.items()
    ]
