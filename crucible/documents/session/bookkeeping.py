"""The bookkeeping of imports: one comment at the end of a note, which Obsidian and GitHub do not show.

    <!-- crucible
    sources:
      - claude-code:e70837d4-3e31-41c1-b03b-523de090f5e0
    synced_to:
      - claude-code:1277ab6e
    -->

Its lines are properties, as in the frontmatter, where older notes have them.  Text in values is escaped, so that
nothing in it can close the comment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from crucible.core.errors import EditRefused
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.frontmatter import Frontmatter, find_frontmatter, remove_key, set_key
from crucible.documents.markdown.line_scan import COMMENT_END, COMMENT_START
from crucible.documents.markdown.source import NOWHERE, Edit, Lines, Problem, Source, Span, apply_edits
from crucible.documents.markdown.yaml_scalars import Value, render_entry, same_value

BOOKKEEPING = ("sources", "synced_to", "redactions", "redacted", "usage", "recording")
"""The properties in the comment, in order."""

_UNSAFE = late_pattern(r"[<>]|(?<=%)%|(?<=\[)\[|(?<=:):")
"""Characters that could close the comment, or that a plugin might act on."""
_LIST_ITEM = late_pattern(r"( *(?:- )?(?:[\w-]+: )?)(.*)", re.DOTALL)


def render_bookkeeping(values: Mapping[str, Value]) -> list[str]:
    """The lines of the comment; none if no value is set."""
    set_values = [(key, values[key]) for key in BOOKKEEPING if values.get(key) not in (None, [])]
    lines = [line for key, value in set_values for line in _entry(key, value)]
    return [COMMENT_START, *lines, COMMENT_END] if lines else []


def _entry(key: str, value: Value) -> list[str]:
    """The lines of one property, with unsafe characters as YAML escapes in double quotes."""
    return [safe_line(line) for line in render_entry(key, value)]


def safe_line(line: str) -> str:
    """Escape the value on a rendered line."""
    if not _UNSAFE.search(line):
        return line
    found = _LIST_ITEM.fullmatch(line)
    lead, value = (found[1], found[2]) if found else ("", line)
    # A plain value has no backslash or quote at its start, so only those within it need an escape.
    if not value.startswith('"'):
        value = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return lead + _UNSAFE.sub(lambda one: f"\\x{ord(one[0]):02x}", value)


def _as_note(source: Source, lines: Lines) -> tuple[Source, int]:
    """The comment as a note with only frontmatter, and the offset to add to its spans."""
    start = source.starts[lines.first] + len(COMMENT_START)
    end = source.starts[lines.end - 1]
    return Source(f"---{source.text[start:end]}---\n"), start - len("---")


def read_bookkeeping(source: Source, lines: Lines) -> tuple[Source, Frontmatter]:
    """The properties in the comment on these lines, and the source to which their spans refer."""
    inner, _ = _as_note(source, lines)
    found = find_frontmatter(inner)
    problems = tuple(
        Problem(one.code, one.line + lines.first, one.message)
        for one in found.problems
        if one.code != "empty-frontmatter"
    )
    return inner, found._replace(problems=problems)


def split_values(values: Mapping[str, Value]) -> tuple[dict[str, Value], dict[str, Value]]:
    """Split values into properties of the frontmatter and bookkeeping."""
    ours = {key: value for key, value in values.items() if key in BOOKKEEPING}
    return {key: value for key, value in values.items() if key not in ours}, ours


def set_bookkeeping(source: Source, lines: Lines, values: Mapping[str, Value]) -> list[Edit]:
    """Return the edits that set keys in the comment on these lines; None removes a key."""
    inner, offset = _as_note(source, lines)
    found = find_frontmatter(inner)
    edits: list[Edit] = []
    for key, value in values.items():
        if value is None:
            part = remove_key(inner, found, key)
        elif key in found.values and same_value(found.values[key], value):
            continue
        elif key not in found.keys and (later := [k for k in _after(key) if k in found.keys]):
            at = found.keys[later[0]].start
            part = [Edit(Span(at, at), "".join(f"{line}{inner.newline}" for line in _entry(key, value)))]
        else:
            part = set_key(inner, found, key, value)
        edits += [edit._replace(text=_safe_text(edit.text)) for edit in part]
    expected = {**found.values, **values}
    after = find_frontmatter(apply_edits(inner, edits)).values
    if not same_value(after, {key: value for key, value in expected.items() if value is not None}):
        raise EditRefused(f"line {lines.first + 1}: Crucible's comment could not be parsed again after this change")
    return [Edit(Span(span.start + offset, span.end + offset), text) for span, text in edits]


def _after(key: str) -> tuple[str, ...]:
    return BOOKKEEPING[BOOKKEEPING.index(key) + 1 :]


def _safe_text(text: str) -> str:
    return "\n".join(map(safe_line, text.split("\n"))) if _UNSAFE.search(text) else text


def new_bookkeeping(source: Source, values: Mapping[str, Value]) -> list[Edit]:
    """Return the edit that adds the comment at the end of the note."""
    lines = render_bookkeeping(values)
    return [new_bookkeeping_text(source, lines)] if lines else []


def new_bookkeeping_text(source: Source, lines: Sequence[str]) -> Edit:
    """Return the edit that adds these lines of a comment at the end of the note."""
    text, newline = source.text, source.newline
    at = len(text)
    above = text.rstrip(" \t")
    lead = "" if not above or re.search(r"(?:\A|[\r\n])[ \t]*(?:\r\n|\r|\n)\Z", text[-200:]) else newline
    lead = lead if not text or text[-1] in "\r\n" else newline * 2
    return Edit(Span(at, at), lead + newline.join(lines) + newline)


_TRAILING = late_pattern(
    rf"\n{COMMENT_START}[ \t]*\r?\n(?>(?:(?![^\n]*{COMMENT_END})[^\n]*\n)*){COMMENT_END}[ \t\r\n]*\Z"
)


def trailing_lines(source: Source) -> Lines:
    """The lines of the comment if it ends the note, without reading the body; else `NOWHERE`."""
    at = source.text.rfind(f"\n{COMMENT_START}")
    found = _TRAILING.match(source.text, at) if at >= 0 else None
    if found is None:
        return NOWHERE
    first = source.line_of(at + 1)
    last = source.line_of(source.text.rindex(COMMENT_END))
    return Lines(first, last + 1)
