"""What a hook costs, guarded loosely in every run: the best of several, in turns; `make bench BENCH=hooks` measures the bars."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.hooks import BARS, START_BAR, start_times, times


@pytest.mark.timed
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")
def test_a_hook_costs_little_more_than_an_interpreter(tmp_path: Path) -> None:
    found = times(tmp_path, 7, size=5_000_000)
    for event, bar in BARS.items():
        assert min(found[event]) <= bar * min(found["nothing"]), event


@pytest.mark.timed
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")
def test_a_start_waits_for_little(tmp_path: Path) -> None:
    """Guarded loosely; `make bench BENCH=hooks` measures the bar with 5,000 notes."""
    found = start_times(tmp_path, 3, notes=150)
    assert min(found["told"]) <= START_BAR * min(found["click"])
    assert min(found["untold"]) <= START_BAR * min(found["click"])
