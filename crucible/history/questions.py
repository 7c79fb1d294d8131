"""Which questions of a session nobody answered.

Owns what is asked, in callouts and in prose.  What counts as answered is `session.waiting`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crucible.history.model import Line
from crucible.history.walking import Placed, line_of
from crucible.patterns import late_pattern
from crucible.session.model import Callout, Failure, Intervention, Prose
from crucible.session.waiting import QUESTIONS, Answers, words_of

__all__ = ["open_questions", "words_of"]

_ASKED = late_pattern(r"[?？؟][\s*_~`\"'”’)\]]*$")
_MARKS = frozenset(("milestone", "checkpoint", "task_complete"))
_PARAGRAPHS = late_pattern(r"\n[ \t]*\n")


def open_questions(entries: Sequence[Placed]) -> Iterator[Line]:
    """Questions to a human, a human's last one, and errors that were not mended and that nobody let be, in the order of the note."""
    answers = Answers([one.entry for one in entries])
    for at, one in enumerate(entries):
        if isinstance(one.entry, Failure):
            if not answers.settles(at):
                yield Line(f"Unresolved: {one.entry.text}", line=line_of(one.entry))
        elif (asked := _asked(entries, at)) and not answers.answer(at, asked):
            yield Line(asked, line=line_of(one.entry))


def _asked(entries: Sequence[Placed], at: int) -> str:
    """What an entry asks; "" for none.  Prose asks only at the end of its phase: elsewhere the agent went on by itself."""
    entry = entries[at].entry
    if isinstance(entry, Callout) and entry.kind in QUESTIONS:
        return ": ".join(part for part in (entry.title, entry.text) if part)
    if isinstance(entry, Prose) and _ends_phase(entries, at):
        return _last_question(entry.text)
    if isinstance(entry, Intervention) and at + 1 == len(entries):
        return _last_question(entry.words)
    return ""


def _ends_phase(entries: Sequence[Placed], at: int) -> bool:
    """Whether nothing but marks of how far it got stands behind it in its phase."""
    phase = entries[at].phase
    while (at := at + 1) < len(entries) and entries[at].phase == phase:
        entry = entries[at].entry
        if not (isinstance(entry, Callout) and entry.kind in _MARKS):
            return False
    return True


def _last_question(text: str) -> str:
    paragraph = _PARAGRAPHS.split(text[-2000:].strip())[-1]
    return paragraph if _ASKED.search(paragraph) else ""
