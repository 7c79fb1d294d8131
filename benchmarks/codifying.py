"""Codifying: random sessions written and read back, and how long a session of 1,000 phases takes: `python benchmarks/codifying.py`.

What must hold of every workflow is `tests.codify.test_codifying.check`; a failure prints the seed that gives it again.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from random import Random, SystemRandom

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.notes import sample_phases  # noqa: E402  the path is needed first
from benchmarks.random_sessions import random_session  # noqa: E402
from crucible.codify.codifying import Recorded, codify  # noqa: E402
from crucible.note.source import Source  # noqa: E402
from crucible.secrets.redacting import redact_of  # noqa: E402
from crucible.session.markup import render_session  # noqa: E402
from crucible.session.reading import read_session  # noqa: E402
from crucible.settings import VaultSettings  # noqa: E402
from tests.codify.sessions import Work, codify_one, session, written  # noqa: E402
from tests.codify.test_codifying import check  # noqa: E402

__all__ = ["soak", "times"]

SESSIONS = 2_000


def soak(count: int, seed: int) -> int:
    """`count` random sessions, by turns with work and with hostile text in every field; gives how many steps they had."""
    steps = 0
    for number in range(seed, seed + count):
        work = Work(Random(number))
        one = work.session() if number % 2 else random_session(Random(number))
        found = codify_one(one, work.children)
        try:
            check(found, codify_one(one, work.children))
        except AssertionError as error:
            raise AssertionError(f"seed {number}") from error
        steps += sum(1 for _ in found.walk())
    return steps


def times(phases: int = 1000, rounds: int = 3) -> dict[str, float]:
    """Seconds, the best of some rounds: markdown-it's parse of a session's text, and reading, codifying and writing it."""
    text = render_session(session(*sample_phases(phases)))
    redact = redact_of(VaultSettings().secrets)
    best: dict[str, float] = {}

    def took(name: str, started: float) -> None:
        best[name] = min(best.get(name, float("inf")), time.perf_counter() - started)

    for _ in range(rounds):
        started = time.perf_counter()
        MarkdownIt("commonmark").parse(text)
        took("markdown-it", started)
        started = whole = time.perf_counter()
        one = read_session(Source(text), "one")
        took("reading", started)
        started = time.perf_counter()
        found = codify([Recorded(one)], redact)
        took("codifying", started)
        started = time.perf_counter()
        written(found)
        took("writing", started)
        took("all", whole)
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(1 << 32))
    chosen = parser.parse_args()
    found = times()
    told = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in found.items())
    print(f"1,000 phases: {told}: {found['all'] / found['markdown-it']:.2f} times markdown-it (bar: 2)")
    started = time.perf_counter()
    steps = soak(chosen.sessions, chosen.seed)
    took = time.perf_counter() - started
    print(f"{chosen.sessions} sessions, {steps} steps, read back the same (seed {chosen.seed}, {took:.0f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
