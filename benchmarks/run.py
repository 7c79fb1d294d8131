"""All bars in one run: `make bench`, or `python -m benchmarks.run [startup] [reading] [importing] [memory] [querying] [hooks] [recording] [redaction] [resume] [history] [workflows] [learning] [scanning] [recall] [briefing] [watching] [web] [export]`.

Prints a table in Markdown and ends with 1 when a figure misses its bar or could not be measured.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from benchmarks import (
    briefing,
    cluster,
    exporting,
    history,
    hooks,
    importing,
    known_logs,
    lake,
    learning,
    memory,
    querying,
    reading,
    recall,
    recall_index,
    recall_qmd,
    recording,
    redaction,
    resume,
    secrets_speed,
    startup,
    watching,
    web,
    workflows,
)
from benchmarks.measuring import Figure

ROOT = Path(__file__).resolve().parents[1]

BARS: Mapping[str, Callable[[Path], list[Figure]]] = {
    "startup": startup.measure,
    "reading": reading.measure,
    "importing": importing.measure,
    "known_logs": known_logs.measure,
    "recall_index": recall_index.measure,
    "memory": memory.measure,
    "querying": querying.measure,
    "hooks": hooks.measure,
    "recording": recording.measure,
    "redaction": redaction.measure,
    "resume": resume.measure,
    "history": history.measure,
    "workflows": workflows.measure,
    "lake": lake.measure,
    "learning": learning.measure,
    "scanning": secrets_speed.measure,
    "recall": recall.measure,
    "briefing": briefing.measure,
    "watching": watching.measure,
    "web": web.measure,
    "export": exporting.measure,
}

ASKED_FOR: Mapping[str, Callable[[Path], list[Figure]]] = {"recall_qmd": recall_qmd.measure, "cluster": cluster.measure}
"""What is measured only when it is named."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure what the project promises.")
    parser.add_argument(
        "bars",
        nargs="*",
        choices=[*BARS, *ASKED_FOR, []],
        help="which; all but the last by default",
        metavar="|".join([*BARS, *ASKED_FOR]),
    )
    parser.add_argument("--scratch", type=Path, help="a folder on the disk to measure on; .cache/bench by default")
    parser.add_argument(
        "--sizes",
        type=lambda text: tuple(sorted(map(int, text.split(",")))),
        default=querying.SIZES,
        metavar="N,N",
        help="sessions in the vaults that are queried; 1000,10000,100000 by default",
    )
    chosen = parser.parse_args()
    bars: dict[str, Callable[[Path], list[Figure]]] = {
        **BARS,
        **ASKED_FOR,
        "querying": partial(querying.measure, sizes=chosen.sizes),
    }
    within = chosen.scratch or ROOT / ".cache" / "bench"
    within.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="run-", dir=within))
    try:
        # Each in a process of its own: a child's peak of memory is never told as less than its parent's at the start.
        with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
            running = [pool.submit(bars[name], scratch) for name in chosen.bars or BARS]
            return _report(one.result() for one in running)
    finally:
        shutil.rmtree(scratch)


def _report(found: Iterable[list[Figure]]) -> int:
    """Print the figures of each bar as soon as it is measured: a run that is ended early keeps what it has."""
    print(f"\nPython {platform.python_version()}, {platform.system()}, {os.cpu_count()} cores, ", end="")
    print(f"load {os.getloadavg()[0]:.1f}\n\n| what | measured | bar | | medians |\n|---|---|---|---|---|", flush=True)
    missed = unmeasured = 0
    for figures in found:
        print("\n".join(map(_line, figures)), flush=True)
        missed += sum(not figure.holds and not figure.unmeasured for figure in figures)
        unmeasured += sum(bool(figure.unmeasured) for figure in figures)
    counts = [f"{count} {what}" for count, what in ((missed, "missed"), (unmeasured, "not measured")) if count]
    print("\n" + (", ".join(counts) or "all bars hold"))
    return 1 if counts else 0


def _line(figure: Figure) -> str:
    bar = "" if figure.bar is None else f"{'≥' if figure.at_least else '≤'} {figure.bar:g} {figure.unit}"
    if figure.unmeasured:
        return f"| {figure.name} | **not measured** | {bar} | | {figure.unmeasured} |"
    held = "" if figure.bar is None else ("holds" if figure.holds else "**missed**")
    return f"| {figure.name} | {figure.value:.2f} {figure.unit} | {bar} | {held} | {figure.detail} |"


if __name__ == "__main__":
    sys.exit(main())
