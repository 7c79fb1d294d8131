"""Parse a question, and rank events and sessions.

A session's score depends on its own words and its three best events; an event's score on its own words and its session.
The weights were tuned on conversations and real coding sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from math import prod

from crucible.core.named_tuples import NamedTuple
from crucible.search.embedded.segments import analyze
from crucible.search.embedded.tantivy_search import TOO_LONG, Count, Match, SearchTerms, near_stems, search_terms
from crucible.search.near_words import FindNear, no_near
from crucible.search.question_words import (
    NamedTime,
    ParsedQuestion,
    hinted_kinds,
    is_at_time,
    pieces_of_text,
    read_question,
    times_in,
)
from crucible.search.recall import EventKind, Question

EVENTS, SESSIONS = 200, 50
"""Maximum number of matches by words alone, which are then ranked."""
HALF_LIFE_DAYS = 90.0
"""Half-life, in days, of the part of a score that decays with age."""

_SHARES = (1.0, 0.5, 0.25)
"""Weights of the best events of a session in its score."""
_OF_SESSION = 0.3
"""The share of a session's score that is added to its events."""
_LEAST = 0.9
"""The factor for very old matches."""
_OF_HINTED_KIND = 1.2
"""The factor for an event of a kind that the question hints at."""
_OF_FINDING = 1.2
"""The factor for a decision, correction, failure or outcome, to rank it above the prose that it was found in."""
_FINDINGS = frozenset({EventKind.DECISION, EventKind.CORRECTION, EventKind.ERROR, EventKind.OUTCOME})
_OF_CALL = 0.9
"""The factor for a tool call, unless the question has a name such as `src/limiter.py`: output has words on any topic."""
_AT_NAMED_TIME = 1.6
"""The factor for a match from a time that the question mentions."""
_OF_QUESTION = 0.4
"""The share of a question's score that is added to the event that follows it."""
OF_NEAR = 0.6
"""The weight of a near word, relative to a word and multiplied by their similarity."""
_DAY = 86_400

Weigh = Callable[[str], tuple[float, Mapping[str, float]] | None]
"""Returns the weight of the item at a path, and the factors of the weight; None for a session."""


class Hints(NamedTuple):
    """Hints in a question: kinds of events it hints at, times it mentions, and whether it has names."""

    kinds: frozenset[EventKind] = frozenset()
    times: tuple[NamedTime, ...] = ()
    has_names: bool = False


NO_HINTS = Hints()


class Ranked(NamedTuple):
    """A match with its score, and the components of the score."""

    found: Match
    score: float
    parts: Mapping[str, float]


class Ranking(NamedTuple):
    """The events and sessions of an answer, best first, and the best event of each of the other sessions, by path."""

    events: list[Ranked]
    sessions: list[Ranked]
    passages: Mapping[str, Ranked]


def recency(first: int, now: float) -> float:
    """Return a factor between 0.9 and 1 for a time in seconds since 1970.  No date counts as old, the future as new."""
    if not first:
        return _LEAST
    days = max(now - first, 0.0) / _DAY
    return _LEAST + (1 - _LEAST) * float(0.5 ** (days / HALF_LIFE_DAYS))


def rank_sessions(
    events: Sequence[Match], sessions: Sequence[Match], now: datetime, hints: Hints = NO_HINTS
) -> list[Ranked]:
    """Rank sessions that match or have a matching event, best first.  `events` are sorted best first."""
    own = {one.path: one for one in sessions}
    best: dict[str, list[Match]] = {}
    for event in events:
        best.setdefault(event.path, []).append(event)
    ranked, seconds = [], now.timestamp()
    for path in {**own, **best}:
        found = own.get(path) or Match(path, 0, 0.0, best[path][0].first)
        by_events = sum(event.score * share for event, share in zip(best.get(path, ()), _SHARES, strict=False))
        age = recency(found.first, seconds)
        parts = {"text": found.score, "events": by_events, "recency": age}
        score = (found.score + by_events) * age
        ranked.append(_hinted(Ranked(found, score, parts), hints, now.tzinfo))
    return sorted(ranked, key=_best_first)


def _hinted(one: Ranked, hints: Hints, zone: tzinfo | None) -> Ranked:
    """Apply the factors of an event's kind and of the question's hints."""
    found, factors = one.found, {}
    if found.kind in _FINDINGS:
        factors["finding"] = _OF_FINDING
    if found.kind is EventKind.TOOL and not hints.has_names:
        factors["call"] = _OF_CALL
    if found.kind in hints.kinds:
        factors["kind"] = _OF_HINTED_KIND
    if hints.times and is_at_time(hints.times, found.first, zone):
        factors["date"] = _AT_NAMED_TIME
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
    """Rank events, best first, without items of weight 0.  `sessions` come from `rank_sessions`."""
    sums = {one.found.path: _OF_SESSION * (one.parts["text"] + one.parts["events"]) for one in sessions}
    asked = {(one.path, one.reply): _OF_QUESTION * one.score for one in reversed(events) if one.reply}
    ranked, seconds = [], now.timestamp()
    for event in events:
        item = None if event.path in sums else weigh(event.path)
        # An item is ranked like a session with one event.
        share = sums.get(event.path, 0.0) if item is None else _OF_SESSION * 2 * event.score
        factor, more = item or (recency(event.first, seconds), {})
        if factor <= 0:  # the viewer may not see the item
            continue
        name = "recency" if item is None else "factor"
        reply = asked.get((event.path, event.number), 0.0)
        parts = {"text": event.score, "session": share, **({"reply": reply} if reply else {}), **more, name: factor}
        ranked.append(_hinted(Ranked(event, (event.score + share + reply) * factor, parts), hints, now.tzinfo))
    return sorted(ranked, key=_best_first)


def listed_sessions(sessions: Sequence[Ranked], events: Sequence[Match], terms: SearchTerms) -> list[Ranked]:
    """Return the sessions of an answer; if the question is limited to some kinds, only those with such an event."""
    by_kind = terms.question.kinds != frozenset(EventKind) or any(field == "kind" for field, _ in terms.parsed.facts)
    found = {one.path for one in events}
    return [one for one in sessions if one.found.path in found] if by_kind else list(sessions)


def _best_first(one: Ranked) -> tuple[float, int, str, int]:
    """Return a sort key: score, then newest first, then path and number for a stable order."""
    return (-one.score, -one.found.first, one.found.path, one.found.number)


SPARE = 10
"""How many more events to read than are shown, since some are folded."""
CANDIDATES = 400
"""Maximum number of events, with all words of a phrase, whose text is read."""

_ENOUGH = 60
"""Maximum number of events with the phrase: no answer shows more."""
_AT_ONCE = 40

Texts = Callable[[Sequence[Match]], Sequence[str]]


def is_exact(terms: SearchTerms) -> bool:
    """Return whether a question has required or excluded phrases."""
    return bool(terms.phrases) or any(len(words) > 1 for words in terms.nots)


def matching_exactly(candidates: Sequence[Match], terms: SearchTerms, texts: Texts) -> list[Match]:
    """Return the candidates whose text contains every required phrase and no excluded one, in the same order."""
    nots = [words for words in terms.nots if len(words) > 1]
    found: list[Match] = []
    for at in range(0, len(candidates), _AT_ONCE):
        some = candidates[at : at + _AT_ONCE]
        for one, text in zip(some, texts(some), strict=True):
            stems = "\n".join(f" {' '.join(analyze(piece))} " for piece in pieces_of_text(text))
            if all(_has(stems, words) for words in terms.phrases) and not any(_has(stems, words) for words in nots):
                found.append(one)
        if len(found) >= _ENOUGH:
            break
    return found


def _has(stems: str, words: Sequence[str]) -> bool:
    return f" {' '.join(words)} " in stems


Find = Callable[[SearchTerms, int], list[Match]]
"""Returns the best events, best first, up to the given number."""


class RankInput(NamedTuple):
    """Search terms, the matching events, best first, and the question's hints."""

    terms: SearchTerms
    events: Sequence[Match]
    hints: Hints


def rank(
    found: RankInput, own: Sequence[Match], is_item: Callable[[str], bool], weigh: Weigh, now: datetime
) -> Ranking:
    """Rank the events and the sessions of an answer.  `own` are the sessions that match by their own words.

    There are up to `SPARE` more events than the answer shows.
    """
    limit = found.terms.question.shown
    of_sessions = [one for one in found.events if not is_item(one.path)]
    sessions = rank_sessions(of_sessions, own, now, found.hints)
    events = rank_events(_with_replies(found), sessions, now, weigh, found.hints)
    # The text of a call is slow to read.
    spare = [one for one in events[limit : limit + SPARE] if one.found.kind is not EventKind.TOOL]
    listed = listed_sessions(sessions, of_sessions, found.terms)[:limit]
    bare = {one.found.path for one in listed} - {one.found.path for one in events[:limit]}
    said = (one for one in reversed(events[limit:]) if one.found.kind is not EventKind.TOOL)
    passages = {one.found.path: one for one in said if one.found.path in bare}
    return Ranking([*events[:limit], *spare], listed, passages)


def _with_replies(found: RankInput) -> list[Match]:
    """Add the replies to matching questions, unless the user's question is limited to some events of a session."""
    parsed, question = found.terms.parsed, found.terms.question
    is_limited = question.kinds != frozenset(EventKind) or question.agent or question.channel
    if is_limited or parsed.phrases or parsed.nots or parsed.facts or parsed.not_facts:
        return list(found.events)
    known = {(one.path, one.number) for one in found.events}
    replies = {(one.path, one.reply): one.first for one in found.events if one.reply}
    return [*found.events, *(Match(*place, 0.0, first) for place, first in replies.items() if place not in known)]


def find_events(
    question: Question, notes: list[str], find: Find, texts: Texts, count: Count, *, near: FindNear = no_near
) -> RankInput | None:
    """Find the events that match a question; None if it has no words.  Appends remarks for the user to `notes`."""
    parsed = read_question(question.text)
    if parsed.cut:
        notes.append("only the first words of the query were searched")
    if parsed.is_empty() and (question.text.strip() or not question.narrows):
        notes.append("the query has no words")
        return None
    terms = _extended(search_terms(parsed, question), count, near)
    if terms.is_unsearchable:
        notes.append(TOO_LONG)
        return None
    events = _exactly(terms, find, texts)
    if not events and terms.phrases:
        terms = _extended(search_terms(_loosened(parsed), question), count, near)
        events = _exactly(terms, find, texts)
        notes.append("no exact match" + ("; these match some of its words" if events else ""))
    return RankInput(terms, events, Hints(hinted_kinds(parsed), times_in(question.text), bool(parsed.names)))


def _extended(terms: SearchTerms, count: Count, near: FindNear) -> SearchTerms:
    """Add the corrections of misspelled words, the near words, and the counts of all words."""
    counts: dict[str, int] = {}

    def counted(stems: Sequence[str]) -> Mapping[str, int]:
        found = count(stems)
        counts.update(found)
        return found

    if not terms.stems:
        return terms
    related = {
        stem: {one: OF_NEAR * similarity for one, similarity in near(stem).items() if one not in terms.stems}
        for stem in terms.stems
    }
    return terms._replace(near=near_stems(terms.parsed.words, counted), counts=counts, related=related)


def _exactly(terms: SearchTerms, find: Find, texts: Texts) -> list[Match]:
    if not is_exact(terms):
        return find(terms, EVENTS)
    return matching_exactly(find(terms, CANDIDATES), terms, texts)


def _loosened(parsed: ParsedQuestion) -> ParsedQuestion:
    """Replace the phrases of a question with their words."""
    more = read_question(" ".join(" ".join(phrase.split('"')) for phrase in parsed.phrases))
    words, names = dict.fromkeys((*parsed.words, *more.words)), dict.fromkeys((*parsed.names, *more.names))
    return parsed._replace(words=tuple(words), names=tuple(names), phrases=())
