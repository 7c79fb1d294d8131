"""Starting `cru`: whole processes, taken in turns with an interpreter that imports click."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measuring import Figure, environment, in_turns, median_ratio

BAR = 1.5


def times(rounds: int) -> dict[str, list[float]]:
    """Seconds of `cru --version` and of `python -c "import click"`, after one unmeasured round."""
    with tempfile.TemporaryDirectory() as home:
        env = environment(Path(home))

        def start(*command: str) -> float:
            begin = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True, env=env)
            return time.perf_counter() - begin

        cru = [str(Path(sys.executable).with_name("cru")), "--version"]
        actions = {
            "cru": lambda: start(*cru),
            "click": lambda: start(sys.executable, "-c", "import click"),
        }
        in_turns(actions, 1)
        return in_turns(actions, rounds)


def measure(_scratch: Path) -> list[Figure]:
    found = times(15)
    cru, click = (statistics.median(found[name]) * 1000 for name in ("cru", "click"))
    return [
        Figure(
            "`cru --version` over `python -c 'import click'`",
            median_ratio(found, "cru", "click"),
            BAR,
            detail=f"{cru:.0f} ms, {click:.0f} ms",
        )
    ]
