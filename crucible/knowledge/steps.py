"""A session as one line of steps, in the order of its note, with what its event log knows of each call.

What an inline subagent did and a note's preamble are no steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from crucible.acts.evidence import Evidence
from crucible.acts.files import Files
from crucible.acts.model import Act, Deed
from crucible.acts.reading import acts_of
from crucible.session.model import Entry, Outcome, Session, ToolCall, ToolCalls

__all__ = ["Step", "steps_of"]

_COMMANDS = frozenset((Deed.RUN, Deed.TEST, Deed.CHECK, Deed.BUILD))
_CHANGES = frozenset((Deed.WRITE, Deed.EDIT))


class Step(NamedTuple):
    """An entry, or one call of a list of calls; `line` counts from 1 in the note, `result` is whole if it was recorded."""

    phase: str
    line: int
    entry: Entry
    call: ToolCall | None = None
    acts: tuple[Act, ...] = ()
    arguments: Mapping[str, object] | None = None
    result: str = ""

    @property
    def passed(self) -> bool:
        """True for a call that succeeded."""
        return self.call is not None and self.call.outcome is Outcome.OK

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands that it ran."""
        return tuple(act.what for act in self.acts if act.deed in _COMMANDS)

    @property
    def changed(self) -> tuple[str, ...]:
        """The files that it wrote or edited."""
        return (
            tuple(act.what for act in self.acts if act.deed in _CHANGES and act.what) if self.passed else ()
        )


def steps_of(session: Session, evidence: Evidence) -> list[Step]:
    """Every step of every phase."""
    return list(_walk(session, evidence, Files(evidence.roots)))


def _walk(session: Session, evidence: Evidence, files: Files) -> Iterator[Step]:
    for phase in session.all_phases():
        for entry in phase.entries:
            if not isinstance(entry, ToolCalls):
                yield Step(phase.id, entry.lines.first + 1, entry)
                continue
            for call in entry.calls:
                acts = acts_of(call, evidence, files)
                result = evidence.result(call)
                yield Step(
                    phase.id,
                    call.lines.first + 1,
                    entry,
                    call,
                    acts,
                    evidence.arguments(call),
                    call.result if result is None else result,
                )
