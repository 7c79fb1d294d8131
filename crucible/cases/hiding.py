"""That a puzzle does not hold its own answer: no run of eight words of a solution stands inside it.

Owns what a run is (within one text: a message, an argument, a result; of words between blanks as well as of letters alone, whatever their
case), and which side gives way.  The failure's message and the goal are exact, so a solution that repeats them has a mark in their place;
everything else in the puzzle gives way to the solution.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from crucible.cases.model import Call, Puzzle, Turn
from crucible.cases.texts import mapped, texts_of
from crucible.patterns import late_pattern

__all__ = ["MARK", "RUN", "leaks", "withhold"]

RUN = 8
"""Words in a row that are too many."""
MARK = "[…]"
"""Stands where words were taken out."""

_WORDS = (late_pattern(r"\w+"), late_pattern(r"\S+"))
_LEAST = 2 * RUN - 1
"""Code points of the shortest run."""
_SHORT = 400
_ROUNDS = 6


class _Grams(NamedTuple):
    """All runs of some texts, by the kind of words."""

    kinds: tuple[set[tuple[str, ...]], set[tuple[str, ...]]]

    def meets(self, texts: Iterable[str]) -> bool:
        """Whether a run is in one of some texts."""
        if not any(self.kinds):
            return False
        return any(not self.kinds[kind].isdisjoint(runs) for text in texts for kind, runs in _told(text))


def withhold(puzzle: Puzzle) -> Puzzle:
    """The puzzle without a run of its solution in it; an open one as it is, a hint that would tell is left out."""
    if puzzle.is_open:
        return puzzle
    answer = _grams(_answer(puzzle))
    if answer.meets((puzzle.goal, puzzle.failure)):
        exact = _grams((puzzle.goal, puzzle.failure))
        puzzle = replace(
            puzzle, solution=_masked_turns(puzzle.solution, exact), expected=_mask(puzzle.expected, exact)
        )
        answer = _grams(_answer(puzzle))
    if not answer.meets((puzzle.state, *_texts(puzzle.tried), *puzzle.hints)):
        return puzzle
    return replace(
        puzzle,
        state=_mask(puzzle.state, answer),
        tried=_masked_turns(puzzle.tried, answer),
        hints=tuple(hint for hint in puzzle.hints if not _runs(hint, answer)),
    )


def leaks(puzzle: Puzzle) -> tuple[str, ...]:
    """The runs of a solution that stand in its puzzle."""
    answer = _grams(_answer(puzzle))
    asked = (puzzle.goal, puzzle.state, puzzle.failure, *_texts(puzzle.tried), *puzzle.hints)
    return tuple(text[start:end] for text in asked for start, end in _runs(text, answer))


def _answer(puzzle: Puzzle) -> Iterator[str]:
    yield puzzle.expected
    yield from _texts(puzzle.solution)


def _texts(turns: Iterable[Turn]) -> Iterator[str]:
    """The texts of some turns that can be long enough."""
    for turn in turns:
        yield turn.text
        for call in turn.calls:
            for value in call.arguments.values():
                if isinstance(value, str):
                    yield value
                else:
                    yield from texts_of(value)


def _grams(texts: Iterable[str]) -> _Grams:
    kinds: tuple[set[tuple[str, ...]], set[tuple[str, ...]]] = (set(), set())
    for text in texts:
        for kind, runs in _told(text):
            kinds[kind].update(runs)
    return _Grams(kinds)


def _told(text: str) -> Iterator[tuple[int, Iterator[tuple[str, ...]]]]:
    """The runs of a text, by the kind of their words."""
    if len(text) < _LEAST:
        return
    low = text.casefold()
    for kind, words in enumerate((_WORDS[0].findall(low), low.split())):
        if len(words) >= RUN:
            yield kind, zip(*(words[at:] for at in range(RUN)), strict=False)


def _runs(text: str, grams: _Grams) -> list[tuple[int, int]]:
    """Where runs stand in a text, as places in it; those that touch are one."""
    if len(text) < _LEAST:
        return []
    found = sorted(
        span
        for kind, pattern in zip(grams.kinds, _WORDS, strict=True)
        if kind
        for span in _found(text, kind, pattern)
    )
    merged: list[tuple[int, int]] = []
    for start, end in found:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _found(text: str, grams: set[tuple[str, ...]], pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    told = pattern.findall(text.casefold())
    hits = [at for at in range(len(told) - RUN + 1) if tuple(told[at : at + RUN]) in grams]
    if hits:
        words = list(pattern.finditer(text))
        yield from ((words[at].start(), words[at + RUN - 1].end()) for at in hits if at + RUN <= len(words))


def _mask(text: str, grams: _Grams, *, sparing: bool = False) -> str:
    """The text without runs; `sparing` takes out of each only a word in eight, which leaves a command to be told by."""
    for _ in range(_ROUNDS):
        runs = _runs(text, grams)
        if not runs:
            break
        for start, end in reversed(runs):
            told = _thinned(text[start:end]) if sparing else MARK
            text = text[:start] + told + text[end:]
        sparing = sparing and len(_runs(text, grams)) < len(runs)
    return text


def _thinned(run: str) -> str:
    """A run without every word that would make it one; the first ones stay."""
    words = list(_WORDS[0].finditer(run))
    for one in reversed(words[RUN - 2 :: RUN - 1]):
        run = run[: one.start()] + MARK + run[one.end() :]
    return run


def _masked_turns(turns: tuple[Turn, ...], grams: _Grams) -> tuple[Turn, ...]:
    return mapped(turns, lambda text: _mask(text, grams), lambda call: _masked_call(call, grams))


def _masked_call(call: Call, grams: _Grams) -> Call:
    arguments = {
        name: _masked_value(value, lambda text: _mask(text, grams, sparing=len(text) < _SHORT))
        for name, value in call.arguments.items()
    }
    return call if arguments == call.arguments else replace(call, arguments=arguments)


def _masked_value(value: object, change: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list | tuple):
        return [_masked_value(one, change) for one in value]
    if isinstance(value, dict):
        return {name: _masked_value(one, change) for name, one in value.items()}
    return value
