"""A question taken apart and its events found, in the order that every engine keeps.

Owns when a question asks for nothing, that what nobody says exactly is looked for loosely, and what the reader is told of it.
"""

from __future__ import annotations

from collections.abc import Callable

from crucible.recall.model import Kind, Question
from crucible.recall.phrases import CANDIDATES, Texts, is_exact, said_so
from crucible.recall.ranking import EVENTS
from crucible.recall.searching import TOO_LONG, Found, Sought, sought_of
from crucible.recall.words import Asked, read_question

__all__ = ["Find", "find_events"]

Find = Callable[[Sought, int], list[Found]]
"""At most so many of the best events, best first."""


def find_events(
    question: Question, notes: list[str], find: Find, texts: Texts
) -> tuple[Sought, list[Found]] | None:
    """What is sought and the events that fit, or None where nothing is; `notes` gets lines for the reader."""
    asked = read_question(question.text)
    if asked.cut:
        notes.append("only the first words of the question were searched")
    if asked.is_empty() and (question.text.strip() or not _narrows(question)):
        notes.append("the question has no words")
        return None
    sought = sought_of(asked, question)
    if sought.is_vain:
        notes.append(TOO_LONG)
        return None
    events = _exactly(sought, find, texts)
    if not events and sought.phrases:
        notes.append("nothing says exactly that; these have some of its words")
        sought = sought_of(_loosened(asked), question)
        events = _exactly(sought, find, texts)
    return sought, events


def _exactly(sought: Sought, find: Find, texts: Texts) -> list[Found]:
    if not is_exact(sought):
        return find(sought, EVENTS)
    return said_so(find(sought, CANDIDATES), sought, texts)


def _narrows(question: Question) -> bool:
    """Whether a question asks for something even without words: then the newest is shown."""
    told = (question.session, question.agent, question.channel, question.project)
    return any((*told, question.since, question.until)) or question.kinds != frozenset(Kind)


def _loosened(asked: Asked) -> Asked:
    """With the words of its phrases in their place."""
    more = read_question(" ".join(" ".join(phrase.split('"')) for phrase in asked.phrases))
    words, names = dict.fromkeys((*asked.words, *more.words)), dict.fromkeys((*asked.names, *more.names))
    return asked._replace(words=tuple(words), names=tuple(names), phrases=())
