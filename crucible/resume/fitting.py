"""How a budget is shared out among the parts of a context.

Owns the shares.  Decisions, open tasks and unresolved errors come first and are always there: in full while they take
at most two fifths of the budget, else a line each, the shorter the more there are.  Of the room that is left each part may
have a share, the window what the others did not need; what does not fit is told with its size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from crucible.brief.callout import find_brief
from crucible.brief.covering import count_covered
from crucible.brief.extracting import extend_brief
from crucible.note.fencing import fence, quote_block
from crucible.resume.extent import Extent, raw_size
from crucible.resume.model import LeftOut, Material
from crucible.resume.open_work import OpenWork
from crucible.resume.parts import (
    decisions_part,
    drift_part,
    errors_part,
    goal_part,
    said_lines,
    stopped_part,
    subagent_lines,
    tasks_part,
)
from crucible.resume.tokens import Counter
from crucible.resume.window import Window, choose_window

__all__ = ["Filled", "Given", "Required", "fill", "require"]

_LEVELS = ((None, 40), (400, 50), (200, 60), (120, 100))
"""Characters of a line for each decision, open task and error, and the part of the budget, in percent, up to which they may be
that long; None for their whole text."""

_MOST_SUBAGENTS = _MOST_SAID = 6
"""So many of the newest are told, however long the session is."""

_HEADING = 12
"""Tokens set aside for a part's heading."""


class Required(NamedTuple):
    """What is always there, fenced, and whether it was cut to lines."""

    decisions: str
    tasks: str
    errors: str
    is_tight: bool

    def size(self, counter: Counter) -> int:
        """Tokens of the three."""
        return sum(map(counter.count, (self.decisions, self.tasks, self.errors)))


@dataclass(frozen=True, slots=True)
class Filled:
    """The parts that a budget decides on, fenced, "" for what is not there, and what did not fit."""

    goal: str = ""
    stopped: str = ""
    blockers: str = ""
    questions: str = ""
    drift: str = ""
    subagents: str = ""
    brief: str = ""
    window: str = ""
    left_out: tuple[LeftOut, ...] = field(default=())


def require(extent: Extent, work: OpenWork, budget: int, counter: Counter, frame: int = 0) -> Required:
    """Decisions, open tasks and unresolved errors, as long as the budget lets them be beside a frame of so many tokens."""
    for limit, percent in _LEVELS:
        found = Required(
            decisions_part(work, limit),
            tasks_part(work, extent, limit),
            errors_part(work, limit),
            is_tight=limit is not None,
        )
        size = found.size(counter)
        if size * 100 <= budget * percent and size + frame <= budget:
            break
    return found


class Given:
    """What parts are made of."""

    def __init__(self, material: Material, extent: Extent, work: OpenWork, counter: Counter) -> None:
        self.material, self.extent, self.work, self.counter = material, extent, work, counter
        self._briefs: dict[str, str] = {}

    def brief_until(self, phase: str) -> str:
        """The note's own brief, unless it reaches too far, extended up to that phase, as it stands when `phase` is ""; "" for none."""
        if phase not in self._briefs:
            session = self.extent.session
            brief = find_brief(session)
            whole = self.material.session
            if brief and self.extent.later and count_covered(whole, brief.covers) > len(session.phases):
                brief = None  # it tells of what lies behind the resume point
            if phase:
                brief = extend_brief(session, brief, phase)
            self._briefs[phase] = brief.text.strip() if brief else ""
        return self._briefs[phase]


def fill(given: Given, *, window: int, room: int) -> Filled:
    """The other parts in at most `room` tokens, or about that: the whole is counted by the caller."""
    material, extent, work, counter = given.material, given.extent, given.work, given.counter
    share = _Sharing(room, counter)
    stopped = share.one_of("where it stopped", 15, lambda limit: stopped_part(material, extent, limit))
    goal = share.one_of("the goal", 25, lambda limit: goal_part(extent, limit))
    blockers = share.newest("blockers", 10, said_lines(work.blockers), _MOST_SAID)
    questions = share.newest("unanswered questions", 10, said_lines(work.questions), _MOST_SAID)
    drift = material.drift
    changed = share.one_of(
        "changes since", 15, lambda limit: drift_part(drift, limit // 100) if drift else ""
    )
    subagents = share.newest("subagents", 15, subagent_lines(extent, material.children), _MOST_SUBAGENTS)
    set_aside = min(room // 5, 900)
    shown = choose_window(extent, window, share.left - set_aside - _HEADING, counter)
    told = fence(shown.blocks)
    share.take(told)
    brief = share.one_of("the brief", 100, lambda limit: _brief(given, shown, limit))
    share.leave_out("older entries", *_older(extent, shown))
    share.leave_out("phases behind the one it is picked up in", *_later(extent))
    return Filled(goal, stopped, blockers, questions, changed, subagents, brief, told, tuple(share.left_out))


class _Sharing:
    """A room that parts take from, and what did not find any."""

    def __init__(self, room: int, counter: Counter) -> None:
        self.room = room
        self.left = room
        self.left_out: list[LeftOut] = []
        self._counter = counter

    def take(self, part: str) -> str:
        """A part that is there whatever it costs."""
        if part:
            self.left -= self._counter.count(part) + _HEADING
        return part

    def leave_out(self, what: str, count: int, tokens: int) -> None:
        """Tell of what is not there, when there is any of it."""
        if count:
            self.left_out.append(LeftOut(what, count, tokens))

    def one_of(self, what: str, percent: int, build: Callable[[int], str]) -> str:
        """The longest form of a part that its share holds: texts in it have at most 2,000 characters, then 800, 300, 100."""
        whole = build(2000)
        if not whole:
            return ""
        for limit in (2000, 800, 300, 100):
            part = whole if limit == 2000 else build(limit)
            if self._fits(part, percent):
                return self.take(part)
        self.leave_out(what, 1, self._counter.count(whole))
        return ""

    def newest(self, what: str, percent: int, lines: Sequence[str], most: int) -> str:
        """The last lines that their share holds."""
        kept = list(lines[-most:])
        while kept and not self._fits(fence(kept), percent):
            kept.pop(0)
        gone = lines[: len(lines) - len(kept)]
        self.leave_out(what, len(gone), sum(len(line) for line in gone) * 2 // 7)
        return self.take(fence(kept))

    def _fits(self, part: str, percent: int) -> bool:
        allowed = min(self.left, self.room * percent // 100)
        return self._counter.count(part) + _HEADING <= allowed


def _brief(given: Given, shown: Window, limit: int) -> str:
    """What lies before the window; at most 300 words, unless a human wrote more into the note."""
    entries = given.extent.entries
    before = entries[shown.start - 1].phase if shown.start else ""
    text = given.brief_until(before.partition(".")[0])
    return fence((quote_block(text, 2 * limit),)) if text else ""


def _older(extent: Extent, shown: Window) -> tuple[int, int]:
    """How many entries the window does not show, and about how large they are."""
    gone = [placed.entry for at, placed in enumerate(extent.entries[: shown.start]) if at != shown.opener]
    return len(gone), sum(map(raw_size, gone)) * 2 // 7


def _later(extent: Extent) -> tuple[int, int]:
    entries = [entry for phase in extent.later for entry in phase.all_entries()]
    return len(extent.later), sum(map(raw_size, entries)) * 2 // 7
