"""What a hook costs, guarded loosely in every run: the best of several, in turns; `make bench BENCH=hooks` measures the bars."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.hooks import BARS, times


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")
def test_a_hook_costs_little_more_than_an_interpreter(tmp_path: Path) -> None:
    found = times(tmp_path, 7, size=5_000_000)
    for event, bar in BARS.items():
        assert min(found[event]) <= bar * min(found["nothing"]), event
