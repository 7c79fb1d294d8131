"""Edit callouts and the summary: add answers and resolutions, update subagents and the brief.

As in `edits`, an edit is refused if it would not read back as intended.
"""

from __future__ import annotations

from dataclasses import replace

from crucible.core.errors import EditRefused
from crucible.documents.markdown.containment import contain, normal
from crucible.documents.markdown.line_scan import without_blanks
from crucible.documents.markdown.source import NOWHERE, Edit, Lines, Source, Span, apply_edits
from crucible.documents.session.edits import (
    check_shown,
    insert_line,
    insert_lines,
    newline_at,
    note_end,
    phase_as_read,
    refuse_open,
    replace_lines,
    with_entries,
)
from crucible.documents.session.markup import render_entry
from crucible.documents.session.session import Callout, Entry, Failure, Session, Subagent
from crucible.documents.session.session_reader import read_session

# --- answers ---------------------------------------------------------------------------------------------------------

_LABEL = "> Resolution:"


def add_after(source: Source, session: Session, entry: Entry, new: Entry) -> list[Edit]:
    """Insert an entry directly after an existing one."""
    lines = render_entry(new, session.format)
    edits = insert_lines(source, session, entry.lines.end, lines)
    return check_shown(source, edits, _exchanged(session, entry, entry, _as_read(lines, session.format)))


def add_resolution(source: Source, session: Session, failure: Failure, text: str) -> list[Edit]:
    """Append the resolution to an error's callout.  Raises `EditRefused` if it already has one."""
    if (failure.resolution or "").strip():
        raise EditRefused(
            f"{session.id}:{failure.lines.first + 1}: the error already has a resolution", "change it in the note"
        )
    end, form = failure.lines.end, session.format
    refuse_open(session, end)
    lines = render_entry(Failure(failure.text, text), form)[len(render_entry(Failure(failure.text), form)) :]
    if failure.resolution is not None:
        lines = _without_label(lines)
    read = _as_read(["> [!error]", "> x", *render_entry(Failure("x", text), form)[2:]], form)
    fixed = replace(failure, resolution=read.resolution if isinstance(read, Failure) else text)
    edits = insert_line(source, end, newline_at(source, source.starts[end]).join(lines))
    return check_shown(source, edits, _exchanged(session, failure, fixed))


def _without_label(lines: list[str]) -> list[str]:
    """Remove the label, which the callout already has; if the line has no other text, remove the line."""
    at = next(at for at, line in enumerate(lines) if line.startswith(_LABEL))
    first = lines[at].removeprefix(_LABEL).lstrip(" ")
    return [*([f"> {first}"] if first else []), *lines[at + 1 :]]


def _as_read(lines: list[str], form: int) -> Entry:
    return phase_as_read(["## A", "", *lines], form).entries[0]


def _exchanged(session: Session, entry: Entry, *others: Entry) -> Session:
    """The session with `entry` (matched by its lines) replaced by others."""
    return with_entries(
        session,
        lambda entries: tuple(new for one in entries for new in (others if one.lines == entry.lines else (one,))),
    )


# --- subagents -------------------------------------------------------------------------------------------------------


def find_subagent(session: Session, link: str) -> Subagent | None:
    """The first callout that links to a subagent's note."""
    return next((e for e in session.all_entries() if isinstance(e, Subagent) and e.link == link), None)


def set_subagent(source: Source, session: Session, entry: Subagent, new: Subagent) -> list[Edit]:
    """Replace a subagent's callout."""
    if entry == new or entry.lines is NOWHERE:
        return []
    edits = replace_entry(source, session, entry, new)
    return check_shown(source, edits, _exchanged(session, entry, new))


def replace_entry(source: Source, session: Session, entry: Entry, new: Entry) -> list[Edit]:
    """Replace the lines of an entry, without checking that the new one reads back."""
    text = source.newline.join(render_entry(new, session.format))
    return replace_lines(source, entry.lines.first, entry.lines.end, text)


# --- the summary -----------------------------------------------------------------------------------------------------


def add_summary(source: Source, session: Session, text: str) -> list[Edit]:
    """Add `## Summary` at the end of the note, or add the text to an existing summary."""
    addition = normal(text)
    if not addition:
        return []
    lines = contain(addition, form=session.format).split("\n")
    if session.summary_lines is not NOWHERE:
        end = _last_text_line(source, session.summary_lines)
        summary = "\n\n".join(part for part in (session.summary, addition) if part)
        return check_shown(source, _below(source, end, lines), replace(session, summary=summary))
    end = without_blanks(source.lines, 0, note_end(source, session))
    rule = ["---", ""] if session.phases and not _is_rule(source, end - 1) else []
    edits = _below(source, end, [*rule, "## Summary", "", *lines])
    return check_shown(source, edits, replace(session, summary=addition))


def _last_text_line(source: Source, lines: Lines) -> int:
    """The line after the last non-blank one, ignoring a `---` at the end."""
    end = without_blanks(source.lines, *lines)
    if end - 2 > lines.first and _is_rule(source, end - 1):
        return without_blanks(source.lines, lines.first, end - 1)
    return end


def _is_rule(source: Source, line: int) -> bool:
    return source.lines[line].rstrip(" \t") == "---"


def _below(source: Source, line: int, lines: list[str]) -> list[Edit]:
    """Insert a blank line and `lines` before `line`."""
    newline = source.newline
    at = source.starts[line - 1] + len(source.lines[line - 1])
    ending = "" if source.text[at : at + 1] in ("\r", "\n") and at < len(source.text) else newline
    return [Edit(Span(at, at), newline.join(["", "", *lines]) + ending)]


# --- the brief -------------------------------------------------------------------------------------------------------

_KIND, _TITLE = "abstract", "Brief"


def find_brief_callout(session: Session) -> Callout | None:
    """The first brief above the phases: an `[!abstract]` callout with the title Brief."""
    return next((e for e in session.preamble if isinstance(e, Callout) and e.kind == _KIND), None)


def set_brief_callout(source: Source, session: Session, text: str) -> list[Edit]:
    """Set the text of the brief, or insert a brief below the title.

    The callout's first line is kept, since a user may have folded it.  Raises `EditRefused` if the edit would not read
    back, or if a paragraph without `>` continues the callout.
    """
    brief, before = normal(text), find_brief_callout(session)
    if before is None:
        new = Callout(_KIND, _TITLE, brief)
        line = session.preamble_lines.first if session.title_lines is NOWHERE else session.title_lines.end
        edits = insert_lines(source, session, line, render_entry(new, session.format))
        at = sum(entry.lines.first < line for entry in session.preamble)
        return _checked(source, session, edits, (*session.preamble[:at], new, *session.preamble[at:]))
    if before.text == brief:
        return []
    new = replace(before, text=brief)
    edits = _rewritten(source, session, before.lines, render_entry(new, session.format)[1:])
    return _checked(source, session, edits, tuple(new if e is before else e for e in session.preamble))


def _rewritten(source: Source, session: Session, lines: Lines, body: list[str]) -> list[Edit]:
    """Replace the lines of the callout, except the first."""
    for line in range(lines.first, lines.end):
        if not source.lines[line].lstrip(" ").startswith(">"):
            raise EditRefused(
                f"{session.id}:{line + 1}: this line continues the brief above it",
                "put a blank line before it, or > if it belongs to the brief",
            )
    last = lines.end - 1
    start = source.starts[lines.first] + len(source.lines[lines.first])
    newline = newline_at(source, source.starts[min(lines.first + 1, len(source.starts) - 1)])
    span = Span(start, source.starts[last] + len(source.lines[last]))
    return [Edit(span, "".join(newline + line for line in body))]


def _checked(source: Source, session: Session, edits: list[Edit], preamble: tuple[Entry, ...]) -> list[Edit]:
    """Return the edits if the text above the first phase reads back as expected.  For speed, the rest is not read."""
    end = session.preamble_lines.end
    head = Source(source.text[: source.starts[min(end, len(source.starts) - 1)]], source.bom)
    was, now = read_session(head, session.id), read_session(apply_edits(head, edits), session.id)
    kept = [problem.code for problem in was.problems] == [problem.code for problem in now.problems]
    if was.preamble != session.preamble or now != replace(was, preamble=preamble) or not kept:
        line = 1 + source.line_of(edits[0].span.start)
        raise EditRefused(
            f"{session.id}:{line}: the lines around this one would change the meaning of a brief here",
            "tidy it in the note and try again",
        )
    return edits
