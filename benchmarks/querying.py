"""Asking the index: whole processes on vaults of several sizes, side by side with ripgrep, with and without a watcher.

Every answer is compared with what ripgrep finds before the clock starts.  Each run builds a new index.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path

from benchmarks.building import beside_qmd, build, memory_of_building
from benchmarks.kept import cru, index_files, kept_vault, watched
from benchmarks.measuring import Figure, clock, good_run, in_turns, median_ratio
from benchmarks.rivals import Missing, find_ripgrep

SIZES = (1_000, 10_000, 100_000)
BARS = {10_000: 1.6, 100_000: 1.6}
WATCHED_BARS = {10_000: 0.8, 100_000: 0.6}
GROWTH_BAR = 1.5
MILLION, MILLION_BAR = 1_000_000, 1.0
STATS_BAR, STATS_MEMORY_BAR = 2.5, 400.0
CHANGED_BAR = 1.5
STATUS_BAR = 2.5
MIDDLE, FULL = 10_000, 100_000
ROUNDS = 15

_CLICK = [sys.executable, "-c", "import click"]
_AGENT = "claude-code"
_FAILED = ("session", "list", "--agent", _AGENT, "--status", "failed")
_NEWEST = ("session", "list", "-n", "20")
_STATS = ("session", "stats", "--by", "agent")

Vaults = Mapping[int, Path]
Times = Mapping[str, Sequence[float]]


def measure(scratch: Path, sizes: Sequence[int] = SIZES) -> list[Figure]:
    """Vaults stay beside `scratch` for the next run."""
    kept = scratch.parent / "vaults"
    figures = beside_qmd(kept, scratch)
    vaults = {count: kept_vault(kept, count) for count in sizes}
    largest = max(sizes)
    for count, vault in vaults.items():
        if count == largest:
            figures += memory_of_building(vault, scratch, count)
        else:
            build(vault, scratch)
    figures += _listing(vaults, scratch)
    figures += _watched(vaults, scratch)
    figures += _statistics(vaults[largest], scratch, largest)
    for vault in (vault for count, vault in vaults.items() if count == MIDDLE):
        figures += [_status(vault, scratch), *_changed(vault, scratch)]
    return figures


# --- against ripgrep -------------------------------------------------------------------------------------------------


def _listing(vaults: Vaults, home: Path) -> list[Figure]:
    for vault in vaults.values():
        _same_as_ripgrep(vault, home)
    return _over_ripgrep(_in_turns(vaults, home), vaults, BARS, "every note checked")


def _watched(vaults: Vaults, home: Path) -> list[Figure]:
    with ExitStack() as watchers:
        for vault in vaults.values():
            watchers.enter_context(watched(vault, home))
            _same_as_ripgrep(vault, home)
        times = _in_turns(vaults, home)
    figures = _over_ripgrep(times, vaults, WATCHED_BARS, "watched")
    if {MIDDLE, FULL} <= vaults.keys():
        small, large = (_ms(times, f"newest {count}") for count in (MIDDLE, FULL))
        name = f"`session list -n 20` watched, {FULL:,} over {MIDDLE:,} sessions"
        figures.append(Figure(name, large / small, GROWTH_BAR, detail=f"{large:.0f} ms, {small:.0f} ms"))
    if MILLION in vaults:
        seconds = statistics.median(times[f"newest {MILLION}"])
        figures.append(Figure(f"`session list -n 20` watched, {MILLION:,} sessions", seconds, MILLION_BAR, "s"))
    return figures


def _in_turns(vaults: Vaults, home: Path) -> Times:
    """Seconds of `click`, and of `rg N`, `failed N` and `newest N` for each size."""
    actions = {"click": clock(_CLICK, home)}
    for count, vault in vaults.items():
        actions |= {f"rg {count}": clock(command, home) for command in _ripgrep(vault)}
        actions[f"failed {count}"] = clock(cru(vault, *_FAILED), home)
        actions[f"newest {count}"] = clock(cru(vault, *_NEWEST), home)
    in_turns(actions, 2)
    return in_turns(actions, ROUNDS)


def _over_ripgrep(times: Times, vaults: Vaults, bars: Mapping[int, float], how: str) -> list[Figure]:
    figures = []
    for count in vaults:
        name = f"`session list` of the failed over ripgrep: {count:,} sessions, {how}"
        if f"rg {count}" not in times:
            figures.append(Figure(name, 0, bars.get(count), unmeasured=_why_no_ripgrep()))
            continue
        ours, click, rg = (_ms(times, key) for key in (f"failed {count}", "click", f"rg {count}"))
        detail = f"{ours:.0f} ms less click's {click:.0f} ms, {rg:.0f} ms"
        figures.append(Figure(name, (ours - click) / rg, bars.get(count), detail=detail))
    return figures


def _ripgrep(vault: Path, pattern: str = "^status: failed") -> Iterator[list[str | Path]]:
    """The command, or none without ripgrep."""
    try:
        yield [find_ripgrep(), "-l", pattern, vault]
    except Missing:
        return


def _why_no_ripgrep() -> str:
    try:
        find_ripgrep()
    except Missing as missing:
        return str(missing)
    raise AssertionError


def _same_as_ripgrep(vault: Path, home: Path) -> None:
    """Our answer is right: as many as both patterns are found in."""
    patterns = ("^status: failed", f"^  - {_AGENT}@")
    found = [_output(command, home) for pattern in patterns for command in _ripgrep(vault, pattern)]
    if found:
        both = set(found[0].split("\n")) & set(found[1].split("\n")) - {""}
        ours = _output([*cru(vault, *_FAILED), "--format", "paths"], home)
        assert set(ours.split("\n")) - {""} == both, f"{vault}: not what ripgrep finds"


def _output(command: Sequence[str | Path], home: Path) -> str:
    return good_run(command, home).out


def _ms(times: Times, name: str) -> float:
    return statistics.median(times[name]) * 1000


# --- statistics ------------------------------------------------------------------------------------------------------

_LOADING = """
import sys, time, toons
texts = [open(path, encoding="utf-8").read() for path in sys.argv[1:]]
start = time.perf_counter()
tables = [toons.loads(text) for text in texts]
print(time.perf_counter() - start)
"""


def _statistics(vault: Path, home: Path, count: int) -> list[Figure]:
    """Our whole process, its start and its checking of every note included, over `toons.loads` alone."""
    tables = index_files(vault, "sessions", "participants")
    peaks = []

    def ours() -> float:
        ran = good_run(cru(vault, *_STATS), home)
        assert _AGENT in ran.out, ran
        peaks.append(ran.peak)
        return ran.seconds

    def loading() -> float:
        return float(_output([sys.executable, "-c", _LOADING, *tables], home))

    times = in_turns({"ours": ours, "loading": loading}, 7)
    name = f"`session stats --by agent` over {count:,} sessions"
    detail = f"{_ms(times, 'ours'):.0f} ms, {_ms(times, 'loading'):.0f} ms"
    bars = (STATS_BAR, STATS_MEMORY_BAR) if count == max(BARS) else (None, None)
    return [
        Figure(f"{name}, over `toons.loads`", median_ratio(times, "ours", "loading"), bars[0], detail=detail),
        Figure(f"{name}: peak memory", max(peaks) / 1e6, bars[1], "MB"),
    ]


# --- the status page -------------------------------------------------------------------------------------------------


def _status(vault: Path, home: Path) -> Figure:
    """`cru` alone in a folder of a project with sessions, and in one without; the slower counts."""
    shop, none = home / "shop", home / "none"
    # Repositories of their own, since the folders may lie in ours, whose name would be the project.
    for folder in (shop, none):
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
    actions = {"click": clock(_CLICK, home), "none": clock(cru(vault), none), "shop": clock(cru(vault), shop)}
    assert "Last sessions" in good_run(cru(vault), shop).out
    in_turns(actions, 2)
    times = in_turns(actions, ROUNDS)
    ratio = max(median_ratio(times, name, "click") for name in ("none", "shop"))
    detail = ", ".join(f"{_ms(times, name):.0f} ms" for name in ("shop", "none", "click"))
    return Figure(
        f"`cru` alone on {MIDDLE:,} sessions over `python -c 'import click'`", ratio, STATUS_BAR, detail=detail
    )


# --- one changed note ------------------------------------------------------------------------------------------------


def _changed(vault: Path, home: Path) -> list[Figure]:
    """Change, list, list; both must show the change."""
    note = max((vault / "sessions").iterdir())
    original = note.read_bytes()
    try:
        return [
            _after_a_change(vault, home, note, ("session", "list"), "whole", bar=CHANGED_BAR),
            # Without a bar: what must be imported to read one note is more than all that this list does.
            _after_a_change(vault, home, note, _NEWEST, "-n 20"),
        ]
    finally:
        note.write_bytes(original)


def _after_a_change(
    vault: Path, home: Path, note: Path, listing: Sequence[str], how: str, *, bar: float | None = None
) -> Figure:
    statuses = cycle(("failed", "paused", "completed"))
    now = next(statuses)

    def change() -> float:
        nonlocal now
        now = next(statuses)
        note.write_bytes(re.sub(rb"(?m)^status: \w+", f"status: {now}".encode(), note.read_bytes(), count=1))
        return 0.0

    def listed() -> float:
        ran = good_run(cru(vault, *listing), home)
        assert re.search(rf"(?m)^{note.stem} +{now} ", ran.out), f"{note.stem} is not shown as {now}"
        return ran.seconds

    actions = {"change": change, "first": listed, "second": listed}
    in_turns(actions, 2)
    times = in_turns(actions, ROUNDS)
    return Figure(
        f"`session list` ({how}) after one note of {MIDDLE:,} changed, over the next",
        median_ratio(times, "first", "second"),
        bar,
        detail=f"{_ms(times, 'first'):.0f} ms, {_ms(times, 'second'):.0f} ms",
    )
