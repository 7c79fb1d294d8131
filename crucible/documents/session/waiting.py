"""Find the entries of a session that wait for the user, and their answers.

If in doubt, an entry waits.  A question is answered by a prompt directly below, by later words or a decision on the
same subject, or by an answer with its name.  Any later prompt settles a finished task; `Resolution:` settles an error.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import itemgetter

from crucible.core.patterns import late_pattern
from crucible.core.text import stop_words
from crucible.documents.session.session import Callout, Decision, Entry, Failure, Intervention, Session

QUESTIONS = frozenset(("decision_needed", "approval_required"))
"""Kinds of callouts that ask the user."""
DONE = "task_complete"

ITEM_NAME = r"[0-9a-f]{6}(?:-[1-9]\d{0,3})?"
"""Pattern for an item's name, unique in its session."""
_NAMING = late_pattern(rf"[a-z]+ \(inbox ({ITEM_NAME})\)")
_DIGITS = 6

_ANSWERED = late_pattern(r"^[ \t>]*answer(?:ed)?:[ \t]*\S", re.IGNORECASE | re.MULTILINE)
_WORD = late_pattern(r"[^\W_]{4,}")
_LONGEST = 4000
_SHARED = 2
"""Minimum words that an answer shares with its question; it also needs half of them, or all if there are fewer."""


def answer_note(verdict: str, name: str) -> str:
    """The note after the words of an answer.  `verdict` is a lowercase word."""
    return f"{verdict} (inbox {name})"


def inbox_words(entry: Entry) -> tuple[str, str] | None:
    """The kind and words of an entry that may need the user; None for other entries."""
    if isinstance(entry, Failure):
        return "error", entry.text
    if isinstance(entry, Callout) and (entry.kind in QUESTIONS or entry.kind == DONE):
        return entry.kind, ": ".join(part for part in (entry.title, entry.text) if part)
    return None


def pending_entries(session: Session) -> dict[int, bool]:
    """Map the first line (from 0) of each entry that may need the user to whether it still waits.

    Includes entries above the first phase, but not those of inline subagents.
    """
    entries = [*session.preamble, *(entry for phase in session.all_phases() for entry in phase.entries)]
    if not any(inbox_words(entry) for entry in entries):
        return {}
    answers = Answers(entries, logged=bool(session.sources))
    return {entries[at].lines.first: not answers.settles(at) for at in answers.names}


class Answers:
    """Find answers among a session's entries, in the order of the note.

    If the session was imported from a transcript (`logged`), a user who continues without answering has dismissed the
    question, and a user who continues right after an error that ended the turn has resolved it.
    """

    def __init__(self, entries: Sequence[Entry], *, logged: bool = False) -> None:
        self._entries = entries
        self._logged = logged

    @cached_property
    def names(self) -> dict[int, str]:
        """Each item's name by its position: six hex digits of the hash of its words, with a suffix for repetitions."""
        found: dict[int, str] = {}
        seen: Counter[str] = Counter()
        for at, entry in enumerate(self._entries):
            item = inbox_words(entry)
            if item is not None:
                text = " ".join(f"{item[0]} {item[1]}".split())
                digits = hashlib.sha256(text.encode(errors="replace")).hexdigest()[:_DIGITS]
                seen[digits] += 1
                found[at] = f"{digits}-{seen[digits]}" if seen[digits] > 1 else digits
        return found

    def settles(self, at: int) -> bool:
        """True if the item at this position is answered, seen or fixed."""
        entry = self._entries[at]
        if isinstance(entry, Failure):
            went_on = self._logged and self.prompt_after(at) is not None
            return went_on or entry.text in self._fixed or self.named_answer(at) is not None
        if isinstance(entry, Callout) and entry.kind == DONE:
            return at < self._last_word or self.named_answer(at) is not None
        item = inbox_words(entry)
        dismissed = self._logged and at < self._last_word
        return item is not None and (dismissed or self.answer(at, item[1]))

    def named_answer(self, at: int) -> Intervention | None:
        """The answer that names this item, or that is directly below it and names an item that no longer exists."""
        if at not in self.names:
            return None
        if self.names[at] in self._named:
            return self._named[self.names[at]]
        behind = self._entries[at + 1] if at + 1 < len(self._entries) else None
        name = _named_by(behind) if isinstance(behind, Intervention) else ""
        return behind if isinstance(behind, Intervention) and name and name not in self._known else None

    def prompt_after(self, at: int) -> Intervention | None:
        """A prompt directly after this position; a prompt after several questions in a row answers all of them."""
        found = self._after[at]
        return found if isinstance(found, Intervention) else None

    def answer(self, at: int, asked: str) -> bool:
        """True if an entry answers the question `asked` at this position, which may be any entry."""
        if self.named_answer(at) is not None or self.prompt_after(at) is not None or _ANSWERED.search(asked):
            return True
        words = words_of(asked)
        needed = min(max(_SHARED, (len(words) + 1) // 2), len(words)) or 1
        return self._replies.has_later(at, words, needed)

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.names.values())

    @cached_property
    def _after(self) -> list[Entry | None]:
        """The first entry after each position that is no question and no answer that names an item."""
        found: list[Entry | None] = [None] * len(self._entries)
        for at in range(len(found) - 1, 0, -1):
            entry = self._entries[at]
            found[at - 1] = found[at] if _is_passed(entry) else entry
        return found

    @cached_property
    def _named(self) -> dict[str, Intervention]:
        return {
            name: entry for entry in self._entries if isinstance(entry, Intervention) and (name := _named_by(entry))
        }

    @cached_property
    def _fixed(self) -> frozenset[str]:
        failures = (entry for entry in self._entries if isinstance(entry, Failure))
        return frozenset(entry.text for entry in failures if (entry.resolution or "").strip())

    @cached_property
    def _last_word(self) -> int:
        places = (at for at, entry in enumerate(self._entries) if isinstance(entry, Intervention))
        return max((at for at in places if not _named_by(self._entries[at])), default=-1)

    @cached_property
    def _replies(self) -> _Replies:
        texts = ((at, _reply_text(entry)) for at, entry in enumerate(self._entries))
        return _Replies((at, words_of(text)) for at, text in texts if text)


class _Replies:
    """The words of replies, in order, and for each word the replies that contain it."""

    def __init__(self, replies: Iterable[tuple[int, frozenset[str]]]) -> None:
        last = {words: at for at, words in replies}  # of equal replies, the last one is after the most questions
        self._words = sorted(((at, words) for words, at in last.items()), key=itemgetter(0))
        self._at = [at for at, _ in self._words]
        self._by_word: defaultdict[str, list[int]] = defaultdict(list)
        for nth, (_, words) in enumerate(self._words):
            for word in words:
                self._by_word[word].append(nth)

    def has_later(self, at: int, words: frozenset[str], needed: int) -> bool:
        """True if a reply after `at` contains at least `needed` of the words."""
        first = bisect_right(self._at, at)
        by_word = sorted((self._by_word.get(word, []) for word in words), key=len)
        # A reply that lacks so many of the words cannot contain enough of the others: only the rarest are looked up.
        for places in by_word[: len(words) - needed + 1]:
            for nth in places[bisect_left(places, first) :]:
                if len(words & self._words[nth][1]) >= needed:
                    return True
        return False


def _named_by(entry: Entry) -> str:
    """The name of the item that an entry answers, "" for none."""
    found = _NAMING.fullmatch(entry.note.strip()) if isinstance(entry, Intervention) and entry.note else None
    return found[1] if found else ""


def _is_passed(entry: Entry) -> bool:
    return (isinstance(entry, Callout) and entry.kind in QUESTIONS) or bool(_named_by(entry))


def _reply_text(entry: Entry) -> str:
    if isinstance(entry, Intervention):
        return "" if _named_by(entry) else f"{entry.words} {entry.note or ''}"
    return f"{entry.text} {entry.rationale or ''}" if isinstance(entry, Decision) else ""


def words_of(text: str) -> frozenset[str]:
    """The distinctive words of a text, casefolded: at least four letters, no stop words."""
    return frozenset(found[0].casefold() for found in _WORD.finditer(text[:_LONGEST])) - stop_words("open_questions")
