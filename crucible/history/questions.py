"""Which questions of a session nobody answered.

Owns when a question counts as answered.  To tell one too many costs a reader a line, to forget one costs the answer: so a question is
answered only by a human's word directly behind it, or by later words or a decision that speak of the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from crucible.history.model import Line
from crucible.history.walking import Placed, line_of
from crucible.patterns import late_pattern
from crucible.session.model import Callout, Decision, Entry, Failure, Intervention, Prose

__all__ = ["open_questions"]

_ASKS = frozenset(("decision_needed", "approval_required"))
_ASKED = late_pattern(r"[?？؟][\s*_~`\"'”’)\]]*$")
_PARAGRAPHS = late_pattern(r"\n[ \t]*\n")
_WORD = late_pattern(r"[^\W_]{4,}")
_COMMON = frozenset(
    [
        "about",
        "after",
        "also",
        "before",
        "both",
        "could",
        "does",
        "done",
        "each",
        "else",
        "from",
        "have",
        "here",
        "into",
        "just",
        "like",
        "make",
        "more",
        "most",
        "need",
        "only",
        "other",
        "over",
        "please",
        "shall",
        "should",
        "some",
        "such",
        "than",
        "that",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "very",
        "want",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "will",
        "with",
        "would",
        "your",
    ]
)
_ANSWERED = late_pattern(r"^[ \t>]*answer(?:ed)?:[ \t]*\S", re.IGNORECASE | re.MULTILINE)
_SHARED = 2
"""Words that an answer shares with its question at least, and half of the question's; all of them where it has fewer."""


def open_questions(entries: Sequence[Placed]) -> Iterator[Line]:
    """Questions to a human, a human's last one, and errors that were not mended, in the order of the note."""
    mended = {one.entry.text for one in entries if isinstance(one.entry, Failure) and _is_mended(one.entry)}
    answers = [(at, _words(text)) for at, one in enumerate(entries) if (text := _answer(one.entry))]
    for at, one in enumerate(entries):
        if isinstance(one.entry, Failure):
            if not _is_mended(one.entry) and one.entry.text not in mended:
                yield Line(f"Unresolved: {one.entry.text}", line=line_of(one.entry))
        elif (asked := _asked(entries, at)) and not _is_answered(entries, at, asked, answers):
            yield Line(asked, line=line_of(one.entry))


def _is_mended(failure: Failure) -> bool:
    return bool((failure.resolution or "").strip())


def _asked(entries: Sequence[Placed], at: int) -> str:
    """What an entry asks; "" for none.  Prose asks only at the end of its phase: elsewhere the agent went on by itself."""
    entry = entries[at].entry
    if isinstance(entry, Callout) and entry.kind in _ASKS:
        return ": ".join(part for part in (entry.title, entry.text) if part)
    if isinstance(entry, Prose) and (at + 1 == len(entries) or entries[at + 1].phase != entries[at].phase):
        return _last_question(entry.text)
    if isinstance(entry, Intervention) and at + 1 == len(entries):
        return _last_question(entry.words)
    return ""


def _last_question(text: str) -> str:
    paragraph = _PARAGRAPHS.split(text[-2000:].strip())[-1]
    return paragraph if _ASKED.search(paragraph) else ""


def _answer(entry: Entry) -> str:
    if isinstance(entry, Intervention):
        return f"{entry.words} {entry.note or ''}"
    return f"{entry.text} {entry.rationale or ''}" if isinstance(entry, Decision) else ""


def _is_answered(
    entries: Sequence[Placed], at: int, asked: str, answers: Sequence[tuple[int, frozenset[str]]]
) -> bool:
    after = at + 1
    while after < len(entries) and _is_question(entries[after].entry):
        after += 1
    if (after < len(entries) and isinstance(entries[after].entry, Intervention)) or _ANSWERED.search(asked):
        return True
    words = _words(asked)
    wanted = min(max(_SHARED, (len(words) + 1) // 2), len(words)) or 1
    return any(len(words & said) >= wanted for place, said in answers if place > at)


def _is_question(entry: Entry) -> bool:
    """Of several questions asked at once the answer behind the last is for all."""
    return isinstance(entry, Callout) and entry.kind in _ASKS


def _words(text: str) -> frozenset[str]:
    return frozenset(found[0].casefold() for found in _WORD.finditer(text[:4000])) - _COMMON
