"""What a session came to, as frozen values.

Owns the form in which texts are kept: every one is a single line, so that an item of a list is a line that a person can change or take out.
How it stands in a note is `notes`', what is told `composing`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from crucible.note.contain import cut, normal_line

__all__ = [
    "LONGEST",
    "NO_CAPTURES",
    "Capture",
    "Captures",
    "Entry",
    "Line",
    "shortened_captures",
    "shortened_entry",
    "tidy_entry",
    "tidy_line",
]

LONGEST = 1000
"""Code points that a line holds at most; the rest stands in the session's note."""
_LONGEST_VALUE = 400
_READ = 8 * LONGEST
"""Code points of a text that are looked at for what is to be taken out."""


class Line(NamedTuple):
    """An item of a section: `text`, why it is so ("" where nobody said), its line in the session's note, from 1, 0 for none, and its finding's id."""

    text: str
    why: str = ""
    line: int = 0
    finding: str = ""


class Capture(NamedTuple):
    """Something worth keeping that the session held: its type, the id of the item of knowledge ("" for none), and a summary of a line."""

    type: str
    id: str = ""
    summary: str = ""


class Captures(NamedTuple):
    """What became of what was proposed.  `suggested` is what nobody answered for."""

    suggested: tuple[Capture, ...] = ()
    approved: tuple[Capture, ...] = ()
    skipped: tuple[Capture, ...] = ()

    def joined(self, later: Captures) -> Captures:
        """These and later ones, each once: what was kept stays kept, and what somebody answered for is suggested no more."""
        approved = {_known(one): one for one in (*self.approved, *later.approved)}
        skipped = {_known(one): one for one in (*self.skipped, *later.skipped) if _known(one) not in approved}
        answered = approved.keys() | skipped.keys()
        open_ = {
            _known(one): one for one in (*self.suggested, *later.suggested) if _known(one) not in answered
        }
        return Captures(*(tuple(group.values()) for group in (open_, approved, skipped)))


def _known(one: Capture) -> tuple[str, str]:
    """By what a capture is the same as an earlier one: the item that it became has a name, a proposal has its words alone."""
    return one.type, " ".join(one.summary.casefold().split()) or one.id


NO_CAPTURES = Captures()


@dataclass(frozen=True, slots=True)
class Entry:
    """One session's history.

    Times are aware, UTC, to the second.  `agent` is `name@version`.  Tasks go by their ids in the session.  Files are seen from the project,
    never absolute.  `tokens` is as the session's `tokens_used`.  `author` is the model that told it, "" where it was composed without one.
    `done`, `decisions`, `questions` and `further` are What We Did, Decisions Made, Open Questions and Next Session.
    """

    session_id: str
    title: str = ""
    project: str = ""
    started: datetime | None = None
    ended: datetime | None = None
    duration_minutes: int | None = None
    agent: str = ""
    skills: tuple[str, ...] = ()
    tasks_completed: tuple[str, ...] = ()
    tasks_started: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    captures: Captures = NO_CAPTURES
    tokens: int | None = None
    author: str = ""
    done: tuple[Line, ...] = ()
    decisions: tuple[Line, ...] = ()
    questions: tuple[Line, ...] = ()
    further: tuple[Line, ...] = ()


def tidy_line(line: Line) -> Line:
    """The form in which a line is kept; its text is "" where nothing is left of it."""
    return Line(_text(line.text), _text(line.why), max(0, line.line))


def tidy_entry(entry: Entry) -> Entry:
    """The form in which an entry is kept: texts of one line that are not too long, none that is empty, no item twice in a section."""
    title = _value(entry.title)
    return replace(
        entry,
        session_id=_value(entry.session_id),
        title="" if title == _value(entry.session_id) else title,
        project=_value(entry.project),
        started=entry.started and entry.started.replace(microsecond=0),
        ended=entry.ended and entry.ended.replace(microsecond=0),
        agent=_value(entry.agent),
        skills=_values(entry.skills),
        tasks_completed=_values(entry.tasks_completed),
        tasks_started=_values(entry.tasks_started),
        files_modified=_values(entry.files_modified),
        captures=Captures(*(_captures(group) for group in entry.captures)),
        author=_value(entry.author),
        done=_lines(entry.done),
        decisions=_lines(entry.decisions),
        questions=_lines(entry.questions),
        further=_lines(entry.further),
    )


def shortened_entry(entry: Entry, shorten: Callable[[str], str]) -> Entry:
    """The tidy form of an entry whose texts went through `shorten`: what takes paths or secrets out of them, say."""

    def lines(told: Iterable[Line]) -> tuple[Line, ...]:
        return tuple(Line(shorten(one.text[:_READ]), shorten(one.why[:_READ]), one.line) for one in told)

    return tidy_entry(
        replace(
            entry,
            title=shorten(entry.title),
            captures=shortened_captures(entry.captures, shorten),
            done=lines(entry.done),
            decisions=lines(entry.decisions),
            questions=lines(entry.questions),
            further=lines(entry.further),
        )
    )


def shortened_captures(captures: Captures, shorten: Callable[[str], str]) -> Captures:
    """The captures whose summaries went through `shorten`."""
    groups = (tuple(one._replace(summary=shorten(one.summary)) for one in group) for group in captures)
    return Captures(*groups)


def _text(text: str) -> str:
    return normal_line(cut(normal_line(text), LONGEST))


def _value(text: str) -> str:
    return normal_line(cut(normal_line(text), _LONGEST_VALUE))


def _values(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(_value, texts))))


def _captures(captures: Iterable[Capture]) -> tuple[Capture, ...]:
    found = (Capture(_value(one.type), _value(one.id), _value(one.summary)) for one in captures)
    return tuple(one for one in found if one.type)


def _lines(lines: Iterable[Line]) -> tuple[Line, ...]:
    found: dict[tuple[str, str], Line] = {}
    for line in map(tidy_line, lines):
        if line.text:
            found.setdefault((line.text, line.why), line)
    return tuple(found.values())
