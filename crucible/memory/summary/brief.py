"""A session's brief: a running digest of what lies behind, as frozen values, and what a word of it is.

Owns how long a brief may be.  How it stands in a note is `session.briefs`', what is worth telling `extracting`'s.
"""

from __future__ import annotations

from dataclasses import dataclass

from crucible.core.patterns import late_pattern

MOST_WORDS = 300
"""Words that a brief holds at most, by `count_words`."""

_LONGEST = 24
"""Code points that one word may have; a longer run counts once for each so many."""

# Scripts that are written without blanks: Thai to Khmer, kana, ideographs, hangul beside them, and what is wide.
_WORD = late_pattern(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff01-\uffef"
    "\U0001b000-\U0001b2ff\U00020000-\U0003ffff]"
    "|[^\\s\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff01-\uffef"
    f"\U0001b000-\U0001b2ff\U00020000-\U0003ffff]{{1,{_LONGEST}}}"
)


@dataclass(frozen=True, slots=True)
class Brief:
    """`text` is Markdown of several lines, decoded.  `covers` names the last phase it tells of, `phase-12 "Tests"`, "" for none.

    The name counts too, since ids are ordinal and people add, remove and rename phases: `covering.covered` finds it again.
    """

    text: str
    covers: str


@dataclass(frozen=True, slots=True)
class BriefUpdate:
    """What bringing a brief up to date came to.

    `brief` is what stands in the note now, None for no brief.  `problem` is one line that says why nothing was written
    though something was due, "" otherwise.
    """

    brief: Brief | None
    changed: bool = False
    problem: str = ""


def count_words(text: str) -> int:
    """Words of a text: runs without blanks, one for each 24 code points begun; each letter of a script without blanks is one."""
    return sum(1 for _ in _WORD.finditer(text))


def cut_words(text: str, limit: int) -> str:
    """At most `limit` words; a text that was cut ends in `…`."""
    end = 0
    for number, found in enumerate(_WORD.finditer(text), 1):
        if number > limit:
            return text[:end] + "…" if limit else ""
        if number < limit:  # the mark may be a word of its own
            end = found.end()
    return text
