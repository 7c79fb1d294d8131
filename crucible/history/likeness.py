"""Sets of words that may say the same as another one, found without a look at each.

Owns that in a session of thousands of decisions nothing is held against everything: only sets that share a word are candidates, and of words that many
sets have, none tells them apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

__all__ = ["Alikes"]

_COMMON = 64
"""A word that more sets have than this finds none of them."""


class Alikes:
    """Sets of words, by their words."""

    def __init__(self, sets: Iterable[frozenset[str]] = ()) -> None:
        self._by_word: dict[str, list[frozenset[str]]] = {}
        for words in sets:
            self.add(words)

    def add(self, words: frozenset[str]) -> None:
        """Have one more set."""
        for word in words:
            self._by_word.setdefault(word, []).append(words)

    def near(self, words: frozenset[str]) -> Iterator[frozenset[str]]:
        """The sets that share a word with these; one that shares several may come several times."""
        for word in words:
            found = self._by_word.get(word, ())
            if len(found) <= _COMMON:
                yield from found
