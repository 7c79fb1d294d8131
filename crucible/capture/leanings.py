"""How much each sentence of a text leans towards a choice, towards a way worth doing again, and towards taking something back.

Owns which marks are looked for in a sentence, and that what stands behind it in its paragraph counts; the sum is `weights`'.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from crucible.capture.correcting_words import BACK
from crucible.capture.deciding_words import AGENT, USER
from crucible.capture.marks import weigh
from crucible.capture.pattern_words import LABELLED, WAY
from crucible.capture.sentences import Sentence
from crucible.capture.unsettled import (
    explains,
    is_anothers,
    is_dropped,
    is_hypothetical,
    is_open,
    is_step,
    tells_fault,
)
from crucible.capture.weights import Chances, chances, features_of, known_words
from crucible.patterns import late_pattern

__all__ = ["Leaning", "Told", "features_by_sentence", "leanings", "peaks"]

_POSSIBLE, _LIKELY = 0.06, 0.3
"""The chances from which on it is worth to look for marks, and for what speaks against."""

_CHOSEN = late_pattern(
    r"\b(?:cho(?:se|sen|os)|pick(?:ed|ing)|select(?:ed|ing)|opt(?:ed|ing) for|decid|settle[ds]? on|(?:went|going|go) (?:with|for)|entsch[ie]|gew[aä]hlt|choisi|retenu|elegi|scelt)"
)
"""Words that name a choice: whoever uses one is looked at closely, however his sentence is built."""

_FURTHER = {"way": WAY, "back": BACK}
"""Marks besides those of a choice; their names stand before the marks'."""

_SIGNS = (
    ("could", is_hypothetical),
    ("open", is_open),
    ("others", is_anothers),
    ("dropped", is_dropped),
    ("step", is_step),
    ("explains", explains),
    ("fault", tells_fault),
    ("labelled", LABELLED.stands_in),
)
"""What speaks against, mostly: signs of a sentence in small letters, by the mark's name."""


class Told(NamedTuple):
    """A sentence that tells something worth keeping, how sure that is, and the sentence behind it that belongs to it."""

    sentence: Sentence
    confidence: float
    behind: str = ""
    is_sure: bool = True
    """Whether it is told in words that say just that, and is no other kind's as well."""


class Leaning(NamedTuple):
    """A sentence, the one behind it in its paragraph, the marks of both by name, and how likely it says something worth keeping."""

    sentence: Sentence
    behind: Sentence | None
    marks: frozenset[str]
    behind_marks: frozenset[str]
    chances: Chances


def leanings(sentences: Sequence[Sentence], *, by_user: bool = False) -> list[Leaning]:
    """All sentences of a text, in their order."""
    bare = [_bare(one, _behind(sentences, place), by_user=by_user) for place, one in enumerate(sentences)]
    likely = [_is_likely(one, found) for one, found in zip(sentences, bare, strict=True)]
    marks = [
        _marks_of(one.plain, by_user=by_user) if likely[place] or likely[place - 1] else frozenset()
        for place, one in enumerate(sentences)
    ]
    return [_leaning(sentences, marks, place, found, by_user=by_user) for place, found in enumerate(bare)]


def features_by_sentence(
    sentences: Sequence[Sentence], known: frozenset[str], *, by_user: bool
) -> list[set[str]]:
    """The features that are weighed, where these words are known; for who fits the weights."""
    marks = [_marks_of(one.plain, by_user=by_user) | _signs_of(one.plain) for one in sentences]
    behind = [_behind(sentences, place) for place in range(len(sentences))]
    return [
        features_of(one, behind[at], marks[at], marks[at + 1] if behind[at] else (), known, by_user=by_user)
        for at, one in enumerate(sentences)
    ]


def _bare(one: Sentence, behind: Sentence | None, *, by_user: bool) -> Chances:
    """How a sentence leans by its words alone."""
    return chances(features_of(one, behind, (), (), known_words(), by_user=by_user))


def _is_likely(one: Sentence, bare: Chances) -> bool:
    """Whether its words alone do not rule out that it leans at all, so that it is worth to look for marks."""
    if one.asks:
        return False
    return max(bare) >= _POSSIBLE or _CHOSEN.search(one.plain) is not None or not one.plain.isascii()


def _leaning(
    sentences: Sequence[Sentence],
    marks: Sequence[frozenset[str]],
    place: int,
    bare: Chances,
    *,
    by_user: bool,
) -> Leaning:
    """Signs of what settles nothing are sought only where a sentence would lean without them: they cost most."""
    one, behind = sentences[place], _behind(sentences, place)
    own, more = marks[place], marks[place + 1] if behind else frozenset()
    found = bare
    if own or more:
        found = chances(features_of(one, behind, own, more, known_words(), by_user=by_user))
    if max(found) >= _LIKELY:
        own |= _signs_of(one.plain)
        more |= _signs_of(behind.plain) if behind else frozenset()
        found = chances(features_of(one, behind, own, more, known_words(), by_user=by_user))
    return Leaning(one, behind, own, more, found)


def _behind(sentences: Sequence[Sentence], place: int) -> Sentence | None:
    """The next sentence of the same paragraph."""
    after = sentences[place + 1] if place + 1 < len(sentences) else None
    return after if after and after.paragraph == sentences[place].paragraph else None


def _marks_of(plain: str, *, by_user: bool) -> frozenset[str]:
    """A user's words are asked for choices only."""
    if by_user:
        return frozenset(weigh(plain, USER))
    further = [f"{kind} {name}" for kind, marks in _FURTHER.items() for name in weigh(plain, marks)]
    return frozenset([*weigh(plain, AGENT), *further])


def _signs_of(plain: str) -> frozenset[str]:
    return frozenset(name for name, stands_in in _SIGNS if stands_in(plain))


def peaks(leaning: Sequence[Leaning]) -> list[Leaning]:
    """Those that lean more than their neighbours in the paragraph, which tell of the same."""
    return [
        one
        for place, one in enumerate(leaning)
        if not any(
            max(other.chances) > max(one.chances)
            for other in leaning[max(0, place - 1) : place + 2]
            if other.sentence.paragraph == one.sentence.paragraph
        )
    ]
