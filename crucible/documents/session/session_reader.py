"""A note's text to a Session: phases, entries, tasks, summary, and every problem with its line.

Never raises and never loses text: what does not parse is prose, and is reported where it looks like a mistake.  The
frontmatter's types are in `fields`, callouts and tool calls in `entries`.
"""

from __future__ import annotations

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.frontmatter import find_frontmatter
from crucible.documents.markdown.outline import find_blocks
from crucible.documents.markdown.source import Lines, Problem, Source
from crucible.documents.session.note_body import Body
from crucible.documents.session.properties import FieldReader, read_fields
from crucible.documents.session.session import Session


def read_session(source: Source, name: str, form: int | None = None) -> Session:
    """Read a session note; `name` is the file's name without `.md`.

    `form` is the note's `format`; pass it if `source` is only a part of the note, without the frontmatter.
    """
    found = find_frontmatter(source)
    reader = FieldReader(source, found)
    fields = read_fields(reader, name, found.present)
    outline = find_blocks(source, found.lines.end)
    fields["format"] = form or fields["format"]
    body = Body(source.lines, fields["format"])
    body.read(outline.blocks)
    problems = sorted((*reader.problems, *outline.problems, *body.problems, *_text_problems(source)), key=_by_line)
    return Session(
        **fields,
        title=body.title,
        preamble=tuple(body.preamble.entries),
        tasks=body.tasks,
        findings=body.findings,
        phases=tuple(section.phase() for section in body.phases),
        summary=body.summary,
        problems=tuple(problems),
        title_lines=body.title_lines,
        preamble_lines=Lines(found.lines.end, body.preamble_end),
        tasks_lines=body.tasks_lines,
        findings_lines=body.findings_lines,
        summary_lines=body.summary_lines,
    )


def _by_line(problem: Problem) -> int:
    return problem.line


_NOT_TEXT = late_pattern("[\ud800-\udfff]")


def _text_problems(source: Source) -> list[Problem]:
    if source.text.isascii():
        return []
    bad = _NOT_TEXT.search(source.text)
    return [Problem("not-utf8", source.line_of(bad.start()) + 1, "bytes that are not UTF-8")] if bad else []
