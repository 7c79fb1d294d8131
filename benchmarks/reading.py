"""Reading one note: its text to a `Session`, against markdown-it parsing the same text and doing nothing with it."""

from __future__ import annotations

import statistics
from itertools import count
from pathlib import Path

from markdown_it import MarkdownIt

from benchmarks.measuring import Figure, in_turns, median_ratio, seconds_of
from crucible.documents.markdown.source import Source
from crucible.documents.session.session_reader import read_session
from samples.notes import sample_notes

BAR = 0.5


def times(text: str, rounds: int, repeat: int) -> dict[str, list[float]]:
    """Seconds a note, a round; the text is a new one each time, so that nothing kept from the last helps."""
    numbers = count()
    parser = MarkdownIt("commonmark")

    def fresh() -> str:
        return f"{text}\n{next(numbers)}\n"

    return in_turns(
        {
            "ours": lambda: seconds_of(lambda: read_session(Source(fresh()), "2026-11-21-add-rate-limiter"), repeat),
            "markdown-it": lambda: seconds_of(lambda: parser.parse(fresh()), repeat),
        },
        rounds,
    )


def measure(_scratch: Path) -> list[Figure]:
    figures = []
    for name, text in sample_notes().items():
        times(text, 1, 5)
        found = times(text, 15, 20)
        ours, theirs = (statistics.median(found[key]) * 1000 for key in ("ours", "markdown-it"))
        figures.append(
            Figure(
                f"reading a note over markdown-it's parse: {name}",
                median_ratio(found, "ours", "markdown-it"),
                BAR,
                detail=f"{len(text.encode())} bytes: {ours:.2f} ms, {theirs:.2f} ms",
            )
        )
    return figures
