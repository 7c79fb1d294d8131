"""All cases of a session, in the order of its note, without secrets; also how delegations and workflows are found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from typing import assert_never

from crucible.analysis.tools.recorded_calls import RecordedCalls
from crucible.analysis.tools.tool_calls import Moment
from crucible.commands.learn.case import (
    Body,
    Case,
    CaseTurn,
    CaseType,
    Choice,
    Correction,
    Delegation,
    Puzzle,
    Role,
    Trajectory,
    content_words,
    texts_of,
)
from crucible.commands.learn.case_making import distinct, make_case, measured
from crucible.commands.learn.correction_cases import find_corrections
from crucible.commands.learn.decision_cases import find_choices
from crucible.commands.learn.excerpts import (
    CUT,
    SENTENCE,
    SIDE,
    brief,
    brief_turns,
    request_of,
    with_words,
)
from crucible.commands.learn.puzzle_cases import find_puzzles
from crucible.commands.learn.rubric import is_gradable
from crucible.commands.learn.scrubbing import Scrubber
from crucible.commands.learn.timeline import (
    Timeline,
    build_timeline,
    corrections_by_place,
    outcome_of,
    placed_findings,
    verification_after,
)
from crucible.core.patterns import late_pattern
from crucible.core.secrets.scanner import Redact
from crucible.documents.markdown.containment import cut, normal_line
from crucible.documents.session.findings import Kind, Source, findings_of
from crucible.documents.session.session import Callout, Intervention, Outcome, Phase, Prose, Session, Status, Subagent
from crucible.documents.session.titles import untagged

_LATER = 12
"""Moments after a delegation that are looked at."""
_BEFORE = 6
"""Moments before it whose words are no news."""
_ENOUGH = 2
"""Words that only the result had said, in what the parent says or does later."""
_LONGEST = 300


def find_delegations(timeline: Timeline, children: Mapping[str, Session | None]) -> Iterator[Case]:
    """The delegations of a session, in the order of its note; `children` are the subagents' sessions by id."""
    for finding, moment in placed_findings(timeline, Kind.REPORT):
        entry = moment.entry
        if not isinstance(entry, Subagent) or _has_failed(entry):
            continue
        child = children.get(entry.link) if entry.link else None
        task = untagged(_task(entry, child)).strip().removeprefix("Task:").strip()
        result = _result(entry, child)
        used, evidence = _use(timeline, moment, task, result)
        body = Delegation(entry.agent.name, brief(task, 2 * SIDE), brief(result, 4 * SIDE), used, evidence)
        anchor = entry.link or f"{task}\n{entry.summary or ''}"
        verification = verification_after(timeline, moment.at) if used else ""
        yield make_case(timeline, moment, body, anchor, finding=finding, verification=verification)


def _has_failed(entry: Subagent) -> bool:
    """Whether a note says that the subagent came to no answer; what stands as its result is an error then."""
    return any(line.strip(" .").casefold() == "the subagent failed" for line in entry.text.split("\n"))


def _task(entry: Subagent, child: Session | None) -> str:
    """The subagent's task: from its note, else from the callout."""
    if child is not None:
        told = next((one.text for one in child.preamble if isinstance(one, Prose)), "")
        if told.strip():
            return told
    return entry.task or entry.text or (child.title if child else "")


def _result(entry: Subagent, child: Session | None) -> str:
    """What came back: the last words of the subagent's note, else all that the callout has of them."""
    entries = list(child.all_entries()) if child is not None else list(entry.entries)
    last = next((one.text for one in reversed(entries) if isinstance(one, Prose)), "")
    return max(last, entry.summary or "", key=len)


def _use(timeline: Timeline, moment: Moment, task: str, result: str) -> tuple[bool | None, str]:
    """Whether the result was used, and what shows it."""
    known = content_words(task) | _said_before(timeline, moment)
    news, names = content_words(result) - known, _names_in(result) - _names_in(task)
    seen: set[str] = set()
    for later in timeline.moments[moment.at + 1 : moment.at + 1 + _LATER]:
        if isinstance(later.entry, Intervention):
            break
        text = later.entry.text if isinstance(later.entry, Prose) else _made(later)
        seen |= news & content_words(text)
        if len(seen) >= min(_ENOUGH, len(news) or _ENOUGH) or names & _names_in(text):
            return True, cut(normal_line(text), _LONGEST)
    return None, ""


_NAME_DELEGATIONS = late_pattern(r"[A-Za-z_]\w*(?:[._/-]\w+)+|`[^`\n]{2,80}`")


def _names_in(text: str) -> set[str]:
    """Names of code and files, which nobody says by chance."""
    return {name.strip("`") for name in _NAME_DELEGATIONS.findall(text[:8000])}


def _said_before(timeline: Timeline, moment: Moment) -> frozenset[str]:
    """What was known before: the goal, and what was said and called last."""
    before = timeline.moments[max(0, moment.at - _BEFORE) : moment.at]
    said_then = (one.entry.text for one in before if isinstance(one.entry, Prose))
    called = (one.call.call for one in before if one.call)
    return content_words(" ".join([timeline.goal_of(moment.phase), *said_then, *called]))


def _made(moment: Moment) -> str:
    """What a call wrote; looking at something shows nothing."""
    if moment.call is None or not any(act.writes for act in moment.acts):
        return ""
    values = moment.arguments.values() if moment.arguments else [moment.call.call]
    return " ".join(one[:2000] for one in values if isinstance(one, str))


def find_trajectories(timeline: Timeline) -> Iterator[Case]:
    """The workflows of a session: each phase that was completed, came to an outcome and was not corrected."""
    parts = [list(group) for _, group in groupby(timeline.moments, key=_top)]
    corrected = _corrected(timeline)
    for part in parts:
        is_whole = _top(part[0]) not in corrected and _is_done(timeline, part, is_last=part is parts[-1])
        if is_whole and (case := _case(timeline, part)):
            yield case


def _corrected(timeline: Timeline) -> set[str]:
    """The phases with work that the user corrected, there or at the beginning of a later one."""
    before = (timeline.moments[:at] for at in corrections_by_place(timeline))
    last = (next((one for one in reversed(moments) if one.call), None) for moments in before)
    return {_top(moment) for moment in last if moment}


def _top(moment: Moment) -> str:
    return moment.phase.partition(".")[0]


def _phase(timeline: Timeline, moment: Moment) -> Phase:
    return timeline.phases.get(_top(moment)) or timeline.phase_of(moment.at)


def _is_done(timeline: Timeline, part: list[Moment], *, is_last: bool) -> bool:
    if is_last and timeline.session.status not in (Status.COMPLETED, None):
        return False
    calls = [one for one in part if one.call]
    phase = _phase(timeline, part[0])
    is_stopped = isinstance(part[-1].entry, Callout) and part[-1].entry.title.startswith("Interrupted")
    is_cut = calls and calls[-1].outcome in (Outcome.INTERRUPTED, Outcome.PENDING, Outcome.REJECTED)
    return bool(calls) and phase.status == "success" and not is_stopped and not is_cut


def _case(timeline: Timeline, part: list[Moment]) -> Case | None:
    first = part[0]
    outcome = outcome_of(timeline, _top(first))
    if outcome is None:
        return None
    goal = timeline.goal_of(_top(first))
    steps = _steps(timeline, part)
    turns = brief_turns(steps, SIDE * 6, SIDE)
    if not any(one.changed for one in steps) or sum(len(one.calls) for one in turns) < sum(
        bool(one.call) for one in steps
    ):
        return None  # a piece of a phase is no workflow
    # Of a phase what stays when others come before it, as its number does not; `distinct` parts those with the same name.
    anchor = f"{goal}\n{_phase(timeline, first).name}"
    begun = next((one.at for one in part if not isinstance(one.entry, Intervention)), first.at)
    is_long = len(goal.split()) >= SENTENCE
    body = Trajectory(brief(goal, SIDE // 2) if is_long else request_of(timeline, begun), turns)
    return make_case(
        timeline, first, body, anchor, finding=outcome, verification=verification_after(timeline, first.at)
    )


def _steps(timeline: Timeline, part: list[Moment]) -> list[Moment]:
    """The calls that changed or proved something, each with the words right before it, and the closing words."""
    closing = part[-1:] if isinstance(part[-1].entry, Prose) else []
    return with_words(timeline, [*(one for one in part if one.passed and (one.commands or one.changed)), *closing])


def extract(
    session: Session,
    children: Mapping[str, Session | None],
    evidence: Callable[[str], RecordedCalls],
    redact: Redact,
) -> tuple[Case, ...]:
    """The cases of a session: the same ones in the same order for the same note and records.

    `children` are its subagents' sessions by id, None where a note is gone.  `evidence` gives what the records of a
    session say, by its id, anew each time.
    """
    timeline = build_timeline(session, evidence(session.id))
    scrubber = Scrubber(redact, personal=False)
    told = {one.id for one in findings_of(session) if one.source == Source.CALLOUT}
    found = [case for case in _found(timeline, children) if is_teachable(case.body, told=case.finding in told)]
    found = [case for case in found if case.type in _UNGRADED or is_gradable(case.body)]
    found.sort(key=lambda case: case.place.line)  # a stable order within a line
    return tuple(measured(scrubber.clean(case)) for case in distinct(found))


_UNGRADED = (CaseType.WORKFLOW, CaseType.DELEGATION)
"""Types of cases without an answer to grade."""


def _found(timeline: Timeline, children: Mapping[str, Session | None]) -> Iterator[Case]:
    yield from find_puzzles(timeline)
    yield from find_corrections(timeline)
    yield from find_choices(timeline)
    yield from find_delegations(timeline, children)
    yield from find_trajectories(timeline)


# --- which are worth a row -------------------------------------------------------------------------------------------

_ASKED, _CHOSEN, _TASK, _FOUND = 3, 3, 6, 15
"""Least words of a request, a choice, a task and a result."""
_NAME = late_pattern(r"\w+\.[A-Za-z]{1,4}\b|[A-Za-z]\w*[a-z][A-Z]\w*|[A-Za-z]+_\w+")


def is_teachable(body: Body, *, told: bool = False) -> bool:
    """True for a case with a question that can be understood alone and an answer that can be checked against it.

    A callout that a person or an agent wrote (`told`) needs no proof by calls.
    """
    match body:
        case Puzzle():
            return bool(body.goal) and (_is_fix(body) or (told and bool(body.expected)))
        case Correction():
            return (
                bool(body.did)
                and bool(body.then)
                and (told or (_is_long(body.words, _ASKED) and any(_good(body.then)) and _is_whole(body.then)))
            )
        case Choice():
            is_weighed = len(body.options) > 1 or (bool(body.rationale) if told else _is_long(body.choice, _CHOSEN))
            return bool(body.situation) and is_weighed
        case Delegation():
            return body.used is True and (told or (_is_long(body.task, _TASK) and _is_long(body.result, _FOUND)))
        case Trajectory():
            return _is_long(body.goal, _ASKED) and any(_good(body.turns))
        case _:
            assert_never(body)


def _is_long(text: str, least: int) -> bool:
    return len(text.split()) >= least


def _is_fix(body: Puzzle) -> bool:
    """True if a change is shown that touches something the failure names."""
    made = [call for turn in body.solution for call in turn.calls]
    return bool(made) and bool(_names([body.failure]) & _names(texts_of(made))) and _is_whole(body.solution)


def _is_whole(turns: Iterable[CaseTurn]) -> bool:
    """True if no call was shortened."""
    return not any(CUT in text for turn in turns for text in texts_of(turn.calls))


def _names(texts: Iterable[str]) -> set[str]:
    """Names in the code and of files, without folders: words with an extension, a `_` or an inner capital."""
    return {name for text in texts for name in _NAME.findall(text)}


def _good(turns: Iterable[CaseTurn]) -> Iterator[CaseTurn]:
    """The calls that have a result and did not fail."""
    good = {turn.answers for turn in turns if turn.role is Role.TOOL and not turn.failed}
    return (turn for turn in turns if any(call.id in good for call in turn.calls))
