"""Read the results of OpenCode's tool calls: outcome, feedback, details, tasks, a subagent's report."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from crucible.clients.events import (
    At,
    CallEnd,
    Event,
    PlanSettled,
    QuestionsAnswered,
    SubagentReturned,
    SubagentStarted,
    TasksListed,
    ToolReturned,
)
from crucible.clients.log_values import (
    Row,
    arguments_of,
    as_dict,
    as_list,
    as_str,
    choice_of,
    count,
    line_count,
    tasks_of,
)

AGENT_TOOLS = frozenset({"task", "subagent"})
"""Tools that start a subagent, which is a session of its own; `task` was renamed to `subagent` in 2.0."""
_QUESTION_TOOL, _PLAN_TOOL = "question", "plan_exit"
_REJECTED = ("The user rejected permission to use this", "The user dismissed this question")
_FEEDBACK = "with the following feedback: "
_ABORTED = ("Tool execution aborted", "Tool execution was interrupted", "Aborted")
_BY_USER = "User aborted the command"
_CUT = re.compile(
    rf"<(?:shell|bash)_metadata>\n(?:[^<]*\n)?({_BY_USER}|[^\n<]*exceeding timeout[^\n<]*)[^<]*</(?:shell|bash)_metadata>\s*\Z"
)
"""The end of the output of a command that the client stopped."""
_INVALID = "invalid"
_NO_RESULT = "The client stopped before it ended."
_REPORT = re.compile(
    r'\A\s*<(task|subagent) (?:id|sessionID)="([^"]*)"(?: state="([^"]*)")?[^>\n]*>\n?(.*?)\s*(?:</\1>\s*)?\Z',
    re.DOTALL,
)
_RESULT = re.compile(r"\A\s*(?:<summary>.*?</summary>\s*)?<task_(result|error)>\n?(.*)</task_\1>", re.DOTALL)
_OLD_TAIL = re.compile(r"\s*<task_metadata>\s*session_id: (\S+)\s*</task_metadata>\s*\Z")
_AT_WORK = frozenset({"running", "pending", "background", "queued"})
_REPORT_ENDS = {"error": CallEnd.FAILED, "failed": CallEnd.FAILED, "cancelled": CallEnd.INTERRUPTED}


class Tool(NamedTuple):
    """A call.  `child` is the session of the subagent that it started, or ""."""

    call: str
    name: str
    arguments: Row
    state: Row
    metadata: Row
    child: str


class Report(NamedTuple):
    """A subagent's report: its session, its status as logged by the client, and the text without the client's tags."""

    child: str
    state: str
    text: str

    @property
    def is_at_work(self) -> bool:
        """True if the subagent continues in the background and will report later."""
        return self.state in _AT_WORK

    @property
    def end(self) -> CallEnd:
        """How the subagent ended."""
        return _REPORT_ENDS.get(self.state, CallEnd.OK)


def tool_of(data: Row, ident: str) -> Tool:
    """Return the call in a tool part; `ident` replaces a missing id."""
    state = as_dict(data.get("state"))
    given = state.get("input")
    arguments = arguments_of(None if given == "" else given)
    metadata = as_dict(state.get("metadata"))
    child = as_str(metadata.get("sessionId")) or as_str(metadata.get("sessionID"))
    return Tool(as_str(data.get("callID")) or ident, as_str(data.get("tool")), arguments, state, metadata, child)


def called(tool: Tool) -> tuple[str, Row]:
    """Return the name and arguments of a call as the model made it.

    If the tool is unknown or the arguments are not JSON, the client logs a call of `invalid`.
    """
    intended = as_str(tool.arguments.get("tool")) if tool.name == _INVALID else ""
    return (intended, {}) if intended else (tool.name, tool.arguments)


def started(at: At, tool: Tool) -> SubagentStarted:
    """Return the event for a subagent that a call started."""
    get = tool.arguments.get
    kind = as_str(get("subagent_type")) or as_str(get("agent")) or "general"
    return SubagentStarted(at, tool.call, kind, as_str(get("prompt")), as_str(get("description")), tool.child)


def returned(at: At, tool: Tool, plan: str = "", *, attended: bool = True) -> Iterator[Event]:
    """Yield the result of a call; `plan` is the current text of the plan.

    If no user is present (`attended` is False), the client rejects permission requests itself; those calls count as
    failures.
    """
    text, end, feedback = _end(tool)
    if end is CallEnd.REJECTED and not attended and not feedback:
        end = CallEnd.FAILED
    if tool.name == _QUESTION_TOOL and end is not CallEnd.FAILED:
        yield _answers(at, tool)
    elif tool.name == _PLAN_TOOL and end in (CallEnd.OK, CallEnd.REJECTED):
        yield PlanSettled(at, tool.call, plan, end is CallEnd.OK)
    if tool.name in AGENT_TOOLS:
        report = find_report(text)
        if report.is_at_work and end is CallEnd.OK:
            return
        ended = report.end if end is CallEnd.OK else end
        yield SubagentReturned(at, tool.call, tool.child or report.child, report.text, ended)
        if end is CallEnd.REJECTED:
            yield ToolReturned(at, tool.call, text, end, feedback)
        return
    facts = _DETAILS.get(tool.name)
    yield ToolReturned(at, tool.call, text, end, feedback, (facts(tool) or None) if facts else None)
    if tool.name == "todowrite" and end is CallEnd.OK:
        yield TasksListed(at, tasks_of(tool.arguments.get("todos") or tool.metadata.get("todos")))


def _end(tool: Tool) -> tuple[str, CallEnd, str]:
    status = tool.state.get("status")
    if status == "error":
        return _failed(as_str(tool.state.get("error")), tool)
    text = as_str(tool.state.get("output"))
    if status != "completed":
        return text or _NO_RESULT, CallEnd.INTERRUPTED, ""
    cut = _CUT.search(text)
    if cut and cut[1] == _BY_USER:
        return text, CallEnd.INTERRUPTED, ""
    code = tool.metadata.get("exit")
    failed = tool.name == _INVALID or (isinstance(code, int) and not isinstance(code, bool) and code != 0)
    return text, CallEnd.FAILED if failed or cut else CallEnd.OK, ""


def _failed(error: str, tool: Tool) -> tuple[str, CallEnd, str]:
    if error.startswith(_REJECTED):
        return error, CallEnd.REJECTED, error.partition(_FEEDBACK)[2]
    if error.startswith(_ABORTED) or tool.metadata.get("interrupted") is True:
        return error, CallEnd.INTERRUPTED, ""
    return error, CallEnd.FAILED, ""


def find_report(text: str) -> Report:
    """Return a subagent's report from a tool's output or a client's notice; any other text is itself the report."""
    found = _REPORT.match(text)
    if found:
        inner = _RESULT.match(found[4])
        return Report(found[2], found[3] or "", (inner[2] if inner else found[4]).strip("\n"))
    tail = _OLD_TAIL.search(text)
    return Report(tail[1], "", text[: tail.start()]) if tail else Report("", "", text)


def _answers(at: At, tool: Tool) -> QuestionsAnswered:
    """Return a call's questions with their answers, matched by position."""
    questions = [as_dict(question) for question in as_list(tool.arguments.get("questions"))]
    answers = as_list(tool.metadata.get("answers")) + [None] * len(questions)
    given = ([each for each in as_list(answer) if isinstance(each, str)] for answer in answers)
    return QuestionsAnswered(at, tool.call, tuple(map(choice_of, questions, given)))


def written_plan(tool: Tool, plan: str) -> str:
    """Return the plan after a call of the planning agent, which may only write its plan file."""
    get = tool.arguments.get
    if tool.state.get("status") != "completed":
        return plan
    if tool.name == "write":
        return as_str(get("content"))
    old = as_str(get("oldString")) if tool.name == "edit" else ""
    return plan.replace(old, as_str(get("newString")), -1 if get("replaceAll") is True else 1) if old else plan


# --- small facts -----------------------------------------------------------------------------------------------------


def _of_shell(tool: Tool) -> dict[str, object]:
    code = tool.metadata.get("exit")
    found: dict[str, object] = {"lines": line_count(as_str(tool.state.get("output")))}
    return {**found, "exit_code": code} if isinstance(code, int) and not isinstance(code, bool) else found


def _of_read(tool: Tool) -> dict[str, object]:
    shown = as_dict(tool.metadata.get("display"))
    first, last, total = (count(shown.get(key)) for key in ("lineStart", "lineEnd", "totalLines"))
    if first and last >= first:
        return {"lines": last - first + 1, **({"total_lines": total} if total else {})}
    numbered = re.findall(r"^\s*\d+[:|]", as_str(tool.state.get("output")), re.MULTILINE)
    return {"lines": len(numbered)} if numbered else {}


def _of_write(tool: Tool) -> dict[str, object]:
    created = tool.metadata.get("exists") is False or as_str(tool.state.get("output")).startswith("Created")
    return {
        "kind": "create" if created else "update",
        "lines": line_count(as_str(tool.arguments.get("content"))),
    }


def _of_edit(tool: Tool) -> dict[str, object]:
    changed = [as_dict(tool.metadata.get("filediff")), *map(as_dict, as_list(tool.metadata.get("files")))]
    diffs = [each for each in changed if "additions" in each]
    if not diffs:
        return {"kind": "update"}
    added, removed = (sum(count(each.get(key)) for each in diffs) for key in ("additions", "deletions"))
    return {"kind": "update", "added": added, "removed": removed}


def _of_search(tool: Tool) -> dict[str, object]:
    found = tool.metadata.get("matches", tool.metadata.get("count"))
    return {"matches": found} if isinstance(found, int) and not isinstance(found, bool) else {}


_DETAILS: dict[str, Callable[[Tool], dict[str, object]]] = {
    "bash": _of_shell,
    "shell": _of_shell,
    "read": _of_read,
    "write": _of_write,
    "edit": _of_edit,
    "multiedit": _of_edit,
    "patch": _of_edit,
    "apply_patch": _of_edit,
    "grep": _of_search,
    "glob": _of_search,
}
