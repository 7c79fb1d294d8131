"""A briefing's whole process in turns with `python -c "import click"`, on a vault of many sessions.

`python -m benchmarks.briefing [SESSIONS]` prints the figures; `python -m benchmarks.run briefing` holds them to their bars.  The project has all that is told
of: histories, tasks, questions, knowledge, a profile, a paused session.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.measuring import Figure, environment, in_turns, median_ratio
from crucible.memory.history.history import HistoryEntry, HistoryLine
from crucible.memory.history.history_folder import keep_entry
from crucible.vault.notes.vault import Vault
from samples.vaults import generated_vault

BARS = {"briefing": 8.0, "with recall": 12.0}
SESSIONS = 10_000
ROUNDS = 15
PROJECT = "shop"
_LONG_AGO = 1_700_000_000
_OWN = 12
"""Sessions of the last days, with tasks and a history each."""


def times(scratch: Path, sessions: int = SESSIONS, rounds: int = ROUNDS) -> dict[str, list[float]]:
    """Seconds of the command without and with recall, and of an interpreter that imports click."""
    home, project = scratch / "home", scratch / PROJECT
    for folder in (home, project):
        folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    (project / "README.md").write_text("# Shop\n\nSells hats to people, and keeps track of them.\n")
    vault = generated_vault(scratch / "vault", sessions)
    _add_recent(vault)
    for path in (vault / "sessions").glob("*.md"):
        os.utime(path, (_LONG_AGO, _LONG_AGO))  # who was written this moment is not believed
    env = environment(home)
    run = _runner(vault, env, project)
    run("recall", "limiter")  # makes the index of recall
    found = {
        "click": lambda: _seconds([sys.executable, "-c", "import click"], env, project),
        "briefing": lambda: _choose(vault, recall=False) or run("briefing"),
        "with recall": lambda: _choose(vault, recall=True) or run("briefing"),
    }
    in_turns(found, 2)
    return in_turns(found, rounds)


def _runner(vault: Path, env: dict[str, str], folder: Path) -> Callable[..., float]:
    program = Path(sys.executable).with_name("cru")
    return lambda *words: _seconds([program, "--vault", vault, *words], env, folder)


def _seconds(command: list[str | Path], env: dict[str, str], folder: Path) -> float:
    begin = time.perf_counter()
    ran = subprocess.run(list(map(str, command)), check=True, capture_output=True, env=env, cwd=folder)
    seconds = time.perf_counter() - begin
    assert "briefing" not in command or b"## Current tasks" in ran.stdout, ran.stderr[-2000:]
    return seconds


def _choose(vault: Path, *, recall: bool) -> float:
    config = vault / ".crucible" / "config.toml"
    config.write_text(f"[briefing.sources]\nrecall = {'true' if recall else 'false'}\n")
    return 0.0


def _add_recent(vault: Path) -> None:
    opened, now = Vault(vault), datetime.now(UTC)
    for number in range(_OWN):
        begun = now - timedelta(hours=7 * number + 2)
        name = f"{begun:%Y-%m-%d}-limit-{number}"
        tasks = [
            {"id": str(at), "content": f"Task {at}", "status": status, "priority": "medium"}
            for at, status in enumerate(("completed", "in_progress", "pending", "pending"), 1)
        ]
        status = "paused" if number == 0 else "completed"
        text = (
            f"---\ntype: session\nsession_id: {name}\nstarted: {begun:%Y-%m-%dT%H:%M:%SZ}\nstatus: {status}\n"
            f"project: {PROJECT}\nparticipants:\n  - claude-code@2.1.197\n---\n\n# Limit requests {number}\n\n```tasks\n"
            f"{json.dumps(tasks)}\n```\n\n## Work\n\n> [!decision]\n> A bucket for each key {number}.\n> Rationale: fair.\n\n"
            "> [!decision_needed]\n> Which limit?\n"
        )
        (vault / "sessions" / f"{name}.md").write_text(text)
        done = (HistoryLine(f"Wrote the bucket {number}"), HistoryLine("Tested it"))
        keep_entry(
            opened,
            HistoryEntry(
                name,
                title=f"Limit requests {number}",
                project=PROJECT,
                started=begun,
                ended=begun + timedelta(hours=1),
                done=done,
                decisions=(HistoryLine(f"A bucket for each key {number}", "fair"),),
                questions=(HistoryLine(f"Which limit for {number}?"),),
            ),
        )


def measure(scratch: Path) -> list[Figure]:
    """The bars."""
    found = times(scratch / "briefing", int(os.environ.get("BRIEFING_SESSIONS", SESSIONS)))
    took = {name: statistics.median(seconds) * 1000 for name, seconds in found.items()}
    what = {"briefing": "without recall", "with recall": "with recall"}
    return [
        Figure(
            f"`cru briefing` {what[name]} over `python -c 'import click'`",
            median_ratio(found, name, "click"),
            bar,
            detail=f"{took[name]:.0f} ms, {took['click']:.0f} ms",
        )
        for name, bar in BARS.items()
    ]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Measure the briefing.")
    parser.add_argument("sessions", nargs="?", type=int, default=SESSIONS)
    with tempfile.TemporaryDirectory() as folder:
        found = times(Path(folder).resolve() / "briefing", parser.parse_args().sessions)
    for name, seconds in found.items():
        ratio = median_ratio(found, name, "click")
        print(f"{name}: {statistics.median(seconds) * 1000:.0f} ms, {ratio:.1f}")


if __name__ == "__main__":
    main()
