"""A digest: the position, todos, decisions, lessons and conventions of a project in a dozen lines.

Conventions are cut first, then lessons, decisions and todos; the position is always shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from crucible.commands.briefing.briefing_parts import Aim, Cut, Item, Leaning, Quoter, Rank, Source, rank_alike
from crucible.commands.briefing.facts import Fact, ProjectFacts, Sources, find_known, with_kept
from crucible.commands.briefing.position import Position, find_position, position_lines
from crucible.commands.briefing.project_profile import BULLET, conventions, find_files, headed, read_text
from crucible.commands.briefing.sections import conventions_of, decisions_of, is_new, lessons_of, open_ends_of
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.source import Problem
from crucible.documents.session.findings import Source as Found
from crucible.memory.history.memory_log import MemoryKind, key_of
from crucible.memory.summary.brief_text import ShownTexts as Shown
from crucible.memory.tasks.overview import TaskScope, gather
from crucible.memory.tasks.task import Stage
from crucible.vault.index.schema import View
from crucible.vault.notes.vault import Vault

LINES = 15
"""Default maximum number of lines."""
_TEXT, _WHY = 200, 120
_SHARES: Mapping[Leaning, Mapping[Rank, int]] = MappingProxyType(
    {
        Leaning.NEITHER: {Rank.TODO: 4, Rank.DECISION: 4, Rank.LESSON: 2, Rank.CONVENTION: 2},
        Leaning.PLANNING: {Rank.TODO: 3, Rank.DECISION: 3, Rank.LESSON: 1, Rank.CONVENTION: 5},
        Leaning.EXECUTING: {Rank.TODO: 4, Rank.DECISION: 5, Rank.LESSON: 3, Rank.CONVENTION: 0},
    }
)
"""Lines per rank, in addition to three for the position. Planning gets more conventions, executing more decisions."""
_GROUPS = MappingProxyType(
    {Rank.TODO: "To do", Rank.DECISION: "Decided", Rank.LESSON: "Learned", Rank.CONVENTION: "Convention"}
)


class DigestRequest(NamedTuple):
    """The project ("" for the entire vault), its folder if known, and the aim of a workflow about to run."""

    now: datetime
    project: str = ""
    folder: Path | None = None
    aim: Aim | None = None
    lines: int = LINES


class DigestResult(NamedTuple):
    """A digest, its position, and the sources and memory lines that could not be read."""

    digest: Digest
    position: Position | None
    failed: tuple[Source, ...] = ()
    problems: tuple[tuple[MemoryKind, Problem], ...] = ()


def digest_of(vault: Vault, view: View, request: DigestRequest, quoter: Quoter) -> DigestResult:
    """Build the digest; `view` must be up to date."""
    project, sources = request.project, Sources(quoter)
    position = sources.read("position", lambda: find_position(view, vault.root, project), None)
    known = with_kept(vault, find_known(vault, view, project, request.now), project, sources)
    from_profile = partial(conventions, vault.root, project, quoter.whole)
    profile = sources.read("profile", from_profile, tuple[str, ...]()) if project else ()
    named = (*profile, *conventions_in(request.folder, vault.settings.briefing.include_files))
    first = position.session if position else ""
    todos = [*_tasks(view, known, project), *open_ends_of(known)]
    items = digest_items(known, sorted(todos, key=lambda one: one.session != first), named, quoter, request.aim)
    place = position_lines(position, project, request.now, quoter)
    leaning = request.aim.leaning if request.aim else Leaning.NEITHER
    return DigestResult(
        build_digest(place, items, request.lines, leaning), position, tuple(sources.failed), known.problems
    )


def _tasks(view: View, known: ProjectFacts, project: str) -> Iterator[Fact]:
    """Yield open tasks of live sessions, except those that a later or identical completed task settles."""
    tasks = gather(view, TaskScope(project)).tasks
    done = {key_of(task.content) for task in tasks if task.stage is Stage.COMPLETED}
    for task in tasks:
        session = task.ref.session
        is_open = task.stage in (Stage.IN_PROGRESS, Stage.PENDING) and key_of(task.content) not in done
        if is_open and session in known.alive and not known.after(session).settles(task.content):
            yield Fact("task", task.content, session)


class Digest(NamedTuple):
    """The position lines, the items, and the number of items that did not fit."""

    position: tuple[str, ...]
    items: tuple[Item, ...] = ()
    left_out: tuple[Cut, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """Return the lines to print."""
        return (*self.position, *(f"{one.group}: {one.text}" for one in self.items))


def build_digest(
    position: Sequence[str], items: Iterable[Item], lines: int = LINES, leaning: Leaning = Leaning.NEITHER
) -> Digest:
    """Build a digest of at most `lines` lines (minimum 1). Within a rank, the first items are kept."""
    head = tuple(position[: max(1, lines)])
    found = list(items)
    groups = {rank: [one for one in found if one.rank is rank] for rank in sorted(Rank, reverse=True)}
    counts = _counts({rank: len(group) for rank, group in groups.items()}, max(0, lines - len(head)), leaning)
    kept = tuple(one for rank, group in groups.items() for one in group[: counts[rank]])
    dropped = ((rank, len(groups[rank]) - counts[rank]) for rank in sorted(Rank))
    return Digest(head, kept, tuple(Cut(rank.word, count) for rank, count in dropped if count))


def _counts(available: Mapping[Rank, int], room: int, leaning: Leaning) -> dict[Rank, int]:
    """Assign each rank its share of lines. Cut from the lowest rank; spare lines go to the highest."""
    scale = max(1.0, room / (LINES - 3))
    counts = {rank: min(count, round(_SHARES[leaning][rank] * scale)) for rank, count in available.items()}
    for rank in sorted(Rank):
        counts[rank] -= min(counts[rank], max(0, sum(counts.values()) - room))
    for rank in sorted(Rank, reverse=True):
        counts[rank] += min(available[rank] - counts[rank], room - sum(counts.values()))
    return counts


# --- items -----------------------------------------------------------------------------------------------------------


def digest_items(
    known: ProjectFacts, todos: Sequence[Fact], named: Sequence[str], quoter: Quoter, aim: Aim | None = None
) -> list[Item]:
    """Return all items without duplicates, relevant ones first in each rank.

    `named` are conventions from notes and files.
    """
    rules = [Fact("", line, "") for line in named] + [one for one, _ in conventions_of(known)]
    groups = (
        (Rank.TODO, todos),
        (Rank.CONVENTION, rules),
        (Rank.DECISION, decisions_of(known)),
        (Rank.LESSON, lessons_of(known)),
    )
    shown, found = Shown(), list[Item]()
    for rank, facts in groups:
        fresh = [one for one in facts if is_new(shown, one.text)]
        for at, is_related in rank_alike([f"{one.text} {one.why} {one.session}" for one in fresh], aim):
            one = fresh[at]
            if text := _shown(one, rank, quoter):
                guess = " (inferred)" if one.source == Found.MODEL else ""
                found.append(Item(text, rank, f"{_GROUPS[rank]}{guess}", is_related, one.finding))
    return found


def _shown(one: Fact, rank: Rank, quoter: Quoter) -> str:
    text = quoter.line(one.text, _TEXT)
    why = quoter.line(one.why, _WHY) if text and rank in (Rank.DECISION, Rank.LESSON) else ""
    joint = " → " if rank is Rank.LESSON else f"{'' if text[-1:] in '.!?…' else '.'} Why: "
    return f"{text}{joint}{why}" if why else text


# --- conventions -----------------------------------------------------------------------------------------------------

_NAMED = late_pattern(r"(?i)\b(?:conventions?|(?:coding |code )?style|rules?|guidelines?|practices)\b")
_MOST = 20
"""Maximum lines from a file."""


def conventions_in(folder: Path | None, named: Sequence[str]) -> Iterator[str]:
    """Yield conventions in the project's files: list items below a heading such as Conventions, else all list items."""
    if folder is None:
        return
    for name in find_files(folder, named):
        lines = headed((read_text(folder, name) or "").split("\n"))
        items = [(heading, line[found.end() :]) for heading, line in lines if (found := BULLET.match(line))]
        below = [text for heading, text in items if _NAMED.search(heading)]
        yield from (below or [text for _, text in items])[:_MOST]
