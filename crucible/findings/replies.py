"""Replies: a yes or a no to an offer, the option that is picked, and whether the agent admits a mistake.

This is the only module in which words decide.  For a language that is missing from the two tables, only the findings that
depend on these words are lost.
"""

from __future__ import annotations

import re

from crucible.patterns import late_pattern

__all__ = ["LONG", "concedes", "is_go_ahead", "is_short", "picked"]

_YES_OR_NO = """
    yes y yeah yep ok okay sure please go do agreed correct right exactly    no n nope
    ja jawohl klar gerne bitte mach nein    oui non vas    si sí no    sim não    да нет    はい いいえ    好 是 不
"""
_GO_AHEAD = frozenset(_YES_OR_NO.split())
"""First words that accept or reject an offer."""
_CONCEDES = late_pattern(
    r"\W*(?:(?:you(?:'|\u2019| a)re (?:absolutely |completely |totally )?right(?! to )|my mistake|I was wrong)"
    r"|du hast recht|sie haben recht|(?:tu as|vous avez) raison|tienes raz[o\u00f3]n|hai ragione|voc\u00ea tem raz\u00e3o|masz racj\u0119"
    r"|\u0442\u044b \u043f\u0440\u0430\u0432|\u0432\u044b \u043f\u0440\u0430\u0432\u044b|\u4f60\u8bf4\u5f97\u5bf9|\u304a\u3063\u3057\u3083\u308b\u901a\u308a)",
    re.IGNORECASE,
)
"""How an agent begins its answer to a correction."""
_ALL = frozenset({"all", "both", "alle", "beide", "beides", "tous", "todos", "ambos"})
_WORD = late_pattern(r"\w+")
_RANGE = late_pattern(r"\b(\d)\s*(?:[-\u2013\u2026]|\.\.|to|bis|through)\s*(\d)\b")
SHORT, LONG = 60, 200
"""Maximum code points of a short reply, and of a reply that may name an option."""


def is_short(text: str) -> bool:
    """True if a reply is one short line and not a question."""
    return len(text) <= SHORT and "\n" not in text.strip() and not text.rstrip().endswith("?")


def is_go_ahead(text: str) -> bool:
    """True if a reply begins with a yes or a no."""
    found = _WORD.search(text)
    return found is not None and found[0].casefold() in _GO_AHEAD


def concedes(text: str) -> bool:
    """True if an answer begins by admitting a mistake."""
    return bool(_CONCEDES.match(text))


def _whole(found: re.Match[str]) -> str:
    """All numbers of a range such as `1-4`."""
    return " ".join(str(number) for number in range(int(found[1]), int(found[2]) + 1)) or found[0]


def picked(text: str, marks: list[str]) -> list[str]:
    """The options (`A`, `2`) that a reply names; a lone `a` in a sentence is an article."""
    if len(text) > LONG or text.rstrip().endswith("?"):
        return []
    words = _WORD.findall(_RANGE.sub(_whole, text))
    if len(text) <= SHORT and _ALL & {word.casefold() for word in words}:
        return marks
    named = (word.upper() for word in words if word != "a" or len(words) == 1)
    return list(dict.fromkeys(mark for mark in named if mark in marks))
