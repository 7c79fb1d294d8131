"""Split a session into searchable events, with kind, text and id, from its note and its event log.

Everything in a note becomes an event, except the task list, which changes often, and the brief, which repeats the rest.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, assert_never

from crucible.documents.markdown.containment import normal_line
from crucible.documents.markdown.fences import whole_fences
from crucible.documents.markdown.source import NOWHERE, Lines
from crucible.documents.recording.call_lines import call_line, one_line
from crucible.documents.session.markup import CALL_LIMIT
from crucible.documents.session.session import (
    Callout,
    Decision,
    Entry,
    Failure,
    FindingItem,
    Intervention,
    Phase,
    Prose,
    Session,
    Subagent,
    ToolCall,
    ToolCalls,
)
from crucible.search.event_records import BY_HAND, RETURNED, USED, call_text, records_of, string_in
from crucible.search.recall import RECALLED, RECALLED_END, Document, Event, EventKind, hash_of
from crucible.vault.events.event_reader import EventRecord


def passages_of(text: str) -> Iterator[Lines]:
    """Split prose into passages: yield their line ranges, without surrounding blank lines.

    A heading, a bold line or a line that ends in a colon is joined to the next paragraph; an indented line or a code
    block is joined to the text before it.  Code, and text between recall marks, is never split.
    """
    lines = text.split("\n")
    unsplit = {line for block in (*whole_fences(text), *_recalled(lines)) for line in range(*block)}
    # `end` is the line after the last non-blank one.
    first, end = -1, 0
    for at, line in enumerate(lines):
        if not line.strip() and at not in unsplit:
            continue
        if first < 0:
            first = at
        elif at > end and not _continues(lines[end - 1], line):
            yield Lines(first, end)
            first = at
        end = at + 1
    if first >= 0:
        yield Lines(first, end)


def _recalled(lines: Sequence[str]) -> Iterator[Lines]:
    """Yield the line ranges between recall marks; a mark without an end is ignored."""
    first = -1
    for at, line in enumerate(lines):
        if first >= 0 and RECALLED_END in line:
            yield Lines(first, at + 1)
            first = -1
        elif first < 0 and line.rfind(RECALLED) > line.rfind(RECALLED_END):
            first = at


def _continues(above: str, below: str) -> bool:
    """Return whether the text after blank lines belongs to the text before them."""
    return below.startswith((" ", "\t", "```", "~~~")) or _introduces(above.strip())


def _introduces(line: str) -> bool:
    return line.endswith(":") or line.startswith("#") or (line.startswith("**") and line.endswith("**"))


class RecordedCall(NamedTuple):
    """The recorded form of a call: its full text, the keys of its records, and its time."""

    text: str
    keys: tuple[str, ...]
    at: datetime | None = None


class EventText(NamedTuple):
    """One event of an entry before it gets an id; `agent` is "" for the phase's agent."""

    kind: EventKind
    text: str
    lines: Lines
    agent: str = ""
    call: ToolCall | None = None


class PlacedEvent(NamedTuple):
    """An event and the location of its text.

    `noted` is its text in the note, from which its id is derived.  `lines`, read again for a hit, are those of the
    passage, call or callout; for an inline subagent's work, those of its callout.  `keys` identify the records with the
    full text.
    """

    event: Event
    noted: str
    lines: Lines
    keys: tuple[str, ...] = ()


FindRecordedCall = Callable[[ToolCall], RecordedCall | None]
"""Returns the recorded form of a call.  Call it for each call of a session, in the order of the note."""

FindRecords = Callable[[ToolCall], tuple[EventRecord, EventRecord | None] | None]
"""Returns the records of a call and of its result, in the same way."""

_SUMMARY = "Summary"


def document_of(
    session: Session, path: str, recorded: FindRecordedCall | None = None
) -> tuple[Document, tuple[PlacedEvent, ...]]:
    """Convert a session to a document; also return the places of its events.  `path` is relative to the vault."""
    placed = tuple(events_of(session, recorded))
    return (
        Document(
            session.id,
            path,
            session.title,
            tuple(one.event for one in placed),
            session.started,
            session.project or "",
            session.branch or "",
            session.tags,
            session.parent or "",
            session.archived,
        ),
        placed,
    )


def events_of(session: Session, recorded: FindRecordedCall | None = None) -> Iterator[PlacedEvent]:
    """Yield all events of a session, in the order of the note."""
    builder = _EventBuilder(session, recorded)
    above = Phase("", entries=session.preamble)
    yield from builder.events_of_phase(above)
    for text in _findings(session):
        yield builder.event(above, text, text.lines)
    for phase in session.all_phases():
        yield from builder.events_of_phase(phase)
    if session.summary:
        lines = session.summary_lines
        yield builder.event(Phase(_SUMMARY), EventText(EventKind.OBSERVATION, session.summary, lines), lines)


class _EventBuilder:
    """Builds the events of a session in order.

    Ids do not change when a note grows: they only depend on the text and on earlier events with the same text.
    """

    def __init__(self, session: Session, recorded: FindRecordedCall | None) -> None:
        self._session = session
        self._recorded = recorded
        self._alone = str(session.participants[0]) if len(session.participants) == 1 else ""
        self._counts: dict[tuple[EventKind, str], int] = {}
        self._taken: set[str] = set()

    def events_of_phase(self, phase: Phase) -> Iterator[PlacedEvent]:
        for entry in phase.entries:
            for text in texts_of(entry):
                yield self.event(phase, text, entry.lines)

    def event(self, phase: Phase, text: EventText, within: Lines) -> PlacedEvent:
        session, lines = self._session, text.lines if text.lines.first >= 0 else within
        recorded = self._recorded(text.call) if self._recorded and text.call else None
        event = Event(
            self._id(text.kind, text.text),
            session.id,
            text.kind,
            recorded.text if recorded else text.text,
            phase.id,
            phase.name,
            lines.first + 1,
            (recorded.at if recorded else None) or phase.started or session.started,
            text.agent or (str(phase.agent) if phase.agent else self._alone),
            phase.channel or session.channel or "",
            session.project or "",
        )
        return PlacedEvent(event, text.text, lines, recorded.keys if recorded else ())

    def _id(self, kind: EventKind, text: str) -> str:
        count = self._counts.get((kind, text), 0)
        while (found := hash_of(kind, text, count)) in self._taken:
            count += 1
        self._counts[kind, text] = count + 1
        self._taken.add(found)
        return f"{self._session.id}#{found}"


def texts_of(entry: Entry) -> Iterator[EventText]:
    """Yield the events of an entry: the passages of prose; an inline subagent's report, then the events of its work."""
    if isinstance(entry, ToolCalls):
        for call in entry.calls:
            yield EventText(EventKind.TOOL, _call(call), call.lines, call=call)
    elif isinstance(entry, Subagent):
        yield from _subagent(entry)
    elif isinstance(entry, Callout) and entry.kind == "abstract":
        # The brief only summarizes the rest of the session.
        return
    elif isinstance(entry, Prose):
        yield from _passages(EventKind.AGENT, entry.text, entry.lines.first)
    elif isinstance(entry, Callout) and entry.kind == "plan":
        yield from _plan(entry)
    elif text := _text(entry):
        yield EventText(_kind(entry), text, entry.lines)


def _passages(kind: EventKind, text: str, first: int) -> Iterator[EventText]:
    """Yield the passages of a text.  `first` is the note's line on which the text begins, -1 if unknown."""
    lines = text.split("\n")
    for start, end in passages_of(text):
        where = Lines(first + start, first + end) if first >= 0 else NOWHERE
        yield EventText(kind, "\n".join(lines[start:end]), where)


def _plan(plan: Callout) -> Iterator[EventText]:
    """Yield the passages of a plan.  The title is part of the first one."""
    first = plan.lines.first + 1 if plan.lines.first >= 0 else -1
    title, lines = plan.title, plan.lines
    for text in _passages(_kind(plan), plan.text, first):
        titled = Lines(lines.first, text.lines.end) if title and first > 0 else text.lines
        yield text._replace(text=_joined(title, text.text), lines=titled)
        title = ""
    if title:
        yield EventText(_kind(plan), title, lines)


def _findings(session: Session) -> Iterator[EventText]:
    """Yield the items of the findings block, each with its own kind."""
    for item in session.findings:
        yield EventText(_kind_of_finding(item), _joined(item.text, item.details), item.lines)


def _kind_of_finding(item: FindingItem) -> EventKind:
    """Return the kind of a finding; a kind that a user made up counts as an observation."""
    try:
        return EventKind(item.kind)
    except ValueError:
        return EventKind.OBSERVATION


def _kind(entry: Decision | Failure | Intervention | Callout) -> EventKind:
    if isinstance(entry, Decision):
        return EventKind.DECISION
    if isinstance(entry, Failure):
        return EventKind.ERROR
    if isinstance(entry, Intervention):
        return EventKind.USER
    return EventKind.MILESTONE if entry.kind in ("milestone", "task_complete") else EventKind.OBSERVATION


def _text(entry: Decision | Failure | Intervention | Callout) -> str:
    if isinstance(entry, Decision):
        text = _labelled(entry.text, "Rationale", entry.rationale)
        return _labelled(text, "Alternatives", entry.alternatives)
    if isinstance(entry, Failure):
        return _labelled(_labelled(entry.text, "Cause", entry.cause), "Resolution", entry.resolution)
    if isinstance(entry, Intervention):
        return _joined(entry.words, entry.note)
    if isinstance(entry, Callout):
        return _joined(entry.title, entry.text)
    assert_never(entry)


def _call(call: ToolCall) -> str:
    return _joined(call.call, call.result)


def _subagent(entry: Subagent) -> Iterator[EventText]:
    agent = str(entry.agent)
    text = _joined(agent, entry.task, entry.text)
    yield EventText(EventKind.SUBAGENT, _labelled(text, _SUMMARY, entry.summary), entry.lines, agent)
    work: Sequence[Entry] = entry.entries
    for inner in work:
        for one in texts_of(inner):
            yield one._replace(agent=one.agent or agent, lines=NOWHERE)


def _joined(*texts: str | None) -> str:
    return "\n".join(text for text in texts if text)


def _labelled(text: str, label: str, more: str | None) -> str:
    return _joined(text, f"{label}: {more}" if more else None)


_FOLDER_SEEN = "ContextSeen"
_READ = frozenset((_FOLDER_SEEN, USED, RETURNED, BY_HAND))


def recorded_calls(root: Path, session: str) -> FindRecordedCall:
    """Match the calls in a session's note with its event log."""
    return match_records(call_records(root, session))


def call_records(root: Path, session: str) -> Iterator[EventRecord]:
    """Yield the records of a session's event log that describe calls, in order."""
    return records_of(root, session, _READ)


def match_records(records: Iterable[EventRecord]) -> FindRecordedCall:
    """Match calls with records, which are in event order; equal calls are matched in order."""
    matched = matched_records(records)

    def recorded(call: ToolCall) -> RecordedCall | None:
        found = matched(call)
        if not found:
            return None
        record, result = found
        keys = (record.key, result.key) if result else (record.key,)
        return RecordedCall(call_text(record, result), keys, record.time) if all(keys) else None

    return recorded


def matched_records(records: Iterable[EventRecord]) -> FindRecords:
    """Match calls as in `match_records`, and return their records."""
    by_line: dict[str, deque[tuple[EventRecord, list[EventRecord]]]] = defaultdict(deque)
    used: dict[tuple[str, str], list[EventRecord]] = {}
    folder = ""
    for record in records:
        values = record.values
        if record.type == _FOLDER_SEEN:
            folder = string_in(values, "cwd") or folder
        elif record.type in (USED, BY_HAND):
            returned: list[EventRecord] = []
            by_line[normal_line(_line(record, folder))].append((record, returned))
            used[record.agent, string_in(values, "call")] = returned
        elif record.type == RETURNED and (waiting := used.get((record.agent, string_in(values, "call")))) is not None:
            waiting.append(record)

    def matched(call: ToolCall) -> tuple[EventRecord, EventRecord | None] | None:
        waiting = by_line.get(normal_line(call.call))
        if not waiting:
            return None
        record, returned = waiting.popleft()
        return record, returned[0] if returned else None

    return matched


def _line(record: EventRecord, folder: str) -> str:
    values = record.values
    if record.type == USED:
        return call_line(string_in(values, "name"), _mapping(values.get("arguments")), folder)
    name, command = string_in(values, "tool") or "tool", string_in(values, "command")
    return one_line(f"{name} {command}", CALL_LIMIT) if command else call_line(name, _mapping(values.get("args")))


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
