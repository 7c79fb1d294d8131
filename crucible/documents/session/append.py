"""Append to a note in almost constant time: only the frontmatter and the last phase are read and edited.

If text above the last phase may change how it reads, the full note is read instead (see `find_tail`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from crucible.core.errors import EditRefused
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.frontmatter import find_frontmatter, find_frontmatter_span, remove_key, set_key
from crucible.documents.markdown.hidden_ranges import scan
from crucible.documents.markdown.line_scan import COMMENT_START
from crucible.documents.markdown.source import NOWHERE, Edit, Lines, Source, Span, apply_edits
from crucible.documents.markdown.yaml_scalars import Value, same_value
from crucible.documents.session.bookkeeping import BOOKKEEPING, split_values, trailing_lines
from crucible.documents.session.callout_edits import add_summary, find_subagent, set_subagent
from crucible.documents.session.edits import add_entry, add_phase, set_phase_field
from crucible.documents.session.last_phase import PHASE_LINE, Place, find_tail
from crucible.documents.session.properties import FieldReader, add_bookkeeping, read_fields
from crucible.documents.session.session import Entry, Phase, Session, Subagent, Task
from crucible.documents.session.session_reader import read_session
from crucible.documents.session.task_edits import set_boxes, set_fields, set_tasks

_TASKS_LINE = late_pattern(r"(?i)\n {0,3}###[ \t]+tasks")


class PhaseField(NamedTuple):
    """Set a field of the last phase: `started` or `ended` to an aware time, `tokens` to a count."""

    key: str
    value: datetime | int


class TaskList(NamedTuple):
    """Set the tasks; `as_json` is for a note without tasks."""

    tasks: tuple[Task, ...]
    as_json: bool = False


class Summary(NamedTuple):
    """Add to the summary, or begin one."""

    text: str


class SubagentUpdate(NamedTuple):
    """Replace the first subagent callout that links to the same note."""

    entry: Subagent


Step: TypeAlias = "Phase | Entry | PhaseField | TaskList | Summary | SubagentUpdate"
"""A new last phase, a new entry or field in the last phase or sub-phase, or a change to the entire note."""


@dataclass(frozen=True, slots=True)
class Addition:
    """Changes to a note: values of frontmatter keys (None removes a key), and steps in order."""

    keys: Mapping[str, Value] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class NoteState:
    """The state of a note, as input for planning an addition.

    `head` may have only the properties, but is complete if `phase` is None.  `phase` is the last phase with its
    entries; its id counts from the first phase of the note.
    """

    head: Session
    phase: Phase | None


Plan: TypeAlias = "Callable[[NoteState], Addition]"


@dataclass(frozen=True)
class Appended:
    """The edits to `before`, the id of the last phase or sub-phase afterwards, and its position if known."""

    before: Source
    edits: tuple[Edit, ...]
    phase: str
    place: Place | None

    @cached_property
    def source(self) -> Source:
        """The note after the edits."""
        return apply_edits(self.before, self.edits)


def append(source: Source, name: str, plan: Plan, place: Place | None = None) -> Appended:
    """Append to a session note.  `place` is the position from an earlier call whose output is `source`.

    `name` is the file's name without `.md`.  Raises `EditRefused` if the addition would not read back.
    """
    start = find_frontmatter_span(source).end
    place = place or (find_tail(source.text, start) if start else None)
    if place is not None:
        try:
            return _append_narrow(source, name, plan, start, place)
        except EditRefused:
            pass  # reading the full note gives an error with a line number
    return append_wide(source, name, plan)


def append_wide(source: Source, name: str, plan: Plan) -> Appended:
    """Like `append`, but always reads the full note.  The result is the same."""
    session = read_session(source, name)
    addition = plan(NoteState(session, session.phases[-1] if session.phases else None))
    head, ours = split_values(addition.keys)
    part = _Part(_set_keys(source, head), name, session.format)
    part.keep(ours)
    if "status" in head:
        part.set_boxes()
    for step in addition.steps:
        part.take(step)
    start = find_frontmatter_span(part.source).end
    phase = part.session.phases[-1] if part.session.phases else None
    place = None
    if phase and _stands_alone(part.source, start, at := part.source.starts[phase.lines.first]):
        place = Place(at, len(part.session.phases) - 1)
    return Appended(source, _difference(source, part.source), part.last, place)


def _append_narrow(source: Source, name: str, plan: Plan, start: int, place: Place) -> Appended:
    """Append to the tail at `place`.  `start` is the end of the frontmatter."""
    at = place.tail
    if source.text.find(f"\n{COMMENT_START}", start - 1, at) >= 0:
        raise EditRefused(f"{name}: its bookkeeping can only be changed with the whole note loaded")
    head, tail = Source(source.text[:start]), Source(source.text[at:])
    properties = read_head(head, name)
    part = _Part(tail, name, properties.format, place.above)
    in_head = {key: value for key, value in properties.properties.items() if key in BOOKKEEPING}
    if part.session.bookkeeping_lines is not NOWHERE:
        properties = with_bookkeeping(properties, tail, part.session.bookkeeping_lines)
    addition = plan(NoteState(properties, part.phase))
    keys, ours = split_values(addition.keys)
    if "status" in keys and _TASKS_LINE.search(source.text):
        raise EditRefused(f"{name}: only the whole note shows its tasks")
    is_old = in_head and part.session.bookkeeping_lines is NOWHERE
    moved = {key for key in ours if is_old or key in in_head}
    changed = _set_keys(head, keys | {key: ours[key] for key in moved})
    part.keep({key: value for key, value in ours.items() if key not in moved})
    for step in addition.steps:
        part.take(step)
    edits = [Edit(Span(0, start), changed.text)] if changed.text != head.text else []
    edits += [Edit(Span(at + span.start, at + span.end), text) for span, text in _difference(tail, part.source)]
    return Appended(source, tuple(edits), part.last, part.place(at + len(changed.text) - start))


def read_head(source: Source, name: str) -> Session:
    """Read only the properties of a session: those of the frontmatter, and the bookkeeping if it ends the note."""
    found = find_frontmatter(source)
    head = Session(**read_fields(FieldReader(source, found), name, found.present))
    lines = trailing_lines(source)
    return head if lines is NOWHERE else with_bookkeeping(head, source, lines)


def with_bookkeeping(head: Session, source: Source, lines: Lines) -> Session:
    """Return the session with the bookkeeping on these lines of `source`."""
    fields: dict[str, Any] = {"properties": head.properties}
    add_bookkeeping(fields, source, lines)
    return replace(head, **fields)


class _Part:
    """A note, or only its tail, while steps are applied.  `before` is the number of phases above the tail."""

    def __init__(self, source: Source, name: str, form: int, before: int | None = None) -> None:
        self.name = name
        self.form = form
        self.is_whole = before is None
        self.before = before or 0
        self.source = source
        self._stale = False
        self.session = read_session(source, name, form)

    @property
    def phase(self) -> Phase | None:
        """The last phase, with its id in the note."""
        phases = self.session.phases
        return replace(phases[-1], id=f"phase-{self.before + len(phases)}") if phases else None

    @property
    def last(self) -> str:
        """The id of the last phase or sub-phase in the note, or "" if there are no phases."""
        if not self.session.phases:
            return ""
        subs = self.session.phases[-1].subphases
        number = f"phase-{self.before + len(self.session.phases)}"
        return f"{number}.{len(subs)}" if subs else number

    def keep(self, values: Mapping[str, Value]) -> None:
        """Set properties that belong to the bookkeeping.  In a full note, older versions' stay in the frontmatter."""
        edits = set_fields(self.source, self.session, values) if values else []
        if edits:
            self.source = apply_edits(self.source, edits)
            self._stale = True

    def set_boxes(self) -> None:
        """Make the checkboxes of open tasks fit the session's status."""
        self._read_again(self._stale)
        edits = set_boxes(self.source, self.session)
        if edits:
            self.source = apply_edits(self.source, edits)
            self._stale = True

    def take(self, step: Step) -> None:
        """Apply one step."""
        self._read_again(self._stale)
        edits = self._edits(step)
        if edits:
            self.source = apply_edits(self.source, edits)
            self._stale = True
        # Other steps do not move the last phase, so the note is not read again.
        self._read_again(not isinstance(step, PhaseField | Entry))

    def _read_again(self, needed: bool) -> None:
        if needed and self._stale:
            self.session = read_session(self.source, self.name, self.form)
            self._stale = False

    def _edits(self, step: Step) -> list[Edit]:
        if isinstance(step, TaskList | Summary | SubagentUpdate):
            return self._whole_edits(step)
        if isinstance(step, Phase):
            return add_phase(self.source, self.session, step)
        if not self.session.phases:
            raise EditRefused(f"{self.name}: it has no phases yet", "begin a phase first")
        last = self.session.phases[-1]
        if isinstance(step, PhaseField):
            return set_phase_field(self.source, self.session, last.id, step.key, step.value)
        home = last.subphases[-1] if last.subphases else last
        return add_entry(self.source, self.session, step, home.id)

    def _whole_edits(self, step: TaskList | Summary | SubagentUpdate) -> list[Edit]:
        if not self.is_whole:
            raise EditRefused(f"{self.name}: this can only be placed with the whole note loaded")
        if isinstance(step, TaskList):
            return set_tasks(self.source, self.session, step.tasks, as_json=step.as_json)
        if isinstance(step, Summary):
            return add_summary(self.source, self.session, step.text)
        entry = find_subagent(self.session, step.entry.link or "")
        return set_subagent(self.source, self.session, entry, step.entry) if entry else []

    def place(self, offset: int) -> Place | None:
        """The position of the last phase in the note, if this tail begins at `offset`."""
        at = self.source.starts[self.session.phases[-1].lines.first]
        if at and not _stands_alone(self.source, 0, at):
            return None
        return Place(offset + at, self.before + len(self.session.phases) - 1)


def _stands_alone(source: Source, start: int, at: int) -> bool:
    """True if the text from the heading at offset `at` reads the same without the text between `start` and `at`."""
    text = source.text
    if not text.startswith("\n\n## ", at - 2) or "\r" in text:
        return False
    line_end = text.find("\n", at)
    headings = PHASE_LINE.finditer(text, max(start - 1, 0), len(text) if line_end < 0 else line_end + 1)
    # A second summary would be a phase, and the text from `at` on does not show whether there is a first one.
    if any(found[2] for found in headings):
        return False
    if text.find("%%", start) < 0:
        return True
    found = scan(text, start)
    return not found.unclosed and not any(one.span.start < at < one.span.end for one in found.hidden)


def _set_keys(source: Source, keys: Mapping[str, Value]) -> Source:
    """Set frontmatter keys one by one.  None removes a key."""
    for key, value in keys.items():
        found = find_frontmatter(source)
        if value is None:
            edits = remove_key(source, found, key) if key in found.values else []
        elif key in found.values and same_value(found.values[key], value):
            edits = []
        else:
            edits = set_key(source, found, key, value)
        source = apply_edits(source, edits) if edits else source
    return source


def _difference(before: Source, after: Source) -> tuple[Edit, ...]:
    """One edit from the first differing line to the last."""
    one, other = before.text, after.text
    if one == other:
        return ()
    shorter = min(len(one), len(other))
    head = _common(one, other, shorter, from_end=False)
    tail = _common(one, other, shorter - head, from_end=True)
    return (Edit(Span(head, len(one) - tail), other[head : len(other) - tail]),)


def _common(one: str, other: str, most: int, *, from_end: bool) -> int:
    """Return the number of code points, at most `most`, that two strings share at the start or at the end.

    Bisects, since comparing slices is much faster than comparing characters.
    """
    low = 0
    while low < most:
        middle = (low + most + 1) // 2
        same = (
            one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]
            if from_end
            else one[low:middle] == other[low:middle]
        )
        low, most = (middle, most) if same else (low, middle - 1)
    return low
