"""What a puzzle's failure is attributed to: by rules, or by a model where one is asked.

Owns the report that is made of a puzzle, and that an attribution changes nothing else of a case: what it is about, and so its id, its digest
and its tokens, stays.  Only cases that were finished come here: their texts have no secrets, and so neither rules nor a model see one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from crucible.acts.evidence import Evidence
from crucible.acts.files import Files
from crucible.acts.model import Deed
from crucible.acts.reading import acts_of
from crucible.agents.asking import Asker
from crucible.cases.model import Call, Case, Fault, Puzzle, Role, Turn
from crucible.knowledge.classifying import classify
from crucible.knowledge.judging import judge_fully
from crucible.knowledge.model import Attribution, FailureReport
from crucible.note.contain import cut, normal_line
from crucible.rendering import Renderer
from crucible.session.calls import call_line
from crucible.session.model import ToolCall

__all__ = ["attribute", "judge_case", "report_of"]

_LONGEST_CALL = 500
_PUTS = (Deed.WRITE, Deed.EDIT)
_FIRST = ("command", "cmd", "script", "input", "file_path", "filePath", "path", "pattern", "query", "url")
"""Arguments that say most of a call, the best one first."""


def attribute(case: Case) -> Case:
    """The case with the category that the rule finds for its failure; unchanged if it holds no failure of the agent's."""
    report = report_of(case)
    return case if report is None else _with(case, classify(report))


def judge_case(
    case: Case,
    asker: Asker,
    redact: Callable[[str], tuple[str, object]],
    template: Renderer | None = None,
) -> tuple[Case, str]:
    """The case with what a model attributes its failure to; with what the rules do, and why, where it gave no answer that can be taken.

    Every text is redacted before the model sees it, and so is every word of its answer.  Never raises for what a model does or says.
    """
    report = report_of(case)
    if report is None:
        return case, ""
    came = judge_fully(report, asker=asker, redact=redact, template=template)
    return _with(case, came.attribution), came.problem


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
        happened=_said_of(puzzle.tried),
        context=puzzle.goal,
        tool=failed.name if failed else "",
        call=call,
        resolution=_resolution(case, puzzle, call),
        files="\n".join(_changed(puzzle)),
    )


# --- the call that failed --------------------------------------------------------------------------------------------


def _failed_call(puzzle: Puzzle) -> Call | None:
    """The call whose result is the failure, else the first that failed."""
    calls = {call.id: call for turn in puzzle.tried for call in turn.calls}
    failed = [one for one in puzzle.tried if one.failed and one.answers in calls]
    exact = next((one for one in failed if one.text.strip() == puzzle.failure.strip()), None)
    found = exact or next(iter(failed), None)
    return calls[found.answers] if found else None


def _line_of(call: Call) -> str:
    """What a call was given, in one line: its command or its file, else all of its short values."""
    values = {key: " ".join(_words_of(value)) for key, value in call.arguments.items()}
    told = next((values[key] for key in _FIRST if values.get(key)), "") or " ".join(values.values())
    return cut(normal_line(told[: 4 * _LONGEST_CALL]), _LONGEST_CALL)


def _words_of(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for one in value:
            yield from _words_of(one)
    elif value is not None:
        yield str(value)


def _said_of(tried: tuple[Turn, ...]) -> str:
    """The agent's words on its failure: what it said between its tries."""
    first = next((at for at, one in enumerate(tried) if one.failed), len(tried))
    behind = tried[first + 1 :]
    return "\n".join(one.text for one in behind if one.role is Role.ASSISTANT and one.text.strip())


# --- what fixed it --------------------------------------------------------------------------------------------------


def _resolution(case: Case, puzzle: Puzzle, call: str) -> str:
    """The expected behaviour in words; a call where one alone did it, since that says how the failed one was wrong."""
    if not call:
        return puzzle.expected
    if puzzle.is_open:
        return call if case.verification.command and case.verification.command == call else ""
    lines = [_line_of(one) for turn in puzzle.solution for one in turn.calls]
    program = call.split()[:1]
    if len(lines) == 1 and lines[0].split()[:1] == program and lines[0] != call:
        return lines[0]
    return puzzle.expected


def _changed(puzzle: Puzzle) -> Iterator[str]:
    """The files that the solution wrote or changed."""
    files = Files()
    for call in (one for turn in puzzle.solution for one in turn.calls):
        line = ToolCall(call_line(call.name, call.arguments))
        yield from (act.what for act in acts_of(line, Evidence(), files) if act.deed in _PUTS)
