"""Items that say nearly the same as a text: rare words that both have count most.

Owns the measure: the cosine between the sets of their words, each word weighed by how rare the index knows it to be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import log, sqrt

from crucible.search.embedded.segments import analyze
from crucible.search.embedded.tantivy_search import Found, Searchers, best, sought_of
from crucible.search.question_words import read_question, spoken, words_in
from crucible.search.recall import Event, Kind, Question

__all__ = ["CANDIDATES", "alike_to", "candidates_for"]

CANDIDATES = 30
"""Items that are compared."""


def candidates_for(searchers: Searchers, text: str) -> list[Found]:
    """The items that have most of a text's words."""
    # Quotes, minus signs and colons of a text are no operators.
    said = " ".join(words_in(spoken(text)))
    question = Question(said, kinds=frozenset({Kind.KNOWLEDGE}))
    asked = read_question(said)
    return best(searchers, "events", sought_of(asked, question), CANDIDATES) if asked.words else []


def _words(text: str) -> list[str]:
    """The words of a text as the index has them, each once."""
    return list(dict.fromkeys(analyze(spoken(text))))


def alike_to(searchers: Searchers, text: str, items: Iterable[Event]) -> list[tuple[str, float]]:
    """Each item's id and how alike it is, from 0 to 1, the likest first."""
    mine = frozenset(_words(text))
    weights = dict.fromkeys(mine, 0.0)
    found = []
    for item in items:
        theirs = frozenset(_words(f"{item.title}\n{item.text}"))
        _weigh(searchers, theirs | mine, weights)
        found.append((item.id, _cosine(mine, theirs, weights)))
    return sorted(found, key=lambda one: (-one[1], one[0]))


def _weigh(searchers: Searchers, words: Iterable[str], weights: dict[str, float]) -> None:
    searcher = searchers.sides["events"]
    for word in words:
        if not weights.get(word):
            weights[word] = log(1 + (searcher.num_docs + 1) / (searcher.doc_freq("text", word) + 1)) ** 2


def _cosine(one: frozenset[str], other: frozenset[str], weights: Mapping[str, float]) -> float:
    def size(words: Iterable[str]) -> float:
        return sum(weights[word] for word in words)

    return size(one & other) / sqrt(size(one) * size(other)) if one and other else 0.0
