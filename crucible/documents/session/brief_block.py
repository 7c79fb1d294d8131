"""The brief's callout in a note: which one it is, and its text written anew.

`> [!abstract] Brief` before the first phase, wherever a human put it; a new one stands under the title, above all else
that is said there.  Owns these edits; what the text says is `brief`'s.
"""

from __future__ import annotations

from dataclasses import replace

from crucible.core.errors import EditRefused
from crucible.documents.markdown.containment import normal
from crucible.documents.markdown.source import NOWHERE, Edit, Lines, Source, Span, apply_edits
from crucible.documents.session.markup import render_entry
from crucible.documents.session.session import Callout, Entry, Session
from crucible.documents.session.session_reader import read_session

_KIND, _TITLE = "abstract", "Brief"


def find_brief_callout(session: Session) -> Callout | None:
    """The first one before the phases.  The reader takes an `[!abstract]` for a callout only when its title is Brief."""
    return next((e for e in session.preamble if isinstance(e, Callout) and e.kind == _KIND), None)


def set_brief_callout(source: Source, session: Session, text: str) -> list[Edit]:
    """Make the callout say `text`; its head, which a human may have folded, stays.  No edit when it says so already.

    `EditRefused` where it would not show, and where a paragraph without `>` hangs on the callout: it counts as its text,
    and is hardly meant so.
    """
    said, before = normal(text), find_brief_callout(session)
    if before is None:
        new = Callout(_KIND, _TITLE, said)
        edits, line = _inserted(source, session, render_entry(new, session.format))
        at = sum(entry.lines.first < line for entry in session.preamble)
        return _checked(source, session, edits, (*session.preamble[:at], new, *session.preamble[at:]))
    if before.text == said:
        return []
    new = replace(before, text=said)
    edits = _rewritten(source, session, before.lines, render_entry(new, session.format)[1:])
    return _checked(source, session, edits, tuple(new if e is before else e for e in session.preamble))


def _rewritten(source: Source, session: Session, lines: Lines, body: list[str]) -> list[Edit]:
    """Other lines below the callout's head."""
    for line in range(lines.first, lines.end):
        if not source.lines[line].lstrip(" ").startswith(">"):
            raise EditRefused(
                f"{session.id}:{line + 1}: this line hangs on the brief above it",
                "put a blank line before it, or > when it belongs to the brief",
            )
    head, last = source.starts[lines.first], lines.end - 1
    span = Span(head + len(source.lines[lines.first]), source.starts[last] + len(source.lines[last]))
    newline = _newline(source, source.starts[min(lines.first + 1, len(source.starts) - 1)])
    return [Edit(span, "".join(newline + line for line in body))]


def _inserted(source: Source, session: Session, lines: list[str]) -> tuple[list[Edit], int]:
    """New lines under the title, or where there is none under the frontmatter; and the line that they stand before."""
    titled = session.title_lines is not NOWHERE
    line = session.title_lines.end if titled else session.preamble_lines.first
    at = source.starts[min(line, len(source.starts) - 1)]
    newline = _newline(source, at)
    ended = source.text[at - 1 : at] in ("\r", "\n")
    lead = "" if at == 0 else newline if ended else newline * 2
    follows = line < len(source.lines) and bool(source.lines[line].strip(" \t"))
    ending = newline * (2 if follows else 1)
    return [Edit(Span(at, at), lead + newline.join(lines) + ending)], line


def _newline(source: Source, at: int) -> str:
    """The line end of the line above: LF put after a lone CR would make one line end of two."""
    above = source.text[max(0, at - 2) : at]
    if above[-1:] not in ("\r", "\n"):
        return source.newline
    return "\r\n" if above == "\r\n" else above[-1]


def _checked(source: Source, session: Session, edits: list[Edit], preamble: tuple[Entry, ...]) -> list[Edit]:
    """The edits, when what stands before the first phase then reads so and ends as it did.

    Below it nothing changes, so that a note of a thousand phases is not read twice for its brief.
    """
    end = session.preamble_lines.end
    head = Source(source.text[: source.starts[min(end, len(source.starts) - 1)]], source.bom)
    was, now = read_session(head, session.id), read_session(apply_edits(head, edits), session.id)
    kept = [problem.code for problem in was.problems] == [problem.code for problem in now.problems]
    if was.preamble != session.preamble or now != replace(was, preamble=preamble) or not kept:
        line = 1 + source.line_of(edits[0].span.start)
        raise EditRefused(
            f"{session.id}:{line}: what stands around this line would change the meaning of a brief there",
            "tidy it in the note and try again",
        )
    return edits
