"""Keep a puzzle from telling its own answer: no run of eight words that only the solution has is in what was tried, or in a hint.

The request, the failing output and the files as they were are shown as they are; what a solution quotes of them is no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
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


def _answer(puzzle: Puzzle) -> set[tuple[str, ...]]:
    """The runs that only the solution has."""
    asked = _runs((puzzle.goal, puzzle.state, puzzle.failure))
    return _runs((puzzle.expected, *texts_of(puzzle.solution))) - asked


def _runs(texts: Iterable[str]) -> set[tuple[str, ...]]:
    return {run for text in texts for run, _ in _runs_of(text)}


def _runs_of(text: str) -> Iterator[tuple[tuple[str, ...], Iterable[re.Match[str]]]]:
    words = list(_WORD.finditer(text)) if len(text) >= 2 * _RUN - 1 else []
    for at in range(len(words) - _RUN + 1):
        found = words[at : at + _RUN]
        yield tuple(word[0].casefold() for word in found), found


def _spans(text: str, answer: set[tuple[str, ...]]) -> list[tuple[int, int]]:
    """Where runs of an answer are in a text; those that touch are one."""
    merged: list[tuple[int, int]] = []
    for run, (first, *_, last) in _runs_of(text):
        if run in answer:
            start = merged.pop()[0] if merged and first.start() <= merged[-1][1] else first.start()
            merged.append((start, last.end()))
    return merged


def _masked(text: str, answer: set[tuple[str, ...]]) -> str:
    for start, end in reversed(_spans(text, answer)):
        text = text[:start] + MARK + text[end:]
    return text
