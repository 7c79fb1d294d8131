"""Render a history as a note, and parse it again; a comment at the end marks the items that Crucible wrote.

An item is `- text`, ` - Why: reason`, ` - sub-point`.  Also reads EDI's notes, with `date` and `start_time` but no
`type`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

from crucible.core.errors import BadSessionId
from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.code_spans import FORMAT
from crucible.documents.markdown.containment import contain, contain_line, format_of, uncontain, uncontain_line
from crucible.documents.markdown.fences import whole_fences
from crucible.documents.markdown.frontmatter import find_frontmatter, render_frontmatter
from crucible.documents.markdown.source import Edit, Problem, Source, Span
from crucible.documents.markdown.wikilinks import escape_links, unescape_links
from crucible.documents.markdown.yaml_scalars import Value, render_entry
from crucible.documents.session.markup import render_title
from crucible.documents.session.properties import FieldReader, format_time, parse_time
from crucible.documents.session.session import SESSIONS
from crucible.documents.session.session_id import check_session_id
from crucible.memory.history.history import (
    HEADINGS,
    LISTS,
    MOST_CAPTURES,
    PROPERTIES,
    TEXTS,
    WHY,
    Capture,
    Captures,
    HistoryEntry,
    HistoryLine,
    lines_of,
    tidy_entry,
)

_FORMER = "told_from"
"""A key in notes that a model wrote in older versions; its value is the digest of the model's prompt."""
_DIGITS = 8
_KEY = r"[\w./:@+-]{1,160}"
_COMMENT = rf"(?:<!--|%%) crucible wrote:((?: {_KEY}=[0-9a-f]{{8}})*) (?:-->|%%)[ \t]*"
_LINE = late_pattern(_COMMENT)
_LINE_AND_SPACE = late_pattern(rf"(?m)(?:\r?\n)*^{_COMMENT}\r?$")
_NAME = late_pattern(_KEY)
_MARKER = late_pattern(r"\A[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)?")


def item_keys(entry: HistoryEntry) -> dict[str, HistoryLine]:
    """Return the lines of all sections by key: the section, and the finding's id or else a digest of the text.

    The marks in a note use the same keys.
    """
    found: dict[str, HistoryLine] = {}
    for part in HEADINGS:
        for line in lines_of(entry, part):
            name = line.finding if _NAME.fullmatch(line.finding) else f"text-{_digest(line.text)}"
            key, number = f"{part}/{name}", 1
            while key in found:
                number += 1
                key = f"{part}/{name}+{number}"
            found[key] = line
    return found


def item_mark(rows: Sequence[str]) -> str:
    """Return the digest of an item's lines, without indentation and list markers."""
    return _digest("\n".join(_MARKER.sub("", row).rstrip() for row in rows))


def value_mark(key: str, value: Value) -> str:
    """Return the digest of a property."""
    return _digest("\n".join(render_entry(key, value)))


def render_marks(marks: Mapping[str, str]) -> str:
    """Return the comment line with the marks, sorted so that equal marks give equal lines."""
    return " ".join(["<!-- crucible wrote:", *(f"{key}={marks[key]}" for key in sorted(marks)), "-->"])


def is_marks_line(line: str) -> bool:
    """Return whether this is a comment line with marks."""
    return bool(_LINE.fullmatch(line))


def without_marks(text: str) -> str:
    """Return a note's text for a reader, without the comment lines with marks."""
    return _LINE_AND_SPACE.sub("", text)


def marks_comment_edits(source: Source) -> list[Edit]:
    """Return edits that turn marks of an older version into a comment that GitHub hides too."""
    edits: list[Edit] = []
    for at, line in enumerate(source.lines if "%% crucible wrote" in source.text else ()):
        if line.startswith("%%") and (found := _LINE.fullmatch(line)):
            start = source.starts[at]
            edits.append(Edit(Span(start, start + len(line)), f"<!-- crucible wrote:{found[1]} -->"))
    return edits


def read_marks(lines: Sequence[str]) -> dict[str, str] | None:
    """Return the marks from all comment lines, since a git merge may have left two; None if there are none."""
    found = [match[1].split() for line in lines if (match := _LINE.fullmatch(line))]
    if not found:
        return None
    pairs = (one.rpartition("=") for marks in found for one in marks)
    return {key: digest for key, _, digest in pairs if key != _FORMER}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


NOTE_TYPE = "history"
_PARTS = {heading.lower(): part for part, heading in HEADINGS.items()}
_HEADING = late_pattern(r"(#{1,2})[ \t]+(.*?)[ \t]*")
_ITEM = late_pattern(r"([ \t]*)(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(.*)")
_EMPHASIZED = ("done", "decisions")
_LONGEST_HEAD = 100
"""Maximum characters of text in bold."""
_HEAD = late_pattern(r"([^*]+?)( \([^()*]*\))?")
_BOLD = late_pattern(r"\*\*([^*]+)\*\*( \([^()*]*\))?")
_NO_TARGET = late_pattern(r"[\[\]|#^\\\x00-\x1f]|%%")


class ReadHistory(NamedTuple):
    """An entry (None if the note is not a history) and the note's problems."""

    entry: HistoryEntry | None
    problems: tuple[Problem, ...] = ()


class HistoryItem(NamedTuple):
    """An item of a section in a note: its lines from `first` to `end` (from 0, `end` excluded), and its mark."""

    part: str
    line: HistoryLine
    first: int
    end: int
    mark: str = ""


# --- writing ---------------------------------------------------------------------------------------------------------


def render_history(entry: HistoryEntry, place: str = "") -> str:
    """Render the entire note, including the marks for its content.

    `place` is the path of the session's note in the vault.  The link needs it because both notes have the same name.
    """
    tidy = tidy_entry(entry)
    values = properties_of(tidy)
    blocks = [render_title(tidy.title or tidy.session_id)]
    if _can_be_linked(tidy.session_id):
        target = _place(place) or f"{SESSIONS}/{tidy.session_id}"
        blocks.append(f"From [[{target}|{tidy.session_id}]].")
    marks = {key: value_mark(key, value) for key, value in values.items()}
    rows: dict[str, list[str]] = {}
    counts = Counter[str]()
    for key, line in item_keys(tidy).items():
        part = key.partition("/")[0]
        counts[part] += 1
        shown = render_item(part, line, counts[part])
        marks[key] = item_mark(shown)
        rows.setdefault(part, [f"## {HEADINGS[part]}", ""]).extend(shown)
    blocks += [*map("\n".join, rows.values()), render_marks(marks)]
    return render_frontmatter({**values, "format": FORMAT}) + "\n" + "\n\n".join(blocks) + "\n"


def render_item(part: str, line: HistoryLine, number: int, form: int = FORMAT) -> list[str]:
    """Render an item of a section; `form` is the note's `format`."""
    below = [f"{WHY}{contain_line(line.why, form=form, before=line.text)}"] if line.why else []
    below += [contain(one, form=form, before=line.text) for one in line.points]
    text = contain(line.text, form=form, after=" ".join((line.why, *line.points)))
    if part in _EMPHASIZED:
        text = _with_bold_head(text)
    lead = f"{number}. " if part == "done" else "- "
    return [lead + text, *(f"{' ' * len(lead)}- {one}" for one in below)]


def _with_bold_head(text: str) -> str:
    """Return the text in bold, except for parentheses at the end."""
    head = _HEAD.fullmatch(text)
    if head is None or len(head[1]) > _LONGEST_HEAD or head[1].count("`") % 2 or "\\" in head[1][-1:]:
        return text
    return f"**{head[1]}**{head[2] or ''}"


def properties_of(entry: HistoryEntry) -> dict[str, Value]:
    """Return the properties of a tidy entry in order, without empty ones."""
    values = {name: _shown(getattr(entry, name)) for name in PROPERTIES}
    kept = {key: value for key, value in values.items() if value not in (None, "", [])}
    return {"type": NOTE_TYPE, **kept}


def _shown(value: object) -> Value:
    r"""A value as a property.  Links in foreign text are made inert: `[[x]]` becomes `[\[x]]`."""
    match value:
        case datetime():
            return format_time(value)
        case Captures():
            return [_capture(one, outcome) for outcome, one in _listed(value)]
        case tuple():
            return [_shown(one) for one in value]
        case str():
            return escape_links(value)
        case int():
            return value
    return None


def _listed(captures: Captures) -> list[tuple[str, Capture]]:
    """Return up to `MOST_CAPTURES` captures: the latest approved ones, then suggested, then skipped ones."""
    found = [("approved", one) for one in captures.approved[-MOST_CAPTURES:]]
    found += [("suggested", one) for one in captures.suggested]
    found += [("skipped", one) for one in captures.skipped]
    return found[:MOST_CAPTURES]


def _capture(one: Capture, outcome: str) -> dict[str, Value]:
    fields = {"type": one.type, "id": one.id, "summary": one.summary, "outcome": outcome}
    return {key: _shown(value) for key, value in fields.items() if value}


def _place(path: str) -> str:
    """Return the path as a link target; "" if it cannot be one."""
    return "" if _NO_TARGET.search(path) else path.removesuffix(".md")


def _can_be_linked(session: str) -> bool:
    try:
        return check_session_id(session) == session
    except BadSessionId:
        return False


# --- reading ---------------------------------------------------------------------------------------------------------


def is_history(values: Mapping[str, Value]) -> bool:
    """Return whether a note is a history: ours have a `type`, EDI's have `session_id` and `date`."""
    kind = values.get("type")
    return kind == NOTE_TYPE or (kind is None and bool(values.get("session_id") and values.get("date")))


def read_entry(source: Source, name: str = "") -> ReadHistory:
    """Parse the entry in a note; `name` is the file name without `.md`.

    `read_entry(render_history(entry)).entry` equals `entry`, except for `finding`, which a note does not show.
    """
    found = find_frontmatter(source)
    properties = _Properties(source, found)
    if not found.present or not is_history(found.values):
        properties.problems.append(Problem("no-history", 1, f"type is not `{NOTE_TYPE}`"))
        return ReadHistory(None, tuple(properties.problems))
    lines: dict[str, list[HistoryLine]] = {part: [] for part in HEADINGS}
    for item in read_items(source.lines, found.lines.end, format_of(found.values)):
        lines[item.part].append(item.line)
    values: dict[str, Any] = {key: properties.line(key) for key in TEXTS}
    values |= {key: properties.lines(key) for key in LISTS}
    values["session_id"] = values["session_id"] or name
    values |= {part: tuple(found) for part, found in lines.items()}
    entry = HistoryEntry(
        started=properties.moment("started", "start_time"),
        ended=properties.moment("ended", "end_time"),
        duration_minutes=properties.count("duration_minutes"),
        captures=properties.captures(),
        tokens=properties.count("tokens"),
        **values,
    )
    return ReadHistory(tidy_entry(entry), tuple(properties.problems))


class _Properties(FieldReader):
    """The typed properties of a history note; values of the wrong type are reported as problems."""

    def line(self, key: str) -> str:
        return unescape_links(self.text(key) or "")

    def lines(self, key: str) -> tuple[str, ...]:
        return tuple(map(unescape_links, self.texts(key)))

    def moment(self, key: str, clock: str) -> datetime | None:
        """Return the time in `key`, or the `date` with the time of day in `clock`."""
        if key in self.values or "date" not in self.values:
            return self.time(key)
        found = parse_time(f"{self.text('date')}T{self.text(clock) or '00:00:00'}")
        if found is None:
            self.complain("date", "a date, with times of day in separate properties")
        return found

    def captures(self) -> Captures:
        value = self.values.get("captures")
        items = value if isinstance(value, list) else [] if value is None else [value]
        found: dict[str, list[Capture]] = {outcome: [] for outcome in Captures._fields}
        for item in items:
            fields = {key: unescape_links(str(one)) for key, one in item.items()} if isinstance(item, dict) else {}
            # The older form without `outcome` only lists approved captures.
            group = found.get(fields.get("outcome", "approved"))
            if "type" not in fields or group is None:
                self.complain("captures", "a list of maps with a type and an outcome")
            else:
                group.append(Capture(fields["type"], fields.get("id", ""), fields.get("summary", "")))
        return Captures(*map(tuple, found.values()))


def read_items(lines: Sequence[str], start: int = 0, form: int = FORMAT) -> Iterator[HistoryItem]:
    """Yield the items of the known sections, including a user's paragraphs, but no text in code fences."""
    fenced = _fenced(lines, start)
    headings = [*_headings(lines, start, fenced), ("", len(lines))]
    for (part, above), (_, end) in pairwise(headings):
        at = above + 1
        while part and at < end:
            first, at = at, at + 1
            if first in fenced or _is_apart(lines[first]):
                continue
            while at < end and at not in fenced and _continues_item(lines[at]):
                at += 1
            if (line := _read_item(lines[first:at], form)).text:
                yield HistoryItem(part, line, first, at, item_mark(lines[first:at]))


def find_sections(lines: Sequence[str], start: int = 0) -> dict[str, int]:
    """Return the line (from 0) of the first heading of each known section."""
    found: dict[str, int] = {}
    for part, at in _headings(lines, start, _fenced(lines, start)):
        if part:
            found.setdefault(part, at)
    return found


def _fenced(lines: Sequence[str], start: int) -> frozenset[int]:
    fences = whole_fences("\n".join(lines[start:]))
    return frozenset(start + number for first, end in fences for number in range(first, end))


def _headings(lines: Sequence[str], start: int, fenced: frozenset[int]) -> Iterator[tuple[str, int]]:
    """Yield each heading that ends a section: the section it begins ("" if unknown), and its line."""
    for at in range(start, len(lines)):
        if lines[at][:1] == "#" and at not in fenced and (heading := _HEADING.fullmatch(lines[at])):
            name = heading[2].rstrip("# \t").lower()
            yield (_PARTS.get(name, "") if len(heading[1]) == 2 else ""), at


def _is_apart(line: str) -> bool:
    """Return whether a line ends an item: blank, a heading, a comment, a quote, a callout, or a conflict marker."""
    return not line.strip() or line.startswith(("%%", "<!--", "#", ">", "<<<<<<<", "=======", "|||||||"))


def _continues_item(line: str) -> bool:
    """Return whether a line belongs to the item above it."""
    item = _ITEM.fullmatch(line)
    return not _is_apart(line) and (item is None or bool(item[1]))


def _read_item(lines: Sequence[str], form: int) -> HistoryLine:
    """Parse an item with its sub-points.  A line without a list marker continues the previous line."""
    parts: list[str] = []
    for line in lines:
        item = _ITEM.fullmatch(line)
        text = (item[2] if item else line).strip(" \t")
        if item or not parts:
            parts.append(text)
        else:
            parts[-1] = f"{parts[-1]} {text}"
    bold = _BOLD.fullmatch(parts[0])
    text = bold[1] + (bold[2] or "") if bold else parts[0]
    whys = [one.removeprefix(WHY) for one in parts[1:] if one.startswith(WHY)]
    points = [uncontain(one, form=form) for one in parts[1:] if not one.startswith(WHY)]
    return HistoryLine(uncontain(text, form=form), uncontain_line(" ".join(whys), form=form), tuple(points))
