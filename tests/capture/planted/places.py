"""Where each step of a session stands in its note.

Owns the walk along steps and entries: both are in the order of events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from crucible.note.source import Lines
from crucible.session.calls import call_line
from crucible.session.model import Entry, Intervention, Prose, Session, ToolCalls
from crucible.transcript.events import Prompted, Replied, ToolUsed
from tests.cases.planted.scribe import Step, Told

__all__ = ["lines_of"]


class _Item(NamedTuple):
    """A paragraph, a call or a callout of the note."""

    told: object
    lines: Lines


def lines_of(steps: Sequence[Step], session: Session, text: str, cwd: str) -> list[Lines | None]:
    """For each step its lines in the note's `text`, None for what leaves no trace; raises `ValueError` where a step is missing."""
    items = list(_items(session, text.split("\n")))
    at = 0
    found: list[Lines | None] = []
    for step in steps:
        wanted = _wanted(step, cwd)
        if wanted is None:
            found.append(None)
            continue
        at, lines = _find(items, at, wanted)
        found.append(lines)
    return found


def _find(items: list[_Item], at: int, wanted: object) -> tuple[int, Lines]:
    for first in range(at, len(items)):
        if items[first].told == wanted:
            return first + 1, items[first].lines
        if isinstance(wanted, str) and isinstance(items[first].told, str):
            end = _several(items, first, wanted)
            if end:
                return end, Lines(items[first].lines.first, items[end - 1].lines.end)
    raise ValueError(f"not in the note: {wanted!r}")


def _several(items: list[_Item], first: int, wanted: str) -> int:
    """The item after the last of those paragraphs that together say it; 0 when they do not."""
    told = ""
    for end in range(first, len(items)):
        here = items[end].told
        if not isinstance(here, str) or not wanted.startswith(told + here):
            return 0
        told += here
        if told == wanted:
            return end + 1
    return 0


def _wanted(step: Step, cwd: str) -> object:
    match step:
        case Told():
            return step.entry
        case Replied():
            return _plain(step.text)
        case Prompted():
            return ("user", _plain(step.text))
        case ToolUsed():
            return ("call", call_line(step.name, step.arguments, cwd))
        case _:
            return None


def _items(session: Session, lines: list[str]) -> Iterator[_Item]:
    for phase in session.all_phases():
        for entry in phase.entries:
            yield from _of_entry(entry, lines)


def _of_entry(entry: Entry, lines: list[str]) -> Iterator[_Item]:
    match entry:
        case Prose():
            yield from _paragraphs(entry.lines, lines)
        case ToolCalls():
            for call in entry.calls:
                yield _Item(("call", call.call), call.lines)
        case Intervention() if not entry.note:
            yield _Item(("user", _plain(entry.words)), entry.lines)
        case _:
            yield _Item(entry, entry.lines)


def _paragraphs(where: Lines, lines: list[str]) -> Iterator[_Item]:
    first = where.first
    for number in range(where.first, where.end + 1):
        is_end = number == where.end or not lines[number].strip()
        if is_end and number > first:
            yield _Item(_plain("\n".join(lines[first:number])), Lines(first, number))
        if is_end:
            first = number + 1


def _plain(text: str) -> str:
    """Letters and digits: what containment never touches."""
    return re.sub(r"[\W_]+", "", text).casefold()
