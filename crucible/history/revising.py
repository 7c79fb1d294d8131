"""A history's note updated from its session, with every word of a person left as it is.

`marks` tells which items and properties are ours.  What a person changed or added is not, and stays; what is ours by its mark and missing from the note
a person deleted, and it stays deleted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from crucible.errors import EditRefused
from crucible.history.marks import (
    is_marks_line,
    item_keys,
    item_mark,
    old_mark,
    read_marks,
    render_marks,
    value_mark,
)
from crucible.history.model import HEADINGS, Captures, Entry, Line, tidy_entry, with_lines
from crucible.history.notes import (
    Item,
    find_sections,
    is_history,
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

Marks = frozenset[tuple[str, str]]
_BASIS = "told_from"


def revised(source: Source, entry: Entry, basis: str = "") -> Source:
    """The note with what the session came to by now, unchanged if nothing is new.  `basis` is as `marks.basis_of` makes it.

    A note without marks is a person's alone and stays the same.  Raises `EditRefused` for a note that is not a history.
    """
    if not is_history(find_frontmatter(source).values):
        raise EditRefused("line 1: type is not `history`, so the note was not changed")
    before = read_marks(source.lines)
    if before is None:
        return source
    tidy = tidy_entry(entry)
    changed, kept = _with_properties(source, properties_of(tidy), before)
    kept = _without(kept, _BASIS) | ({(_BASIS, basis)} if basis else frozenset())
    return _with_items(changed, tidy, before, kept)


def own_entry(source: Source, name: str = "") -> Entry | None:
    """What is ours in the note, each line with its `finding`; None if the note has no marks."""
    entry, before = read_entry(source, name).entry, read_marks(source.lines)
    if entry is None or before is None:
        return None
    ours = [(item.part, _named(item, key)) for item in _items(source) if (key := _key(item, before))]
    return tidy_entry(with_lines(entry, lambda part, _: (line for one, line in ours if one == part)))


def _named(item: Item, key: str) -> Line:
    return item.line._replace(finding=key.partition("/")[2].partition("+")[0])


def with_captures(source: Source, captures: Captures) -> Source:
    """The note with these captures and everything else as it is; unchanged if a person edited them."""
    entry = read_entry(source).entry
    values = properties_of(tidy_entry(replace(entry, captures=captures))) if entry else {}
    return _with_property(source, "captures", values.get("captures"))


def with_session(source: Source, old_id: str, new_id: str) -> Source:
    """The note of a renamed session; unchanged if a person edited the id in it."""
    is_old = find_frontmatter(source).values.get("session_id") == old_id
    return _with_property(source, "session_id", new_id) if is_old else source


# --- properties ------------------------------------------------------------------------------------------------------


def _with_property(source: Source, key: str, value: Value) -> Source:
    before = read_marks(source.lines)
    if before is None:
        return source
    only = frozenset(one for one in before if one[0] == key)
    changed, kept = _with_properties(source, {key: value} if value else {}, only)
    return apply_edits(changed, _of_marks(changed, _without(before, key) | kept))


def _with_properties(source: Source, told: Mapping[str, Value], before: Marks) -> tuple[Source, Marks]:
    """Update the properties that nobody else changed, each in its own lines; return the marks that now hold."""
    kept, standing = before, find_frontmatter(source).values
    known = sorted({key for key, _ in before if key and key != _BASIS and "/" not in key})
    for key in dict.fromkeys((*told, *known)):
        is_ours = key in standing and (key, value_mark(key, standing[key])) in before
        is_new = key not in standing and key not in known
        if is_ours or is_new:
            found, kept = find_frontmatter(source), _without(kept, key)
            if key in told:
                kept |= {(key, value_mark(key, told[key]))}
                source = apply_edits(source, set_key(source, found, key, told[key]))
            else:
                source = apply_edits(source, remove_key(source, found, key))
    return source, kept


def _without(marks: Marks, key: str) -> Marks:
    return frozenset(one for one in marks if one[0] != key)


# --- items -----------------------------------------------------------------------------------------------------------


def _items(source: Source) -> list[Item]:
    found = find_frontmatter(source)
    return [*read_items(source.lines, found.lines.end, format_of(found.values))]


def _key(item: Item, before: Marks) -> str:
    """The key of an item of ours; "" for a person's, and "old" for one of an older version."""
    keys = (key for key, mark in before if mark == item.mark and key.startswith(f"{item.part}/"))
    return next(keys, "") or ("old" if old_mark(item.part, item.line) in before else "")


def _with_items(source: Source, entry: Entry, before: Marks, kept: Marks) -> Source:
    """Replace or delete items of ours, and add new ones; `kept` are the marks of what else is in the note."""
    form, told = format_of(find_frontmatter(source).values), item_keys(entry)
    marks = {key: mark for key, mark in kept if key}
    counts, ends, edits = dict.fromkeys(HEADINGS, 0), dict[str, int](), list[Edit]()

    def rendered(part: str, key: str) -> str:
        counts[part] += 1
        rows = render_item(part, told[part][key], counts[part], form)
        marks[key] = item_mark(rows)
        return "".join(f"{row}{source.newline}" for row in rows)

    waiting = {part: dict.fromkeys(keys) for part, keys in told.items()}
    for item in _items(source):
        key, span = _key(item, before), _span(source, item.first, item.end)
        if key and key not in waiting[item.part]:
            marks = {one: mark for one, mark in marks.items() if one != key or one in told[item.part]}
            edits.append(Edit(span, ""))
            continue
        ends[item.part] = item.end
        if not key:
            counts[item.part] += 1
            continue
        del waiting[item.part][key]
        if (text := rendered(item.part, key)) != source.text[span.start : span.end]:
            edits.append(Edit(span, text))
    known = {key for key, _ in before}
    fresh = {
        part: [rendered(part, key) for key in keys if key not in known] for part, keys in waiting.items()
    }
    edits += _of_fresh(source, ends, {part: "".join(rows) for part, rows in fresh.items() if rows})
    return _without_empty(apply_edits(source, [*edits, *_of_marks(source, marks.items())]))


def _of_fresh(source: Source, ends: Mapping[str, int], fresh: Mapping[str, str]) -> Iterator[Edit]:
    """New items go below the last one of their section; a missing section is made before the next one."""
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
    """Delete the headings of sections with nothing below them."""
    edits: list[Edit] = []
    for heading in find_sections(source.lines, find_frontmatter(source).lines.end).values():
        following = range(heading + 1, len(source.lines))
        end = next((at for at in following if source.lines[at].strip()), len(source.lines))
        if end == len(source.lines) or source.lines[end].startswith("#") or is_marks_line(source.lines[end]):
            edits.append(Edit(_span(source, heading, end), ""))
    return apply_edits(source, edits)


def _of_marks(source: Source, kept: Iterable[tuple[str, str]]) -> Iterator[Edit]:
    """Write the marks into the first line that has some, and delete a second one."""
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
