"""A session's moments in order: their goals, findings and turns, the commands that verified them, and their cases."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, takewhile

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
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import cut, normal_line
from crucible.documents.markdown.source import NOWHERE
from crucible.documents.session.findings import Finding, Kind, bare_words, findings_by_phase, findings_of, quotes
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
    def rows(self) -> Sequence[tuple[str, int]]:
        """The ids of the moments' rows, sorted, with their positions."""
        return sorted((one.row, one.at) for one in self.moments if one.row)

    @cached_property
    def callouts(self) -> Mapping[object, Sequence[int]]:
        """The positions of callouts, by their lines and by their text."""
        found: defaultdict[object, list[int]] = defaultdict(list)
        for moment in self.moments:
            for mark in _marks_of(moment.entry):
                found[mark].append(moment.at)
        return found

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
    found = min((at for row in rows for at in _places_of_row(timeline, row) if at in places), default=None)
    return None if found is None else timeline.moments[found]


def _places_of_row(timeline: Timeline, start: str) -> Iterator[int]:
    rows = timeline.rows
    alike = takewhile(lambda one: one[0].startswith(start), islice(rows, bisect_left(rows, (start, -1)), None))
    return (at for _, at in alike)


def _marks_of(entry: Entry) -> Iterator[object]:
    """Yield what a finding may share with its callout: its lines, and its text unless it is an unresolved failure."""
    if isinstance(entry, Decision | Failure | Subagent):
        yield entry.lines
        if not isinstance(entry, Failure) or (entry.resolution or "").strip():
            yield entry.summary if isinstance(entry, Subagent) else entry.text


def _corrections_by_moment(timeline: Timeline) -> dict[int, Finding]:
    told = [one for one in timeline.findings if one.kind == Kind.CORRECTION]
    spoken = [one for one in timeline.moments if told and isinstance(one.entry, Intervention)]
    refused = [one for one in timeline.moments if told and one.outcome is Outcome.REJECTED]
    free = {one.at: bare_words(_words(one)) for one in (*spoken, *refused)}
    found: dict[int, Finding] = {}
    for finding in told:
        summary = bare_words(finding.summary)
        at = next((at for at, words in free.items() if quotes(summary, words)), None)
        if at is not None:
            found[at] = finding
            del free[at]
    return found


def _words(moment: Moment) -> str:
    return moment.entry.words if isinstance(moment.entry, Intervention) else moment.result


_PROOFS = frozenset({Deed.TEST, Deed.CHECK, Deed.BUILD})
_SHOWS = late_pattern(
    r"(?:git|ls|cat|echo|pwd|mkdir|rm|cd|cp|mv|chmod|touch|which|sleep|export|apt|apt-get|sudo|find|head|tail|wc|date|ps|kill|ln)(?:\s|$)"
    r"|(?:python3? -m )?(?:uv )?(?:pip3?|npm|yarn|pnpm|poetry|cargo|go|brew|uv) (?:install|add|i|ci|get|sync)(?:\s|$)"
)
"""Matches commands that only look something up or prepare work, so that their success proves nothing."""
_NOTHING_RAN = late_pattern(
    r"\b(?:0|no) tests? (?:were )?(?:ran|run|collected|found|passed|executed)\b|\bcollected 0 items\b|\bran 0 tests\b|\brunning 0 tests\b|\[no test files\]",
    re.IGNORECASE,
)
_SOME_RAN = late_pattern(r"\b[1-9]\d* (?:tests?|passed|passing|examples?)\b|^ok\s+\S", re.MULTILINE)
_READ = 4000
_LONGEST = 300


def verification_after(timeline: Timeline, at: int) -> str:
    """Return the first test, check or build that passed later in the same phase, else the first program that succeeded.

    Sub-phases belong to their phase. The search ends at the first failed test, check or build.
    """
    phase = timeline.moments[at].phase.partition(".")[0]
    ran = ""
    for moment in timeline.moments[at + 1 :]:
        is_proof = bool(_deeds(moment) & _PROOFS)
        is_over = is_proof and moment.outcome is Outcome.FAILED
        if is_over or moment.phase.partition(".")[0] != phase:
            break
        if moment.outcome is not Outcome.OK:
            continue
        if is_proof and not _is_empty(moment):
            return proof_of(moment)
        runs = (act.what for act in moment.acts if act.deed is Deed.RUN and not is_proof)
        ran = ran or next((_line(one) for one in runs if one and not _SHOWS.match(one)), "")
    return ran


def proof_of(moment: Moment) -> str:
    """Return the command of a passed call as proof, "" if it ran no command or a test run had no tests."""
    is_proof = _deeds(moment) & {*_PROOFS, Deed.RUN} and not _is_empty(moment)
    return _command_of(moment) if is_proof else ""


def _is_empty(moment: Moment) -> bool:
    """True for a test run that passed but ran no tests."""
    if Deed.TEST not in _deeds(moment):
        return False
    text = moment.result[-_READ:]
    return bool(_NOTHING_RAN.search(text)) and not _SOME_RAN.search(text)


def _command_of(moment: Moment) -> str:
    """Return a call's most conclusive command in one line."""
    ran = [act.what for act in moment.acts if act.deed is Deed.RUN]
    proofs = [act.what for act in moment.acts if act.deed in _PROOFS] or [
        *(one for one in ran if not _SHOWS.match(one)),
        *ran,
    ]
    line = moment.call.call.partition(" ")[2] if moment.call else ""
    return _line(proofs[0] if proofs and proofs[0] else line.replace("⏎", " "))


def _line(text: str) -> str:
    return cut(normal_line(text), _LONGEST)


def _deeds(moment: Moment) -> set[Deed]:
    return {act.deed for act in moment.acts}


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
        problems=tuple(f"line {one.line}: {one.message}" for one in session.problems),
    )
