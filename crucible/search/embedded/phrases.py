"""Words that must follow each other, or must not: looked for in the texts of what has them all.

Owns how many texts are read for that.  The index does not keep where a word stands, which would take a fifth of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from crucible.search.embedded.segments import analyze
from crucible.search.embedded.tantivy_search import Found, Sought
from crucible.search.question_words import pieces_of

__all__ = ["CANDIDATES", "is_exact", "said_so"]

CANDIDATES = 400
"""Events that have every word, whose texts are read."""

_ENOUGH = 60
"""Events that say it: a question never shows more."""
_AT_ONCE = 40

Texts = Callable[[Sequence[Found]], Sequence[str]]


def is_exact(sought: Sought) -> bool:
    """Whether a question is about words that follow each other."""
    return bool(sought.phrases) or any(len(words) > 1 for words in sought.nots)


def said_so(candidates: Sequence[Found], sought: Sought, texts: Texts) -> list[Found]:
    """Those of the candidates, best first, that say each phrase and none that must not be there."""
    nots = [words for words in sought.nots if len(words) > 1]
    found: list[Found] = []
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
