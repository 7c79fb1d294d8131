"""Edit phases, entries, fields and tasks of a note.  An edit changes only the lines it needs to.

Functions take the source and the session read from it, and use the note's line ending.  They raise `EditRefused` with
the line if an edit would not read back as intended, for example after an unclosed fence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from crucible.core.errors import EditRefused
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment_inline import FIELDS
from crucible.documents.markdown.frontmatter import find_frontmatter, remove_key, set_key
from crucible.documents.markdown.line_scan import SEPARATOR, scan_lines
from crucible.documents.markdown.outline import parse_blocks
from crucible.documents.markdown.source import NOWHERE, Edit, Source, Span, apply_edits
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.bookkeeping import BOOKKEEPING, new_bookkeeping, set_bookkeeping
from crucible.documents.session.markup import render_call, render_entry, render_phase, separates
from crucible.documents.session.properties import format_time, parse_time
from crucible.documents.session.session import Entry, Phase, Prose, Session, ToolCall, ToolCalls
from crucible.documents.session.session_reader import FIELD, Body, read_session


def check_shown(source: Source, edits: list[Edit], expected: Session) -> list[Edit]:
    """Return the edits if the edited note reads as `expected`; raises `EditRefused` with the line otherwise."""
    if edits and read_session(apply_edits(source, edits), expected.id, expected.format) != expected:
        line = 1 + source.line_of(edits[0].span.start)
        raise EditRefused(
            f"{expected.id}:{line}: the lines around this one would change the meaning of text added here",
            "tidy it in the note and try again",
        )
    return edits


def phase_as_read(lines: Sequence[str], form: int) -> Phase:
    """Read a phase back from its rendered lines, which begin with its `##` heading."""
    blocks = scan_lines(lines)
    body = Body(lines, form)
    body.read(parse_blocks(lines) if blocks is None else blocks)
    return body.phases[0].phase()


def join_entries(found: tuple[Entry, ...], added: Sequence[Entry]) -> tuple[Entry, ...]:
    """Append entries, merged as they read back: adjacent prose into one entry, adjacent tool calls into one list."""
    for entry in added:
        before = found[-1] if found else None
        if isinstance(before, Prose) and isinstance(entry, Prose):
            found = (*found[:-1], Prose(f"{before.text}\n\n{entry.text}"))
        elif isinstance(before, ToolCalls) and isinstance(entry, ToolCalls):
            found = (*found[:-1], ToolCalls(before.calls + entry.calls))
        else:
            found = (*found, entry)
    return found


def replace_phase(session: Session, changed: Phase) -> Session:
    """The session with the phase or sub-phase that has the same id replaced."""

    def swapped(phase: Phase) -> Phase:
        if phase.id == changed.id:
            return changed
        return replace(phase, subphases=tuple(map(swapped, phase.subphases)))

    return replace(session, phases=tuple(map(swapped, session.phases)))


def replace_call(session: Session, call: ToolCall, new: ToolCall) -> Session:
    """The session with the call on the same lines replaced."""
    return with_entries(session, lambda entries: _exchanged_call(entries, call, new))


def with_entries(session: Session, change: Callable[[tuple[Entry, ...]], tuple[Entry, ...]]) -> Session:
    """Apply `change` to the entries of the preamble and of every phase."""

    def in_phase(phase: Phase) -> Phase:
        return replace(phase, entries=change(phase.entries), subphases=tuple(map(in_phase, phase.subphases)))

    return replace(session, preamble=change(session.preamble), phases=tuple(map(in_phase, session.phases)))


def _exchanged_call(entries: tuple[Entry, ...], call: ToolCall, new: ToolCall) -> tuple[Entry, ...]:
    return tuple(
        ToolCalls(tuple(new if one.lines == call.lines else one for one in entry.calls), entry.lines)
        if isinstance(entry, ToolCalls)
        else entry
        for entry in entries
    )


_OPEN_ENDS = frozenset({"unclosed-fence", "unclosed-html", "too-large"})


def find_phase(session: Session, phase_id: str) -> Phase:
    """The phase or sub-phase with this id; raises `EditRefused` if there is none."""
    for phase in session.all_phases():
        if phase.id == phase_id:
            return phase
    raise EditRefused(f"{session.id} has no {phase_id}", f"it has {len(session.phases)} phases")


def set_properties(source: Source, session: Session, values: Mapping[str, Value]) -> list[Edit]:
    """Set properties: bookkeeping in the comment at the end, everything else in the frontmatter.

    A note of an older version, which has bookkeeping in its frontmatter and no comment, keeps it there.
    """
    found = find_frontmatter(source)
    has_comment = session.bookkeeping_lines is not NOWHERE
    is_old = not has_comment and any(key in found.values for key in BOOKKEEPING)
    ours = {k: v for k, v in values.items() if k in BOOKKEEPING and k not in found.values and not is_old}
    edits: list[Edit] = []
    for key, value in values.items():
        if key not in ours:
            edits += remove_key(source, found, key) if value is None else set_key(source, found, key, value)
    if has_comment:
        return edits + set_bookkeeping(source, session.bookkeeping_lines, ours)
    return edits + new_bookkeeping(source, ours)


def note_end(source: Source, session: Session) -> int:
    """The line at which new text ends the note: before the bookkeeping, unless a user wrote below it."""
    ours = session.bookkeeping_lines
    is_last = ours is not NOWHERE and not any(line.strip(" \t") for line in source.lines[ours.end :])
    return ours.first if is_last else len(source.lines)


# --- where new lines go ----------------------------------------------------------------------------------------------


def insert_lines(source: Source, session: Session, line: int, lines: Sequence[str]) -> list[Edit]:
    """Insert lines before `line`, with blank lines above and below."""
    if not lines:
        return []
    refuse_open(session, line)
    at = source.starts[min(line, len(source.starts) - 1)]
    above = source.text[:at]
    newline = newline_at(source, at)
    lead = "" if not above or _ends_blank(above) else newline if above[-1] in "\r\n" else newline * 2
    follows = line < len(source.lines) and source.lines[line].strip(" \t")
    text = lead + newline.join(lines) + newline + (newline if follows else "")
    return [Edit(Span(at, at), text)]


def newline_at(source: Source, at: int) -> str:
    """The line ending of the line above.  If that is a lone CR, a following LF would merge with it."""
    above = source.text[max(0, at - 2) : at]
    if above[-1:] not in ("\r", "\n"):
        return source.newline
    return "\r\n" if above == "\r\n" else above[-1]


_BLANK_END = late_pattern(r"(?:\A|\r(?!\n)|\n)[ \t]*(?:\r\n|\r|\n)\Z")


def _ends_blank(text: str) -> bool:
    """True if the last line of `text`, which ends in a line ending, is blank."""
    return bool(_BLANK_END.search(text, max(0, len(text) - 200)))


def refuse_open(session: Session, line: int) -> None:
    """Refuse to insert before `line` if an unclosed block above would hide the insertion."""
    for problem in session.problems:
        if problem.code in _OPEN_ENDS and line >= problem.line:
            raise EditRefused(
                f"{session.id}:{problem.line}: {problem.message}; text added below it would be hidden",
                "close it in the note and try again",
            )


def preamble_end(source: Source, session: Session) -> int:
    """The line after the last non-blank line of the preamble."""
    at = session.preamble_lines.end
    while at > session.preamble_lines.first and not source.lines[at - 1].strip(" \t"):
        at -= 1
    return at


# --- phases and entries ----------------------------------------------------------------------------------------------


def add_phase(source: Source, session: Session, phase: Phase) -> list[Edit]:
    """Append a phase, before `## Summary` if there is one."""
    lines = render_phase(phase, form=session.format)
    expected = replace(session, phases=(*session.phases, phase_as_read(lines, session.format)))
    # A `---` would close frontmatter that was never closed.
    rule = all(problem.code != "unclosed-frontmatter" for problem in session.problems)
    if session.summary_lines is not NOWHERE and session.summary_lines.first >= _last_line(session):
        edits = insert_lines(source, session, session.summary_lines.first, [*lines, *(["", "---"] if rule else [])])
    else:
        end = note_end(source, session)
        if rule and session.phases and not _ends_in_rule(source, end):
            lines = ["---", "", *lines]
        edits = insert_lines(source, session, end, lines)
    return check_shown(source, edits, expected)


def _last_line(session: Session) -> int:
    return session.phases[-1].lines.first if session.phases else 0


def _ends_in_rule(source: Source, end: int) -> bool:
    last = next((line for line in reversed(source.lines[:end]) if line.strip(" \t")), "")
    return last.rstrip(" \t") == "---"


def add_subphase(source: Source, session: Session, phase_id: str, sub: Phase) -> list[Edit]:
    """Append a sub-phase to a phase."""
    phase = find_phase(session, phase_id)
    last = phase.subphases[-1] if phase.subphases else phase
    edits = insert_lines(source, session, last.body_end, render_phase(sub, 3, session.format))
    read = phase_as_read(render_phase(sub, form=session.format), session.format)
    subs = (*phase.subphases, read)
    return check_shown(source, edits, replace_phase(session, replace(phase, subphases=subs)))


def add_entry(source: Source, session: Session, entry: Entry, phase_id: str) -> list[Edit]:
    """Append an entry to a phase or sub-phase; calls after a list of calls are added to the list."""
    phase = find_phase(session, phase_id)
    before = phase.entries[-1] if phase.entries else None
    lines = render_entry(entry, session.format)
    added = phase_as_read(["## A", "", *lines], session.format).entries
    if isinstance(before, ToolCalls) and isinstance(entry, ToolCalls):
        edits = _join_calls(source, session, before, entry)
    else:
        if isinstance(before, ToolCalls) and separates(lines):
            lines = [SEPARATOR, "", *lines]
        edits = insert_lines(source, session, phase.body_end, lines)
    return check_shown(
        source, edits, replace_phase(session, replace(phase, entries=join_entries(phase.entries, added)))
    )


def _join_calls(source: Source, session: Session, before: ToolCalls, entry: ToolCalls) -> list[Edit]:
    refuse_open(session, before.lines.end)
    at = source.starts[min(before.lines.end, len(source.starts) - 1)]
    newline = newline_at(source, at)
    lead = "" if source.text[at - 1] in "\r\n" else newline
    bullet = _bullet(source, before.calls[-1].lines.first)
    text = lead + newline.join(bullet + render_call(call, session.format)[2:] for call in entry.calls) + newline
    return [Edit(Span(at, at), text)] if entry.calls else []


_BULLET = late_pattern(r"[ \t]*[-*+][ \t]+")


def _bullet(source: Source, line: int) -> str:
    """The bullet character of a list item.  A different one would begin a new list."""
    found = _BULLET.match(source.lines[line])
    return found[0] if found else "- "


def set_call(source: Source, session: Session, call: ToolCall, new: ToolCall) -> list[Edit]:
    """Replace a tool call, for example when its result arrives."""
    if call.lines is NOWHERE:
        raise EditRefused(f"{call.call!r} is not in the note")
    text = _bullet(source, call.lines.first) + render_call(new, session.format)[2:]
    edits = replace_lines(source, call.lines.first, call.lines.end, text)
    rendered = ["## A", "", *render_entry(ToolCalls((new,)), session.format)]
    read = phase_as_read(rendered, session.format).entries[0]
    as_read = read.calls[0] if isinstance(read, ToolCalls) else new
    return check_shown(source, edits, replace_call(session, call, as_read))


def replace_lines(source: Source, first: int, end: int, text: str) -> list[Edit]:
    """Replace lines `first` to `end` with `text`, keeping the last line ending."""
    start, last = source.starts[first], source.starts[end - 1]
    span = Span(start, last + len(source.lines[end - 1]))
    return [] if source.slice(span) == text else [Edit(span, text)]


# --- a phase's fields ------------------------------------------------------------------------------------------------


def set_phase_field(source: Source, session: Session, phase_id: str, key: str, value: datetime | int) -> list[Edit]:
    """Set `started`, `ended` (aware times) or `tokens` (a count) under a phase's heading."""
    text = f"{key}:: {value if isinstance(value, int) else format_time(value)}"
    phase = find_phase(session, phase_id)
    edits = _field_edits(source, session, phase, key, text)
    changed: dict[str, Any] = {key: value if isinstance(value, int) else parse_time(format_time(value))}
    return check_shown(source, edits, replace_phase(session, replace(phase, **changed)))


def _field_edits(source: Source, session: Session, phase: Phase, key: str, text: str) -> list[Edit]:
    fields = _field_lines(source, phase)
    if key in fields:
        return replace_lines(source, fields[key], fields[key] + 1, text)
    if not fields:
        return insert_lines(source, session, phase.lines.first + 1, [text])
    earlier = [line for name, line in fields.items() if FIELDS.index(name) < FIELDS.index(key)]
    return insert_line(source, max(earlier) + 1 if earlier else min(fields.values()), text)


def insert_line(source: Source, line: int, text: str) -> list[Edit]:
    """Insert a line directly before `line`, without blank lines."""
    at = source.starts[min(line, len(source.starts) - 1)]
    newline = newline_at(source, at)
    if source.text[at - 1] in "\r\n":
        return [Edit(Span(at, at), text + newline)]
    return [Edit(Span(at, at), newline + text)]


def _field_lines(source: Source, phase: Phase) -> dict[str, int]:
    """The line of each field below the heading."""
    found: dict[str, int] = {}
    at = phase.lines.first + 1
    while at < phase.lines.end and not source.lines[at].strip(" \t"):
        at += 1
    while at < phase.lines.end and (key := FIELD.match(source.lines[at])) and key[1] not in found:
        found[key[1]] = at
        at += 1
    return found
