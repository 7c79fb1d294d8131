"""How a budget is shared out among the parts of a context.

Decisions, open tasks and unresolved errors are always there: in full while they take at most two fifths of the budget, else a line
each, the shorter the more there are.  Each other part may have a share of the rest, the window what the others did not need;
what does not fit is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from crucible.commands.resume.context_parts import (
    decisions_part,
    drift_part,
    errors_part,
    goal_part,
    said_lines,
    stopped_part,
    subagent_lines,
    tasks_part,
)
from crucible.commands.resume.extent import Extent, raw_size
from crucible.commands.resume.open_work import OpenWork
from crucible.commands.resume.recent_entries import choose_window
from crucible.commands.resume.resume_material import LeftOut, Material
from crucible.core.tokens import Counter
from crucible.documents.markdown.quoting import fence, quote_block
from crucible.memory.summary.brief import MOST_WORDS, count_covered, find_brief, first_request
from crucible.memory.summary.brief_text import ShownTexts, extend_digest, render_digest

_LEVELS = ((None, 40), (400, 50), (200, 60), (120, 100))
"""Characters of a line per decision, open task and error, and the part of the budget, in percent, up to which they may be
that long; None for their whole text."""

_MOST_SUBAGENTS = _MOST_SAID = 6
"""How many of the newest are shown, however long the session is."""

_HEADING = 12
"""Tokens set aside for a part's heading."""

_NO_LIMIT = 10**9


class Required(NamedTuple):
    """What is always there, fenced, and whether it was cut to lines."""

    decisions: str = ""
    tasks: str = ""
    errors: str = ""
    is_tight: bool = False

    def size(self, counter: Counter) -> int:
        """Tokens of the three."""
        return sum(map(counter.count, (self.decisions, self.tasks, self.errors)))


class Filled(NamedTuple):
    """The parts that a budget decides on, fenced, "" for those that are empty, and what did not fit."""

    goal: str = ""
    stopped: str = ""
    blockers: str = ""
    questions: str = ""
    drift: str = ""
    subagents: str = ""
    brief: str = ""
    window: str = ""
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class Given:
    """What parts are made of."""

    material: Material
    extent: Extent
    work: OpenWork
    counter: Counter
    briefs: dict[str, str] = field(default_factory=dict)
    """By the last phase that each covers."""


def require(given: Given, budget: int, frame: int = 0) -> Required:
    """Decisions, open tasks and unresolved errors, as long as the budget allows next to a frame of this many tokens."""
    for limit, percent in _LEVELS:
        found = Required(
            decisions_part(given.work, limit),
            tasks_part(given.work, given.extent, limit),
            errors_part(given.work, limit),
            is_tight=limit is not None,
        )
        size = found.size(given.counter)
        if size * 100 <= budget * percent and size + frame <= budget:
            break
    return found


def fill(given: Given, *, window: int, room: int) -> Filled:
    """The other parts in at most `room` tokens, or about that: the caller counts the whole text."""
    material, extent, work, counter = given.material, given.extent, given.work, given.counter
    share = _Sharing(room, counter)
    known = ShownTexts(work.texts())
    stopped = share.one_of("where it stopped", 15, lambda limit: stopped_part(material, extent, known, limit))
    goal = share.one_of("the goal", 25, lambda limit: goal_part(material, extent, limit))
    blockers = share.newest("blockers", 10, said_lines(work.blockers), _MOST_SAID)
    questions = share.newest("unanswered questions", 10, said_lines(work.questions), _MOST_SAID)
    drift = material.drift
    changed = share.one_of("changes since", 15, lambda limit: drift_part(drift, limit // 100) if drift else "")
    subagents = share.newest("subagents", 15, subagent_lines(extent, material.children), _MOST_SUBAGENTS)
    set_aside = min(room // 5, 900)
    words, _ = first_request(extent.session)
    in_goal = words if quote_block(words, _NO_LIMIT) in goal else ""
    shown = choose_window(extent, window, share.left - set_aside - _HEADING, counter, in_goal)
    told = share.take(fence(shown.blocks))
    before = extent.entries[shown.start - 1].phase if shown.start else ""
    if before not in given.briefs:
        given.briefs[before] = _brief(given, known, before.partition(".")[0])
    text = given.briefs[before]
    brief = share.one_of("the brief", 100, lambda limit: fence((quote_block(text, 2 * limit),)))
    gone = [one.entry for at, one in enumerate(extent.entries[: shown.start]) if at != shown.opener]
    share.leave_out("older entries", len(gone), sum(map(raw_size, gone)))
    later = [entry for phase in extent.later for entry in phase.all_entries()]
    share.leave_out("phases after the one it is resumed in", len(extent.later), sum(map(raw_size, later)))
    return Filled(goal, stopped, blockers, questions, changed, subagents, brief, told, tuple(share.left_out))


class _Sharing:
    """Room that parts take from, and what did not fit."""

    def __init__(self, room: int, counter: Counter) -> None:
        self.room = room
        self.left = room
        self.left_out: list[LeftOut] = []
        self._counter = counter

    def take(self, part: str) -> str:
        """Take the room for a part."""
        if part:
            self.left -= self._counter.count(part) + _HEADING
        return part

    def leave_out(self, what: str, count: int, characters: int) -> None:
        """Note what is left out, if anything."""
        if count:
            self.left_out.append(LeftOut(what, count, characters * 2 // 7))

    def one_of(self, what: str, percent: int, build: Callable[[int], str]) -> str:
        """The longest form of a part that its share holds: texts in it have at most 2,000 characters, then 800, 300, 100."""
        whole = build(2000)
        for limit in (2000, 800, 300, 100):
            part = whole if limit == 2000 else build(limit)
            if not part or self._fits(part, percent):
                return self.take(part)
        self.leave_out(what, 1, len(whole))
        return ""

    def newest(self, what: str, percent: int, lines: Sequence[str], most: int) -> str:
        """The last lines that their share holds."""
        kept = list(lines[-most:])
        while kept and not self._fits(fence(kept), percent):
            kept.pop(0)
        gone = lines[: len(lines) - len(kept)]
        self.leave_out(what, len(gone), sum(map(len, gone)))
        return self.take(fence(kept))

    def _fits(self, part: str, percent: int) -> bool:
        allowed = min(self.left, self.room * percent // 100)
        return self._counter.count(part) + _HEADING <= allowed


def _brief(given: Given, known: ShownTexts, phase: str) -> str:
    """The note's brief, extended up to that phase, without what other parts show; "" for none.

    One that covers phases after the resume point is made again up to there.
    """
    extent, whole = given.extent, given.material.session
    brief = find_brief(whole)
    if brief and extent.later and count_covered(whole, brief.covers) > len(extent.session.phases):
        brief = None
    session, results = extent.session, "Results"
    digest, _ = extend_digest(session, brief, phase)
    if earlier := digest.earlier[results]:
        digest.items[results][:0] = extend_digest(session, None, phase)[0].items[results][:earlier]
    for name in (
        "Fixed",
        "Reports",
    ):  # nothing is left to do about the first, the others are in a part of their own
        digest.items[name].clear()
    for items in digest.items.values():
        items[:] = [one for one in items if not (known.has(one) or known.is_in(one))]
    return render_digest(replace(digest, earlier=dict.fromkeys(digest.items, 0)), MOST_WORDS).strip()
