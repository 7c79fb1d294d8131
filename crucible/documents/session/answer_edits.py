"""An answer at its place in the note: behind what it answers, or inside the error that it mends.

As in `editing`, every edit touches the lines it is about, and one that would not show when the note is read back is refused.
"""

from __future__ import annotations

from dataclasses import replace

from crucible.core.errors import EditRefused
from crucible.documents.markdown.source import Edit, Source, Span
from crucible.documents.session.append_shown import check_shown, phase_as_read
from crucible.documents.session.edits import insert_lines, newline_at, refuse_open
from crucible.documents.session.markup import render_entry
from crucible.documents.session.session import Entry, Failure, Phase, Session

_LABEL = "> Resolution:"


def add_behind(source: Source, session: Session, entry: Entry, new: Entry) -> list[Edit]:
    """A new entry directly behind one of the session's; `EditRefused` when that stands in no phase and not before the first."""
    lines = render_entry(new, session.format)
    edits = insert_lines(source, session, entry.lines.end, lines)
    return check_shown(source, edits, _with(session, entry, (entry, _as_read(lines, session.format))))


def add_resolution(source: Source, session: Session, failure: Failure, text: str) -> list[Edit]:
    """How an error was mended, as the last lines of its callout; one that says so already is refused."""
    if (failure.resolution or "").strip():
        raise EditRefused(
            f"{session.id}:{failure.lines.first + 1}: the error has a resolution", "change it in the note"
        )
    refuse_open(session, failure.lines.end)
    form = session.format
    whole = render_entry(Failure(failure.text, text), form)
    lines = whole[len(render_entry(Failure(failure.text), form)) :]
    if failure.resolution is not None:
        lines = _without_label(lines)
    read = _as_read(["> [!error]", "> x", *render_entry(Failure("x", text), form)[2:]], form)
    mended = replace(failure, resolution=read.resolution if isinstance(read, Failure) else text)
    return check_shown(source, _below(source, failure.lines.end, lines), _with(session, failure, (mended,)))


def _without_label(lines: list[str]) -> list[str]:
    """The label stands there and says nothing."""
    at = next(at for at, line in enumerate(lines) if line.startswith(_LABEL))
    first = lines[at].removeprefix(_LABEL).lstrip(" ")
    return [*([f"> {first}"] if first else []), *lines[at + 1 :]]


def _below(source: Source, line: int, lines: list[str]) -> list[Edit]:
    """Lines directly before `line`, no blank one between."""
    at = source.starts[line] if line < len(source.starts) else len(source.text)
    newline = newline_at(source, at)
    ended = source.text[at - 1] in "\r\n"
    text = newline.join(lines)
    return [Edit(Span(at, at), text + newline if ended else newline + text)]


def _as_read(lines: list[str], form: int) -> Entry:
    return phase_as_read(["## A", "", *lines], form).entries[0]


def _with(session: Session, entry: Entry, others: tuple[Entry, ...]) -> Session:
    """The session with the entry that stands on the same lines exchanged for others."""

    def swapped(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
        return tuple(new for one in entries for new in (others if one.lines == entry.lines else (one,)))

    def in_phase(phase: Phase) -> Phase:
        subs = tuple(map(in_phase, phase.subphases))
        return replace(phase, entries=swapped(phase.entries), subphases=subs)

    return replace(session, preamble=swapped(session.preamble), phases=tuple(map(in_phase, session.phases)))
