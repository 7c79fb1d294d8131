"""A history's note brought up to date with its session, and every word of a human's left as it is.

Owns which lines are ours: an item or a property that has the mark we wrote with it.  What a human changed or added has none and stays; what has a
mark and is gone he took out, and it stays out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from crucible.errors import EditRefused
from crucible.history.marks import BASIS, is_marks_line, mark_of, read_marks, render_marks, value_mark
from crucible.history.model import Captures, Entry, Line, tidy_entry
from crucible.history.notes import (
    HEADINGS,
    NOTE_TYPE,
    Item,
    find_sections,
    properties_of,
    read_entry,
    read_items,
    render_item,
)
from crucible.note.contain import format_of
from crucible.note.frontmatter import find_frontmatter, remove_key, set_key
from crucible.note.scalars import Value
from crucible.note.source import Edit, Source, Span, apply_edits

__all__ = ["own_entry", "revised", "with_captures", "with_session"]


class _Told(NamedTuple):
    """What is to stand in a note, by mark, and what we wrote into it before."""

    items: Mapping[str, tuple[str, Line]]
    values: Mapping[str, Value]
    before: frozenset[str]


def revised(source: Source, entry: Entry, basis: str = "") -> Source:
    """The note with what the session came to by now; the same when nothing is to change.  `basis` is the mark of what that was told from.

    A note that does not tell any more what we wrote is a human's alone and stays the same.  `EditRefused` for a note that is no history.
    """
    found = find_frontmatter(source)
    if found.values.get("type") != NOTE_TYPE:
        raise EditRefused(f"line 1: type is not `{NOTE_TYPE}`, so it is left as it is")
    before = read_marks(source.lines)
    if before is None:
        return source
    tidy = tidy_entry(entry)
    items = {
        mark_of(part, line.text, line.why): (part, line) for part in HEADINGS for line in getattr(tidy, part)
    }
    told = _Told(items, properties_of(tidy), frozenset(before))
    changed, kept = _with_properties(source, told, dict.fromkeys(before))
    for mark in [mark for mark in kept if mark.startswith(BASIS)]:
        del kept[mark]
    return _with_items(changed, told, {**kept, **dict.fromkeys(filter(None, [basis]))})


def own_entry(source: Source, name: str = "") -> Entry | None:
    """What we wrote into the note and stands there still, without a human's items; None for a note that has nothing of ours."""
    entry, before = read_entry(source, name).entry, read_marks(source.lines)
    if entry is None or before is None:
        return None
    marks = frozenset(before)

    def ours(part: str, lines: tuple[Line, ...]) -> tuple[Line, ...]:
        return tuple(line for line in lines if mark_of(part, line.text, line.why) in marks)

    return replace(
        entry,
        done=ours("done", entry.done),
        decisions=ours("decisions", entry.decisions),
        questions=ours("questions", entry.questions),
        further=ours("further", entry.further),
    )


def with_captures(source: Source, captures: Captures) -> Source:
    """The note with these captures and all else as it is; the same when a human changed them, or there is nothing to change."""
    entry, before = read_entry(source).entry, read_marks(source.lines)
    if entry is None or before is None:
        return source
    values = properties_of(tidy_entry(replace(entry, captures=captures)))
    only = {key: value for key, value in values.items() if key == "captures"}
    marks = frozenset(mark for mark in before if mark.startswith("captures="))
    changed, kept = _with_properties(source, _Told({}, only, marks), dict.fromkeys(before))
    return apply_edits(changed, list(_of_marks(changed, kept)))


def with_session(source: Source, old_id: str, new_id: str) -> Source:
    """The note of a session that has another id now; the same when a human changed the id that it tells."""
    before = read_marks(source.lines)
    if before is None or find_frontmatter(source).values.get("session_id") != old_id:
        return source
    marks = frozenset(mark for mark in before if mark.startswith("session_id="))
    told = _Told({}, {"session_id": new_id}, marks)
    changed, kept = _with_properties(source, told, dict.fromkeys(before))
    return apply_edits(changed, list(_of_marks(changed, kept)))


# --- properties ------------------------------------------------------------------------------------------------------


def _with_properties(source: Source, told: _Told, kept: dict[str, None]) -> tuple[Source, dict[str, None]]:
    """The properties that nobody else changed, each in its own lines, and the marks that still count."""
    standing = find_frontmatter(source).values
    for key in dict.fromkeys((*told.values, *_known_keys(told.before))):
        is_ours = key in standing and value_mark(key, standing[key]) in told.before
        is_new = key not in standing and not any(mark.startswith(f"{key}=") for mark in told.before)
        if is_ours or is_new:
            found = find_frontmatter(source)
            edits = (
                set_key(source, found, key, told.values[key])
                if key in told.values
                else remove_key(source, found, key)
            )
            source = apply_edits(source, edits)
            for mark in [mark for mark in kept if mark.startswith(f"{key}=")]:
                del kept[mark]
            if key in told.values:
                kept[value_mark(key, told.values[key])] = None
    return source, kept


def _known_keys(marks: frozenset[str]) -> list[str]:
    return sorted({mark.partition("=")[0] for mark in marks if "=" in mark})


# --- items -----------------------------------------------------------------------------------------------------------


def _with_items(source: Source, told: _Told, kept: dict[str, None]) -> Source:
    start = find_frontmatter(source).lines.end
    form = format_of(find_frontmatter(source).values)
    items = [*read_items(source.lines, start, form)]
    edits = [edit for item in items for edit in _of_standing(source, item, told, kept, form)]
    known = {*map(_mark, items), *told.before}
    fresh = {mark: one for mark, one in told.items.items() if mark not in known}
    edits += _of_fresh(source, start, items, [*fresh.values()], form)
    kept.update(dict.fromkeys(told.items))
    edits += _of_marks(source, kept)
    return apply_edits(source, edits)


def _mark(item: Item) -> str:
    return mark_of(item.part, item.line.text, item.line.why)


def _of_standing(source: Source, item: Item, told: _Told, kept: dict[str, None], form: int) -> Iterator[Edit]:
    """One of ours goes when it is told no more, and leads to where it stands now."""
    mark = _mark(item)
    if mark not in told.before:
        return
    if mark not in told.items:
        kept.pop(mark, None)
        yield Edit(_span(source, item.first, item.end), "")
    elif (line := told.items[mark][1]) != item.line:
        yield Edit(_span(source, item.first, item.end), _text(source, render_item(line, form)))


def _of_fresh(
    source: Source, start: int, items: Sequence[Item], fresh: Sequence[tuple[str, Line]], form: int
) -> Iterator[Edit]:
    """New ones stand below the last item of their section; a section that is gone is made again for them."""
    sections = find_sections(source.lines, start)
    missing: list[str] = []
    for part, heading in HEADINGS.items():
        rows = [row for one, line in fresh if one == part for row in render_item(line, form)]
        last = max((item.end for item in items if item.part == part), default=0)
        if not rows:
            continue
        if last:
            at = _offset(source, last)
            lead = "" if source.text[:at].endswith(("\n", "\r")) else source.newline
            yield Edit(Span(at, at), lead + _text(source, rows))
        elif part in sections:
            at = _offset(source, sections[part] + 1)
            lead = "" if source.text[:at].endswith(("\n", "\r")) else source.newline
            yield Edit(Span(at, at), lead + _text(source, ["", *rows]))
        else:
            missing += [f"## {heading}", "", *rows, ""]
    if missing:
        marks = next(at for at, line in enumerate(source.lines) if is_marks_line(line))
        at = _offset(source, marks)
        yield Edit(Span(at, at), _text(source, missing))


def _of_marks(source: Source, kept: Mapping[str, None]) -> Iterator[Edit]:
    """The marks in the first line that has some; a merge's second goes."""
    first = True
    for at, line in enumerate(source.lines):
        if is_marks_line(line):
            start = source.starts[at]
            if first:
                yield Edit(Span(start, start + len(line)), render_marks(kept))
            else:
                yield Edit(_span(source, at, at + 1), "")
            first = False


def _offset(source: Source, line: int) -> int:
    return source.starts[line] if line < len(source.starts) else len(source.text)


def _span(source: Source, first: int, end: int) -> Span:
    return Span(_offset(source, first), _offset(source, end))


def _text(source: Source, rows: Sequence[str]) -> str:
    return "".join(f"{row}{source.newline}" for row in rows)
