"""A session's moments in order: their goals, findings and turns, and their cases."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import TypeVar

from crucible.analysis.tools.file_kinds import is_test_file
from crucible.analysis.tools.recorded_calls import RecordedCalls
from crucible.analysis.tools.tool_acts import Deed
from crucible.analysis.tools.tool_calls import SHELLS, Moment, moments_of
from crucible.commands.learn.case import (
    CUT,
    Body,
    Case,
    CaseCall,
    CaseTurn,
    Place,
    Role,
    body_turns,
    case_id,
    difficulty_of,
    texts_of,
    type_of,
)
from crucible.commands.learn.proofs import verifications
from crucible.documents.markdown.source import NOWHERE
from crucible.documents.session.findings import Finding, Kind, QuotedTexts, findings_by_phase, findings_of
from crucible.documents.session.session import (
    Decision,
    Entry,
    Failure,
    Intervention,
    Outcome,
    Phase,
    Prose,
    Session,
    Subagent,
)
from crucible.documents.session.titles import untagged


@dataclass(frozen=True)
class Timeline:
    """A session's moments. `complete` is True if the full arguments of all calls are known.

    `phases` and `goals` are keyed by phase id, in order.
    """

    session: Session
    moments: tuple[Moment, ...]
    complete: bool
    phases: Mapping[str, Phase] = field(default_factory=dict)
    goals: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of the session."""
        return findings_of(self.session)

    @cached_property
    def outcomes(self) -> Mapping[str, Finding]:
        """The last outcome of each phase, which includes its sub-phases, by the phase's id."""
        placed = findings_by_phase(self.session, self.findings).items()
        return {name.partition(".")[0]: one for name, some in placed for one in some if one.kind == Kind.OUTCOME}

    @cached_property
    def corrections(self) -> Mapping[int, Finding]:
        """Each correction by the position of its words: a user prompt or a rejected call."""
        return _corrections_by_moment(self)

    @cached_property
    def calls(self) -> Sequence[int]:
        """The positions of all calls."""
        return [one.at for one in self.moments if one.call]

    @cached_property
    def changes(self) -> Sequence[int]:
        """The positions of the calls that changed a file."""
        return [at for at in self.calls if self.moments[at].changed]

    @cached_property
    def recorded_changes(self) -> Sequence[int]:
        """The positions of the calls that changed a file and whose arguments were recorded."""
        return [at for at in self.changes if self.moments[at].arguments]

    @cached_property
    def first_changes(self) -> Mapping[tuple[str, bool], int]:
        """The position of the first change in each phase: of a test file (True), and of another file (False)."""
        found: dict[tuple[str, bool], int] = {}
        for one in map(self.moments.__getitem__, self.changes):
            for name in one.changed:
                found.setdefault((one.phase, is_test_file(name)), one.at)
        return found

    @cached_property
    def has_arguments(self) -> bool:
        """True if the arguments of any call were recorded."""
        return any(one.arguments for one in self.moments)

    @cached_property
    def prompts(self) -> Sequence[int]:
        """The positions of the user's prompts."""
        return [one.at for one in self.moments if isinstance(one.entry, Intervention)]

    @cached_property
    def settled(self) -> Sequence[int]:
        """The positions of the calls that the user did not reject."""
        return [at for at in self.calls if self.moments[at].outcome is not Outcome.REJECTED]

    @cached_property
    def rejected(self) -> Sequence[int]:
        """The positions of the calls that the user rejected."""
        return [at for at in self.calls if self.moments[at].outcome is Outcome.REJECTED]

    @cached_property
    def verifications(self) -> Sequence[str]:
        """For each moment, the command that verified it; see `verifications`."""
        return verifications(self.moments)

    @cached_property
    def problems(self) -> tuple[str, ...]:
        """The first problems of the note, each with its line."""
        return tuple(f"line {one.line}: {one.message}" for one in self.session.problems[:_PROBLEMS])

    @cached_property
    def touches(self) -> Mapping[str, Sequence[int]]:
        """The positions of successful calls with recorded arguments, by what they read, wrote or ran."""
        recorded = (one for one in self.moments if one.passed and one.arguments is not None)
        return _places_by((act.what, one.at) for one in recorded for act in one.acts)

    @cached_property
    def reads(self) -> Mapping[str, Sequence[int]]:
        """The positions of the calls that read a file, by the file."""
        return _places_by((act.what, one.at) for one in self.moments for act in one.acts if act.deed is Deed.READ)

    @cached_property
    def rows(self) -> Sequence[tuple[str, int]]:
        """The ids of the moments' rows, sorted, with their positions."""
        return sorted((one.row, one.at) for one in self.moments if one.row)

    @cached_property
    def callouts(self) -> Mapping[object, Sequence[int]]:
        """The positions of callouts, by their lines and by their text."""
        return _places_by((mark, one.at) for one in self.moments for mark in _marks_of(one.entry))

    def phase_of(self, at: int) -> Phase:
        """Return the phase or sub-phase of a moment."""
        return self.phases[self.moments[at].phase]

    def goal_of(self, phase: str) -> str:
        """Return the goal of a phase: the opening prompt if it has more than two words, else that of an earlier phase.

        Without one, the goal is the subagent's task, the phase's name, or the session's title.
        """
        return self.goals.get(phase, self.session.title)


def build_timeline(session: Session, evidence: RecordedCalls) -> Timeline:
    """Build the timeline of a session from its note and its recorded calls."""
    moments = tuple(moments_of(session, evidence))
    phases = {phase.id: phase for phase in session.all_phases()}
    complete = evidence.whole and not any(one.call and one.arguments is None for one in moments)
    return Timeline(session, moments, complete, phases, dict(_goals(session, phases)))


def _goals(session: Session, phases: Mapping[str, Phase]) -> Iterator[tuple[str, str]]:
    goal = _task(session) if session.parent else ""
    for name, phase in phases.items():
        goal = _opening(phase) or goal
        yield name, goal or phase.name or session.title


def _task(session: Session) -> str:
    """Return a subagent's task, which comes before the first phase in its note."""
    return next((untagged(entry.text) for entry in session.preamble if isinstance(entry, Prose)), "")


def _opening(phase: Phase) -> str:
    """Return the prompts at the start of a phase, except those too short to name a goal ("go on")."""
    opening = takewhile(lambda entry: isinstance(entry, Intervention), phase.entries)
    asked = [entry.words for entry in opening if isinstance(entry, Intervention)]
    return "\n\n".join(words for words in asked if len(words.split()) > _FEW)


_FEW = 2
_K = TypeVar("_K")
_PROBLEMS = 20
"""Maximum problems of a note to name in each of its cases."""


def _places_by(pairs: Iterable[tuple[_K, int]]) -> Mapping[_K, Sequence[int]]:
    found: defaultdict[_K, list[int]] = defaultdict(list)
    for key, at in pairs:
        found[key].append(at)
    return found


def last_before(places: Sequence[int], at: int) -> int:
    """Return the last of some positions, given in order, that is before a moment; -1 for none."""
    nth = bisect_left(places, at)
    return places[nth - 1] if nth else -1


def first_after(places: Sequence[int], at: int) -> int | None:
    """Return the first of some positions, given in order, that is after a moment."""
    nth = bisect_right(places, at)
    return places[nth] if nth < len(places) else None


def within(places: Sequence[int], extent: range) -> Sequence[int]:
    """Return those of some positions, given in order, that are in a range."""
    return places[bisect_left(places, extent.start) : bisect_left(places, extent.stop)]


# --- turns -----------------------------------------------------------------------------------------------------------


def turns_of(moments: Iterable[Moment]) -> tuple[CaseTurn, ...]:
    """Return moments as turns: prose and the call after it are one turn, each result is another.

    Other entries are dropped. A call's id is its position in the timeline: `call-12`.
    """
    turns: list[CaseTurn] = []
    prose: list[str] = []
    for moment in moments:
        if moment.call is not None:
            turns.extend(_exchange_of(moment, "\n\n".join(prose)))
            prose = []
        elif isinstance(moment.entry, Prose) and moment.entry.text:
            prose.append(moment.entry.text)
    return (*turns, CaseTurn(Role.ASSISTANT, "\n\n".join(prose))) if prose else tuple(turns)


def _exchange_of(moment: Moment, words: str) -> tuple[CaseTurn, CaseTurn]:
    """Return the turn that makes a call, with the prose before it, and the turn with its result."""
    line = moment.call.call if moment.call else ""
    tool, _, rest = line.partition(" ")
    arguments = moment.arguments if moment.arguments is not None else {_argument_of(tool, rest): rest}
    call = CaseCall(f"call-{moment.at}", moment.tool or tool, arguments)
    failed = moment.outcome in (Outcome.FAILED, Outcome.REJECTED, Outcome.INTERRUPTED)
    return (
        CaseTurn(Role.ASSISTANT, words, (call,)),
        CaseTurn(Role.TOOL, moment.result, answers=call.id, failed=failed),
    )


def _argument_of(tool: str, rest: str) -> str:
    """Return the argument name for a call's line: that of the shell if the line is uncut, else `input`."""
    if tool.casefold() not in SHELLS or not rest or rest.endswith("…") or "⏎" in rest:
        return "input"
    return _COMMAND.get(tool, "command")


_COMMAND = {"exec_command": "cmd"}
"""Shells whose command argument has a different name."""


# --- findings --------------------------------------------------------------------------------------------------------


def placed_findings(timeline: Timeline, kind: Kind) -> Iterator[tuple[Finding, Moment]]:
    """Yield the findings of a kind, each with the moment of its callout, in note order."""
    at = 0
    for finding in timeline.findings:
        if finding.kind == kind:
            places = timeline.callouts.get(finding.summary if finding.lines == NOWHERE else finding.lines, ())
            nth = bisect_left(places, at)
            if nth < len(places):
                at = places[nth] + 1
                yield finding, timeline.moments[places[nth]]


def moment_of_rows(timeline: Timeline, places: range, rows: Collection[str]) -> Moment | None:
    """Return the first moment whose row starts with one of `rows`; findings keep only the start of a row."""
    found = min(places_of_rows(timeline, places, rows), default=None)
    return None if found is None else timeline.moments[found]


def places_of_rows(timeline: Timeline, extent: range, rows: Collection[str]) -> Iterator[int]:
    """Yield the positions in a range of moments whose row starts with one of `rows`."""
    known = timeline.rows
    for start in rows:
        first = bisect_left(known, (start, -1))
        alike = takewhile(lambda nth: known[nth][0].startswith(start), range(first, len(known)))  # noqa: B023  used at once
        yield from (known[nth][1] for nth in alike if known[nth][1] in extent)


def _marks_of(entry: Entry) -> Iterator[object]:
    """Yield what a finding may share with its callout: its lines, and its text unless it is an unresolved failure."""
    if isinstance(entry, Decision | Failure | Subagent):
        yield entry.lines
        if not isinstance(entry, Failure) or (entry.resolution or "").strip():
            yield entry.summary if isinstance(entry, Subagent) else entry.text


def _corrections_by_moment(timeline: Timeline) -> dict[int, Finding]:
    told = [one for one in timeline.findings if one.kind == Kind.CORRECTION]
    places = [*timeline.prompts, *timeline.rejected] if told else []
    quoted = QuotedTexts(_words(timeline.moments[at]) for at in places)
    found: dict[int, Finding] = {}
    after: dict[str, int] = {}  # the next text to search for a summary
    for finding in told:
        matching = quoted.matching(finding.summary, after.get(finding.summary, 0))
        nth = next((nth for nth in matching if places[nth] not in found), None)
        if nth is not None:
            found[places[nth]] = finding
            after[finding.summary] = nth + 1
    return found


def _words(moment: Moment) -> str:
    return moment.entry.words if isinstance(moment.entry, Intervention) else moment.result


def make_case(
    timeline: Timeline,
    moment: Moment,
    body: Body,
    anchor: str,
    *,
    finding: Finding,
    verification: str = "",
) -> Case:
    """Make the case of a body, without digest and tokens.

    `anchor` is text that distinguishes it from the session's other cases of its type. `moment` is its origin, and
    `finding` provides its title.
    """
    session, phase = timeline.session, timeline.phase_of(moment.at)
    above = timeline.phases.get(moment.phase.partition(".")[0], phase)
    agent = phase.agent or above.agent or next(iter(session.participants), None)
    turns = body_turns(body)
    type_ = type_of(body)
    return Case(
        id=case_id(session.id, type_, anchor),
        type=type_,
        place=Place(session.id, moment.phase, moment.phase_name, moment.line),
        body=body,
        title=finding.summary,
        finding=finding.id,
        agent=str(agent) if agent else "",
        model=session.model or "",
        channel=phase.channel or above.channel or session.channel or "",
        project=session.project or "",
        started=phase.started or above.started or session.started,
        tools=tuple(sorted({call.name for turn in turns for call in turn.calls})),
        tags=tuple(tag for tag in session.tags if tag != "session"),
        difficulty=difficulty_of(turns),
        verification=verification,
        complete=timeline.complete and not any(CUT in text for text in texts_of([one.calls for one in turns])),
        problems=timeline.problems,
    )
