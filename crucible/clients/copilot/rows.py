"""Convert the rows of GitHub Copilot CLI's events file to events.

Their format is documented by a JSON schema in the client's package (`schemas/session-events.schema.json`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, TypeAlias

from crucible.clients.events import (
    Answered,
    At,
    CallEnd,
    Choice,
    Compacted,
    ContextSeen,
    Event,
    Faulted,
    Injected,
    Interrupted,
    PlanSettled,
    Prompted,
    PromptKind,
    QuestionsAnswered,
    Reasoned,
    Replied,
    SubagentReturned,
    SubagentStarted,
    ToolReturned,
    ToolUsed,
    Unknown,
    UsageCounted,
)
from crucible.clients.log_values import Row, arguments_of, as_dict, as_list, as_str, as_time, count, line_count, number

_SHELL_END = re.compile(r"\n?<shellId: [^\s>]+ completed with exit code (-?\d{1,9})>\s*\Z")
_COMMAND = re.compile(r"/[a-z][\w:-]*(?:\s|\Z)")
_BACKGROUND = "background"
_AGENT_TOOL = "task"
_ENDS = {"rejected": CallEnd.REJECTED, "interrupted": CallEnd.INTERRUPTED}
"""How a failed call ended, by the code of its error; after a kill the client writes such results when it resumes."""
SILENT = frozenset(
    {
        "assistant.idle",
        "assistant.turn_start",
        "hook.end",
        "hook.start",
        "permission.requested",
        "session.binary_asset",
        "session.compaction_start",
        "session.mode_changed",
        "session.mode_notice_delivered",
        "session.model_change",
        "session.permissions_changed",
        "session.plan_changed",
        "session.remote_steerable_changed",
        "session.session_limits_changed",
        "session.shutdown",
        "session.task_complete",
        "session.truncation",
        "session.usage_checkpoint",
        "session.workspace_file_changed",
        "skill.context_delivered",
        "skill.context_delivered_ref",
        "skill.invoked_ref",
        "subagent.configured",
        "subagent.deselected",
        "subagent.selected",
        "system.message",
        "tool.execution_progress",
        "tool_search.activated",
    }
)
"""Rows without anything that a user said, saw or decided, or that repeat other rows."""
_SILENT_FAMILY = "model."
"""Rows about calls of the model during a compaction."""


def agent_of(row: Row) -> str:
    """Return the subagent that a row belongs to, "" for the trunk.  Older versions name it by its call."""
    data = as_dict(row.get("data"))
    own = data.get("toolCallId") if as_str(row.get("type")).startswith("subagent.") else None
    return as_str(row.get("agentId")) or as_str(data.get("parentToolCallId")) or as_str(own)


_Reader: TypeAlias = "Callable[[RowReader, At, Row], Iterator[Event]]"


class RowReader:
    """Reads the rows of one log in order.  `agent` is the subagent whose rows are read, "" for the trunk."""

    def __init__(self, agent: str = "") -> None:
        self.agent = agent
        self._context: tuple[str, ...] = ()
        self._calls: dict[str, str] = {}
        self._waiting: set[str] = set()
        self._typed: set[str] = set()
        self._refused: dict[str, str] = {}
        self._started: dict[str, tuple[str, bool]] = {}
        self._said: dict[str, str] = {}
        self._thought = ""
        self._answered = False

    def read(self, line: int, row: Row) -> Iterator[Event]:
        """Yield the events of one row."""
        kind, data, agent = as_str(row.get("type")), as_dict(row.get("data")), agent_of(row)
        at = At(line, as_str(row.get("id")), as_time(row.get("timestamp")), self.agent)
        if kind in ("session.start", "session.resume", "session.context_changed"):
            yield from self._seen(at, data, kind)
        elif kind in ("subagent.started", "subagent.completed", "subagent.failed"):
            yield from self._subagent(at, kind, data, agent)
        elif agent != self.agent:
            if kind == "assistant.message" and as_str(data.get("content")).strip():
                self._said[agent] = data["content"]
        elif kind in self._rows:
            yield from self._rows[kind](self, at, data)
        elif kind not in SILENT and not kind.startswith(_SILENT_FAMILY):
            yield Unknown(at, kind)

    # --- the session -------------------------------------------------------------------------------------------------

    def _seen(self, at: At, data: Row, kind: str) -> Iterator[Event]:
        place = data if kind == "session.context_changed" else as_dict(data.get("context"))
        session, _, _, version = self._context or ("", "", "", "")
        new = (
            as_str(data.get("sessionId")) or session,
            as_str(place.get("cwd")),
            as_str(place.get("branch")),
            as_str(data.get("copilotVersion")) or version,
        )
        if new != self._context:
            self._context = new
            yield ContextSeen(at, *new)

    def _user(self, at: At, data: Row) -> Iterator[Event]:
        text, source = as_str(data.get("content")), as_str(data.get("source"))
        self._answered = False
        if source and not source.startswith("agent-") and source != "user":
            yield Injected(at, text, source)
        elif data.get("isAutopilotContinuation") is True:
            yield Injected(at, text, "autopilot")
        elif text.strip():
            files = (as_dict(each) for each in as_list(data.get("attachments")))
            images = sum(as_str(file.get("mimeType")).startswith("image/") for file in files)
            yield Prompted(at, text, self._prompt_kind(data, text), images)

    def _prompt_kind(self, data: Row, text: str) -> PromptKind:
        if self.agent or as_str(data.get("source")).startswith("agent-"):
            return PromptKind.TASK
        if data.get("delivery") == "steering":
            return PromptKind.STEERING
        return PromptKind.COMMAND if _COMMAND.match(text) else PromptKind.TYPED

    # --- the model ---------------------------------------------------------------------------------------------------

    def _message(self, at: At, data: Row) -> Iterator[Event]:
        message, model = as_str(data.get("apiCallId")) or as_str(data.get("messageId")), as_str(data.get("model"))
        requests = [as_dict(each) for each in as_list(data.get("toolRequests"))]
        yield from self._reasoned(at, as_str(data.get("reasoningText")), message)
        text = as_str(data.get("content"))
        more = (number(data.get("chunkIndex")) or 0) + 1 < (number(data.get("chunkCount")) or 0)
        self._answered = bool(text.strip()) and not requests and not more
        if text.strip():
            yield Replied(at, text, message, model, self._answered)
        for request in requests:
            yield from self._use(at, request, as_str(request.get("name")), message, model)

    def _reasoned(self, at: At, text: str, message: str = "") -> Iterator[Event]:
        if text.strip() and text != self._thought:
            yield Reasoned(at, text, message)
        self._thought = text

    def _reasoning(self, at: At, data: Row) -> Iterator[Event]:
        return self._reasoned(at, as_str(data.get("content")))

    def _use(self, at: At, data: Row, name: str, message: str = "", model: str = "") -> Iterator[Event]:
        call = as_str(data.get("toolCallId"))
        if call not in self._calls:
            arguments = arguments_of(data.get("arguments"))
            self._calls[call] = task = as_str(arguments.get("prompt"))
            self._waiting.add(call)
            yield ToolUsed(at, call, name, arguments, message, model)
            if name == _AGENT_TOOL:
                kind, title = as_str(arguments.get("agent_type")), as_str(arguments.get("description"))
                yield SubagentStarted(at, call, kind, task, title)

    def _usage(self, at: At, data: Row) -> Iterator[Event]:
        usage = as_dict(data.get("usage"))
        sent, cached, said, written = (
            count(usage.get(f"{key}Tokens")) for key in ("input", "cacheRead", "output", "cacheWrite")
        )
        model, message = as_str(usage.get("model")), as_str(usage.get("apiCallId")) or at.row
        yield UsageCounted(at, message, model, max(0, sent - cached), cached, said, written)

    def _turn_end(self, at: At, _data: Row) -> Iterator[Event]:
        if self._answered:
            self._answered = False
            yield Answered(at)

    # --- calls -------------------------------------------------------------------------------------------------------

    def _start(self, at: At, data: Row) -> Iterator[Event]:
        """Yield a call whose message is lost."""
        if as_str(data.get("toolCallId")) not in self._typed:
            yield from self._use(at, data, as_str(data.get("toolName")), "", as_str(data.get("model")))

    def _typed_command(self, at: At, data: Row) -> Iterator[Event]:
        """Yield a command that the user ran."""
        self._typed.add(as_str(data.get("toolCallId")))
        command = as_str(as_dict(data.get("arguments")).get("command")) or as_str(data.get("toolName"))
        yield Prompted(at, f"!{command}", PromptKind.SHELL)

    def _permission(self, _at: At, data: Row) -> Iterator[Event]:
        result = as_dict(data.get("result"))
        if result.get("kind") == "denied-interactively-by-user":
            self._refused[as_str(data.get("toolCallId"))] = as_str(result.get("feedback"))
        return iter(())

    def _complete(self, at: At, data: Row) -> Iterator[Event]:
        call, (text, end, details) = as_str(data.get("toolCallId")), _result(data)
        self._waiting.discard(call)
        if call in self._refused and end is CallEnd.FAILED:
            end = CallEnd.REJECTED
        if call in self._typed:
            yield Injected(at, text, "shell")
            return
        agent, is_background = self._started.get(call, ("", False))
        if agent and not is_background:
            yield SubagentReturned(at, call, agent, text, end)
        if not agent or is_background or end is CallEnd.REJECTED:
            yield ToolReturned(at, call, text, end, self._refused.get(call, ""), details)

    def _subagent(self, at: At, kind: str, data: Row, agent: str) -> Iterator[Event]:
        """Yield a subagent's start and end, in the log that has its call."""
        call = as_str(data.get("toolCallId"))
        if call not in self._calls and (self.agent or as_str(data.get("parentId"))):
            return
        if kind == "subagent.started":
            self._started[call] = agent, data.get("executionMode") == _BACKGROUND
            title = as_str(data.get("agentDescription")) or as_str(data.get("agentDisplayName"))
            yield SubagentStarted(at, call, as_str(data.get("agentName")), self._calls.get(call, ""), title, agent)
        elif self._started.get(call, ("", True))[1]:
            failed = kind == "subagent.failed"
            text = as_str(data.get("error")) if failed else self._said.get(agent, "")
            yield SubagentReturned(at, call, agent, text, CallEnd.FAILED if failed else CallEnd.OK)

    def _human(self, at: At, data: Row) -> Iterator[Event]:
        """Yield what the user answered to a question, or decided about a plan."""
        call, given = as_str(data.get("toolCallId")), as_dict(data.get("response"))
        match given.get("responseKind"):
            case "user_input":
                offered = tuple((each, "") for each in as_list(given.get("choices")) if isinstance(each, str))
                answer = as_str(given.get("answer"))
                picked = (answer,) if (answer, "") in offered else ()
                choice = Choice(as_str(given.get("question")), answer, offered, picked)
                yield QuestionsAnswered(at, call, (choice,))
            case _ if "planContent" in given:
                approved = given.get("approved")
                plan = as_str(given.get("planContent"))
                yield PlanSettled(at, call, plan, approved if isinstance(approved, bool) else None)

    # --- the client --------------------------------------------------------------------------------------------------

    def _compacted(self, at: At, data: Row) -> Iterator[Event]:
        if data.get("success") is not False:
            trigger, before = as_str(data.get("trigger")), number(data.get("preCompactionTokens"))
            yield Compacted(at, trigger, before, as_str(data.get("summaryContent")))

    def _aborted(self, at: At, _data: Row) -> Iterator[Event]:
        self._answered = False
        for call in sorted(self._waiting):
            yield ToolReturned(at, call, "", CallEnd.INTERRUPTED)
        self._waiting.clear()
        yield Interrupted(at)

    def _error(self, at: At, data: Row) -> Iterator[Event]:
        yield Faulted(at, as_str(data.get("message")))

    def _notice(self, at: At, data: Row) -> Iterator[Event]:
        kind = as_str(as_dict(data.get("kind")).get("type")) or "notice"
        text = as_str(data.get("content")) or as_str(data.get("message")) or as_str(data.get("summary"))
        if text.strip():
            yield Injected(at, text, kind)

    _rows: ClassVar[Mapping[str, _Reader]] = {
        "abort": _aborted,
        "assistant.message": _message,
        "assistant.reasoning": _reasoning,
        "assistant.turn_end": _turn_end,
        "human_response.recorded": _human,
        "permission.completed": _permission,
        "session.compaction_complete": _compacted,
        "session.error": _error,
        "session.handoff": _notice,
        "session.info": _notice,
        "session.usage_record": _usage,
        "session.warning": _notice,
        "skill.invoked": _notice,
        "system.notification": _notice,
        "tool.execution_complete": _complete,
        "tool.execution_start": _start,
        "tool.user_requested": _typed_command,
        "user.message": _user,
    }


def _result(data: Row) -> tuple[str, CallEnd, Mapping[str, object] | None]:
    """Return a result's text, how the call ended, and a few facts about it."""
    result, error = as_dict(data.get("result")), as_dict(data.get("error"))
    text = as_str(result.get("content")) or as_str(error.get("message"))
    end = CallEnd.OK if data.get("success") is not False else _ENDS.get(as_str(error.get("code")), CallEnd.FAILED)
    shell = _SHELL_END.search(text)
    code = number(as_dict(data.get("shellExecution")).get("exitCode"))
    if shell or code is not None:
        exit_code = int(shell[1]) if shell else code or 0
        text = text[: shell.start()] if shell else text
        details = {"exit_code": exit_code, "lines": line_count(text)}
        return (f"Exit code {exit_code}\n{text}", CallEnd.FAILED, details) if exit_code else (text, end, details)
    return text, end, _edited(data, as_str(result.get("detailedContent")))


def _edited(data: Row, diff: str) -> Mapping[str, object] | None:
    """Return how many lines a call changed in a file."""
    edits = [as_dict(each) for each in as_list(data.get("fileEdits"))]
    if not edits:
        return None
    lines = [line for line in diff.split("\n") if not line.startswith(("+++", "---"))]
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    if edits[0].get("kind") == "create":
        return {"kind": "create", "lines": added}
    return {"kind": "update", "added": added, "removed": removed}
