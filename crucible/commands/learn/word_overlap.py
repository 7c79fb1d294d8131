"""What two texts have in common, by their words: enough to tell that one speaks of the other.

Owns which words count: not the small ones, and whatever stands in another form (`retries`, `retry`) is one.
"""

from __future__ import annotations

from crucible.core.text.words import WORD, stem, stop_words

_ENDS = ("ings", "ing", "ies", "ied", "ers", "ed", "es", "er", "ly", "s", "y", "e")


def content_words(text: str) -> frozenset[str]:
    """The stems of the words of a text, of its first 4,000 characters, that say something."""
    words = [word for word in WORD.findall(text[:4000].casefold()) if word not in stop_words("cases")]
    return frozenset(stem(word, _ENDS) if word.isascii() else word for word in words)
