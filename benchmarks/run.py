"""All bars in one run: `make bench`, or `python benchmarks/run.py [startup] [reading] [importing] [memory]`.

Prints a table in Markdown and ends with 1 when a figure misses its bar.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import import_speed, memory, reading, startup  # noqa: E402  the path is needed first
from benchmarks.measuring import Figure  # noqa: E402

BARS: Mapping[str, Callable[[Path], list[Figure]]] = {
    "startup": startup.measure,
    "reading": reading.measure,
    "importing": import_speed.measure,
    "memory": memory.measure,
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure what the project promises.")
    parser.add_argument(
        "bars", nargs="*", choices=[*BARS, []], help="which; all by default", metavar="|".join(BARS)
    )
    parser.add_argument(
        "--scratch", type=Path, help="a folder on the disk to measure on; .cache/bench by default"
    )
    chosen = parser.parse_args()
    within = chosen.scratch or ROOT / ".cache" / "bench"
    within.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="run-", dir=within))
    try:
        return _report({name: BARS[name](scratch) for name in chosen.bars or BARS})
    finally:
        shutil.rmtree(scratch)


def _report(found: Mapping[str, list[Figure]]) -> int:
    print(f"\nPython {platform.python_version()}, {platform.system()}, {os.cpu_count()} cores, ", end="")
    print(f"load {os.getloadavg()[0]:.1f}\n\n| what | measured | bar | | medians |\n|---|---|---|---|---|")
    for figure in (figure for figures in found.values() for figure in figures):
        bar = "" if figure.bar is None else f"{'≥' if figure.at_least else '≤'} {figure.bar:g} {figure.unit}"
        held = "" if figure.bar is None else ("holds" if figure.holds else "**missed**")
        print(f"| {figure.name} | {figure.value:.2f} {figure.unit} | {bar} | {held} | {figure.detail} |")
    missed = [figure.name for figures in found.values() for figure in figures if not figure.holds]
    print(f"\n{len(missed)} missed" if missed else "\nall bars hold")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
