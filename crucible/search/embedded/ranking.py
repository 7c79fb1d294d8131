"""Read a question, and rank events and sessions.

A session counts by its own words and its three best events, an event by its own words and its session. This was
measured on conversations and real coding sessions. Age counts a little. The kind or time that a question mentions is
a hint, not a filter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from math import prod
from typing import NamedTuple

from crucible.search.embedded.segments import analyze
from crucible.search.embedded.tantivy_search import TOO_LONG, Count, Match, Sought, near_stems, sought_of
from crucible.search.question_words import (
    NamedTime,
    ParsedQuestion,
    is_then,
    meant_kinds,
    moments_in,
    pieces_of,
    read_question,
)
from crucible.search.recall import MOST, EventKind, Question

EVENTS, SESSIONS = 200, 50
"""So many of the best by their words alone are weighed."""
HALF_LIFE_DAYS = 90.0
"""Of the part of a score that ages."""

_SHARES = (1.0, 0.5, 0.25)
"""Of a session's best events."""
_OF_SESSION = 0.3
"""What of its session's score an event gets."""
_LEAST = 0.9
"""What an old thing keeps of its score."""
_MEANT = 1.2
"""What a decision counts more where one is asked for, and an error."""
_THEN = 1.3
"""What counts more that was at a time which the question names."""
_DAY = 86_400

Weigh = Callable[[str], tuple[float, Mapping[str, float]] | None]
"""Of the path of an item the factor and its parts; None of a session."""


class Hints(NamedTuple):
    """Hints of a question: events of a kind that it asks for, by path and number, and the times that it names."""

    meant: frozenset[tuple[str, int]] = frozenset()
    moments: tuple[NamedTime, ...] = ()


NO_HINTS = Hints()


class Ranked(NamedTuple):
    """A find with its score, and the parts that it comes from."""

    found: Match
    score: float
    parts: Mapping[str, float]


def recency(first: int, now: float) -> float:
    """Between 0.9 and 1, of seconds since 1970; what is not dated is old, what lies ahead is new."""
    if not first:
        return _LEAST
    days = max(now - first, 0.0) / _DAY
    return _LEAST + (1 - _LEAST) * float(0.5 ** (days / HALF_LIFE_DAYS))


def rank_sessions(
    events: Sequence[Match], sessions: Sequence[Match], now: datetime, hints: Hints = NO_HINTS
) -> list[Ranked]:
    """Every session that was found itself or by an event, best first.  `events` are best first."""
    own = {one.path: one for one in sessions}
    best: dict[str, list[Match]] = {}
    for event in events:
        best.setdefault(event.path, []).append(event)
    ranked, seconds = [], now.timestamp()
    for path in {**own, **best}:
        found = own.get(path) or Match(path, 0, 0.0, best[path][0].first)
        by_events = sum(map(_share, best.get(path, ()), _SHARES))
        age = recency(found.first, seconds)
        parts = {"text": found.score, "events": by_events, "recency": age}
        score = (found.score + by_events) * age
        ranked.append(_hinted(Ranked(found, score, parts), hints))
    return sorted(ranked, key=_best_first)


def _share(event: Match, share: float) -> float:
    return share * event.score


def _hinted(one: Ranked, hints: Hints) -> Ranked:
    """With the factors of what the question hints at."""
    found, factors = one.found, {}
    if hints.meant and (found.path, found.number) in hints.meant:
        factors["kind"] = _MEANT
    if hints.moments and is_then(hints.moments, found.first):
        factors["date"] = _THEN
    if not factors:
        return one
    return Ranked(found, one.score * prod(factors.values()), {**one.parts, **factors})


def rank_events(
    events: Sequence[Match],
    sessions: Sequence[Ranked],
    now: datetime,
    weigh: Weigh,
    hints: Hints = NO_HINTS,
) -> list[Ranked]:
    """The events, best first, without what weighs nothing; `sessions` are as `rank_sessions` gave them."""
    sums = {one.found.path: _OF_SESSION * (one.parts["text"] + one.parts["events"]) for one in sessions}
    ranked, seconds = [], now.timestamp()
    for event in events:
        item = None if event.path in sums else weigh(event.path)
        # An item stands for itself, as a session of one event would.
        share = sums.get(event.path, 0.0) if item is None else _OF_SESSION * 2 * event.score
        factor, more = item or (recency(event.first, seconds), {})
        if factor <= 0:  # it is not for whoever asks
            continue
        name = "recency" if item is None else "factor"
        parts = {"text": event.score, "session": share, **more, name: factor}
        ranked.append(_hinted(Ranked(event, (event.score + share) * factor, parts), hints))
    return sorted(ranked, key=_best_first)


def listed(sessions: Sequence[Ranked], events: Sequence[Match], sought: Sought) -> list[Ranked]:
    """The sessions of an answer; if only some kinds are asked for, those with such an event."""
    narrows = sought.question.kinds != frozenset(EventKind) or any(field == "kind" for field, _ in sought.asked.facts)
    found = {one.path for one in events}
    return [one for one in sessions if one.found.path in found] if narrows else list(sessions)


def _best_first(one: Ranked) -> tuple[float, int, str, int]:
    """Of equal ones the newest, and then always the same."""
    return (-one.score, -one.found.first, one.found.path, one.found.number)


CANDIDATES = 400
"""Events that have every word, whose texts are read."""

_ENOUGH = 60
"""Events that say it: a question never shows more."""
_AT_ONCE = 40

Texts = Callable[[Sequence[Match]], Sequence[str]]


def is_exact(sought: Sought) -> bool:
    """Whether a question is about words that follow each other."""
    return bool(sought.phrases) or any(len(words) > 1 for words in sought.nots)


def said_so(candidates: Sequence[Match], sought: Sought, texts: Texts) -> list[Match]:
    """Those of the candidates, best first, that say each phrase and none that must not be there."""
    nots = [words for words in sought.nots if len(words) > 1]
    found: list[Match] = []
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


Find = Callable[[Sought, int], list[Match]]
"""At most so many of the best events, best first."""


class Finds(NamedTuple):
    """What is sought, the events that fit, best first, and what the question says of them beside its words."""

    sought: Sought
    events: Sequence[Match]
    hints: Hints


def rank_finds(
    finds: Finds, own: Sequence[Match], is_item: Callable[[str], bool], weigh: Weigh, now: datetime
) -> tuple[list[Ranked], list[Ranked]]:
    """The events and the sessions of an answer; `own` are sessions that match themselves."""
    limit = min(max(finds.sought.question.limit, 1), MOST)
    of_sessions = [one for one in finds.events if not is_item(one.path)]
    sessions = rank_sessions(of_sessions, own, now, finds.hints)
    events = rank_events(finds.events, sessions, now, weigh, finds.hints)
    return events[:limit], listed(sessions, of_sessions, finds.sought)[:limit]


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


def _hints(sought: Sought, events: Sequence[Match], find: Find) -> Hints:
    """Which of the events are of a kind that is asked for, only the index knows: it is asked once more."""
    kinds = meant_kinds(sought.asked) & sought.question.kinds if len(events) > 1 else frozenset()
    meant: list[Match] = []
    if kinds and kinds != sought.question.kinds:
        meant = find(sought._replace(question=replace(sought.question, kinds=kinds)), EVENTS)
    return Hints(frozenset((one.path, one.number) for one in meant), moments_in(sought.question.text))


def _exactly(sought: Sought, find: Find, texts: Texts) -> list[Match]:
    if not is_exact(sought):
        return find(sought, EVENTS)
    return said_so(find(sought, CANDIDATES), sought, texts)


def _loosened(asked: ParsedQuestion) -> ParsedQuestion:
    """With the words of its phrases in their place."""
    more = read_question(" ".join(" ".join(phrase.split('"')) for phrase in asked.phrases))
    words, names = dict.fromkeys((*asked.words, *more.words)), dict.fromkeys((*asked.names, *more.names))
    return asked._replace(words=tuple(words), names=tuple(names), phrases=())
