"""What capture detects in generated sessions, and how long that takes beside reading a note with markdown-it.

`python -m benchmarks.capture` takes the newest book of wordings (half 4), `--half` another one.  Each was looked at once before anything was learnt from it, and
those figures stand in docs/worth-keeping.md; what is printed is of wordings that the weights know, but with `--unseen`, which fits weights without the book's own words
first.  It prints precision and recall, by kind too, how many have the confidence that was expected, and what of the noise was proposed; never a wording.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile

from markdown_it import MarkdownIt

from benchmarks.capture_fit import table_of, wordings
from benchmarks.measuring import Figure, in_turns, median_ratio, seconds_of
from benchmarks.notes import sample_phases
from benchmarks.resume import known_session
from crucible.acts.evidence import evidence_of
from crucible.capture import weights
from crucible.capture.detecting import detect
from crucible.capture.model import Candidate
from crucible.note.source import Source
from crucible.session.markup import render_session
from crucible.session.model import Phase, Session
from crucible.session.reading import read_session
from tests.capture.planted import Generated, Kind, Scores, generate_many, score

__all__ = ["BARS", "GENERATED", "measure", "scored", "speed"]

BARS = {"precision": 0.95, "recall": 0.95}
TIMES = 3.0
"""Detection over one parse with markdown-it-py, at most."""
GENERATED = 1_000
NEWEST = 4
_HANDS = {0: "first", 1: "first", 2: "third", 3: "fourth", 4: "fifth"}
"""Whose words a half is told in."""
ROUNDS = 7


def scored(seed: int, count: int, half: int | None) -> Scores:
    """`count` generated sessions, detected with what their flight recorders have, against the truth."""
    return score(_detected(seed, count, half))


def _detected(seed: int, count: int, half: int | None) -> Iterator[tuple[Generated, Sequence[Candidate]]]:
    for generated in generate_many(seed, count, half):
        yield generated, detect(generated.session, evidence_of(generated.records))


def _forget(half: int) -> None:
    """Take weights for the rest of this process that were fitted to all words but those of a half's book."""
    with NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8") as table:
        table.write(table_of([one for one in wordings() if one.hand != _HANDS[half]]))
        table.flush()
        weights.TABLE = Path(table.name)
        weights.known_words()  # reads it


def _figures(scores: Scores) -> list[Figure]:
    shares = {"precision": scores.all.precision, "recall": scores.all.recall}
    return [
        *(
            Figure(f"capture: {name} at 0.6", share, BARS[name], at_least=True)
            for name, share in shares.items()
        ),
        Figure("capture: proposals from the never-list", scores.never, 0),
        Figure("capture: found with the confidence that was expected", scores.all.in_band, None),
    ]


def speed(phases: int = 1_000) -> list[Figure]:
    """Detection in a session that was read already, over one parse of its note: as the benchmarks' notes are, and as sessions that are planted are."""
    sessions = {"that our benchmarks use": _sample(phases), "full of what is worth keeping": _planted(phases)}
    return [_speed_of(name, session) for name, session in sessions.items()]


def _speed_of(name: str, session: Session) -> Figure:
    text = render_session(session)
    read = read_session(Source(text), session.id)
    parser = MarkdownIt("commonmark")
    detect(read)  # compiles the patterns
    found = in_turns(
        {
            "ours": lambda: seconds_of(lambda: detect(read), 1),
            "markdown-it": lambda: seconds_of(lambda: parser.parse(text), 1),
        },
        ROUNDS,
    )
    taken, theirs = (statistics.median(found[key]) * 1000 for key in ("ours", "markdown-it"))
    return Figure(
        f"capture: detection in {len(read.phases):,} phases over markdown-it's parse: a note {name}",
        median_ratio(found, "ours", "markdown-it"),
        TIMES,
        detail=f"{len(text.encode()):,} bytes: {taken:.0f} ms, {theirs:.0f} ms",
    )


def _sample(phases: int) -> Session:
    return replace(known_session(1, 0).session, phases=sample_phases(phases))


def _planted(phases: int) -> Session:
    """The phases of many generated sessions in one."""
    taken: list[Phase] = []
    for generated in generate_many(9, 10_000, 0):
        taken += generated.session.phases
        if len(taken) >= phases:
            break
    return replace(known_session(1, 0).session, phases=tuple(taken[:phases]))


def measure() -> list[Figure]:
    """All figures of the newest book, and the times."""
    return [*_figures(scored(1, GENERATED, NEWEST)), *speed()]


def _print(scores: Scores, seconds: float) -> None:
    total = len(scores.all.found) + len(scores.all.missed)
    print(
        f"precision {scores.all.precision:.4f}  recall {scores.all.recall:.4f}  of {total} planted; {scores.excused} told twice as twins; {seconds:.1f} s"
    )
    print(
        f"never {scores.never} (secrets leaked: {len(scores.leaks)}), in the expected band {scores.all.in_band:.3f}"
    )
    for kind in Kind:
        one = scores.by_kind[kind]
        print(
            f"  {kind.value:<16} precision {one.precision:.3f}  recall {one.recall:.3f}  band {one.in_band:.3f}  {len(one.found)} found, {len(one.missed)} missed, {len(one.wrong)} wrong"
        )
    print(
        "  noise proposed:", {reason.value: count for reason, count in scores.noise.most_common()} or "none"
    )
    print(
        "  missed by form:", _counted(f"{p.kind.value}/{p.form}/{p.language}" for _, p in scores.all.missed)
    )
    print("  wrong by reason:", _counted(f"{c.kind}: {why}" for _, c, why in scores.all.wrong))


def _counted(names: Iterator[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items(), key=lambda each: -each[1]))


def main() -> None:
    """Print the figures of generated sessions, then the times."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.capture", description=__doc__)
    parser.add_argument("--half", choices=["0", "1", "2", "3", "4", "all"], default=str(NEWEST))
    parser.add_argument(
        "--unseen", action="store_true", help="by weights fitted without the words of the half's book"
    )
    parser.add_argument("--seed", type=int, nargs="+", default=[1])
    parser.add_argument("--count", type=int, default=GENERATED)
    parser.add_argument("--no-speed", action="store_true")
    given = parser.parse_args()
    if given.unseen and given.half != "all":
        _forget(int(given.half))
    for seed in given.seed:
        began = time.perf_counter()
        scores = scored(seed, given.count, None if given.half == "all" else int(given.half))
        print(f"half {given.half}, seed {seed}, {given.count} sessions:")
        _print(scores, time.perf_counter() - began)
    if not given.no_speed:
        for figure in speed():
            print(f"{figure.name}: {figure.value:.2f} (bar {figure.bar}), {figure.detail}")


if __name__ == "__main__":
    main()
