"""How far a brief reaches: the phase it names, found again in a note that people have edited meanwhile.

Ids are ordinal, so that a phase that was added or removed above changes them: the name decides, the id among equal names.
"""

from __future__ import annotations

from collections.abc import Sequence

from crucible.errors import UsageError
from crucible.note.contain import cut, normal_line
from crucible.patterns import late_pattern
from crucible.session.model import Phase, Session, Status

__all__ = ["count_covered", "covering", "due_phase", "phase_number"]

_NAME_LIMIT, _NAME_READ = 60, 1000
"""Code points of a phase's name that a brief repeats, and that are looked at."""

_NAMED = late_pattern(r'(?:phase-)?(\d{1,9})(?:\.\d+)?\b[ \t]*(?:"(.*)")?$')


def covering(phase: Phase) -> str:
    """What a brief says that tells of everything up to this phase: `phase-12 "Tests"`."""
    return f'{phase.id.partition(".")[0]} "{_short(phase)}"'


def _short(phase: Phase) -> str:
    return cut(normal_line(phase.name[:_NAME_READ]), _NAME_LIMIT)


def count_covered(session: Session, covers: str) -> int:
    """How many phases, from the first on, lie behind what a brief says it covers.

    A phase that is not there any more by its name was renamed or removed.  One phase may then be told twice; none is missed.
    """
    named = _NAMED.match(covers)
    number, name = (int(named[1]), named[2]) if named else (len(session.phases), covers.strip('" \t'))
    if name is None:
        return min(number, len(session.phases))
    found = _nearest(session.phases, name, number)
    return found or (min(number - 1, len(session.phases)) if named and number else 0)


def _nearest(phases: Sequence[Phase], name: str, number: int) -> int:
    """The number, from 1, of the phase of that name that lies nearest, the earlier one of two; 0 for none."""
    found = [at for at, phase in enumerate(phases, 1) if name and _short(phase) == name]
    return min(found, key=lambda at: (abs(at - number), at), default=0)


def phase_number(session: Session, phase_id: str) -> int:
    """The place, from 1, of a phase, of a sub-phase's its phase's, 0 for an empty id; `UsageError` for one that is not there."""
    if not phase_id:
        return 0
    whole = phase_id.partition(".")[0]
    for number, phase in enumerate(session.phases, 1):
        if phase.id == whole:
            return number
    raise UsageError(f"{session.id} has no {phase_id}", f"it has {len(session.phases)} phases")


def due_phase(session: Session, covers: str) -> str:
    """The id of the last phase that is whole and that the brief does not cover, "" when it is up to date.

    The last phase of a session that has not ended is the running one, or where it goes on.
    """
    ended = session.status in (Status.COMPLETED, Status.FAILED)
    whole = len(session.phases) - (0 if ended else 1)
    return session.phases[whole - 1].id if whole > count_covered(session, covers) else ""
