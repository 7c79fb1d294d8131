"""Where a session's findings are in its timeline."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from crucible.cases.timeline import Moment, Timeline
from crucible.note.source import NOWHERE
from crucible.session.findings import Finding, Kind, findings_by_phase, findings_of, is_said_in
from crucible.session.model import Decision, Failure, Intervention, Outcome, Subagent

__all__ = ["outcome_of", "placed", "placed_at", "said_at"]


def placed(timeline: Timeline, kind: Kind) -> Iterator[tuple[Finding, Moment]]:
    """The findings of a kind that have a callout, each with its moment, in the order of the note."""
    at = 0
    for finding in findings_of(timeline.session):
        if finding.kind == kind:
            moment = next((one for one in timeline.moments[at:] if _tells(one, finding)), None)
            if moment is not None:
                at = moment.at + 1
                yield finding, moment


def placed_at(moments: Iterable[Moment], rows: Collection[str]) -> Moment | None:
    """The first moment of one of these rows, of which a finding has the first characters."""
    return next((one for one in moments if one.row and one.row.startswith(tuple(rows))), None)


def _tells(moment: Moment, finding: Finding) -> bool:
    entry = moment.entry
    if not isinstance(entry, Decision | Failure | Subagent):
        return False
    if finding.lines != NOWHERE:
        return entry.lines == finding.lines
    is_told = not isinstance(entry, Failure) or (entry.resolution or "").strip()
    said = entry.summary if isinstance(entry, Subagent) else entry.text
    return bool(is_told) and said == finding.summary


def outcome_of(timeline: Timeline, phase: str) -> Finding | None:
    """The last outcome of a phase, with those of its sub-phases."""
    found = findings_by_phase(timeline.session)
    own = [one for name, some in found.items() if name.partition(".")[0] == phase for one in some]
    return next((one for one in reversed(own) if one.kind == Kind.OUTCOME), None)


def said_at(timeline: Timeline) -> dict[int, Finding]:
    """Each correction by the place of its words in the timeline: the user's own, else those of a refused call."""
    spoken = [one for one in timeline.moments if isinstance(one.entry, Intervention)]
    refused = [one for one in timeline.moments if one.outcome is Outcome.REJECTED]
    found: dict[int, Finding] = {}
    for finding in findings_of(timeline.session):
        if finding.kind == Kind.CORRECTION:
            free = [one for one in (*spoken, *refused) if one.at not in found]
            said = (one for one in free if is_said_in(finding, _words(one)))
            moment = next(said, None)
            if moment is not None:
                found[moment.at] = finding
    return found


def _words(moment: Moment) -> str:
    return moment.entry.words if isinstance(moment.entry, Intervention) else moment.result
