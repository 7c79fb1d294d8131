"""What of a session is to be remembered: decisions, lessons, and what is left to do.

Owns which finding counts as which.  An entry of history adds what a human, or a model, wrote there.  Nothing is said that is not in the session's note
or in that entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from crucible.history.composing import open_questions
from crucible.history.likeness import Alikes
from crucible.history.memories import MemoryKind, key_of
from crucible.history.model import Entry, Line
from crucible.patterns import late_pattern
from crucible.session.findings import Finding, Kind, Source, findings_of
from crucible.session.model import Phase, Session

__all__ = ["Gleaned", "glean"]

_CLOSED = frozenset(("completed", "cancelled", "deleted"))
_KNOWN = frozenset(("failure", "pattern"))
"""Types of knowledge that teach something."""
_COMPOSED = late_pattern(
    r"(?:(?:Continue|To do(?: \([^)]*\))?|Blocked): .*\(task[ -][^)]*\)|(?:Blocked|Paused|Unresolved): .*)\Z",
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
    told = [*_from_note(session), *_from_history(entry)]
    found = [one for one in told if not one.inferred]
    decided = Alikes(_words(one.text) for one in found if one.kind is MemoryKind.DECISION)
    for one in (one for one in told if one.inferred):
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


# --- what the note says ------------------------------------------------------------------------------------------------


def _from_note(session: Session) -> Iterator[Gleaned]:
    phases = {phase.id: phase for phase in session.all_phases()}
    for finding in findings_of(session):
        if told := _of_finding(finding):
            kind, why, source = told
            where = _where(session, phases.get(finding.phase))
            is_guess = finding.source == Source.MODEL
            yield Gleaned(kind, finding.summary, why, source, *where, inferred=is_guess)
    last = _where(session, next(reversed(phases.values()), None))
    for task in session.tasks:
        if task.status not in _CLOSED:
            yield Gleaned(MemoryKind.TODO, task.content, "", "task", *last)
    if not session.parent:  # what a subagent asks, its parent's session has seen to
        for line in open_questions(session):
            yield Gleaned(MemoryKind.TODO, line.text, "", "question", *last)


def _of_finding(finding: Finding) -> tuple[MemoryKind, str, str] | None:
    """What is remembered of a finding: its kind, its reason or cure, and its source."""
    match finding.kind:
        case Kind.DECISION:
            return MemoryKind.DECISION, finding.details, str(finding.source)
        case Kind.FAILURE:
            return MemoryKind.LESSON, finding.resolution, "error"
        case Kind.CORRECTION | Kind.ENVIRONMENT:
            return MemoryKind.LESSON, finding.details, str(finding.kind)
        case _:
            return None


def _where(session: Session, phase: Phase | None) -> tuple[str, datetime | None]:
    """A phase's id and time; without a phase the session's time."""
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
        yield told(MemoryKind.DECISION, line, inferred=bool(entry.author))
    for line in (*entry.questions, *entry.further):
        if not _COMPOSED.match(line.text):
            yield told(MemoryKind.TODO, line, inferred=bool(entry.author))
    for kept in entry.captures.approved:
        if kept.type in _KNOWN and kept.summary:
            yield Gleaned(MemoryKind.LESSON, kept.summary, "", "knowledge", at=when)
