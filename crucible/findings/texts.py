"""Find a question, a plan or a list of options in a text by its layout, in lines of the speaker's words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from crucible.patterns import late_pattern
from crucible.session.blocks import Part, blocks_of
from crucible.session.sentences import SUMMARY, clipped, leads_on, meaningful, plain, sentences
from crucible.session.titles import shortened

__all__ = [
    "Asked",
    "asks",
    "filled",
    "last_line",
    "line",
    "plan_text",
    "plan_title",
    "prose",
    "question",
    "said",
    "trimmed",
    "words_in",
]

_HEAD, _TAIL = 9000, 5000
"""Code points that are kept from the start and the end of a text."""
_REASON, _ENOUGH = 300, 60
"""Code points of a reason: at most, and enough to say something."""

_FENCED = late_pattern(
    r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_BULLET = late_pattern(r"(?:\A|[ \t,;:.]*\n)\s*[-*+•][ \t]+")
_NAMING = late_pattern(r"\w[./_:\-]\w|[a-z][A-Z]|[^\W\d_]\d")
_WORD = late_pattern(r"\w{4,}")
_LONG_WORD = late_pattern(r"\w{6,}")


def trimmed(text: str) -> str:
    """A text without its middle if it is too long to keep."""
    return (
        text.strip()
        if len(text) <= _HEAD + _TAIL
        else f"{text[:_HEAD].strip()}\n\n…\n\n{text[-_TAIL:].strip()}"
    )


def line(text: str, limit: int) -> str:
    """The first sentences of a text without code blocks and list marks, as one line of at most `limit` code points."""
    told = _FENCED.sub("\n", text) if "```" in text or "~~~" in text else text
    return clipped(_BULLET.sub(lambda found: "; " if found.start() else "", told.strip()), limit)


def words_in(text: str) -> set[str]:
    """The longer words of a text."""
    return set(_WORD.findall(text.casefold()))


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


def last_line(text: str) -> str:
    """The last line, without the marks at its end."""
    return text.rstrip().rpartition("\n")[2].strip().rstrip(" *`_)")


def asks(text: str) -> bool:
    """True if a text ends in a question."""
    return last_line(text).endswith(("?", "\uff1f"))


# --- questions -------------------------------------------------------------------------------------------------------


class Asked(NamedTuple):
    """The question at the end of a text, and the sentences before it that say what it is about."""

    question: str
    context: str = ""


def question(text: str, limit: int) -> Asked:
    """The last sentence of a text.  One that cannot be understood alone takes along what it is about."""
    blocks = blocks_of(text)
    at = max((at for at, block in enumerate(blocks) if block.is_said), default=-1)
    is_item = at >= 0 and blocks[at].kind is Part.ITEM  # the lines before the last one are about that item
    *near, asked = sentences(
        blocks[at].text if at >= 0 and not is_item else _BULLET.sub("", last_line(text))
    ) or [""]
    above = blocks[at - 1] if at > 0 else None
    if not near and above and above.kind is Part.PROSE:
        near = sentences(above.text)
    near = [one for one in near if not leads_on(one) and one.count(" ") > 2]
    headings = [plain(block.text) for block in blocks[: max(at, 0)] if block.kind is Part.HEADING]
    far = [one for one in meaningful(prose(text)) if not leads_on(one) and one != asked and one not in near]
    others = [one for one in (*far, *near) if asks(one)]
    two = bool(near) and near[-1].endswith("?")  # Shall I do this?  Or that?
    if (two or not _stands_alone(asked)) and len(asked) < limit // 2 and (near or headings or far):
        if others:
            about = others[-1]
        elif near:
            about = near.pop()
        else:
            about = f"{headings[0].rstrip(':')}:" if headings else far.pop(0)
        near, far = [one for one in near if one != about], [one for one in far if one != about]
        asked = f"{shortened(about, limit - len(asked) - 1)} {asked}"
    return Asked(shortened(asked, limit), _last_of(near) or clipped(" ".join(far), _REASON))


def _stands_alone(asked: str) -> bool:
    """True if a question names something, or has many or several long words: `Shall I do that?` has not."""
    return bool(_NAMING.search(asked)) or len(_LONG_WORD.findall(asked)) > 2 or asked.count(" ") > 8


def _last_of(told: Sequence[str]) -> str:
    """As many of the last sentences as fit into a reason."""
    kept = ""
    for one in reversed(told):
        if len(one) + len(kept) >= _REASON:
            break
        kept = f"{one} {kept}".strip()
    return kept or clipped(told[-1] if told else "", _REASON)


# --- what was done ---------------------------------------------------------------------------------------------------


def filled(mark: str, parts: Sequence[str], limit: int = SUMMARY) -> tuple[str, Sequence[str]]:
    """As many parts as fit in one line, at least one, and the others."""
    head, count = "", 0
    while count < len(parts) and (not count or len(head) + len(mark) + len(parts[count]) <= limit):
        head = f"{head}{mark if count else ''}{parts[count]}"
        count += 1
    return head, parts[count:]


# --- plans -----------------------------------------------------------------------------------------------------------

_TITLE = late_pattern(
    r"^#{1,3}[ \t]+(?:(?:Implementation )?Plan[ \t]*[:\u2013\u2014-][ \t]*)?(\S.*)$",
    re.MULTILINE | re.IGNORECASE,
)


def plan_title(plan: str) -> str:
    """The title of a plan."""
    found = _TITLE.search(plan[:2000])
    return clipped(found[1] if found else plan.strip().partition("\n")[0], 160)


def plan_text(plan: str) -> str:
    """The first longer paragraph below a plan's title: why it is made."""
    parts = (said(block.text, _REASON) for block in blocks_of(plan[:6000]) if block.kind is Part.PROSE)
    return next((one for one in parts if len(one) > _ENOUGH), "")
