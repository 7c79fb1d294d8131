"""Building the index from nothing: 2,000 notes side by side with qmd, a hundred thousand with an eye on the memory."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from benchmarks.kept import cru, forget_index, kept_vault
from benchmarks.measuring import (
    Figure,
    Ran,
    clock,
    good_run,
    in_turns,
    largest_process,
    median_ratio,
    offline,
)
from benchmarks.rivals import Missing, Qmd, find_qmd, find_ripgrep

BAR = 0.5
MEMORY_BAR = 300.0
NOTES = 2_000
FULL = 100_000
ROUNDS = 5

_BUILD = ("session", "list", "--limit", "1")
"""What finds no index builds it; this prints one line more."""

_NAME = f"building the index of {NOTES:,} notes over `qmd collection add`"


def build(vault: Path, home: Path, prefix: Sequence[str] = ()) -> Ran:
    """One process, and those it starts, from no index to a whole one."""
    forget_index(vault)
    ran = good_run([*prefix, *cru(vault, *_BUILD)], home)
    assert (vault / ".crucible/index").is_dir(), ran
    return ran


def memory_of_building(vault: Path, home: Path, count: int) -> list[Figure]:
    """The peak of the largest process; each counts what it shares with others as its own."""
    with largest_process() as largest:
        ran = build(vault, home)
    peak = max(ran.peak, largest())
    detail = f"{ran.seconds:.1f} s, processor {ran.cpu:.1f} s"
    bar = MEMORY_BAR if count == FULL else None
    return [Figure(f"largest process building the index of {count:,} notes", peak / 1e6, bar, "MB", detail=detail)]


def beside_qmd(within: Path, home: Path) -> list[Figure]:
    """Both on the same notes, without network, in turns; then what each takes to answer once."""
    vault = kept_vault(within, NOTES)
    try:
        qmd = find_qmd()
    except Missing as missing:
        return [Figure(_NAME, 0, BAR, unmeasured=str(missing))]
    prefix = offline()

    def theirs() -> float:
        Qmd.forget(home)
        ran = good_run([*prefix, *qmd.add(vault)], home)
        assert f"Indexed: {NOTES} new" in ran.out, ran
        return ran.seconds

    actions = {"ours": lambda: build(vault, home, prefix).seconds, "qmd": theirs}
    in_turns(actions, 1)  # bun compiles qmd in its first run, Python what is new of ours
    times = in_turns(actions, ROUNDS)
    ours, qmds = (statistics.median(times[name]) for name in ("ours", "qmd"))
    detail = f"{ours:.2f} s, {qmds:.2f} s"
    return [
        Figure(_NAME, median_ratio(times, "ours", "qmd"), BAR, detail=detail),
        *_answers(vault, home, qmd),
    ]


def _answers(vault: Path, home: Path, qmd: Qmd) -> list[Figure]:
    """For comparison: three programs that look for failed sessions in 2,000 notes."""
    commands = {
        f"`cru session list --status failed`, {NOTES:,} notes": cru(vault, "session", "list", "--status", "failed"),
        f"`qmd search`, {NOTES:,} notes": qmd.search("status: failed"),
    }
    with suppress(Missing):
        commands[f"`rg -l`, {NOTES:,} notes"] = [find_ripgrep(), "-l", "^status: failed", vault]
    times = in_turns({name: clock(command, home) for name, command in commands.items()}, 2 * ROUNDS)
    return [Figure(name, statistics.median(found) * 1000, None, "ms") for name, found in times.items()]
