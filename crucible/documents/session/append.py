"""Add to the end of a note at a cost that hardly grows with the note.

Only the frontmatter and the tail from the last phase's heading on are read and edited.  A `## ` in column 0 after a blank line ends every
paragraph, list, quote and most HTML blocks, so the tail reads the same with or without what is above it, unless it is inside a fence, other
HTML or a comment.  Fences in column 0 are followed from the top; if anything else of these occurs, the whole note is read.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import NamedTuple, TypeAlias

from crucible.core.errors import EditRefused
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.frontmatter import find_frontmatter, find_frontmatter_span, remove_key, set_key
from crucible.documents.markdown.hidden_ranges import scan
from crucible.documents.markdown.line_scan import SEPARATOR
from crucible.documents.markdown.source import Edit, Source, Span, apply_edits
from crucible.documents.markdown.yaml_scalars import Value, same_value
from crucible.documents.session.callout_edits import add_summary, find_subagent, set_subagent
from crucible.documents.session.edits import add_entry, add_phase, set_phase_field, set_tasks
from crucible.documents.session.properties import FieldReader, read_fields
from crucible.documents.session.session import Entry, Phase, Session, Subagent, Task
from crucible.documents.session.session_reader import read_session


class PhaseField(NamedTuple):
    """Set a field of the last phase: `started` or `ended` to an aware time, `tokens` to a count."""

    key: str
    value: datetime | int


class TaskList(NamedTuple):
    """Make the tasks block hold these."""

    tasks: tuple[Task, ...]


class Summary(NamedTuple):
    """Add to the summary, which is begun where there is none."""

    text: str


class SubagentUpdate(NamedTuple):
    """Write the callout of a subagent anew, the first that links to the same note."""

    entry: Subagent


Step: TypeAlias = "Phase | Entry | PhaseField | TaskList | Summary | SubagentUpdate"
"""A new last phase, a new last entry of the last phase or sub-phase, a field of the last phase, or what needs the whole note."""


@dataclass(frozen=True, slots=True)
class Addition:
    """What is to be added: values of frontmatter keys (None removes one), and steps, in order."""

    keys: Mapping[str, Value] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class NoteState:
    """What an addition may depend on.

    Of `head` only what the frontmatter says is certain to be there; all of it when there is no `phase`.  `phase` is the
    last phase with its entries; its id counts from the first phase of the note.
    """

    head: Session
    phase: Phase | None


Plan: TypeAlias = "Callable[[NoteState], Addition]"


class Place(NamedTuple):
    """Where the last phase of a note begins: the offset of its heading, and how many phases stand above it."""

    tail: int
    above: int


@dataclass(frozen=True)
class Appended:
    """The edits of `before` that add it, the id of the last phase or sub-phase then, and where that phase is, if certain."""

    before: Source
    edits: tuple[Edit, ...]
    phase: str
    place: Place | None

    @cached_property
    def source(self) -> Source:
        """The note afterwards."""
        return apply_edits(self.before, self.edits)


def append(source: Source, name: str, plan: Plan, place: Place | None = None) -> Appended:
    """Add to a session note; `place` is what an earlier call told of a note of exactly this text.

    `name` is the file's name without `.md`.  Raises `EditRefused` when the note has no place where it would show.
    """
    start = find_frontmatter_span(source).end
    place = place or (find_tail(source.text, start) if start else None)
    if place is not None:
        try:
            return _append_narrow(source, name, plan, start, place)
        except EditRefused:
            pass  # the whole note says it with the line's number
    return append_wide(source, name, plan)


def append_wide(source: Source, name: str, plan: Plan) -> Appended:
    """The same by reading the whole note: what `append` must come to in every case."""
    session = read_session(source, name)
    addition = plan(NoteState(session, session.phases[-1] if session.phases else None))
    part = _Part(_set_keys(source, addition.keys), name, session.format)
    for step in addition.steps:
        part.take(step)
    start = find_frontmatter_span(part.source).end
    phase = part.session.phases[-1] if part.session.phases else None
    place = None
    if phase and _stands_alone(part.source, start, at := part.source.starts[phase.lines.first]):
        place = Place(at, len(part.session.phases) - 1)
    return Appended(source, _difference(source, part.source), part.last, place)


def _append_narrow(source: Source, name: str, plan: Plan, start: int, place: Place) -> Appended:
    """`start` is where the frontmatter ends."""
    at = place.tail
    head, tail = Source(source.text[:start]), Source(source.text[at:])
    told = read_head(head, name)
    part = _Part(tail, name, told.format, place.above)
    addition = plan(NoteState(told, part.phase))
    changed = _set_keys(head, addition.keys)
    for step in addition.steps:
        part.take(step)
    edits = [Edit(Span(0, start), changed.text)] if changed.text != head.text else []
    edits += [Edit(Span(at + span.start, at + span.end), text) for span, text in _difference(tail, part.source)]
    return Appended(source, tuple(edits), part.last, part.place(at + len(changed.text) - start))


def read_head(source: Source, name: str) -> Session:
    """A session with nothing but what the frontmatter says."""
    found = find_frontmatter(source)
    return Session(**read_fields(FieldReader(source, found), name, found.present))


class _Part:
    """A note, or its tail, while steps are taken; `before` counts the phases above a tail."""

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
        """The last phase, with the id that it has in the note."""
        phases = self.session.phases
        return replace(phases[-1], id=f"phase-{self.before + len(phases)}") if phases else None

    @property
    def last(self) -> str:
        """The id, in the note, of the last phase or sub-phase; "" without any."""
        if not self.session.phases:
            return ""
        subs = self.session.phases[-1].subphases
        number = f"phase-{self.before + len(self.session.phases)}"
        return f"{number}.{len(subs)}" if subs else number

    def take(self, step: Step) -> None:
        """Make the edits of one step."""
        self._read_again(self._stale)
        edits = self._edits(step)
        if edits:
            self.source = apply_edits(self.source, edits)
            self._stale = True
        # Below the last phase's heading nothing moves it, so who asks only for its place need not wait.
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
            raise EditRefused(f"{self.name}: it has no phase yet", "begin one")
        last = self.session.phases[-1]
        if isinstance(step, PhaseField):
            return set_phase_field(self.source, self.session, last.id, step.key, step.value)
        home = last.subphases[-1] if last.subphases else last
        return add_entry(self.source, self.session, step, home.id)

    def _whole_edits(self, step: TaskList | Summary | SubagentUpdate) -> list[Edit]:
        if not self.is_whole:
            raise EditRefused(f"{self.name}: only the whole note tells where that goes")
        if isinstance(step, TaskList):
            return set_tasks(self.source, self.session, step.tasks)
        if isinstance(step, Summary):
            return add_summary(self.source, self.session, step.text)
        entry = find_subagent(self.session, step.entry.link or "")
        return set_subagent(self.source, self.session, entry, step.entry) if entry else []

    def place(self, offset: int) -> Place | None:
        """Where the last phase is in the note, when this tail begins at `offset`."""
        at = self.source.starts[self.session.phases[-1].lines.first]
        if at and not _stands_alone(self.source, 0, at):
            return None
        return Place(offset + at, self.before + len(self.session.phases) - 1)


def _stands_alone(source: Source, start: int, at: int) -> bool:
    """Whether the heading at offset `at`, which is one, parts what is above it, from `start` on, from what is below."""
    text = source.text
    if not text.startswith("\n\n## ", at - 2) or "\r" in text:
        return False
    line_end = text.find("\n", at)
    headings = _PHASE_LINE.finditer(text, max(start - 1, 0), len(text) if line_end < 0 else line_end + 1)
    # A second summary is a phase, and the part from `at` on does not show that there is a first one.
    if any(found[2] for found in headings):
        return False
    if text.find("%%", start) < 0:
        return True
    found = scan(text, start)
    return not found.unclosed and not any(one.span.start < at < one.span.end for one in found.hidden)


def _set_keys(source: Source, keys: Mapping[str, Value]) -> Source:
    """The source with frontmatter keys set one after another; None removes one."""
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
    """One edit from the first line that differs to the last one."""
    one, other = before.text, after.text
    if one == other:
        return ()
    shorter = min(len(one), len(other))
    head = _common(one, other, shorter, from_end=False)
    tail = _common(one, other, shorter - head, from_end=True)
    return (Edit(Span(head, len(one) - tail), other[head : len(other) - tail]),)


def _common(one: str, other: str, most: int, *, from_end: bool) -> int:
    """How many code points, up to `most`, both texts begin or end with: halving, since comparing is what is fast."""
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


# --- the last phase without reading what is above it -----------------------------------------------------------------

_LARGEST = 16_000_000
"""Code points; beyond, untidy notes are not understood any more, and which is which is not asked here."""
_FENCE_LINE = late_pattern(r"\n( *)(`{3,}|~{3,})([^\n]*)")
_HTML_LINE = late_pattern(r"\n {0,3}<")
# What `body` takes for a summary instead of a phase depends on more than its heading.
_PHASE_LINE = late_pattern(r"\n( {0,3})##(?:(?=\n|\Z)|[ \t]+(?=([sS\u017f][uU][mM]{2}[aA][rR][yY][ \t#]*(?:\n|\Z))?))")


def find_tail(text: str, start: int) -> Place | None:
    """Where the last phase begins; None when in doubt.

    `start` is where the frontmatter ends, behind a line end.
    """
    if "\r" in text or len(text) > _LARGEST:
        return None
    fences = _find_fences(text, start - 1)
    if fences is None or _is_doubtful(text, start - 1, fences):
        return None
    last, count = -1, 0
    for found in _PHASE_LINE.finditer(text, start - 1):
        if not fences.hide(found.start()):
            if found[1] or found[2]:
                return None
            last, count = found.start() + 1, count + 1
    if not text.startswith("\n\n## ", last - 2) or last - 1 < start:
        return None
    return Place(last, count - 1)


class _Fences:
    """Where the fences stand that begin in column 0."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []

    def hide(self, at: int) -> bool:
        """Whether the line that begins behind offset `at` stands in one."""
        place = bisect_right(self.starts, at) - 1
        return place >= 0 and at < self.ends[place]


def _find_fences(text: str, start: int) -> _Fences | None:
    """None when a fence may be a list's or not: then only markdown-it knows."""
    fences = _Fences()
    if "```" not in text and "~~~" not in text:
        return fences
    opened = ""
    for line in _FENCE_LINE.finditer(text, start):
        indent, mark, info = line.groups()
        if len(indent) > 3:
            continue
        if opened:
            if mark.startswith(opened) and not info.strip(" \t"):
                fences.ends.append(line.end())
                opened = ""
        elif indent:
            return None
        elif mark[0] == "~" or "`" not in info:
            fences.starts.append(line.start())
            opened = mark
    if opened:
        fences.ends.append(len(text))
    return fences


def _is_doubtful(text: str, start: int, fences: _Fences) -> bool:
    """Whether anything outside the fences may be a comment, or HTML that reaches over a blank line."""
    at = text.find("%%", start)
    while at >= 0:
        if not fences.hide(at):
            return True
        at = text.find("%%", at + 1)
    if "<" not in text:
        return False
    ours = f"\n{SEPARATOR}\n"
    return any(
        not fences.hide(found.start()) and not text.startswith(ours, found.start())
        for found in _HTML_LINE.finditer(text, start)
    )
