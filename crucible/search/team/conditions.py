"""The conditions of a question as search terms, for servers whose tables have the terms of `terms`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from crucible.search.embedded.segments import analyze
from crucible.search.embedded.tantivy_search import NEAR, WHOLE, SearchTerms
from crucible.search.question_words import field_value, indexable, names_in, words_in
from crucible.search.recall import EventKind
from crucible.search.team.terms import fact_term, name_term, word_term

FindIds = Callable[[Sequence[str]], Sequence[str]]
"""Returns the session ids that equal a value or, if there are none, those that begin with it."""


class Has(NamedTuple):
    """A condition: any of the terms in `some` occurs, or all terms of one group in `every`.

    A session with any of the terms in `whole` meets the condition with all of its events.
    """

    some: tuple[str, ...] = ()
    every: tuple[tuple[str, ...], ...] = ()
    whole: tuple[str, ...] = ()


class Filters(NamedTuple):
    """Conditions that must hold, and conditions that must not."""

    required: tuple[Has, ...]
    excluded: tuple[Has, ...]


class Scored(NamedTuple):
    """A term that affects the score.  Of the terms with one `word`, only the one that scores best counts."""

    term: str
    word: int
    weight: float


def scored_terms(terms: SearchTerms) -> list[Scored]:
    """Return the terms that affect the score: words, their near words, corrections and names."""
    words = dict.fromkeys((*terms.stems, *(word for phrase in terms.phrases for word in phrase)))
    groups: list[list[tuple[str, float]]] = [
        [(word_term(one), share) for one, share in {word: 1.0, **terms.related.get(word, {})}.items()] for word in words
    ]
    groups += [[(word_term(stem), NEAR)] for stem in terms.near if stem not in words]
    groups += [[(name_term(name), WHOLE)] for name in terms.names]
    return [Scored(term, at, weight) for at, group in enumerate(groups) for term, weight in group]


def filters_of(terms: SearchTerms, side: str, find_ids: FindIds) -> Filters:
    """Return the conditions of a question on a `side`: "events" or "sessions"."""
    question, parsed = terms.question, terms.parsed
    required = [_every(phrase) for phrase in terms.phrases]
    related = (one for some in terms.related.values() for one in some)
    any_of = (*map(word_term, (*terms.stems, *terms.near, *related)), *map(name_term, terms.names))
    if required and any_of:
        required.append(Has(any_of))
    by_field: dict[str, list[str]] = {}
    for field, value in parsed.facts:
        by_field.setdefault(field, []).append(value)
    required += [_fact(find_ids, field, values) for field, values in by_field.items()]
    given = {field: getattr(question, field) for field in ("session", "agent", "channel", "project")}
    required += [_fact(find_ids, field, [value]) for field, value in given.items() if value]
    if question.project and side == "events":
        # Keep knowledge items: a project also sees its domain's items and global ones; their weights select among them.
        required.append(required.pop()._replace(some=(fact_term("kind", EventKind.KNOWLEDGE.value),)))
    if side == "events" and question.kinds != frozenset(EventKind) and scored_terms(terms):
        required.append(_fact(find_ids, "kind", sorted(kind.value for kind in question.kinds)))
    excluded = [_every(words) for words in terms.nots if len(words) == 1]
    excluded += [_fact(find_ids, field, [value]) for field, value in parsed.not_facts]
    if not (question.archived or question.session or "session" in by_field):
        excluded.append(_fact(find_ids, "archived", ["true"]))
    return Filters(tuple(required), tuple(excluded))


def _every(words: Sequence[str]) -> Has:
    return Has(every=(tuple(dict.fromkeys(map(word_term, words))),))


def _fact(find_ids: FindIds, field: str, values: Sequence[str]) -> Has:
    """Match any of a field's values."""
    if field == "file":
        names = dict.fromkeys(name for value in values for name in (*names_in(value), indexable(value)))
        words = [analyze(" ".join(words_in(value))) for value in values]
        return Has(tuple(map(name_term, names)), tuple(_every(one).every[0] for one in words if one))
    if field == "session":
        values = find_ids([field_value(value) for value in values])
    terms = tuple(fact_term(field, field_value(value)) for value in values)
    return Has(whole=terms) if field in OF_SESSION else Has(terms)


OF_SESSION = frozenset(("session", "project", "branch", "tag", "archived"))
"""Facts that a session shares with all its events."""
