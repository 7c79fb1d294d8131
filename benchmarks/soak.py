"""Many random documents and sessions, more than the tests have time for: `make soak`, or this file alone.

Three facts are soaked here, since their time goes into amount: the line scanner agrees with markdown-it on whatever it
does not give up, a session written and read back is the same session, and so is a workflow that was codified of one, without a
circle and twice in the same bytes.  What a failure prints is a whole example and the seed that gives it again.  The property tests themselves run with the `soak` profile beside this, by `make soak`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from random import Random, SystemRandom

from benchmarks.workflows import check_generated
from crucible.documents.markdown.line_scan import scan_lines
from crucible.documents.markdown.outline import mask_comments, parse_blocks
from crucible.documents.markdown.source import Source
from crucible.documents.session.markup import render_session
from crucible.documents.session.session_reader import read_session
from samples.hostile_texts import BLOCKS, FRAGMENTS, INLINE
from samples.random_sessions import random_session

DOCUMENTS, ROUND_TRIPS, WORKFLOWS = 30_000, 40_000, 4_000

_TIDY = (
    "## Phase @a@1.0 #dev", "", "---", "", "**Tool calls:**", "- `Bash ls` → ok", "- `Read x` → ❌ no", "> [!user]",
    '> "words"', "started:: 2026-11-21T20:26:47Z", "prose", "```py", "```", "", "- item", "## Summary",
)  # fmt: skip


def document(random: Random) -> list[str]:
    """A note's lines: hostile ones, tidy ones, or tidy ones with something hostile among them."""
    hostile = random.choice((0.0, 0.1, 0.5, 1.0))
    return [
        _line(random) if random.random() < hostile else random.choice(_TIDY) for _ in range(random.randrange(1, 25))
    ]


def _line(random: Random) -> str:
    if random.random() < 0.7:
        return random.choice(FRAGMENTS)
    text = random.choice(BLOCKS) + "".join(random.choices(INLINE, k=random.randrange(3)))
    # markdown-it makes U+FFFD of a NUL, which would show in a fence's language.
    return text.replace("\n", " ").replace("\x00", "\ufffd")


def soak_scanner(count: int, number: int) -> str:
    """`count` documents; says how many of them the scanner read itself."""
    random = Random(number)
    scanned = 0
    for _ in range(count):
        lines = Source("\n".join(document(random))).lines
        found = scan_lines(lines)
        if found is not None:
            scanned += 1
            expected = parse_blocks(mask_comments(Source("\n".join(lines)))[0])
            assert found == expected, f"seed {number}\n{lines!r}\n{found}\n{expected}"
    return f"{count} documents, {scanned} of them read by the line scanner alone, as markdown-it reads them"


def soak_round_trips(count: int, number: int) -> str:
    """`count` sessions with hostile text in every field."""
    random = Random(number)
    for at in range(count):
        session = random_session(random)
        read = read_session(Source(render_session(session)), session.id)
        assert read == session, f"seed {number}, example {at}\n{session}\n{read}"
        assert read.problems == (), f"seed {number}, example {at}\n{session}\n{read.problems}"
    return f"{count} sessions, written and read back the same"


def soak_workflows(count: int, number: int) -> str:
    """The workflows of `count` sessions with work, or with hostile text, in them."""
    # Each has a seed of its own, and the parts of one run begin with seeds that follow each other.
    random = Random(number)
    for _ in range(count):
        seed = random.randrange(1 << 48)
        wrong = check_generated(seed)
        assert not wrong, f"`check_generated({seed})`: {wrong}"
    return f"{count} sessions codified, read back the same without a circle, twice in the same bytes"


_SOAKS: dict[str, Callable[[int, int], str]] = {
    "scanner": soak_scanner,
    "round trips": soak_round_trips,
    "workflows": soak_workflows,
}


def _part(job: tuple[str, int, int]) -> str:
    name, count, number = job
    start = time.perf_counter()
    told = _SOAKS[name](count, number)
    return f"{name}: {told} (seed {number}, {time.perf_counter() - start:.0f} s)"


def main() -> int:
    parser = argparse.ArgumentParser(description="Read many random documents and sessions, and codify some.")
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    parser.add_argument("--round-trips", type=int, default=ROUND_TRIPS)
    parser.add_argument("--workflows", type=int, default=WORKFLOWS)
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(1 << 32))
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    chosen = parser.parse_args()
    parts = chosen.processes
    jobs = [
        (name, -(-count // parts), chosen.seed + part)
        for name, count in (
            ("round trips", chosen.round_trips),
            ("workflows", chosen.workflows),
            ("scanner", chosen.documents),
        )
        for part in range(parts)
    ]
    with multiprocessing.get_context("spawn").Pool(parts) as pool:
        for told in pool.imap_unordered(_part, jobs, chunksize=1):
            print(told, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
