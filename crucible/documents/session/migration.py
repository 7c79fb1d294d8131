"""Convert a note from format 1 to format 2, which differ only in backslashes and blanks within lines.

The caller checks that the converted note still reads the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.code_spans import FORMAT, harmless_json, read_code_span
from crucible.documents.markdown.containment import convert, convert_line, convert_span, format_of
from crucible.documents.markdown.containment_inline import FIELDS, TAG
from crucible.documents.markdown.fences import whole_fences
from crucible.documents.markdown.frontmatter import find_frontmatter, set_key
from crucible.documents.markdown.source import Edit, Source, Span

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
