"""A question taken apart and its events found, in the order that every engine keeps.

Owns when a question asks for nothing, that what nobody says exactly is looked for loosely, and a word that nobody wrote by those near to it, and what
the reader is told of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from crucible.search.embedded.ranking import EVENTS, Hints
from crucible.search.embedded.segments import analyze
from crucible.search.embedded.spelling import Count, near_stems
from crucible.search.embedded.tantivy_search import TOO_LONG, Found, Sought, sought_of
from crucible.search.named_times import moments_in
from crucible.search.question_words import Asked, meant_kinds, pieces_of, read_question
from crucible.search.recall import Question

CANDIDATES = 400
"""Events that have every word, whose texts are read."""

_ENOUGH = 60
"""Events that say it: a question never shows more."""
_AT_ONCE = 40

Texts = Callable[[Sequence[Found]], Sequence[str]]


def is_exact(sought: Sought) -> bool:
    """Whether a question is about words that follow each other."""
    return bool(sought.phrases) or any(len(words) > 1 for words in sought.nots)


def said_so(candidates: Sequence[Found], sought: Sought, texts: Texts) -> list[Found]:
    """Those of the candidates, best first, that say each phrase and none that must not be there."""
    nots = [words for words in sought.nots if len(words) > 1]
    found: list[Found] = []
    for at in range(0, len(candidates), _AT_ONCE):
        some = candidates[at : at + _AT_ONCE]
        for one, text in zip(some, texts(some), strict=True):
            said = "\n".join(f" {' '.join(analyze(piece))} " for piece in pieces_of(text))
            if all(_has(said, words) for words in sought.phrases) and not any(_has(said, words) for words in nots):
                found.append(one)
        if len(found) >= _ENOUGH:
            break
    return found


def _has(said: str, words: Sequence[str]) -> bool:
    return f" {' '.join(words)} " in said


Find = Callable[[Sought, int], list[Found]]
"""At most so many of the best events, best first."""


class Finds(NamedTuple):
    """What is sought, the events that fit, best first, and what the question says of them beside its words."""

    sought: Sought
    events: Sequence[Found]
    hints: Hints


def find_events(question: Question, notes: list[str], find: Find, texts: Texts, count: Count) -> Finds | None:
    """What fits, or None where nothing is sought; `notes` gets lines for the reader."""
    asked = read_question(question.text)
    if asked.cut:
        notes.append("only the first words of the question were searched")
    if asked.is_empty() and (question.text.strip() or not question.narrows):
        notes.append("the question has no words")
        return None
    sought = _spelled(sought_of(asked, question), count)
    if sought.is_vain:
        notes.append(TOO_LONG)
        return None
    events = _exactly(sought, find, texts)
    if not events and sought.phrases:
        sought = _spelled(sought_of(_loosened(asked), question), count)
        events = _exactly(sought, find, texts)
        notes.append("nothing says exactly that" + ("; these have some of its words" if events else ""))
    return Finds(sought, events, _hints(sought, events, find))


def _spelled(sought: Sought, count: Count) -> Sought:
    return sought._replace(near=near_stems(sought.asked.words, count)) if sought.stems else sought


def _hints(sought: Sought, events: Sequence[Found], find: Find) -> Hints:
    """Which of the events are of a kind that is asked for, only the index knows: it is asked once more."""
    kinds = meant_kinds(sought.asked) & sought.question.kinds if len(events) > 1 else frozenset()
    meant: list[Found] = []
    if kinds and kinds != sought.question.kinds:
        meant = find(sought._replace(question=replace(sought.question, kinds=kinds)), EVENTS)
    return Hints(frozenset((one.path, one.number) for one in meant), moments_in(sought.question.text))


def _exactly(sought: Sought, find: Find, texts: Texts) -> list[Found]:
    if not is_exact(sought):
        return find(sought, EVENTS)
    return said_so(find(sought, CANDIDATES), sought, texts)


def _loosened(asked: Asked) -> Asked:
    """With the words of its phrases in their place."""
    more = read_question(" ".join(" ".join(phrase.split('"')) for phrase in asked.phrases))
    words, names = dict.fromkeys((*asked.words, *more.words)), dict.fromkeys((*asked.names, *more.names))
    return asked._replace(words=tuple(words), names=tuple(names), phrases=())
