"""What a puzzle's failure is attributed to: by rules, or by a model where one is asked.

Owns the report that is made of a puzzle, and that an attribution changes nothing else of a case: what it is about, and so its id, its digest
and its tokens, stays.  Only cases that were finished come here: their texts have no secrets, and so neither rules nor a model see one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from crucible.analysis.failures.failure_judge import judge_fully
from crucible.analysis.failures.failure_rules import classify
from crucible.analysis.review.ask_budget import BUDGET, Budget
from crucible.analysis.tools.session_files import Files
from crucible.analysis.tools.tool_acts import Deed
from crucible.analysis.tools.tool_calls import acts_of
from crucible.analysis.tools.whole_calls import Evidence
from crucible.clients.launch.ask import Asker
from crucible.commands.learn.case import Call, Case, Fault, Puzzle
from crucible.core.templates import Renderer
from crucible.documents.knowledge.items import Attribution, FailureReport
from crucible.documents.recording.call_lines import call_line
from crucible.documents.session.session import ToolCall

_PUTS = (Deed.WRITE, Deed.EDIT)


def attribute(case: Case) -> Case:
    """The case with the category that the rule finds for its failure; unchanged if it holds no failure of the agent's."""
    report = report_of(case)
    return case if report is None else _with(case, classify(report))


def judge_case(
    case: Case,
    asker: Asker,
    redact: Callable[[str], tuple[str, object]],
    template: Renderer | None = None,
    budget: Budget = BUDGET,
) -> tuple[Case, str]:
    """The case with what a model attributes its failure to; with what the rules do, and why, where it gave no answer that can be taken.

    Every text is redacted before the model sees it, and so is every word of its answer.  Never raises for what a model does or says.
    """
    report = report_of(case)
    if report is None:
        return case, ""
    came = judge_fully(report, asker=asker, redact=redact, template=template, budget=budget)
    return _with(case, came.value), came.problem


def _with(case: Case, found: Attribution | None) -> Case:
    assert isinstance(case.body, Puzzle)  # noqa: S101  nothing else has a report
    return replace(case, body=replace(case.body, attribution=found))


def report_of(case: Case) -> FailureReport | None:
    """The failure of a puzzle as knowledge judges it; None for other cases, and for a failure that was not the agent's."""
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


def _failed_call(puzzle: Puzzle) -> Call | None:
    """The first call that failed."""
    failed = {turn.answers for turn in puzzle.tried if turn.failed}
    return next((call for turn in puzzle.tried for call in turn.calls if call.id in failed), None)


def _line_of(call: Call) -> str:
    """What a call was given, in one line."""
    return call_line(call.name, call.arguments).partition(" ")[2]


def _resolution(case: Case, puzzle: Puzzle, call: str) -> str:
    """The expected behaviour in words; a call of the same program where one alone did it, since that shows how the failed one was wrong."""
    if call and puzzle.is_open:
        return call if case.verification == call else ""
    lines = [_line_of(one) for turn in puzzle.solution for one in turn.calls]
    is_lone = len(lines) == 1 and lines[0] != call
    return lines[0] if is_lone and call and lines[0].split()[:1] == call.split()[:1] else puzzle.expected


def _changed(puzzle: Puzzle) -> Iterator[str]:
    """The files that the solution wrote or changed."""
    files = Files()
    for call in (one for turn in puzzle.solution for one in turn.calls):
        line = ToolCall(call_line(call.name, call.arguments))
        yield from (act.what for act in acts_of(line, Evidence(), files) if act.deed in _PUTS)
