"""Make the lines of a record from a note, for a session whose events are not on this machine."""

from __future__ import annotations

from collections.abc import Iterator

from crucible.analysis.review.review_record import Line, Tag
from crucible.documents.session.session import (
    Callout,
    Decision,
    Entry,
    Failure,
    Intervention,
    Outcome,
    Prose,
    Session,
    Subagent,
    ToolCalls,
)

__all__ = ["lines_of_note"]

_SAID = (1200, 800, 500, 300, 160)
_TEXT = (700, 450, 280, 150, 0)
_CALL = (300, 160, 0)


def lines_of_note(session: Session) -> list[Line]:
    """The lines of a note.  Their rows are ids of phases, since a note has no row ids."""
    told = [Line(Tag.NOTED, one, ("start",), worth, caps) for _, one, worth, caps in _told(session.preamble)]
    for turn, phase in enumerate(session.all_phases(), 1):
        row = phase.id.replace(".", "-")
        told.append(Line(Tag.PHASE, phase.name, (row,), 60, (200, 100), turn, phase.id))
        told += [
            Line(tag, text, (row,), worth, caps, turn, phase.id) for tag, text, worth, caps in _told(phase.entries)
        ]
    last = session.phases[-1].id.replace(".", "-") if session.phases else "start"
    if session.summary:
        told.append(Line(Tag.CLOSING, session.summary, (last,), 93, _SAID, len(session.phases)))
    left = [task.content for task in session.tasks if task.status not in ("completed", "cancelled")]
    state = "; ".join([f"the session is {session.status}", *(f"task not done: {task}" for task in left[:20])])
    return [*told, Line(Tag.END, state, (last,), 99, (900, 500), len(session.phases))] if told else []


def _told(entries: tuple[Entry, ...]) -> Iterator[tuple[Tag, str, int, tuple[int, ...]]]:
    for entry in entries:
        match entry:
            case Intervention(words=words, note=note):
                yield Tag.PROMPT, "\n".join(filter(None, (words, note))), 95, _SAID
            case Prose(text=text):
                yield Tag.TEXT, text, 50, _TEXT
            case Decision():
                parts = (
                    entry.text,
                    entry.rationale,
                    entry.alternatives and f"instead of {entry.alternatives}",
                )
                yield Tag.NOTED, f"decision: {'; '.join(filter(None, parts))}", 92, _SAID
            case Failure():
                parts = (entry.text, entry.cause, entry.resolution and f"fixed: {entry.resolution}")
                yield Tag.NOTED, f"failure: {'; '.join(filter(None, parts))}", 90, _SAID
            case Subagent(summary=str(summary)) if summary:
                yield Tag.SUBAGENT, f"{entry.agent}: {summary}", 58, _SAID
            case Callout(text=text) if text or entry.title:
                yield Tag.NOTED, f"{entry.kind}: {entry.title} {text}", 80, _SAID
            case ToolCalls(calls=calls):
                for call in calls:
                    if call.outcome is not Outcome.OK:
                        yield Tag.FAIL, f"`{call.call}` -> {call.result}", 62, _CALL
            case _:
                pass
