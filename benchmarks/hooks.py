"""What a hook costs the agent: the installed command with a real payload, whole processes, in turns with `python -c pass`.

A start that is told of a paused session is measured in turns with `python -c "import click"`, in a vault of 5,000 notes.

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
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.measuring import Figure, environment, in_turns, median_ratio
from crucible.memory.bookmarks.bookmark import Bookmark, StopReason, append_bookmark
from samples.transcripts import write_large
from samples.vaults import session_texts

BARS = {"PostToolUse": 3.0, "SessionEnd": 6.0}
START_BAR = 8.0
NOTES = 5_000
PROJECT = "shop"
"""One of the generated notes' five projects."""
PAYLOADS = Path(__file__).resolve().parents[1] / "tests" / "data" / "hooks" / "claude-code-2.1.jsonl"
TRANSCRIPT = Path(".claude/projects/-project/11111111-2222-4333-8444-555555555555.jsonl")
LARGE = 50_000_000
ROUNDS = 50


def times(scratch: Path, rounds: int, size: int = LARGE) -> dict[str, list[float]]:
    """Seconds of both hooks, on a session whose transcript has `size` bytes, and of an interpreter that does nothing."""
    home, vault, project, env = _place(scratch, "project")
    entries = _entries(home)
    transcript = home / TRANSCRIPT
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


def start_times(scratch: Path, rounds: int, notes: int = NOTES) -> dict[str, list[float]]:
    """Seconds of a start with and without a paused session of its project, and of an interpreter that imports click."""
    home, vault, project, env = _place(scratch, PROJECT)
    for name, text in session_texts(notes):
        path = vault / "sessions" / f"{name}.md"
        path.write_text(text, encoding="utf-8")
        os.utime(path, (_AGO, _AGO))
        if "\nstatus: paused" in text:
            append_bookmark(vault, replace(_MARK, id=name, session=name), fsync=False)
    (home / "elsewhere").mkdir()
    subprocess.run(["cru", "session", "list", "-n", "1"], check=True, capture_output=True, env=env, cwd=project)
    command = ["sh", "-c", _entries(home)["SessionStart"][0]["hooks"][0]["command"]]
    actions: dict[str, Callable[[], float]] = {
        "click": lambda: _seconds([sys.executable, "-c", "import click"], b"", env, project)
    }
    for name, folder, told in (("told", project, True), ("untold", home / "elsewhere", False)):
        payload = _payload("SessionStart", home / TRANSCRIPT, folder, source="startup")
        actions[name] = lambda payload=payload, told=told: _hooked(  # type: ignore[misc]
            command, payload, env, project, vault, told=told
        )
    in_turns(actions, 2)
    return in_turns(actions, rounds)


_AGO = datetime(2026, 11, 21, tzinfo=UTC).timestamp()
"""The stamps of notes that were written this moment are not believed, and of so many a start reads none."""

_MARK = Bookmark(
    "b",
    "s",
    datetime(2026, 11, 21, tzinfo=UTC),
    StopReason.PAUSED,
    phase="phase-2",
    phase_name="Tests",
    blockers=("a key",),
    files={f"src/module_{number}.py": f"{number:040x}" for number in range(20)},
)


def _place(scratch: Path, name: str) -> tuple[Path, Path, Path, dict[str, str]]:
    """A home with our hooks, its default vault, a project, and the environment of all that runs there."""
    home, vault, project = scratch / "home", scratch / "vault", scratch / name
    for folder in (home, project):
        folder.mkdir(parents=True)
    # A repository of its own: the place for all this may lie in another one.
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    env = environment(home) | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for args in (["init", str(vault), "--default"], ["install", "claude-code", "--user"]):
        subprocess.run(["cru", *args], check=True, capture_output=True, env=env, cwd=project)
    return home, vault, project, env


def _entries(home: Path) -> dict[str, list[dict[str, list[dict[str, str]]]]]:
    hooks: dict[str, list[dict[str, list[dict[str, str]]]]] = json.loads(
        (home / ".claude" / "settings.json").read_text()
    )["hooks"]
    return hooks


def _payload(event: str, transcript: Path, project: Path, **more: str) -> bytes:
    """The longest real payload of an event, told of this session."""
    rows = [json.loads(line) for line in PAYLOADS.read_text(encoding="utf-8").split("\n") if line]
    row = max((r for r in rows if r["hook_event_name"] == event), key=lambda r: len(json.dumps(r)))
    row |= {"session_id": transcript.stem, "transcript_path": str(transcript), "cwd": str(project), **more}
    return json.dumps(row).encode()


def _hooked(
    command: list[str], payload: bytes, env: dict[str, str], cwd: Path, vault: Path, *, told: bool = False
) -> float:
    """What it starts is no part of what the client waits for, and must not stand in the way of the next turn."""
    seconds = _seconds(command, payload, env, cwd, told=told)
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"crucible.integrations.hooks.background\0{vault}".encode() in (process / "cmdline").read_bytes():
                os.kill(int(process.name), signal.SIGKILL)
    return seconds


def _seconds(command: list[str], payload: bytes, env: dict[str, str], cwd: Path, *, told: bool = False) -> float:
    begin = time.perf_counter()
    ran = subprocess.run(command, input=payload, check=True, capture_output=True, env=env, cwd=cwd)
    seconds = time.perf_counter() - begin
    assert bool(ran.stdout) == told, "a hook prints nothing but at a start"
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
    ] + _starts(scratch)


def _starts(scratch: Path) -> list[Figure]:
    found = start_times(scratch / "starts", ROUNDS)
    took = {name: statistics.median(seconds) * 1000 for name, seconds in found.items()}
    what = {"told": "told of a paused session", "untold": "of a project without one"}
    return [
        Figure(
            f"a start {what[name]}, {NOTES:,} notes, over `python -c 'import click'`",
            median_ratio(found, name, "click"),
            START_BAR,
            detail=f"{took[name]:.0f} ms, {took['click']:.0f} ms",
        )
        for name in what
    ]
