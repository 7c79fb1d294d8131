"""What two texts have in common, by their words: enough to tell that one speaks of the other.

Owns which words count: not the small ones, and whatever stands in another form (`retries`, `retry`) is one.
"""

from __future__ import annotations

from functools import lru_cache

from crucible.core.patterns import late_pattern

_WORD = late_pattern(r"[^\W_]+")
_SMALL_WORDS = (
    "a about after again all also an and any are as at be because been before but by can could did do does done for from further go had "
    "has have here how i if in into is it its just let like may me might more most must my need new no not now of off on once one only "
    "or other our out over own per please rather same see shall should since so some such than that the their them then there these "
    "they this those through to too under up us use used uses using very via was we were what when where which while who why will with "
    "would you your instead decided decision choose chose chosen take makes made make made s t ll re ve d m"
)
_SMALL = frozenset(_SMALL_WORDS.split())
_ENDS = ("ings", "ing", "ies", "ied", "ers", "ed", "es", "er", "ly", "s", "y", "e")


@lru_cache(4096)
def _stem(word: str) -> str:
    if len(word) < 4 or not word.isascii():
        return word
    end = next((end for end in _ENDS if word.endswith(end) and len(word) - len(end) >= 3), "")
    return word.removesuffix(end)


def content_words(text: str) -> frozenset[str]:
    """The stems of the words of a text, of its first 4,000 characters, that say something."""
    words = _WORD.findall(text[:4000].casefold())
    return frozenset(_stem(word) for word in words if word not in _SMALL)
