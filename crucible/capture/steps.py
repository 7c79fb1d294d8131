"""A session as one line of steps, in the order of its note, with what its event log knows of each call.

Owns what every finder walks along: each entry a step, each tool call one of its own.  What an inline subagent did is its own and no step here, nor is
a note's preamble.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from crucible.acts.evidence import Evidence
from crucible.acts.files import Files
from crucible.acts.model import Act
from crucible.acts.reading import acts_of
from crucible.session.model import Entry, Outcome, Session, ToolCall, ToolCalls

__all__ = ["Step", "steps_of"]


class Step(NamedTuple):
    """One entry, or one call of a list of calls; `line` is the note's from 1, `result` a call's whole text where it was recorded, else as the note cuts it."""

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


def steps_of(session: Session, evidence: Evidence) -> list[Step]:
    """Every step of every phase."""
    files = Files(evidence.roots)
    return list(_walk(session, evidence, files))


def _walk(session: Session, evidence: Evidence, files: Files) -> Iterator[Step]:
    for phase in session.all_phases():
        for entry in phase.entries:
            if isinstance(entry, ToolCalls):
                for call in entry.calls:
                    whole = evidence.result(call)
                    yield Step(
                        phase.id,
                        call.lines.first + 1,
                        entry,
                        call,
                        acts_of(call, evidence, files),
                        evidence.arguments(call),
                        call.result if whole is None else whole,
                    )
            else:
                yield Step(phase.id, entry.lines.first + 1, entry)
