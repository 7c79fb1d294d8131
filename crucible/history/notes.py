"""An entry as a note for Obsidian, and from it.

Owns the properties' names and order, the headings, and what an item looks like: `- text (line 12)`, below it `  - Why: …`.
`read_entry(render_entry(entry)).entry` is the entry again, in its tidy form; whatever texts hold, they stand there contained.  Of what a human
made of a note every item is taken as it stands.  The last line, a comment, remembers what was written: `marks`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from crucible.errors import BadSessionId
from crucible.history.marks import mark_of, render_marks, value_mark
from crucible.history.model import Capture, Captures, Entry, Line, tidy_entry
from crucible.note.contain import (
    FORMAT,
    Rule,
    contain,
    contain_line,
    format_of,
    uncontain,
    uncontain_line,
    whole_fences,
)
from crucible.note.frontmatter import find_frontmatter, render_frontmatter
from crucible.note.scalars import Value
from crucible.note.source import Problem, Source
from crucible.note.wikilinks import with_links, without_links
from crucible.patterns import late_pattern
from crucible.session.fields import FieldReader, format_time
from crucible.session.identity import check_session_id
from crucible.session.markup import render_title

__all__ = [
    "HEADINGS",
    "NOTE_TYPE",
    "Item",
    "Read",
    "find_sections",
    "properties_of",
    "read_entry",
    "read_items",
    "render_entry",
    "render_item",
]

NOTE_TYPE = "history"
HEADINGS: Mapping[str, str] = MappingProxyType(
    {
        "done": "What We Did",
        "decisions": "Decisions Made",
        "questions": "Open Questions",
        "further": "Next Session",
    }
)
"""Sections of an entry, in order, and their level-2 headings."""

_PARTS = {heading.lower(): part for part, heading in HEADINGS.items()}
_HEADING = late_pattern(r"(#{1,2})[ \t]+(.*?)[ \t]*")
_ITEM = late_pattern(r"([ \t]*)(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(.*)")
_WHY = "Why: "
_PLACED = late_pattern(r"(.*) \(line ([0-9]{1,9})\)")
_OURS = Rule("place", r"[ \t]", r"\(line [0-9]{1,9}\)$", "(line ")
_OUTCOMES = ("suggested", "approved", "skipped")
_NO_TARGET = late_pattern(r"[\[\]|#^\\\x00-\x1f]|%%")


class Read(NamedTuple):
    """An entry, None for a note that is none, and what is wrong with the note."""

    entry: Entry | None
    problems: tuple[Problem, ...] = ()


class Item(NamedTuple):
    """An item of a section as it stands in a note: lines `first` up to, not including, `end`, from 0."""

    part: str
    line: Line
    first: int
    end: int


# --- writing ---------------------------------------------------------------------------------------------------------


def render_entry(entry: Entry, basis: str = "", place: str = "") -> str:
    """The whole note, with the marks of what it holds, and that of what it was told from, if any.

    `place` is the path of the session's note, seen from the vault: both notes have one name, so the name alone would lead from here to here.
    """
    tidy = tidy_entry(entry)
    values = properties_of(tidy)
    blocks = [render_title(tidy.title or tidy.session_id)]
    if _can_be_linked(tidy.session_id):
        blocks.append(f"From [[{_place(place) or f'sessions/{tidy.session_id}'}]].")
    blocks += _sections(tidy)
    blocks.append(render_marks(filter(None, (*_marks(tidy, values), basis))))
    return render_frontmatter({**values, "format": FORMAT}) + "\n" + "\n\n".join(blocks) + "\n"


def _sections(entry: Entry) -> Iterator[str]:
    for part, heading in HEADINGS.items():
        lines: tuple[Line, ...] = getattr(entry, part)
        yield f"## {heading}"
        if lines:
            yield "\n".join(row for line in lines for row in render_item(line))


def _marks(entry: Entry, values: Mapping[str, Value]) -> Iterator[str]:
    yield from (value_mark(key, value) for key, value in values.items())
    for part in HEADINGS:
        yield from (mark_of(part, line.text, line.why) for line in getattr(entry, part))


def render_item(line: Line, form: int = FORMAT) -> list[str]:
    """The lines of an item; `form` is the note's `format`."""
    place = f" (line {line.line})" if line.line else ""
    shown = [f"- {contain(line.text, extra=(_OURS,), form=form, after=line.why)}{place}"]
    return [*shown, f"  - {_WHY}{contain_line(line.why, form=form, before=line.text)}"] if line.why else shown


def properties_of(entry: Entry) -> dict[str, Value]:
    """The properties of a tidy entry in their order; what is empty is left out."""
    values: dict[str, Value] = {
        "type": NOTE_TYPE,
        "session_id": entry.session_id,
        "title": entry.title,
        "project": entry.project,
        "started": _shown(entry.started),
        "ended": _shown(entry.ended),
        "duration_minutes": entry.duration_minutes,
        "agent": entry.agent,
        "skills": [*entry.skills],
        "tasks_completed": [*entry.tasks_completed],
        "tasks_started": [*entry.tasks_started],
        "files_modified": [*entry.files_modified],
        "captures": [
            _capture(one, outcome)
            for outcome, group in zip(_OUTCOMES, entry.captures, strict=True)
            for one in group
        ],
        "tokens": entry.tokens,
        "author": entry.author,
    }
    return {key: _without_links(value) for key, value in values.items() if value not in (None, "", [])}


def _shown(time: datetime | None) -> str:
    return format_time(time) if time else ""


def _capture(one: Capture, outcome: str) -> dict[str, Value]:
    told = {"type": one.type, "id": one.id, "summary": one.summary, "outcome": outcome}
    return {key: value for key, value in told.items() if value}


def _without_links(value: Value) -> Value:
    r"""Foreign text leads nowhere: what would be a link, `[[x]]`, is `[\[x]]`."""
    if isinstance(value, list):
        return [_without_links(one) for one in value]
    if isinstance(value, dict):
        return {key: _without_links(one) for key, one in value.items()}
    return without_links(value) if isinstance(value, str) else value


def _place(path: str) -> str:
    """The path as a link has it, "" for one that cannot stand there."""
    return "" if _NO_TARGET.search(path) else path.removesuffix(".md")


def _can_be_linked(session: str) -> bool:
    try:
        return check_session_id(session) == session
    except BadSessionId:
        return False


# --- reading ---------------------------------------------------------------------------------------------------------


def read_entry(source: Source, name: str = "") -> Read:
    """The entry of a note whose file is called `name`, without `.md`."""
    found = find_frontmatter(source)
    told = _Properties(source, found)
    if not found.present or told.values.get("type") != NOTE_TYPE:
        told.problems.append(Problem("no-history", 1, f"type is not `{NOTE_TYPE}`"))
        return Read(None, tuple(told.problems))
    parts: dict[str, list[Line]] = {part: [] for part in HEADINGS}
    for item in read_items(source.lines, found.lines.end, format_of(found.values)):
        parts[item.part].append(item.line)
    entry = Entry(
        told.line("session_id") or name,
        title=told.line("title"),
        project=told.line("project"),
        started=told.time("started"),
        ended=told.time("ended"),
        duration_minutes=told.count("duration_minutes"),
        agent=told.line("agent"),
        skills=told.lines("skills"),
        tasks_completed=told.lines("tasks_completed"),
        tasks_started=told.lines("tasks_started"),
        files_modified=told.lines("files_modified"),
        captures=told.captures(),
        tokens=told.count("tokens"),
        author=told.line("author"),
        **{part: tuple(lines) for part, lines in parts.items()},
    )
    return Read(tidy_entry(entry), tuple(told.problems))


class _Properties(FieldReader):
    """The values of a history's note, each as what it should be; what it is not is told."""

    def line(self, key: str) -> str:
        return with_links(self.text(key) or "")

    def lines(self, key: str) -> tuple[str, ...]:
        return tuple(map(with_links, self.texts(key)))

    def captures(self) -> Captures:
        value = self.values.get("captures")
        items = value if isinstance(value, list) else [] if value is None else [value]
        found: dict[str, list[Capture]] = {outcome: [] for outcome in _OUTCOMES}
        for item in items:
            told = {key: with_links(str(one)) for key, one in item.items()} if isinstance(item, dict) else {}
            # The form that has no outcome lists what was kept.
            group = found.get(told.get("outcome", "approved"))
            if "type" not in told or group is None:
                self.complain("captures", "a list of maps with a type and an outcome")
            else:
                group.append(Capture(told["type"], told.get("id", ""), told.get("summary", "")))
        return Captures(*map(tuple, found.values()))


def read_items(lines: Sequence[str], start: int = 0, form: int = FORMAT) -> Iterator[Item]:
    """Every item of the known sections; a paragraph that a human wrote there is one too.  What stands in a fence is none."""
    fenced = _fenced(lines, start)
    headings = [*_headings(lines, start, fenced), ("", len(lines))]
    for (part, above), (_, end) in pairwise(headings):
        at = above + 1
        while part and at < end:
            first, at = at, at + 1
            if first in fenced or _is_apart(lines[first]):
                continue
            while at < end and at not in fenced and _goes_on(lines[at]):
                at += 1
            if (told := _read_item(lines[first:at], form)).text:
                yield Item(part, told, first, at)


def find_sections(lines: Sequence[str], start: int = 0) -> dict[str, int]:
    """The line of the first heading of each known section, from 0."""
    found: dict[str, int] = {}
    for part, at in _headings(lines, start, _fenced(lines, start)):
        if part:
            found.setdefault(part, at)
    return found


def _fenced(lines: Sequence[str], start: int) -> frozenset[int]:
    fences = whole_fences("\n".join(lines[start:]))
    return frozenset(start + number for first, end in fences for number in range(first, end))


def _headings(lines: Sequence[str], start: int, fenced: frozenset[int]) -> Iterator[tuple[str, int]]:
    """Part, "" for none of ours, and line of each heading that ends a section."""
    for at in range(start, len(lines)):
        if lines[at][:1] == "#" and at not in fenced and (heading := _HEADING.fullmatch(lines[at])):
            name = heading[2].rstrip("# \t").lower()
            yield (_PARTS.get(name, "") if len(heading[1]) == 2 else ""), at


def _is_apart(line: str) -> bool:
    """Whether a line is no item and ends one: a blank one, a heading, a comment, a quote, a callout, or a mark of a merge that nobody settled yet."""
    return not line.strip() or line.startswith(("%%", "#", ">", "<<<<<<<", "=======", "|||||||"))


def _goes_on(line: str) -> bool:
    """Whether a line belongs to the item above it."""
    item = _ITEM.fullmatch(line)
    return not _is_apart(line) and (item is None or bool(item[1]))


def _read_item(lines: Sequence[str], form: int) -> Line:
    """Lines of an item; its sub-items that are no `Why:` belong to its text."""
    texts, whys = list[str](), list[str]()
    for number, line in enumerate(lines):
        item = _ITEM.fullmatch(line)
        text = (item[2] if item else line).strip(" \t")
        is_why = number > 0 and item is not None and text.startswith(_WHY)
        (whys if is_why or whys else texts).append(text[len(_WHY) :] if is_why else text)
    text, place = " ".join(texts), 0
    if found := _PLACED.fullmatch(text):
        text, place = found[1], int(found[2])
    why = uncontain_line(" ".join(whys), form=form)
    return Line(uncontain(text, extra=(_OURS,), form=form), why, place)
