"""What of a session is to be remembered: decisions, lessons, and what is left to do.

Owns what counts as which.  What a callout says is explicit; what the summary and the agent's words say is inferred and marked so; an entry of history
adds what a human wrote there.  Nothing is said that does not stand in the session's note or in that entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from crucible.history.composing import INFERRED
from crucible.history.inferring import Inferred, inferred_decisions, inferred_lessons
from crucible.history.likeness import Alikes
from crucible.history.memories import MemoryKind, key_of
from crucible.history.model import Entry, Line
from crucible.history.questions import open_questions
from crucible.history.walking import Placed, placed_entries
from crucible.patterns import late_pattern
from crucible.session.model import Decision, Failure, Phase, Prose, Session, Subagent

__all__ = ["Gleaned", "glean"]

_CLOSED = frozenset(("completed", "cancelled", "deleted"))
_KNOWN = frozenset(("failure", "pattern"))
"""Types of knowledge that teach something."""
_RETRIED = late_pattern(
    r"(?:re-?tried|tried (?:it )?again|ran it again|re-?ran(?: it)?|it went away|none|n/?a)\b.{0,20}\Z",
    re.IGNORECASE,
)
_COMPOSED = late_pattern(
    r"(?:(?:Continue|To do(?: \([^)]*\))?|Blocked): .*\(task [^)]*\)|(?:Blocked|Paused|Unresolved): .*)\Z",
    re.DOTALL,
)
"""Lines of a history that tell what its note tells."""
_SHARE = 0.6


class Gleaned(NamedTuple):
    """What a session says; `at` is the time of its phase, None where the note tells none."""

    kind: MemoryKind
    text: str
    why: str
    source: str
    phase: str = ""
    at: datetime | None = None
    inferred: bool = False


def glean(session: Session, entry: Entry | None = None) -> list[Gleaned]:
    """In the order of the note, each text once of its kind, the explicit one first; `entry` is its history as it stands, a human's edits in it."""
    told = [*_explicit(session), *_from_history(entry)]
    found = [one for one in told if not one.inferred]
    decided = Alikes(_words(one.text) for one in found if one.kind is MemoryKind.DECISION)
    for one in (*(one for one in told if one.inferred), *_inferred(session)):
        if one.kind is MemoryKind.DECISION:
            words = _words(one.text)
            if any(_is_same(words, other) for other in decided.near(words)):
                continue
            decided.add(words)
        found.append(one)
    once: dict[tuple[MemoryKind, str], Gleaned] = {}
    for one in found:
        if one.text.strip():
            once.setdefault((one.kind, key_of(one.text)), one)
    return list(once.values())


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in key_of(text).split() if len(word) > 3)


def _is_same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether one of two says most of what the other says."""
    return len(one & other) >= _SHARE * max(1, min(len(one), len(other)))


# --- what the note says outright -------------------------------------------------------------------------------------


def _explicit(session: Session) -> Iterator[Gleaned]:
    entries = tuple(placed_entries(session))
    phases = list(session.all_phases())
    for number, entry in entries:
        where = _where(session, phases, number)
        if isinstance(entry, Decision):
            yield Gleaned(MemoryKind.DECISION, entry.text, entry.rationale or "", "callout", *where)
        elif isinstance(entry, Failure) and _teaches(entry.resolution):
            yield Gleaned(MemoryKind.LESSON, entry.text, entry.resolution or "", "error", *where)
    last = _where(session, phases, len(phases) - 1)
    for task in session.tasks:
        if task.status not in _CLOSED:
            yield Gleaned(MemoryKind.TODO, task.content, "", "task", *last)
    if not session.parent:  # what a subagent asks, its parent's session has seen to
        yield from _questions(session, entries, phases)


def _teaches(resolution: str | None) -> bool:
    told = (resolution or "").strip()
    return bool(told) and not _RETRIED.match(told)


def _questions(session: Session, entries: Sequence[Placed], phases: Sequence[Phase]) -> Iterator[Gleaned]:
    starts = [(phase.lines.first + 1, number) for number, phase in enumerate(phases)]
    for line in open_questions(entries):
        number = max((number for first, number in starts if 0 < first <= line.line), default=-1)
        yield Gleaned(MemoryKind.TODO, line.text, "", "question", *_where(session, phases, number))


def _where(session: Session, phases: Sequence[Phase], number: int) -> tuple[str, datetime | None]:
    """A phase's id and time; of what stands before all phases, none and the session's own."""
    phase = phases[number] if 0 <= number < len(phases) else None
    times = (phase.ended, phase.started) if phase else ()
    at = next(filter(None, (*times, session.ended if phase else None, session.started)), None)
    return phase.id if phase else "", at


def _from_history(entry: Entry | None) -> Iterator[Gleaned]:
    if entry is None:
        return
    when = entry.ended or entry.started

    def told(kind: MemoryKind, line: Line, *, inferred: bool = False) -> Gleaned:
        return Gleaned(kind, line.text, line.why, "history", at=when, inferred=inferred)

    for line in entry.decisions:
        if line.text.endswith(INFERRED):  # the session itself says it again
            continue
        yield told(MemoryKind.DECISION, line, inferred=bool(entry.author))
    for line in (*entry.questions, *entry.further):
        if not _COMPOSED.match(line.text):
            yield told(MemoryKind.TODO, line, inferred=bool(entry.author))
    for kept in entry.captures.approved:
        if kept.type in _KNOWN and kept.summary:
            yield Gleaned(MemoryKind.LESSON, kept.summary, "", "knowledge", at=when)


# --- what its words say ----------------------------------------------------------------------------------------------


def _inferred(session: Session) -> Iterator[Gleaned]:
    phases = list(session.all_phases())
    for number, entry in placed_entries(session):
        where = _where(session, phases, number)
        if isinstance(entry, Prose):
            yield from _told(inferred_decisions(entry.text), MemoryKind.DECISION, "prose", where)
            yield from _told(inferred_lessons(entry.text), MemoryKind.LESSON, "correction", where)
        elif isinstance(entry, Subagent) and entry.summary:
            yield from _told(inferred_decisions(entry.summary), MemoryKind.DECISION, "summary", where)
    if session.summary:
        last = _where(session, phases, len(phases) - 1)
        yield from _told(inferred_decisions(session.summary), MemoryKind.DECISION, "summary", last)
        yield from _told(inferred_lessons(session.summary), MemoryKind.LESSON, "correction", last)


def _told(
    found: Iterator[Inferred], kind: MemoryKind, source: str, where: tuple[str, datetime | None]
) -> Iterator[Gleaned]:
    for one in found:
        yield Gleaned(kind, one.text, one.why, source, *where, inferred=True)
