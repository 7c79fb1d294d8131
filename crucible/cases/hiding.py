"""Keep a puzzle from telling its own answer: no run of eight words that only the solution has is in what was tried, or in a hint.

The request, the failing output and the files as they were are shown as they are; what a solution quotes of them is no answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from crucible.cases.model import Puzzle
from crucible.cases.texts import mapped, texts_of
from crucible.patterns import late_pattern

__all__ = ["MARK", "leaks", "withhold"]

_RUN = 8
"""Words in a row that are too many."""
MARK = "[…]"
"""Replaces withheld words."""
_WORD = late_pattern(r"\w+")


def withhold(puzzle: Puzzle) -> Puzzle:
    """The puzzle without a run of its solution in it; a hint that has one is left out."""
    answer = _answer(puzzle)
    return replace(
        puzzle,
        tried=mapped(puzzle.tried, lambda text: _masked(text, answer)),
        hints=tuple(hint for hint in puzzle.hints if not _spans(hint, answer)),
    )


def leaks(puzzle: Puzzle, *, exact: bool = True) -> tuple[str, ...]:
    """The runs of a solution that are in its puzzle; also in its goal, if that is not the user's `exact` words."""
    answer = _answer(puzzle if exact else replace(puzzle, goal=""))
    texts = texts_of((puzzle.goal, puzzle.tried, puzzle.hints))
    return tuple(text[start:end] for text in texts for start, end in _spans(text, answer))


def _answer(puzzle: Puzzle) -> set[str]:
    """The runs that only the solution has."""
    told, asked = (
        {run for text in texts_of(texts) for run, _, _ in _runs(text)}
        for texts in ((puzzle.expected, puzzle.solution), (puzzle.goal, puzzle.state, puzzle.failure))
    )
    return told - asked


def _runs(text: str) -> Iterator[tuple[str, int, int]]:
    """Each run of words, with where it begins and ends."""
    words = [(found[0].casefold(), found.start(), found.end()) for found in _WORD.finditer(text)]
    for at in range(len(words) - _RUN + 1):
        run = words[at : at + _RUN]
        yield " ".join(word for word, _, _ in run), run[0][1], run[-1][2]


def _spans(text: str, answer: set[str]) -> list[tuple[int, int]]:
    """Where runs of an answer are in a text; those that touch are one."""
    merged: list[tuple[int, int]] = []
    for start, end in ((start, end) for run, start, end in _runs(text) if run in answer):
        begun = merged.pop()[0] if merged and start <= merged[-1][1] else start
        merged.append((begun, end))
    return merged


def _masked(text: str, answer: set[str]) -> str:
    for start, end in reversed(_spans(text, answer)):
        text = text[:start] + MARK + text[end:]
    return text
