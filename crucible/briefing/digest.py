"""Memory in a dozen lines: where the work stands, what is to do, what was decided and learned, and how things are done here.

Owns how many lines each gets.  When it is tight conventions go first, then lessons, decisions, todos; where the work stands always stays.  Every text is
foreign, so each is quoted in a line of its own behind a word of ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from crucible.briefing.files import find_files, read_text
from crucible.briefing.likeness import Aim, Leaning, rank_alike
from crucible.briefing.memory import Held, Position
from crucible.briefing.model import Cut, Item, Rank
from crucible.briefing.quoting import Quoter
from crucible.history.memories import Memory
from crucible.patterns import late_pattern

__all__ = ["LINES", "Digest", "build_digest", "conventions_in", "digest_items", "position_lines"]

LINES = 15
"""Lines of a digest where there is enough to tell."""
_TEXT, _WHY = 200, 120
_SHARES: Mapping[Leaning, Mapping[Rank, int]] = MappingProxyType(
    {
        Leaning.NEITHER: {Rank.TODO: 4, Rank.DECISION: 4, Rank.LESSON: 2, Rank.CONVENTION: 2},
        Leaning.PLANNING: {Rank.TODO: 3, Rank.DECISION: 3, Rank.LESSON: 1, Rank.CONVENTION: 5},
        Leaning.EXECUTING: {Rank.TODO: 4, Rank.DECISION: 5, Rank.LESSON: 3, Rank.CONVENTION: 0},
    }
)
"""Lines beside the three that the position may take: who plans needs to know how things are done here, who carries out what was decided."""


class Digest(NamedTuple):
    """What is told: `position` in lines of its own, then `items`; `left_out` counts what did not fit."""

    position: tuple[str, ...]
    items: tuple[Item, ...] = ()
    left_out: tuple[Cut, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """As they are printed."""
        return (*self.position, *(f"{one.group}: {one.text}" for one in self.items))


def build_digest(
    position: Sequence[str], items: Iterable[Item], lines: int = LINES, leaning: Leaning = Leaning.NEITHER
) -> Digest:
    """At most so many lines, at least one; of items of a rank the first are kept."""
    told = tuple(position[: max(1, lines)])
    groups: dict[Rank, list[Item]] = {rank: [] for rank in sorted(Rank, reverse=True)}
    for one in items:
        groups[one.rank].append(one)
    counts = _counts({rank: len(group) for rank, group in groups.items()}, max(0, lines - len(told)), leaning)
    kept = tuple(one for rank, group in groups.items() for one in group[: counts[rank]])
    lost = ((rank, len(groups[rank]) - counts[rank]) for rank in sorted(Rank))
    return Digest(told, kept, tuple(Cut(rank.word, count) for rank, count in lost if count))


def _counts(there: Mapping[Rank, int], room: int, leaning: Leaning) -> dict[Rank, int]:
    """Each rank's share first, what is left over for the weightiest, and what is too much from the slightest."""
    wider = max(1.0, room / (LINES - 3))
    counts = {rank: min(count, round(_SHARES[leaning][rank] * wider)) for rank, count in there.items()}
    for rank in sorted(Rank):
        counts[rank] -= min(counts[rank], max(0, sum(counts.values()) - room))
    for rank in sorted(Rank, reverse=True):
        counts[rank] += min(there[rank] - counts[rank], room - sum(counts.values()))
    return counts


# --- what is told ----------------------------------------------------------------------------------------------------


def digest_items(
    held: Held,
    conventions: Sequence[str],
    quoter: Quoter,
    *,
    aim: Aim | None = None,
    first: str = "",
    most: int = LINES * 4,
) -> list[Item]:
    """Every item in the order in which it is kept, of each rank `most`, what has to do with the `aim` first, then what belongs to the session `first`."""
    todos = sorted(held.todos, key=lambda one: one.session != first)
    found: list[Item] = []
    for rank, memories in ((Rank.TODO, todos), (Rank.DECISION, held.decisions), (Rank.LESSON, held.lessons)):
        ranked = rank_alike([_said(one) for one in memories], aim)[:most]
        found += [
            Item(_shown(memories[at], quoter), rank, _group(memories[at], rank), alike)
            for at, alike in ranked
        ]
    lines = [shown for line in conventions if (shown := quoter.line(line, _TEXT))]
    for at, alike in rank_alike(lines, aim)[:most]:
        found.append(Item(lines[at], Rank.CONVENTION, _GROUPS[Rank.CONVENTION], alike))
    return [one for one in found if one.text]


_GROUPS = MappingProxyType(
    {Rank.TODO: "To do", Rank.DECISION: "Decided", Rank.LESSON: "Learned", Rank.CONVENTION: "Convention"}
)


def _group(one: Memory, rank: Rank) -> str:
    return f"{_GROUPS[rank]} (inferred)" if one.inferred else _GROUPS[rank]


def _said(one: Memory) -> str:
    """What it is about: the session's id tells the topic."""
    return f"{one.text} {one.why} {one.session}"


def _shown(one: Memory, quoter: Quoter) -> str:
    text = quoter.line(one.text, _TEXT)
    why = quoter.line(one.why, _WHY) if text and one.why else ""
    joint = " → " if one.kind == "lesson" else f"{'' if text[-1:] in '.!?…' else '.'} Why: "
    return f"{text}{joint}{why}" if why else text


def position_lines(position: Position | None, project: str, now: datetime, quoter: Quoter) -> tuple[str, ...]:
    """Where the work stands, what was noted there, and what is in the way; the first line is always there."""
    if position is None:
        of = quoter.line(project, 80)
        return (f"Where work stands: no session {f'of {of} ' if of else ''}yet",)
    told = [f"Where work stands: {_place(position, now, quoter)}"]
    if note := quoter.line(position.note, _TEXT):
        told.append(f"Noted there: {note}")
    if blockers := "; ".join(filter(None, (quoter.line(one, _WHY) for one in position.blockers[:3]))):
        told.append(f"In the way: {blockers}")
    return tuple(told)


def _place(one: Position, now: datetime, quoter: Quoter) -> str:
    """`2026-11-21-x, phase 11 of 12 (Tests), task 3 of 5 (Write it); paused, last active 2 h ago`."""
    parts = [quoter.line(one.session, 120)]
    if one.phase:
        number, name = quoter.line(one.phase.removeprefix("phase-"), 20), quoter.line(one.phase_name, 80)
        parts.append(
            f"phase {number}{f' of {one.phases}' if one.phases else ''}{f' ({name})' if name else ''}"
        )
    if one.task_number:
        name = quoter.line(one.task_name, 100)
        parts.append(f"task {one.task_number} of {one.task_count}{f' ({name})' if name else ''}")
    elif one.task_count:
        parts.append(f"all {one.task_count} tasks done" if one.task_count > 1 else "its task is done")
    status = quoter.line(one.status, 20) or "of unknown status"
    age = f"last active {_age(now - one.at)}" if one.at else "when it was last active is unknown"
    return f"{', '.join(parts)}; {status}, {age}"


def _age(age: timedelta) -> str:
    """`2 h ago`; what lies ahead of us (another machine's clock) or under a minute is `just now`."""
    seconds = int(age.total_seconds())
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return "just now"


# --- conventions -----------------------------------------------------------------------------------------------------

_HEADING = late_pattern(r"#{1,6}[ \t]+(.*)\Z")
_BULLET = late_pattern(r"[ \t]*(?:[-*+]|[0-9]{1,3}[.)])[ \t]+(\S.*)\Z")
_NAMED = late_pattern(r"(?i)\b(?:conventions?|(?:coding |code )?style|rules?|guidelines?|practices)\b")
_MOST = 20
"""Lines that are taken of a file."""


def conventions_in(folder: Path | None, named: Sequence[str]) -> Iterator[str]:
    """The lines of these files of the project's folder that say how things are done: items below a heading that says so, else all items."""
    for name in find_files(folder, named) if folder and named else ():
        text = read_text(folder, name) if folder else None
        below, others = list[str](), list[str]()
        heading = ""
        for line in (text or "").split("\n"):
            if head := _HEADING.match(line):
                heading = head[1].rstrip(" \t#")
            elif item := _BULLET.match(line):
                (below if _NAMED.search(heading) else others).append(item[1])
        yield from (below or others)[:_MOST]
