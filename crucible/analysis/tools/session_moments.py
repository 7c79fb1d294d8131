"""A session as a list of moments, in the order of its note, with their data from the event log.

Each entry is a moment, and so is each call of a list of calls, but not an inline subagent's work or the note's preamble.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from crucible.analysis.tools.recorded_calls import RecordedCalls, RecordedPrompt
from crucible.analysis.tools.session_files import Files
from crucible.analysis.tools.tool_acts import Act, Deed
from crucible.analysis.tools.tool_calls import acts_of
from crucible.documents.session.session import Entry, Intervention, Outcome, Session, ToolCall, ToolCalls

RUNS = frozenset((Deed.RUN, Deed.TEST, Deed.CHECK, Deed.BUILD))
CHANGES = frozenset((Deed.WRITE, Deed.EDIT, Deed.DELETE))


@dataclass(frozen=True, slots=True)
class Moment:
    """An entry, or one call of a list of calls.

    `at` is its place among all, from 0, `phase` its phase or sub-phase, `line` that of the note, from 1.  `acts` and `arguments` are a call's (`arguments`
    None where they were not recorded), `result` its whole text if it was recorded, `tool` its name as the client has it.  `row` is the transcript's row with the
    result, or with the user's words, `expansion` what a slash command stands for; "" where it was not recorded.
    """

    at: int
    phase: str
    phase_name: str
    line: int
    entry: Entry
    call: ToolCall | None = None
    acts: tuple[Act, ...] = ()
    arguments: Mapping[str, object] | None = None
    result: str = ""
    tool: str = ""
    row: str = ""
    expansion: str = ""

    @property
    def outcome(self) -> Outcome | None:
        """The outcome of a call; None for other moments."""
        return self.call.outcome if self.call else None

    @property
    def passed(self) -> bool:
        """True for a call that succeeded."""
        return self.outcome is Outcome.OK

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands that it ran."""
        return tuple(act.what for act in self.acts if act.deed in RUNS)

    @property
    def changed(self) -> tuple[str, ...]:
        """The files that it changed."""
        return tuple(act.what for act in self.acts if act.deed in CHANGES and act.what) if self.passed else ()


def moments_of(session: Session, evidence: RecordedCalls) -> list[Moment]:
    """Every moment of every phase.  Evidence is asked call by call, in order: take a new one each time."""
    files = Files(evidence.roots)
    found: list[Moment] = []
    for phase in session.all_phases():
        for entry in phase.entries:
            for call in entry.calls if isinstance(entry, ToolCalls) else [None]:
                line = (call or entry).lines.first + 1
                one = Moment(len(found), phase.id, phase.name, line, entry, call)
                found.append(_recorded(one, evidence, files))
    return found


def _recorded(one: Moment, evidence: RecordedCalls, files: Files) -> Moment:
    """The moment with its data from the event log."""
    if one.call is None:
        said = evidence.said(one.entry.words) if isinstance(one.entry, Intervention) else RecordedPrompt()
        return replace(one, row=said.row, expansion=said.expansion)
    result = evidence.result(one.call)
    return replace(
        one,
        acts=acts_of(one.call, evidence, files),
        arguments=evidence.arguments(one.call),
        result=one.call.result if result is None else result,
        tool=evidence.name(one.call),
        row=evidence.row(one.call),
    )
