"""Update a history note from its session, keeping all edits by users.

The note's marks identify what Crucible wrote.  An item that has a mark but is gone was deleted by a user, and stays
deleted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from crucible.core.errors import EditRefused
from crucible.documents.markdown.containment import format_of
from crucible.documents.markdown.frontmatter import find_frontmatter, remove_key, set_key
from crucible.documents.markdown.source import Edit, Source, Span, apply_edits
from crucible.documents.markdown.yaml_scalars import Value
from crucible.memory.history.history import HEADINGS, HistoryEntry, HistoryLine, tidy_entry, with_lines
from crucible.memory.history.history_notes import (
    HistoryItem,
    find_sections,
    is_history,
    is_marks_line,
    item_keys,
    item_mark,
    properties_of,
    read_entry,
    read_items,
    read_marks,
    render_item,
    render_marks,
    value_mark,
)

_Marks = dict[str, str]


def revised(source: Source, entry: HistoryEntry) -> Source:
    """Update the note to the session's current history.

    A note without marks belongs to the user and is not changed.  Raises `EditRefused` if the note is not a history.
    """
    if not is_history(find_frontmatter(source).values):
        raise EditRefused("line 1: type is not `history`, so the note was not changed")
    marks = read_marks(source.lines)
    if marks is None:
        return source
    tidy = tidy_entry(entry)
    properties = properties_of(tidy)
    known = [key for key in sorted(marks) if "/" not in key]
    for key in dict.fromkeys((*properties, *known)):
        source = _with_property(source, key, properties.get(key), marks)
    return _with_items(source, item_keys(tidy), marks)


def own_entry(source: Source, name: str = "") -> HistoryEntry | None:
    """Return the entry with only the lines that Crucible wrote, each with its `finding`; None without marks."""
    entry, marks = read_entry(source, name).entry, read_marks(source.lines)
    if entry is None or marks is None:
        return None
    ours = [(item.part, _named(item, key)) for item in _items(source) if (key := _key(item, marks))]
    return with_lines(entry, lambda part, _: (line for one, line in ours if one == part))


def _named(item: HistoryItem, key: str) -> HistoryLine:
    return item.line._replace(finding=key.partition("/")[2].partition("+")[0])


def with_property(source: Source, key: str, value: Value) -> Source:
    """Set a property of the note, unless a user edited the property or the note has no marks."""
    marks = read_marks(source.lines)
    if marks is None:
        return source
    changed = _with_property(source, key, value, marks)
    return apply_edits(changed, _of_marks(changed, marks))


def _with_property(source: Source, key: str, value: Value, marks: _Marks) -> Source:
    """Set or remove a property and its mark, unless a user changed or deleted the property."""
    found = find_frontmatter(source)
    is_ours = marks.get(key) == value_mark(key, found.values[key]) if key in found.values else key not in marks
    if not is_ours:
        return source
    if value is not None:
        marks[key] = value_mark(key, value)
        return apply_edits(source, set_key(source, found, key, value))
    marks.pop(key, "")
    return apply_edits(source, remove_key(source, found, key))


# --- items -----------------------------------------------------------------------------------------------------------


def _items(source: Source) -> list[HistoryItem]:
    found = find_frontmatter(source)
    return [*read_items(source.lines, found.lines.end, format_of(found.values))]


def _key(item: HistoryItem, marks: Mapping[str, str]) -> str:
    """Return the key of an item that Crucible wrote; "" for a user's item."""
    keys = (key for key, mark in marks.items() if mark == item.mark and key.startswith(f"{item.part}/"))
    return next(keys, "")


def _with_items(source: Source, current: Mapping[str, HistoryLine], marks: _Marks) -> Source:
    """Replace or delete the items that Crucible wrote, and add new ones."""
    form, before = format_of(find_frontmatter(source).values), dict(marks)
    counts, ends, edits, seen = dict.fromkeys(HEADINGS, 0), dict[str, int](), list[Edit](), set[str]()

    def rendered(key: str) -> str:
        part = key.partition("/")[0]
        counts[part] += 1
        rows = render_item(part, current[key], counts[part], form)
        marks[key] = item_mark(rows)
        return "".join(f"{row}{source.newline}" for row in rows)

    for item in _items(source):
        key, span = _key(item, before), _span(source, item.first, item.end)
        if key and (key not in current or key in seen):  # a git merge may have duplicated it
            edits.append(Edit(span, ""))
            if key not in seen:
                marks.pop(key, "")
            continue
        seen.add(key)
        ends[item.part] = item.end
        if not key:
            counts[item.part] += 1
        elif (text := rendered(key)) != source.text[span.start : span.end]:
            edits.append(Edit(span, text))
    fresh: dict[str, str] = {}
    for key in current:
        if key not in marks:
            part = key.partition("/")[0]
            fresh[part] = fresh.get(part, "") + rendered(key)
    edits += _of_fresh(source, ends, fresh)
    return _without_empty(apply_edits(source, [*edits, *_of_marks(source, marks)]))


def _of_fresh(source: Source, ends: Mapping[str, int], fresh: Mapping[str, str]) -> Iterator[Edit]:
    """Add new items after the last item of their section; a missing section is added before the next one."""
    sections = find_sections(source.lines, find_frontmatter(source).lines.end)
    bottom = next(at for at, line in enumerate(source.lines) if is_marks_line(line))
    parts, line_end = [*HEADINGS], source.newline
    for part, text in fresh.items():
        if part in sections:
            at = _offset(source, ends.get(part, sections[part] + 1))
            lead = "" if source.text[:at].endswith(("\n", "\r")) else line_end
            yield Edit(Span(at, at), f"{lead}{'' if part in ends else line_end}{text}")
        else:
            later = (sections[one] for one in parts[parts.index(part) :] if one in sections)
            at = _offset(source, min(later, default=bottom))
            yield Edit(Span(at, at), f"## {HEADINGS[part]}{line_end * 2}{text}{line_end}")


def _without_empty(source: Source) -> Source:
    """Delete the headings of empty sections."""
    edits: list[Edit] = []
    for heading in find_sections(source.lines, find_frontmatter(source).lines.end).values():
        following = range(heading + 1, len(source.lines))
        end = next((at for at in following if source.lines[at].strip()), len(source.lines))
        if end == len(source.lines) or source.lines[end].startswith("#") or is_marks_line(source.lines[end]):
            edits.append(Edit(_span(source, heading, end), ""))
    return apply_edits(source, edits)


def _of_marks(source: Source, marks: Mapping[str, str]) -> Iterator[Edit]:
    """Write the marks to the first line with marks, and delete any other such line."""
    text = render_marks(marks)
    for at, line in enumerate(source.lines):
        if is_marks_line(line):
            start = source.starts[at]
            yield Edit(Span(start, start + len(line)), text) if text else Edit(_span(source, at, at + 1), "")
            text = ""


def _offset(source: Source, line: int) -> int:
    return source.starts[line] if line < len(source.starts) else len(source.text)


def _span(source: Source, first: int, end: int) -> Span:
    return Span(_offset(source, first), _offset(source, end))
