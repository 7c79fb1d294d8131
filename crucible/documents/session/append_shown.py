"""Whether edits show when the note is read back, and nothing else of the session changes.

A human's note can hide what is added to it (an open fence above, a `---` that closes something else).  So `editing`
says what the session should be afterwards, and an edit that comes to anything else is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from crucible.core.errors import EditRefused
from crucible.documents.markdown.line_scan import scan_lines
from crucible.documents.markdown.outline import parse_blocks
from crucible.documents.markdown.source import Edit, Source, apply_edits
from crucible.documents.session.note_body import Body
from crucible.documents.session.session import Entry, Phase, Prose, Session, ToolCall, ToolCalls
from crucible.documents.session.session_reader import read_session


def check_shown(source: Source, edits: list[Edit], expected: Session) -> list[Edit]:
    """The edits, when the note then reads as `expected`; else `EditRefused` with the line."""
    if edits and read_session(apply_edits(source, edits), expected.id, expected.format) != expected:
        line = 1 + source.line_of(edits[0].span.start)
        raise EditRefused(
            f"{expected.id}:{line}: what stands around this line would change the meaning of what is written there",
            "tidy it in the note and try again",
        )
    return edits


def phase_as_read(lines: Sequence[str], form: int) -> Phase:
    """Read a phase back from its rendered lines, which begin with its `##` heading."""
    blocks = scan_lines(lines)
    body = Body(lines, form)
    body.read(parse_blocks(lines) if blocks is None else blocks)
    return body.phases[0].phase()


def joined(found: tuple[Entry, ...], added: Sequence[Entry]) -> tuple[Entry, ...]:
    """Entries as they read after others were added: adjacent prose is one entry, adjacent calls are one list."""
    for entry in added:
        before = found[-1] if found else None
        if isinstance(before, Prose) and isinstance(entry, Prose):
            found = (*found[:-1], Prose(f"{before.text}\n\n{entry.text}"))
        elif isinstance(before, ToolCalls) and isinstance(entry, ToolCalls):
            found = (*found[:-1], ToolCalls(before.calls + entry.calls))
        else:
            found = (*found, entry)
    return found


def with_phase(session: Session, changed: Phase) -> Session:
    """The session with the phase or sub-phase of that id exchanged."""

    def swapped(phase: Phase) -> Phase:
        if phase.id == changed.id:
            return changed
        return replace(phase, subphases=tuple(map(swapped, phase.subphases)))

    return replace(session, phases=tuple(map(swapped, session.phases)))


def with_call(session: Session, call: ToolCall, new: ToolCall) -> Session:
    """The session with the call that stands on the same lines exchanged."""
    return replace(
        session,
        preamble=_exchanged(session.preamble, call, new),
        phases=tuple(_in_phase(phase, lambda entries: _exchanged(entries, call, new)) for phase in session.phases),
    )


def _in_phase(phase: Phase, change: Callable[[tuple[Entry, ...]], tuple[Entry, ...]]) -> Phase:
    subs = tuple(_in_phase(sub, change) for sub in phase.subphases)
    return replace(phase, entries=change(phase.entries), subphases=subs)


def _exchanged(entries: tuple[Entry, ...], call: ToolCall, new: ToolCall) -> tuple[Entry, ...]:
    return tuple(
        ToolCalls(tuple(new if one.lines == call.lines else one for one in entry.calls), entry.lines)
        if isinstance(entry, ToolCalls)
        else entry
        for entry in entries
    )
