"""How much of a session a context tells of: up to its `resume_point`.

Owns where that ends, and the entries up to there, each with the phase it belongs to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from crucible.documents.session.session import Callout, Entry, Intervention, Phase, Session, Subagent, ToolCalls

Kind = TypeVar("Kind")


class Placed(NamedTuple):
    """An entry and the id of its phase, "start" before the first one."""

    phase: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class Extent:
    """A session up to where it is picked up.

    `session` has no phases behind that; `later` are those.  `phase` is the one it is picked up in, None in a session without
    phases.  `head` are the entries before the first phase without the brief, `entries` all others.  `problem` is a line
    of ours, "" for none.
    """

    session: Session
    phase: Phase | None
    head: tuple[Placed, ...]
    entries: tuple[Placed, ...]
    later: tuple[Phase, ...] = ()
    problem: str = ""

    def of(self, kind: type[Kind]) -> Iterator[tuple[str, Kind]]:
        """Every entry of that kind with its phase, in the order of the note; also those of inline subagents."""
        todo = [*reversed((*self.head, *self.entries))]
        while todo:
            phase, entry = todo.pop()
            if isinstance(entry, kind):
                yield phase, entry
            # What a subagent is told are no human's words.
            if isinstance(entry, Subagent) and kind is not Intervention:
                todo += [Placed(phase, inner) for inner in reversed(entry.entries)]


def find_extent(session: Session) -> Extent:
    """Up to the phase that `resume_point` names, all of it if it names none."""
    point, later, problem = session.resume_point, tuple[Phase, ...](), ""
    flat = list(session.all_phases())
    named = [at for at, phase in enumerate(flat) if f"{phase.id}.".startswith(f"{point}.")]
    if named:
        kept = {phase.id for phase in flat[: named[-1] + 1]}
        later = tuple(
            phase for phase in flat[named[-1] + 1 :] if "." not in phase.id or phase.id.partition(".")[0] in kept
        )
        phases = (
            replace(phase, subphases=tuple(sub for sub in phase.subphases if sub.id in kept))
            for phase in session.phases
            if phase.id in kept
        )
        session = replace(session, phases=tuple(phases))
    elif point:
        problem = f"resume_point {point[:60]!r} names no phase of the note, so all of the session is shown"
    shown = list(session.all_phases())
    head = tuple(Placed("start", entry) for entry in session.preamble if not _is_brief(entry))
    entries = tuple(Placed(phase.id, entry) for phase in shown for entry in phase.entries)
    return Extent(session, shown[-1] if shown else None, head, entries, later, problem)


def _is_brief(entry: Entry) -> bool:
    return isinstance(entry, Callout) and entry.kind == "abstract"


def raw_size(entry: Entry) -> int:
    """About how many characters of a note an entry is; what is inside an inline subagent counts."""
    if isinstance(entry, ToolCalls):
        return sum(len(call.call) + len(call.result) + 8 for call in entry.calls)
    texts = (
        getattr(entry, name, None) for name in ("text", "words", "note", "rationale", "resolution", "summary", "task")
    )
    return sum(len(text) for text in texts if text) + sum(map(raw_size, getattr(entry, "entries", ())))
