"""How well secrets are found: `python -m benchmarks.redaction`, over the whole corpus; see `samples/secrets/README.md`.

Of the half that is held out it tells figures by kind, never a text.  `--show N` tells N missed cases and touched lines
of the open half, for whoever mends a rule.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from pathlib import Path

from benchmarks.measuring import Figure
from crucible.core.secrets import Scanner
from crucible.core.settings.settings import SecretSettings
from samples.secrets.blind_cases import blind_cases
from samples.secrets.blind_lines import blind_lines
from samples.secrets.building import is_caught
from samples.secrets.heldout_cases import heldout_cases
from samples.secrets.heldout_lines import heldout_lines
from samples.secrets.measured import measured
from samples.secrets.open_cases import open_cases
from samples.secrets.open_lines import open_lines

ROOT = Path(__file__).resolve().parents[1]

BARS = (99.0, 0.1)
"""Per cent of cases caught, at least, and of ordinary lines touched, at most."""

_HALVES = {
    "open": (open_cases, open_lines),
    "held out": (heldout_cases, heldout_lines),
    "blind, measured first on 2026-11-22": (blind_cases, blind_lines),
}


def measure(_scratch: Path, step: int = 1) -> list[Figure]:
    """The figures of all three parts; the ten worst kinds stand in the detail."""
    scanner, figures = Scanner(SecretSettings()), []
    for half, (cases, lines) in _HALVES.items():
        found = measured(lambda text: scanner.redact(text)[0], cases(step), lines())
        worst = ", ".join(found.worst) or "none missed"
        of_cases, of_lines = f"of {found.cases}; {worst}", f"{found.touched} of {found.lines}"
        figures += [
            Figure(f"secrets caught, {half}", found.caught_share, BARS[0], "%", at_least=True, detail=of_cases),
            Figure(f"ordinary lines touched, {half}", found.touched_share, BARS[1], "%", detail=of_lines),
        ]
    return figures


def _show(count: int) -> None:
    """Of the open half only."""
    scanner = Scanner(SecretSettings())
    missed = (case for case in open_cases() if not is_caught(case, scanner.redact(case.text)[0]))
    for case in itertools.islice(missed, count):
        print(f"missed {case.kind}: {case.text!r}\n  leaves {scanner.redact(case.text)[0]!r}")
    touched = (line for line in open_lines() if scanner.redact(line)[0] != line)
    for line in itertools.islice(touched, count):
        print(f"touched {line!r}\n  as {scanner.redact(line)[0]!r}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure how well secrets are found.")
    parser.add_argument("--step", type=int, default=1, help="take every so-manieth case only")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="show so many faults of the open half")
    chosen = parser.parse_args()
    if chosen.show:
        _show(chosen.show)
        return 0
    begin = time.perf_counter()
    figures = measure(ROOT, chosen.step)
    for figure in figures:
        print(
            f"{figure.name}: {figure.value:.3f} {figure.unit} ({figure.detail})",
            "" if figure.holds else "MISSED",
        )
    print(f"{time.perf_counter() - begin:.0f} s")
    return 0 if all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
