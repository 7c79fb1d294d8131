"""What is written in other places than a phase's end: the summary, and a subagent's callout when its work is done.

Owns these edits; like those of `editing` each is refused when it would not show.
"""

from __future__ import annotations

from dataclasses import replace

from crucible.documents.markdown.containment import contain, normal
from crucible.documents.markdown.source import NOWHERE, Edit, Source, Span
from crucible.documents.session.append_shown import check_shown
from crucible.documents.session.markup import render_entry
from crucible.documents.session.session import Entry, Phase, Session, Subagent


def add_summary(source: Source, session: Session, text: str) -> list[Edit]:
    """`## Summary` at the end of the note; where a human wrote one already, the text goes below theirs."""
    said = normal(text)
    if not said:
        return []
    lines = contain(said, form=session.format).split("\n")
    if session.summary_lines is not NOWHERE:
        end = _last_told(source, session.summary_lines.first, session.summary_lines.end)
        whole = "\n\n".join(part for part in (session.summary, said) if part)
        return check_shown(source, _below(source, end, lines), replace(session, summary=whole))
    end = _last_told(source, 0, len(source.lines), rule=False)
    ruled = source.lines[end - 1].rstrip(" \t") == "---"
    rule = ["---", ""] if session.phases and not ruled else []
    edits = _below(source, end, [*rule, "## Summary", "", *lines])
    return check_shown(source, edits, replace(session, summary=said))


def _last_told(source: Source, first: int, end: int, *, rule: bool = True) -> int:
    """The line after the last one, of `first` to `end`, that is not blank; with `rule` above a `---` at the end."""
    while end > first + 1 and not source.lines[end - 1].strip(" \t"):
        end -= 1
    if rule and end - 2 > first and source.lines[end - 1].rstrip(" \t") == "---":
        return _last_told(source, first, end - 1, rule=False)
    return end


def _below(source: Source, line: int, lines: list[str]) -> list[Edit]:
    """New lines and a blank one above them, behind the line before `line`."""
    newline = source.newline
    at = source.starts[line - 1] + len(source.lines[line - 1])
    ending = "" if source.text[at : at + 1] in ("\r", "\n") and at < len(source.text) else newline
    return [Edit(Span(at, at), newline.join(["", "", *lines]) + ending)]


def find_subagent(session: Session, link: str) -> Subagent | None:
    """The callout that links to a subagent's note."""
    return next((e for e in session.all_entries() if isinstance(e, Subagent) and e.link == link), None)


def set_subagent(source: Source, session: Session, entry: Subagent, new: Subagent) -> list[Edit]:
    """Write a subagent's callout anew."""
    if entry == new or entry.lines is NOWHERE:
        return []
    span = source.span_of(entry.lines)
    text = source.slice(span)
    ending = text[len(text.rstrip("\r\n")) :]
    edits = [Edit(span, source.newline.join(render_entry(new, session.format)) + ending)]
    phases = tuple(_exchanged(phase, entry, new) for phase in session.phases)
    return check_shown(source, edits, replace(session, phases=phases))


def _exchanged(phase: Phase, entry: Subagent, new: Subagent) -> Phase:
    def swapped(one: Entry) -> Entry:
        return new if one.lines == entry.lines else one

    subs = tuple(_exchanged(sub, entry, new) for sub in phase.subphases)
    return replace(phase, entries=tuple(map(swapped, phase.entries)), subphases=subs)
