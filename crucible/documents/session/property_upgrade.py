"""Bring notes of older versions up to date: format 1 to 2, bookkeeping at the end, `title`, `aliases` and local days.

The formats differ only in backslashes and blanks within lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from crucible.core.errors import EditRefused
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.code_spans import FORMAT, harmless_json, read_code_span
from crucible.documents.markdown.containment import convert, convert_line, convert_span, format_of
from crucible.documents.markdown.containment_inline import FIELDS, TAG
from crucible.documents.markdown.fences import whole_fences
from crucible.documents.markdown.frontmatter import Frontmatter, find_frontmatter, set_key
from crucible.documents.markdown.line_scan import COMMENT_START
from crucible.documents.markdown.source import NOWHERE, Edit, Source, Span, apply_edits
from crucible.documents.markdown.yaml_scalars import Value, render_entry, same_value
from crucible.documents.session.bookkeeping import (
    BOOKKEEPING,
    new_bookkeeping_text,
    read_bookkeeping,
    render_bookkeeping,
    safe_line,
)
from crucible.documents.session.property_values import day_properties, project_value, title_properties
from crucible.documents.session.session import NoteHome, Session
from crucible.documents.session.session_reader import read_session

_ADDED = ("title", "aliases", "date", "started_local")


class Upgrade(NamedTuple):
    """The edits for a note, or the reason why it is left as it is; both are empty if nothing is to do."""

    edits: tuple[Edit, ...] = ()
    reason: str = ""


def upgrade_properties(source: Source, name: str, home: NoteHome) -> Upgrade:
    """Return the edits that move bookkeeping to the end of the note and add what is missing.

    Lines are moved as they are, with their comments.  `home` is that of the note's project.
    """
    found = find_frontmatter(source)
    if not found.present or found.values.get("type") != "session" or found.problems:
        return Upgrade()  # not a session, or `cru session check` reports it
    moved = [key for key in BOOKKEEPING if key in found.values]
    project = found.values.get("project")
    links = isinstance(project, str) and "[[" not in project and project_value(project, home.project) != project
    if not moved and not links and all(key in found.values for key in _ADDED):
        return Upgrade()
    session = read_session(source, name)
    try:
        edits = [*_moves(source, found, session, moved), *_additions(source, found, session, home)]
        if links and home.project:
            edits += set_key(source, found, "project", project_value(str(project), home.project))
        if not edits:
            return Upgrade()
        after = read_session(apply_edits(source, edits), name)
    except EditRefused as error:
        return Upgrade(reason=str(error))
    if after != session or _codes(after) != _codes(session):
        return Upgrade(reason="it would read differently")
    return Upgrade(tuple(edits))


def _codes(session: Session) -> list[str]:
    return [problem.code for problem in session.problems]


def _moves(source: Source, found: Frontmatter, session: Session, moved: list[str]) -> Iterator[Edit]:
    known = _bookkeeping(source, session)
    lines: list[str] = []
    for key in moved:
        if key not in found.keys or found.locked:
            raise EditRefused(f"line 1: {found.locked or f'{key!r} cannot be moved'}")
        if key in known and not same_value(known[key], found.values[key]):
            raise EditRefused(f"{key!r} is in the frontmatter and at the end, with two values")
        yield Edit(found.keys[key], "")
        if key not in known:
            lines += _lines_of(source.slice(found.keys[key]), key, found.values[key])
    if not lines:
        return
    if session.bookkeeping_lines is NOWHERE:
        yield new_bookkeeping_text(source, [COMMENT_START, *lines, "-->"])
    else:
        at = source.starts[session.bookkeeping_lines.end - 1]
        yield Edit(Span(at, at), "".join(f"{line}{source.newline}" for line in lines))


def _bookkeeping(source: Source, session: Session) -> Mapping[str, Value]:
    if session.bookkeeping_lines is NOWHERE:
        return {}
    return read_bookkeeping(source, session.bookkeeping_lines)[1].values


def _lines_of(text: str, key: str, value: Value) -> list[str]:
    """A property's lines as they are, or rendered again if they are indented or hold unsafe text."""
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    is_safe = not text.startswith((" ", "\t")) and "\r" not in lines and all(safe_line(line) == line for line in lines)
    return lines if is_safe else render_bookkeeping({key: value})[1:-1]


def _additions(source: Source, found: Frontmatter, session: Session, home: NoteHome) -> Iterator[Edit]:
    own = found.values.get("title")  # the user's, which may differ from the heading
    values: dict[str, Value] = {"aliases": [own]} if isinstance(own, str) and own else title_properties(session.title)
    if session.started:
        values |= day_properties(session.started, home.zone)
    lines = [line for key, value in values.items() if key not in found.values for line in render_entry(key, value)]
    if not lines:
        return
    if found.locked:
        raise EditRefused(f"line 1: {found.locked}")
    span = found.keys.get("session_id")
    at = span.end if span else source.starts[found.lines.end - 1]
    yield Edit(Span(at, at), "".join(f"{line}{source.newline}" for line in lines))


_QUOTE = late_pattern(r" {0,3}> ?")
_QUOTED = late_pattern(r'[ ]*(?:- )?(?:[\w-]+:[ ]+)?"[^\n]*"[ \t]*')
_OURS = late_pattern(rf"\[!subagent\]|(?:{'|'.join(FIELDS)})::|%%.*%%[ \t]*$")
_HEADING = late_pattern(r"(#{1,3}[ \t]+)(.*?)((?:[ \t]+(?:@[\w.:/+-]+(?:@[\w.:/+-]+)?|#[\w.:/+-]+|[!?]))*[ \t]*)$")
_MARKED = late_pattern(rf"(.*[ \t])?\\(\\*#{TAG}[^ \t]*)$")
_CALL = late_pattern(r"[ \t]*[-*+][ \t]+(?=`)")
_TASKS = late_pattern(r"(?:`{3,}|~{3,})[ \t]*tasks(?![\w-])")


def migrate(source: Source) -> list[Edit]:
    """Return the edits that convert the note; none if it has no properties or is already converted."""
    found = find_frontmatter(source)
    if not found.present or format_of(found.values) == FORMAT:
        return []
    first = found.lines.end
    before = source.lines[first:]
    edits = set_key(source, found, "format", FORMAT)
    for number, line in enumerate(source.lines[:first]):
        if "<%" in line and _QUOTED.fullmatch(line):
            start = source.starts[number]
            edits.append(Edit(Span(start, start + len(line)), line.replace("<%", "<\\x25")))
    for number, (line, new) in enumerate(zip(before, _converted(before), strict=True), first):
        if new != line:
            start = source.starts[number]
            edits.append(Edit(Span(start, start + len(line)), new))
    return edits


def _converted(lines: Sequence[str]) -> list[str]:
    """Convert the lines of a body, or of a quote without the leading `>`."""
    text = "\n".join(lines)
    new = convert(text).split("\n")
    fenced: set[int] = set()
    for start, end in whole_fences(text):
        fenced.update(range(start, end))
        if _TASKS.match(lines[start]):
            new[start:end] = map(harmless_json, lines[start:end])
    at = 0
    while at < len(lines):
        if at in fenced:
            at += 1
        elif _QUOTE.match(lines[at]):
            end = at + 1
            while end < len(lines) and end not in fenced and _QUOTE.match(lines[end]):
                end += 1
            new[at:end] = _quoted(lines[at:end])
            at = end
        else:
            new[at] = _line(lines[at], new[at])
            at += 1
    return new


def _quoted(lines: Sequence[str]) -> list[str]:
    marks = [found.end() if (found := _QUOTE.match(line)) else 0 for line in lines]
    inner = _converted([line[mark:] for line, mark in zip(lines, marks, strict=True)])
    return [line[:mark] + new for line, mark, new in zip(lines, marks, inner, strict=True)]


def _line(line: str, prose: str) -> str:
    """Convert a line outside fences and quotes.  `prose` is the same line converted as plain text."""
    if _OURS.match(line):
        return line
    if heading := _HEADING.match(line):
        name = heading[2]
        if marked := _MARKED.match(name):  # format 1 escaped a last word that looks like a channel
            name = f"{marked[1] or ''}{marked[2]}"
        return f"{heading[1]}{convert_line(name)}{heading[3]}"
    if item := _CALL.match(line):
        span = read_code_span(line, item.end())
        if span:
            rest = line[span[1] :]
            return (
                item[0]
                + convert_span(line[item.end() : span[1]], rest)
                + convert_line(rest, line[item.end() : span[1]])
            )
    return prose
