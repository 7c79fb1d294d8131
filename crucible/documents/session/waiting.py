"""What in a session waits for a human, and what answers it.

A missed item costs the user an answer, an extra one only a line.  So a question is answered only by a human's word directly after it, by
later words or a decision about the same, or by an answer that names it.  A finished task counts as seen once a human said anything later,
an error as fixed when its `Resolution:` says so.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from crucible.core.patterns import late_pattern
from crucible.core.text import stop_words
from crucible.documents.session.session import Callout, Decision, Entry, Failure, Intervention, Session

QUESTIONS = frozenset(("decision_needed", "approval_required"))
"""Kinds of callouts that ask a human."""
DONE = "task_complete"

ITEM_NAME = r"[0-9a-f]{6}(?:-[1-9]\d{0,3})?"
"""An item's name within its session, as a pattern."""
_NAMING = late_pattern(rf"[a-z]+ \(inbox ({ITEM_NAME})\)")
_DIGITS = 6

_ANSWERED = late_pattern(r"^[ \t>]*answer(?:ed)?:[ \t]*\S", re.IGNORECASE | re.MULTILINE)
_WORD = late_pattern(r"[^\W_]{4,}")
_LONGEST = 4000
_SHARED = 2
"""Words that an answer shares with its question at least, and half of the question's; all of them where it has fewer."""


def answer_note(verdict: str, name: str) -> str:
    """What is noted behind the words of an answer to one item; `verdict` is a word in lower case."""
    return f"{verdict} (inbox {name})"


def inbox_words(entry: Entry) -> tuple[str, str] | None:
    """The kind and the words of what a human may have to see to; None for everything else."""
    if isinstance(entry, Failure):
        return "error", entry.text
    if isinstance(entry, Callout) and (entry.kind in QUESTIONS or entry.kind == DONE):
        return entry.kind, ": ".join(part for part in (entry.title, entry.text) if part)
    return None


def pending_entries(session: Session) -> dict[int, bool]:
    """By the first line, from 0, of each such entry, those before the first phase too: whether it still waits.

    What stands inside a subagent's inline work is the subagent's affair.
    """
    entries = [*session.preamble, *(entry for phase in session.all_phases() for entry in phase.entries)]
    if not any(inbox_words(entry) for entry in entries):
        return {}
    answers = Answers(entries, logged=bool(session.sources))
    return {entries[at].lines.first: not answers.settles(at) for at in answers.names}


class Answers:
    """What a session's entries, in the order of the note, answer of each other.

    In a client's transcript, a user who continues without an answer has dismissed the question, and a user who continues right after
    an error that ended the turn has resolved it.
    """

    def __init__(self, entries: Sequence[Entry], *, logged: bool = False) -> None:
        self._entries = entries
        self._logged = logged

    @cached_property
    def names(self) -> dict[int, str]:
        """By its place in the entries, each item's name: six digits of what it says, a number behind the second of the same."""
        found: dict[int, str] = {}
        seen: Counter[str] = Counter()
        for at, entry in enumerate(self._entries):
            wanted = inbox_words(entry)
            if wanted is not None:
                told = " ".join(f"{wanted[0]} {wanted[1]}".split())
                digits = hashlib.sha256(told.encode(errors="replace")).hexdigest()[:_DIGITS]
                seen[digits] += 1
                found[at] = f"{digits}-{seen[digits]}" if seen[digits] > 1 else digits
        return found

    def settles(self, at: int) -> bool:
        """Whether the item at that place is answered, looked at or mended."""
        entry = self._entries[at]
        if isinstance(entry, Failure):
            went_on = self._logged and self.behind(at) is not None
            return went_on or entry.text in self._mended or self.own(at) is not None
        if isinstance(entry, Callout) and entry.kind == DONE:
            return at < self._last_word or self.own(at) is not None
        wanted = inbox_words(entry)
        dismissed = self._logged and at < self._last_word
        return wanted is not None and (dismissed or self.answer(at, wanted[1]))

    def own(self, at: int) -> Intervention | None:
        """The answer that names the item at that place, or that stands directly behind it and names one that is no more."""
        if at not in self.names:
            return None
        if self.names[at] in self._named:
            return self._named[self.names[at]]
        behind = self._entries[at + 1] if at + 1 < len(self._entries) else None
        name = _named_by(behind) if isinstance(behind, Intervention) else ""
        return behind if isinstance(behind, Intervention) and name and name not in self.names.values() else None

    def behind(self, at: int) -> Intervention | None:
        """A human's word directly behind the place.  Of several questions asked at once the answer behind the last is for all."""
        after = at + 1
        while after < len(self._entries) and _is_passed(self._entries[after]):
            after += 1
        found = self._entries[after] if after < len(self._entries) else None
        return found if isinstance(found, Intervention) else None

    def answer(self, at: int, asked: str) -> bool:
        """Whether anything answers what is `asked` at that place; it need not be an item."""
        if self.own(at) is not None or self.behind(at) is not None or _ANSWERED.search(asked):
            return True
        words = words_of(asked)
        wanted = min(max(_SHARED, (len(words) + 1) // 2), len(words)) or 1
        return any(len(words & said) >= wanted for place, said in self._said if place > at)

    @cached_property
    def _named(self) -> dict[str, Intervention]:
        return {
            name: entry for entry in self._entries if isinstance(entry, Intervention) and (name := _named_by(entry))
        }

    @cached_property
    def _mended(self) -> frozenset[str]:
        failures = (entry for entry in self._entries if isinstance(entry, Failure))
        return frozenset(entry.text for entry in failures if (entry.resolution or "").strip())

    @cached_property
    def _last_word(self) -> int:
        places = (at for at, entry in enumerate(self._entries) if isinstance(entry, Intervention))
        return max((at for at in places if not _named_by(self._entries[at])), default=-1)

    @cached_property
    def _said(self) -> list[tuple[int, frozenset[str]]]:
        return [(at, words_of(text)) for at, entry in enumerate(self._entries) if (text := _told(entry))]


def _named_by(entry: Entry) -> str:
    """The name of the one item that an entry is for, "" for none."""
    found = _NAMING.fullmatch(entry.note.strip()) if isinstance(entry, Intervention) and entry.note else None
    return found[1] if found else ""


def _is_passed(entry: Entry) -> bool:
    return (isinstance(entry, Callout) and entry.kind in QUESTIONS) or bool(_named_by(entry))


def _told(entry: Entry) -> str:
    if isinstance(entry, Intervention):
        return "" if _named_by(entry) else f"{entry.words} {entry.note or ''}"
    return f"{entry.text} {entry.rationale or ''}" if isinstance(entry, Decision) else ""


def words_of(text: str) -> frozenset[str]:
    """The words by which a text is told from others, folded: of four letters or more, without those that say little."""
    return frozenset(found[0].casefold() for found in _WORD.finditer(text[:_LONGEST])) - stop_words("open_questions")
