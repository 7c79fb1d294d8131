"""Words of a question that nobody ever wrote, and those that somebody wrote and that differ in one letter.

Owns how far two words may be apart: a letter too many, too few, another or two in the wrong order, the first one excepted.  A distance of two was
tried: it found no answer more, and took `complained` for `companies`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from crucible.core.text.words import stop_words
from crucible.search.embedded.segments import analyze

OFTEN = 100
"""A word of so many sessions is as likely to be meant as one of more: nobody counts further."""

Count = Callable[[Sequence[str]], Mapping[str, int]]
"""In how many sessions and items each of these stems is, at most `OFTEN`; one that is in none may be left out."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SHORTEST, _LONGEST = 4, 30
"""Letters: of shorter words everything is near, longer ones are no words."""
_MOST_STRANGE, _SHARE = 3, 6
"""So many words of a question are looked into, and none where they are less than a sixth of it: each asks for six hundred words, and the others
find what is meant."""
_MOST_NEAR = 3
"""Of each, those in the most sessions."""


def near_stems(words: Sequence[str], count: Count) -> tuple[str, ...]:
    """The stems that were likely meant by the words of which nothing is in the index."""
    stems = {word: analyze(word) for word in words}
    known = count([stem for some in stems.values() for stem in some])
    strange = [word for word in words if _is_word(word) and not any(known.get(stem) for stem in stems[word])]
    found: dict[str, None] = {}
    if len(strange) * _SHARE < len(words):
        return ()
    for word in strange[:_MOST_STRANGE]:
        # Stems of misspelt words are none: `elevaton` has no letter in common with what is cut off of `elevation`.
        counts = count(list(dict.fromkeys(analyze(" ".join(_near(word))))))
        likely = sorted(filter(counts.get, counts), key=lambda stem: (-counts[stem], stem))
        found.update(dict.fromkeys(likely[:_MOST_NEAR]))
    return tuple(stem for stem in found if not known.get(stem))


def _is_word(word: str) -> bool:
    return _SHORTEST <= len(word) <= _LONGEST and word.isascii() and word.isalpha()


def _near(word: str) -> Iterator[str]:
    """Every word that is one letter apart."""
    for made in dict.fromkeys(_changed(word)):
        if made not in stop_words("search"):
            yield made


def _changed(word: str) -> Iterator[str]:
    for at in range(1, len(word) + 1):
        head, tail = word[:at], word[at:]
        for letter in _LETTERS:
            yield f"{head}{letter}{tail}"
            if tail:
                yield f"{head}{letter}{tail[1:]}"
        if tail:
            yield f"{head}{tail[1:]}"
            yield f"{head}{tail[1:2]}{tail[0]}{tail[2:]}"
