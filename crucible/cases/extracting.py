"""All cases of a session, of every type, in the order of its note, without secrets.

Owns the order, and that no two have one id.  Messages stand to the letter; what names a person is taken out when cases leave the vault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from crucible.acts.evidence import Evidence
from crucible.cases.choices import find_choices
from crucible.cases.corrections import find_corrections
from crucible.cases.delegations import find_delegations
from crucible.cases.making import distinct, measured
from crucible.cases.model import Case, CaseType
from crucible.cases.puzzles import find_puzzles
from crucible.cases.rubric import is_gradable
from crucible.cases.scrubbing import Scrubber
from crucible.cases.teaching import is_teachable
from crucible.cases.timeline import Timeline, build_timeline
from crucible.cases.trajectories import find_trajectories
from crucible.secrets.scanner import Redact
from crucible.session.findings import Source, findings_of
from crucible.session.model import Session, Subagent

__all__ = ["extract"]


def extract(
    session: Session,
    children: Mapping[str, Session | None],
    evidence: Callable[[str], Evidence],
    redact: Redact,
) -> tuple[Case, ...]:
    """The cases of a session: the same ones in the same order for the same note and records.

    `children` are its subagents' sessions by id, None where a note is gone; others among them do not count.  `evidence` gives what the records of a
    session say, by its id, anew each time.
    """
    timeline = build_timeline(session, evidence(session.id))
    own = {link: children.get(link) for link in _links(timeline)}
    scrubber = Scrubber(redact, personal=False)
    told = {one.id for one in findings_of(session) if one.source == Source.CALLOUT}
    found = [case for case in _found(timeline, own) if is_teachable(case.body, told=case.finding in told)]
    found = [case for case in found if case.type in _UNGRADED or is_gradable(case.body)]
    found.sort(key=lambda case: case.place.line)  # a stable order within a line
    return tuple(measured(scrubber.clean(case)) for case in distinct(found))


_UNGRADED = (CaseType.WORKFLOW, CaseType.DELEGATION)
"""What is learned as it is, without an answer to be graded."""


def _links(timeline: Timeline) -> Iterator[str]:
    for moment in timeline.moments:
        if isinstance(moment.entry, Subagent) and moment.entry.link:
            yield moment.entry.link


def _found(timeline: Timeline, children: Mapping[str, Session | None]) -> Iterator[Case]:
    yield from find_puzzles(timeline)
    yield from find_corrections(timeline)
    yield from find_choices(timeline)
    yield from find_delegations(timeline, children)
    yield from find_trajectories(timeline)
