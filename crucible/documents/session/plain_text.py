"""Sentences: a text without Markdown as one line, split into sentences, and cut after one."""

from __future__ import annotations

from crucible.core.patterns import late_pattern
from crucible.core.text import cut_at_word, split_sentences
from crucible.documents.markdown.containment import normal

SUMMARY = 200
"""The most code points of a finding's summary."""

_LINK = late_pattern(r"!?\[([^\[\]\n]{1,300})\]\([^()\s]{1,500}\)")
_STRONG = late_pattern(r"\*\*|`|(?<!\w)__(?=\S)|(?<=\S)__(?!\w)")
_HEADING = late_pattern(r"(?m)^[ \t]*#{1,6}[ \t]+")
_MOST = 20_000


def plain(text: str) -> str:
    """A text as one line, without emphasis, code marks, links and heading marks."""
    return " ".join(_bare(text).split())


def _bare(text: str) -> str:
    said = normal(text[:_MOST])
    said = _LINK.sub(r"\1", said) if "](" in said else said
    return _STRONG.sub("", _HEADING.sub("", said) if "#" in said else said)


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph, each as one plain line."""
    return [told for one in split_sentences(_bare(text)) if (told := " ".join(one.split()))]


def leads_on(sentence: str) -> bool:
    """True if a sentence only introduces what follows it."""
    return sentence.endswith((":", "："))


def meaningful(told: list[str], few: int = 3) -> list[str]:
    """The sentences that say something themselves; all of them if none does."""
    return [one for one in told if not leads_on(one) and one.count(" ") >= few] or told


def clipped(text: str, limit: int = SUMMARY) -> str:
    """A text as one plain line of at most `limit` code points, cut after a sentence, or after a word if the first one is too long."""
    told = ""
    for one in sentences(text):
        more = f"{told} {one}".strip()
        if len(more) > limit:
            # A few words tell too little: a part of the next sentence tells more.
            return told if len(told) >= limit // 3 else cut_at_word(more, limit)
        told = more
    return told
