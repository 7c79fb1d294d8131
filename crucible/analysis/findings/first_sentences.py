"""Texts of a speaker: their first sentences, significance and words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from crucible.core.patterns import late_pattern
from crucible.documents.recording.report_lines_blocks import Part, blocks_of
from crucible.documents.session.plain_text import SUMMARY, clipped, leads_on, meaningful, plain, sentences

_HEAD, _TAIL = 9000, 5000
"""Code points that are kept from the start and the end of a text."""
_ENOUGH = 60
"""Least code points of a significant text."""

_FENCED = late_pattern(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_BULLET = late_pattern(r"(?:\A|[ \t,;:.]*\n)\s*[-*+•][ \t]+")
_NAMES = late_pattern(r"\w[./_:]\w|[a-z][A-Z]|\w\(")
_WORD = late_pattern(r"\w{4,}")
_MANY = 3


def trimmed(text: str) -> str:
    """A text without its middle if it is too long to keep."""
    return text.strip() if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD].strip()}\n\n…\n\n{text[-_TAIL:].strip()}"


def line(text: str, limit: int) -> str:
    """The first sentences of a text without code blocks and list marks, as one line of at most `limit` code points."""
    return clipped(_BULLET.sub("; ", _FENCED.sub("\n", text).strip()).removeprefix("; "), limit)


def names(text: str) -> bool:
    """True if a text names something in the code."""
    return bool(_NAMES.search(text))


def says_what(text: str, long: int = 8) -> bool:
    """True if a text names something in the code, or has several long words: not `do that` or `make this change`."""
    return names(text) or sum(len(word) >= long for word in set(_WORD.findall(text))) >= _MANY


def said(text: str, limit: int) -> str:
    """What a text says: its sentences without those that only introduce a list or a call."""
    parts = [one for one in prose(text) if not leads_on(one)]
    if sum(map(len, meaningful(parts))) < _ENOUGH:
        items = "; ".join(plain(block.text) for block in blocks_of(text) if block.kind is Part.ITEM)
        parts = [*parts, *[items] * (items not in parts)]
    return clipped(" ".join(meaningful(parts)), limit)


def prose(text: str) -> list[str]:
    """The sentences of a text's paragraphs, or of its list if it has none."""
    blocks = blocks_of(text)
    kinds = [kind for kind in (Part.PROSE, Part.ITEM) if any(block.kind is kind for block in blocks)]
    return [one for block in blocks if block.kind in kinds[:1] for one in sentences(block.text)]


def asks(text: str) -> bool:
    """True if a text ends with a question, even if other marks follow it."""
    return text.rstrip("\n\t *`_)").endswith(("?", "\uff1f"))


def filled(mark: str, parts: Sequence[str], limit: int = SUMMARY) -> tuple[str, Sequence[str]]:
    """As many parts as fit in one line, at least one, and the others."""
    head, count = "", 0
    while count < len(parts) and (not count or len(head) + len(mark) + len(parts[count]) <= limit):
        head = f"{head}{mark if count else ''}{parts[count]}"
        count += 1
    return head, parts[count:]
