"""Puzzles: cases of a failure and its fix, and the attribution of the failure to a category.

A puzzle shows the request, the failed call and the files before the fix. The solution is the changes that fixed it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from crucible.analysis.failure_causes import classify, judge_failure
from crucible.analysis.review.agent_questions import BUDGET, Budget
from crucible.analysis.tools.file_kinds import is_test_file
from crucible.analysis.tools.recorded_calls import RecordedCalls
from crucible.analysis.tools.session_files import Files
from crucible.analysis.tools.tool_acts import Deed
from crucible.analysis.tools.tool_calls import CHANGES, RUNS, Moment, acts_of
from crucible.clients.launch.ask import Asker
from crucible.commands.learn.case import CUT, Case, CaseCall, CaseTurn, Fault, Puzzle, map_texts, texts_of
from crucible.commands.learn.excerpts import (
    ERROR_WORDS,
    SENTENCE,
    SIDE,
    Requests,
    error_excerpt,
    files_before,
    message_of,
    shorten_middle,
    shorten_turns,
    with_prose_before,
)
from crucible.commands.learn.proofs import proof_of
from crucible.commands.learn.timeline import (
    Timeline,
    first_after,
    last_before,
    make_case,
    moment_of_rows,
    placed_findings,
    turns_of,
    within,
)
from crucible.core.patterns import late_pattern
from crucible.core.templates import Renderer
from crucible.documents.knowledge.items import Attribution, FailureReport
from crucible.documents.markdown.containment import cut, normal_line
from crucible.documents.recording.call_lines import call_line
from crucible.documents.session.findings import Finding, Kind
from crucible.documents.session.session import Intervention, Outcome, ToolCall

_BACK = 400
"""Maximum moments before a callout to search for the failed call."""
_CONFLICT = "CONFLICT ("
"""Git's marker of a merge conflict, which is not translated."""


class _Fixed(NamedTuple):
    """A fixed failure: its callout, the last call that failed with it, and the moments up to the command's next run.

    `later` has the positions of these moments.
    """

    finding: Finding
    callout: Moment
    failed: Moment | None
    passed: Moment | None
    later: range

    @property
    def first(self) -> Moment:
        """The moment at which the puzzle starts."""
        return self.failed or self.callout


def find_puzzles(timeline: Timeline) -> Iterator[Case]:
    """Yield the puzzles of a session in note order, except merge conflicts and tests that were meant to fail."""
    requests = Requests(timeline)
    found = [_fixed(timeline, finding, moment) for finding, moment in placed_findings(timeline, Kind.FAILURE)]
    own = {one.first.at: one for one in found if one.first.row.startswith(one.finding.rows or "-")}
    for fixed in found:
        if own.get(fixed.first.at, fixed) is not fixed:  # another failure of the same run
            continue
        if _needs_user(timeline, fixed) or _is_test_first(timeline, fixed):
            continue
        changes = _fix(timeline, fixed)
        if len(changes) > _MOST or _is_conflict(fixed, changes) or _is_unrecorded(timeline, changes):
            continue
        case = _case(timeline, requests, fixed, changes)
        if isinstance(case.body, Puzzle) and sum(len(one.calls) for one in case.body.solution) == len(changes):
            yield case  # only if the entire fix fits


def _case(timeline: Timeline, requests: Requests, fixed: _Fixed, changes: Sequence[Moment]) -> Case:
    first = fixed.first
    failure = error_excerpt(_failure(fixed))
    body = Puzzle(
        goal=requests.at(first.at),
        state=files_before(timeline, first.at, changes),
        tried=_tried(fixed, failure),
        failure=failure,
        expected="\n\n".join(filter(None, (fixed.finding.cause, fixed.finding.resolution))),
        solution=shorten_turns(with_prose_before(timeline, changes), 3 * SIDE, 2 * SIDE),
        hints=_hints_for(failure, changes),
    )
    call = fixed.failed.call if fixed.failed else None
    anchor = f"{call.call} → {call.result}" if call else failure
    return make_case(timeline, first, body, anchor, finding=fixed.finding, verification=_verification(timeline, fixed))


def _tried(fixed: _Fixed, failure: str) -> tuple[CaseTurn, ...]:
    if fixed.failed is None:
        return ()
    return map_texts(
        turns_of([fixed.failed._replace(result=failure)]),
        lambda text, _: shorten_middle(text, SIDE // 2 + len(CUT) + 1),
    )


# --- the calls -------------------------------------------------------------------------------------------------------


def _fixed(timeline: Timeline, finding: Finding, callout: Moment) -> _Fixed:
    """Find the last run with this failure before its callout, and the moments up to the next run of the command."""
    near = range(max(0, callout.at - _BACK), callout.at)
    before = timeline.moments[near.start : near.stop]
    key = finding.summary.partition(": ")[0].split()
    calls = [one for one in before if one.call]
    recorded = moment_of_rows(timeline, near, finding.rows[:1])
    if recorded and not recorded.call:  # a user message with a pasted log
        return _Fixed(finding, recorded, None, None, range(recorded.at + 1, callout.at))
    failed = (one for one in reversed(calls) if one.outcome is Outcome.FAILED)
    quoting = (one for one in reversed(calls) if _quotes(finding, one))
    red = recorded or next(quoting, None) or next(failed, None)
    if red is None:
        return _Fixed(finding, callout, None, None, _turn(timeline, callout))
    aims = _aims(red, key)
    runs = [one for one in calls if one.at > red.at and aims & _aims(one, key)]
    for run in runs:
        later = range(red.at + 1, run.at)
        if _lines(run) & _lines(red):  # not fixed yet
            red = run
        elif (changed := _changed_in(timeline, later)) and not _names_any(run, changed):
            return _Fixed(finding, callout, red, run, later)
    passed = next((one for one in reversed(runs) if one.outcome is Outcome.OK), None)
    return _Fixed(finding, callout, red, passed, range(red.at + 1, (passed or callout).at))


def _changed_in(timeline: Timeline, extent: range) -> set[str]:
    """Return the files that changed in a range of moments."""
    return {name for at in within(timeline.changes, extent) for name in timeline.moments[at].changed}


def _names_any(run: Moment, files: Iterable[str]) -> bool:
    """True if a run failed with a message that contains the name of a file."""
    if run.outcome is not Outcome.FAILED:
        return False
    message = error_excerpt(message_of(run.result))
    return any(file.rpartition("/")[2] in message for file in files)


def _quotes(finding: Finding, moment: Moment) -> bool:
    """True if a call printed the finding's message; a pipe may have hidden the failing exit code."""
    quoted = finding.summary.partition(": ")[2].split(" / ")
    return any(len(part) > _QUOTE and part[:60] in moment.result for part in quoted)


_QUOTE = 8


def _lines(moment: Moment) -> set[str]:
    """Return the output lines that identify failures, without digits, since line numbers change with each edit."""
    return {_DIGITS.sub("", line) for line in _PLACE.findall(moment.result)}


_PLACE = late_pattern(r"(?m)^[ \t]*(?:\S+\.\w+:\d+.*|--- FAIL: \S+|FAILED \S+|E  .*)")
_DIGITS = late_pattern(r"\d+")


def _turn(timeline: Timeline, callout: Moment) -> range:
    """Return the moments between the user messages around a callout, for a failure that no command shows."""
    end = first_after(timeline.prompts, callout.at)
    return range(last_before(timeline.prompts, callout.at) + 1, len(timeline.moments) if end is None else end)


def _aims(moment: Moment, key: Sequence[str]) -> set[str]:
    """Return the first words of each command in a call: as many as `key` has, but at least two."""
    return {" ".join(act.what.split()[: max(2, len(key))]) for act in moment.acts if act.deed in RUNS}


def _is_conflict(fixed: _Fixed, changes: Iterable[Moment]) -> bool:
    """True for a merge conflict, identified by git's message or by the conflict markers that the fix removed."""
    removed = (text for one in changes for text in texts_of(one.arguments or {}))
    return _CONFLICT in _failure(fixed) or any(_MARKS in f"\n{text}" for text in removed)


_MARKS = "\n<<<<<<< "


def _needs_user(timeline: Timeline, fixed: _Fixed) -> bool:
    """True if the fix depends on the user's words: a report without a log, or a request before the fix."""
    first = fixed.first.entry
    if isinstance(first, Intervention) and not _PLACE.search(first.words):
        return True
    if fixed.failed is None:
        return False
    messages = (timeline.moments[at].entry for at in within(timeline.prompts, fixed.later))
    return any(isinstance(one, Intervention) and len(one.words.split()) >= SENTENCE for one in messages)


def _is_unrecorded(timeline: Timeline, changes: Sequence[Moment]) -> bool:
    """True if the arguments of the fix are not recorded, although those of other calls are."""
    unknown = bool(changes) and not any(one.arguments for one in changes)
    return unknown and timeline.has_arguments


def _is_test_first(timeline: Timeline, fixed: _Fixed) -> bool:
    """True for a test that was meant to fail: only tests changed before it, and none after it."""
    if not fixed.failed or not any(act.deed is Deed.TEST for act in fixed.failed.acts):
        return False
    at = fixed.failed.at
    tests, others = (timeline.first_changes.get((fixed.failed.phase, is_test), at) < at for is_test in (True, False))
    return tests and not others and not any(map(is_test_file, _changed_in(timeline, fixed.later)))


# --- the puzzle ------------------------------------------------------------------------------------------------------


def _failure(fixed: _Fixed) -> str:
    """Return the output of the failed call, or the finding's text if it printed nothing."""
    if isinstance(fixed.callout.entry, Intervention):
        return fixed.callout.entry.words
    message = message_of(fixed.failed.result) if fixed.failed else ""
    return message or fixed.finding.summary


_MOST = 200
"""Maximum changes of a fix; more do not fit in a puzzle."""


def _fix(timeline: Timeline, fixed: _Fixed) -> list[Moment]:
    """Return the changes up to the command's next run; if some have known arguments, only those."""
    places = within(timeline.recorded_changes, fixed.later) or within(timeline.changes, fixed.later)
    return [timeline.moments[at] for at in places[: _MOST + 1]]


def _verification(timeline: Timeline, fixed: _Fixed) -> str:
    proof = proof_of(fixed.passed) if fixed.passed else ""
    return proof or timeline.verifications[(fixed.passed or fixed.callout).at]


# --- hints -----------------------------------------------------------------------------------------------------------

_POINTS_TO = late_pattern(r"(?<![\w./-])(?P<file>[\w./-]{1,200}\.[A-Za-z]\w{0,9})(?:[:(]|\", line )(?P<line>\d{1,6})")
_LINE = 120
_MANY = 3


def _hints_for(failure: str, solution: Sequence[Moment]) -> tuple[str, ...]:
    """Return hints from the failure's message and from the files changed by the fix."""
    return tuple(dict.fromkeys([*_of_message(failure), *_of_solution(solution)]))


def _of_message(failure: str) -> Iterator[str]:
    lines = [line.strip() for line in message_of(failure[:8000]).split("\n") if line.strip()]
    relevant = [line for line in lines if ERROR_WORDS.search(line[:400])]
    if len(lines) > 1 and relevant:
        yield f"The most specific line: {_line(relevant[-1])}"
    found = list(_POINTS_TO.finditer(failure[:8000]))
    if found:
        yield f"The message points to {_line(found[-1]['file'])}, line {found[-1]['line']}."


def _of_solution(solution: Sequence[Moment]) -> Iterator[str]:
    acts = [act for moment in solution for act in moment.acts]
    if changed := _names(act.what for act in acts if act.deed in CHANGES):
        yield f"The fix changed {changed}."


def _names(names: Iterable[str]) -> str:
    unique = list(dict.fromkeys(_line(name) for name in names if name))
    more = f" and {len(unique) - _MANY} more" if len(unique) > _MANY else ""
    return ", ".join(unique[:_MANY]) + more


def _line(text: str) -> str:
    return cut(normal_line(text), _LINE)


_PUTS = (Deed.WRITE, Deed.EDIT)


def attribute(case: Case) -> Case:
    """Attribute a case's failure by the built-in rules. Returns the case unchanged if the agent caused no failure."""
    report = report_of(case)
    return case if report is None else _with(case, classify(report))


def judge_case(
    case: Case,
    asker: Asker,
    redact: Callable[[str], tuple[str, object]],
    template: Renderer | None = None,
    budget: Budget = BUDGET,
) -> tuple[Case, str]:
    """Ask an agent to attribute a case's failure; returns the case, and the problem if the rules were used instead.

    All text sent to the agent is redacted, and so is the answer. Never raises for an agent's failure.
    """
    report = report_of(case)
    if report is None:
        return case, ""
    came = judge_failure(report, asker=asker, redact=redact, template=template, budget=budget)
    return _with(case, came.value), came.problem


def _with(case: Case, found: Attribution | None) -> Case:
    assert isinstance(case.body, Puzzle)  # noqa: S101  nothing else has a report
    return replace(case, body=replace(case.body, attribution=found))


def report_of(case: Case) -> FailureReport | None:
    """Return a puzzle's failure as a report, None for other cases and for failures not caused by the agent."""
    if not isinstance(case.body, Puzzle) or case.fault is not Fault.AGENT:
        return None
    puzzle = case.body
    failed = _failed_call(puzzle)
    call = _line_of(failed) if failed else ""
    return FailureReport(
        error=puzzle.failure,
        context=puzzle.goal,
        tool=failed.name if failed else "",
        call=call,
        resolution=_resolution(case, puzzle, call),
        files="\n".join(_changed(puzzle)),
    )


def _failed_call(puzzle: Puzzle) -> CaseCall | None:
    """Return the first call that failed."""
    failed = {turn.answers for turn in puzzle.tried if turn.failed}
    return next((call for turn in puzzle.tried for call in turn.calls if call.id in failed), None)


def _line_of(call: CaseCall) -> str:
    """Return a call's arguments in one line."""
    return call_line(call.name, call.arguments).partition(" ")[2]


def _resolution(case: Case, puzzle: Puzzle, call: str) -> str:
    """Return the resolution in words, or the single call that solved it if that call runs the same program.

    Such a call shows what was wrong with the failed one.
    """
    if call and puzzle.is_open:
        return call if case.verification == call else ""
    lines = [_line_of(one) for turn in puzzle.solution for one in turn.calls]
    is_lone = len(lines) == 1 and lines[0] != call
    return lines[0] if is_lone and call and lines[0].split()[:1] == call.split()[:1] else puzzle.expected


def _changed(puzzle: Puzzle) -> Iterator[str]:
    """Yield the files that the solution wrote or changed."""
    files = Files()
    for call in (one for turn in puzzle.solution for one in turn.calls):
        line = ToolCall(call_line(call.name, call.arguments))
        yield from (act.what for act in acts_of(line, RecordedCalls(), files) if act.deed in _PUTS)
