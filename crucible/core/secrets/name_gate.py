"""Whether anything may be given to a name: the look that each name in a text gets, before any work on it.

Mostly nothing is: a sentence goes on, a test's name does.  What is let through is `assignments`' to judge.
"""

from __future__ import annotations

from crucible.core.patterns import late_pattern
from crucible.core.secrets.separators import CLOSE


def is_named(text: str, start: int, end: int) -> bool:
    """Whether a value may follow the name that contains this literal; a fast check, since mostly none does."""
    if _GIVEN.match(text, end):
        return True
    before = text[max(0, start - 40) : start]
    if text[end - 1].isupper() or ("-" in before and before[before.rfind(" ") + 1 :].startswith("-")):
        return _BEHIND.match(text, end) is not None
    linked = " as " in before or " is " in before or " for " in before or " was " in before
    return linked and _SAID_OF.search(before) is not None


_NEXT_LINE = (
    r"(?=[^\n]{0,200}[,;|\t]|[ \t]*[^\s]{6,512}[ \t]*(?:\r?\n|\\|\Z)|[^\n]{0,160}[ \t>\"'`](?=[^\s]*[\d!@#$%^&*+~?-])[^\s]{5,512}[^\s)\]}.,:][ \t]*(?:\r?\n|\\|\Z)"
    r"|\s{0,200}(?:[\"'`<{\[]|-[ \t]))"
)
"""A row of a table, a line of one word, one that ends with what is no word, a text or a list."""
_GIVEN = late_pattern(
    r"[A-Za-z0-9_-]{0,48}+"
    + CLOSE
    + r"(?:[ \t]{0,16}(?:[=:|?&%<>\\{[]|\((?!\d+(?:\.\d+)?[ ]?[a-z%]{0,2}\))|\.\.|->|\r?\n(?:[^\n]{0,40}\r?\n)?"
    + _NEXT_LINE
    + r"|[!+]=|,[ \t]*(?:\\*[\"'`]|\w{1,20}=|with:)|[,;](?=\S))|\Z"
    r"|[\"'\])/i]{0,5}(?:,[ \t]*\\*[\"'`]|(?:\.[A-Za-z_]{2,20}(?:\(\))?){1,4}(?:\(| [a-z=])|\)[ \t]*[:=({\r\n])"
    r"|[ \t]{1,40}(?:(?:is|was|to|equals|est|es|ist|lautet|for|has|be|changed|set|reset|updated|rotated|value|content|provided|supplied|given|used|sent"
    r"|found|received|rejected|with|eq|should|and|return|send|or)\b|(?!(?:[a-z]{1,24}|[A-Z]{2,12})(?:[.,:;)]|[ \t]+(?![=\t ])|\r?\n|\Z)|\(\d+(?:\.\d+)?[ ]?[a-z%]{0,2}\))[^ \t.,;)*]))"
)
_BEHIND = late_pattern(r"[A-Za-z0-9_-]{0,48}+[ \t]{1,40}[^\s-]")
_SAID_OF = late_pattern(r" (?:as|is|for|was)(?: [A-Za-z-]{1,12}){0,4} [A-Za-z_-]*\Z")
