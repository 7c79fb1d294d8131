"""Read the results of tool calls in Gemini CLI's logs: outcome, text, details, the task list, subagents' reports.

Results are in `toolCalls` and in `functionResponse` parts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from itertools import count as count_up
from typing import NamedTuple

from crucible.clients.events import CallEnd, Choice
from crucible.clients.gemini.texts import is_response, parts_of, pictures, text_of
from crucible.clients.log_values import Row, as_dict, as_list, as_str, choice_of, count, line_count

AGENT_TOOLS = frozenset({"invoke_agent", "delegate_to_agent"})
"""Tools that start a subagent.  Older versions have one tool per agent, whose calls have an `agentId`."""
END_TOOL = "complete_task"
"""A subagent's last call; its argument is the report."""
TASK_TOOL = "write_todos"
QUESTION_TOOL = "ask_user"
PLAN_TOOL = "exit_plan_mode"
_SHELL = "run_shell_command"

_DENIED = ("User denied execution", "User did not allow tool call", "User rejected")
_CANCELLED = re.compile(r"\A\[Operation Cancelled\] (?:Reason: )?")
_UNTRUSTED = re.compile(r"\A<untrusted_context>\n?(?P<text>.*?)\n?</untrusted_context>(?P<more>.*)\Z", re.DOTALL)
_TAIL = re.compile(
    r"(?:\nError: [^\n]*)?(?:\nExit Code: (?P<code>-?\d{1,9}|\(none\)))?(?:\nSignal: (?P<signal>[^\n]*))?"
    r"(?:\nBackground PIDs: [^\n]*)?(?:\nProcess Group PGID: [^\n]*)?(?:\n</untrusted_context>)?\s*\Z"
)
"""The lines that the client appends to a command's output."""
_OUTPUT = re.compile(r"(?:\A|\n)(?:Output|Stdout): ")
_STDERR = re.compile(r"\nStderr: ")
_UNKNOWN_SIGNALS = frozenset({"", "0", "(none)"})
_TIMED_OUT = "Command was automatically cancelled because it exceeded the timeout"
_STOPPED = "Command was cancelled by user"
_PLAN_APPROVED, _PLAN_REJECTED = "Plan approved.", "Plan rejected."
_PLAN_WORDS = re.compile(
    r"\APlan rejected\. User feedback: (?P<words>.*?)(?:\n\nThe plan is stored at: [^\n]*\n[^\n]*)?\s*\Z",
    re.DOTALL,
)
_REPORT = re.compile(
    r"\ASubagent '[^\n]*' finished\.\s*\nTermination Reason: ?(?P<why>\w+)\s*\nResult:\s*\n?", re.DOTALL
)
_ENDS = {
    "success": CallEnd.OK,
    "error": CallEnd.FAILED,
    "cancelled": CallEnd.INTERRUPTED,
}
"""How a call ended, by its status; other statuses belong to running calls."""


class Result(NamedTuple):
    """A call's result; `feedback` is what the user said when rejecting the call."""

    text: str
    end: CallEnd
    details: dict[str, object] | None
    feedback: str = ""


def result_of(name: str, call: Row) -> Result | None:
    """Return the result in a `toolCalls` record, None while the call is running."""
    status, given = as_str(call.get("status")), call.get("result")
    end = _ENDS.get(status) if status else CallEnd.OK if given else None
    if end is None:
        return None
    text, failed = _text(given, as_str(call.get("id")))
    if not given and not text:
        text = as_str(call.get("resultDisplay"))
    if failed and end is CallEnd.OK:
        end = CallEnd.FAILED
    if end is CallEnd.INTERRUPTED and any(denied in text for denied in _DENIED):
        end = CallEnd.REJECTED
    return _finished(name, _CANCELLED.sub("", text), end, call)


def _text(given: object, call: str) -> tuple[str, bool]:
    """Return a call's result text, and whether it is an error.  `given` may have the responses to several calls."""
    parts = parts_of(given)
    responses = [as_dict(part["functionResponse"]) for part in parts if is_response(part)]
    own = [response for response in responses if response.get("id") == call] or responses[:1]
    response = as_dict(own[0].get("response")) if own else {}
    if not own:
        return text_of(given), False
    failed = "error" in response and "output" not in response
    value = response.get("error") if failed else response.get("output", response or None)
    return ("" if value is None else value if isinstance(value, str) else _json(value)), failed


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return ""


def _finished(name: str, text: str, end: CallEnd, call: Row) -> Result:
    wrapped = _UNTRUSTED.match(text)
    text = wrapped["text"] + wrapped["more"].rstrip() if wrapped else text
    facts: dict[str, object] = {}
    if name == _SHELL and end in (CallEnd.OK, CallEnd.FAILED):
        text, end, facts = _shell(text, end)
    elif name == PLAN_TOOL and end is CallEnd.OK and text.startswith(_PLAN_REJECTED):
        words = _PLAN_WORDS.match(text)
        return Result(text, CallEnd.REJECTED, None, words["words"] if words else "")
    elif end is CallEnd.OK:
        facts = _FACTS.get(name, _no_facts)(text, as_dict(call.get("resultDisplay")))
    images = pictures(call.get("result"))
    return Result(text, end, {**facts, "images": images} if images else facts or None)


def _shell(text: str, end: CallEnd) -> tuple[str, CallEnd, dict[str, object]]:
    """Read a command's output.  The exit code must be parsed: the client logs success for all of them."""
    if text.startswith(_TIMED_OUT):
        return text, CallEnd.FAILED, {}
    if text.startswith(_STOPPED):
        return text, CallEnd.INTERRUPTED, {}
    start, tail = _OUTPUT.search(text), _TAIL.search(text)
    code = tail["code"] if tail else None
    if tail is None or (code is None and start is None):
        return text, end, {}
    killed = code is None and (tail["signal"] or "") not in _UNKNOWN_SIGNALS
    exit_code = int(code) if code and code != "(none)" else 0
    output = _printed(text[start.end() if start else 0 : tail.start()])
    if killed:
        return output or text, CallEnd.FAILED, {"lines": line_count(output)}
    facts: dict[str, object] = {"exit_code": exit_code, "lines": line_count(output)}
    if exit_code:
        return f"Exit code {exit_code}\n{output or text}", CallEnd.FAILED, facts
    return output, end, facts


def _printed(text: str) -> str:
    """Return only standard output; older versions append standard error to it."""
    output = _STDERR.split(text)[0]
    return "" if output in ("(empty)", "(none)") else output


# --- questions and plans ---------------------------------------------------------------------------------------------


def choices_of(arguments: Mapping[str, object], text: str) -> tuple[Choice, ...]:
    """Return a call's questions with the answers in its result, matched by number."""
    try:
        answered = as_dict(as_dict(json.loads(text)).get("answers"))
    except (ValueError, RecursionError):
        answered = {}
    questions = map(as_dict, as_list(arguments.get("questions")))
    answers = (as_str(answered.get(str(number))) for number in count_up())
    return tuple(
        choice_of(question, [answer] if answer else []) for question, answer in zip(questions, answers, strict=False)
    )


def plan_settled(result: Result) -> bool | None:
    """Return whether the user approved a plan; None if they never saw it."""
    if result.end is CallEnd.REJECTED:
        return False
    return True if result.text.startswith(_PLAN_APPROVED) else None


def written_plan(call: Row) -> tuple[str, str] | None:
    """Return the name and text of a plan that a call wrote to the client's plans folder."""
    display = as_dict(call.get("resultDisplay"))
    path, text = as_str(display.get("filePath")).replace("\\", "/"), display.get("newContent")
    folder, _, name = path.rpartition("/")
    return (name, text) if folder.endswith("/plans") and isinstance(text, str) else None


# --- small facts -----------------------------------------------------------------------------------------------------


def _no_facts(_text: str, _display: Row) -> dict[str, object]:
    return {}


def _of_read(text: str, _display: Row) -> dict[str, object]:
    return {"lines": line_count(text)}


def _of_write(_text: str, display: Row) -> dict[str, object]:
    kind = "create" if display.get("isNewFile") is True else "update"
    return {
        "kind": kind,
        **({"lines": line_count(as_str(display["newContent"]))} if "newContent" in display else {}),
    }


def _of_edit(_text: str, display: Row) -> dict[str, object]:
    stat = display.get("diffStat")
    if not isinstance(stat, dict):
        return {"kind": "update"}
    added, removed = (
        sum(count(stat.get(f"{who}_{what}_lines")) for who in ("model", "user")) for what in ("added", "removed")
    )
    return {"kind": "update", "added": added, "removed": removed}


def _of_listing(_text: str, display: Row) -> dict[str, object]:
    files = display.get("files")
    return {"results": len(files)} if isinstance(files, list) else {}


_FACTS: Mapping[str, Callable[[str, Row], dict[str, object]]] = {
    "read_file": _of_read,
    "write_file": _of_write,
    "replace": _of_edit,
    "list_directory": _of_listing,
}


# --- tasks and subagents ---------------------------------------------------------------------------------------------


def peel_report(text: str) -> tuple[str, bool]:
    """Return a subagent's report without the client's heading, and whether the subagent reached its goal."""
    head = _REPORT.match(text)
    return (_report(text[head.end() :]), head["why"] == "GOAL") if head else (text, True)


def _report(text: str) -> str:
    """Return the text of a report that the client may store as JSON."""
    try:
        document = json.loads(text) if text[:1] == "{" else None
    except (ValueError, RecursionError):
        return text
    return report_of({"result": document}) if isinstance(document, dict) else text


def report_of(arguments: Mapping[str, object]) -> str:
    """Return the report in the arguments of a subagent's last call: text, or the first text in an object."""
    given = arguments.get("result", next(iter(arguments.values()), None))
    if isinstance(given, dict):
        given = next((value for value in given.values() if isinstance(value, str)), _json(given))
    return as_str(given)
