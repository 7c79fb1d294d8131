"""Short replies to an offer: a yes, a no, or which of the options.

The one place in which words decide, and they decide nothing else.  A reply in a language that is not in the table is no
yes and no no: what it settles then shows in what follows.
"""

from __future__ import annotations


from crucible.patterns import late_pattern

__all__ = ["is_go_ahead", "is_short", "picked"]

_GO_AHEAD = frozenset(
    """
    yes y yeah yep ok okay sure please go do agreed correct right exactly
    no n nope
    ja jawohl klar gerne bitte mach nein   oui non vas   si sí no   sim não   да нет   はい いいえ   好 是 不
    """.split()
)
"""First words that settle an offer, for or against it."""
_ALL = frozenset({"all", "both", "alle", "beide", "beides", "tous", "todos", "ambos"})
_WORD = late_pattern(r"\w+")
SHORT, LONG = 60, 200
"""Code points of a short reply, and of one that may name an option."""


def is_short(text: str) -> bool:
    """Whether a reply is one short line and asks nothing itself."""
    return len(text) <= SHORT and "\n" not in text.strip() and not text.rstrip().endswith("?")


def is_go_ahead(text: str) -> bool:
    """Whether a reply begins with a yes or a no."""
    found = _WORD.search(text)
    return bool(found) and found[0].casefold() in _GO_AHEAD


def picked(text: str, marks: list[str]) -> list[str]:
    """Which of the options (`A`, `2`) a reply names; a lone `a` within a sentence is an article."""
    if len(text) > LONG or text.rstrip().endswith("?"):
        return []
    words = _WORD.findall(text)
    if len(text) <= SHORT and _ALL & {word.casefold() for word in words}:
        return marks
    named = (word.upper() for word in words if word != "a" or len(words) == 1)
    return list(dict.fromkeys(mark for mark in named if mark in marks))
