"""Tool results in Claude Code's rows, paired with their calls, and the events that follow from them: questions, plans, tasks, subagents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from crucible.clients.claude_code.call_results import (
    TASK_TOOLS,
    call_end,
    content_text,
    details,
    peel_agent_tail,
    task_events,
)
from crucible.clients.claude_code.questions import ASKING_TOOLS, answered, listed_answers, settled
from crucible.clients.claude_code.state import OpenCall, Result, State
from crucible.clients.claude_code.stored_outputs import is_moved, restored
from crucible.clients.events import (
    At,
    CallEnd,
    PlanSettled,
    QuestionsAnswered,
    SubagentReturned,
    SubagentStarted,
    ToolReturned,
)
from crucible.clients.log_values import Row, as_dict, as_str, count

_LAUNCHED = frozenset({"async_launched", "teammate_spawned", "remote_launched"})
_ENDS = {
    "completed": CallEnd.OK,
    "failed": CallEnd.FAILED,
    "killed": CallEnd.INTERRUPTED,
    "stopped": CallEnd.INTERRUPTED,
}
_LOGGED_CALL = re.compile(r"^(?:\[Tool: [^\]\n]+\] .*|--- RESULT ---)\n?", re.MULTILINE)
_GONE = OpenCall("", {}, {})


def read_result(state: State, block: Row, raw: object, at: At) -> None:
    """The events of one `tool_result` block."""
    call = as_str(block.get("tool_use_id"))
    text, images = content_text(block.get("content"))
    end, feedback = call_end(text, block.get("is_error") is True, raw)
    if is_moved(text):
        text = restored(text, raw, state.outputs and state.outputs())
    result = Result(at, call, text, images, end, feedback, raw)
    if at.agent == state.agent:
        state.queue.step += 1
        state.working, state.last_word, state.unanswered = True, None, False
    opened, started = state.calls.pop(call, _GONE), state.agents.get(call)
    if started is None and opened is _GONE:
        started = _orphan(state, result)
    if started is not None:
        _agent_result(state, started, result)
    if started is None or end is CallEnd.REJECTED:
        if opened is _GONE or opened.name in ASKING_TOOLS:
            feedback = _asked(state, opened, result)
        state.out.append(ToolReturned(at, call, text, end, feedback, _facts(opened, result)))
    if opened.name in TASK_TOOLS and end is CallEnd.OK:
        state.out.extend(task_events(at, opened.name, opened.kept, raw, text))
    if isinstance(raw, dict) and "task" in raw:
        _fetched(state, as_dict(raw["task"]), at)


def _facts(opened: OpenCall, result: Result) -> dict[str, object] | None:
    facts = None
    if result.end is CallEnd.OK or (result.end is CallEnd.FAILED and opened.name == "Bash"):
        facts = details(opened.name, result.raw, result.text, opened.facts)
    return {**(facts or {}), "images": result.images} if result.images else facts


# --- questions and plans ---------------------------------------------------------------------------------------------


def _asked(state: State, opened: OpenCall, result: Result) -> str:
    """Emit what the user answered or decided; return the rest of their words.  If the call is missing, the result shows what it was."""
    found: QuestionsAnswered | PlanSettled | None = None
    given = as_dict(result.raw)
    if opened.name == "AskUserQuestion" or "answers" in given:
        found = answered(result, opened.kept)
        if found and listed_answers(result.feedback, [choice.question for choice in found.choices]):
            result = result._replace(feedback="")
    elif opened.name == "ExitPlanMode" or "isAgent" in given:
        found = settled(result, opened.kept.get("plan"), state.plan)
    if found:
        state.out.append(found)
    return result.feedback


# --- subagents -------------------------------------------------------------------------------------------------------


def name_agent(state: State, call: str, agent: str, at: At) -> None:
    """Emit a subagent's id once it is known; this is the parent's event, whichever row shows the id."""
    started = state.agents.get(call)
    if started is not None and not started.agent and agent:
        state.agents[call] = started = replace(started, at=replace(at, agent=started.at.agent), agent=agent)
        state.out.append(started)


def call_of(state: State, agent: str) -> str:
    """The call that started a subagent, "" if the id is not a subagent's."""
    calls = (call for call, started in state.agents.items() if started.agent and started.agent == agent)
    return next(calls, "")


def background_end(status: object) -> CallEnd | None:
    """How a background task ended, None while it runs."""
    return _ENDS.get(as_str(status))


def report(state: State, event: SubagentReturned) -> bool:
    """Emit a subagent's result and return True, unless it is known already: the client logs it in several ways."""
    told, new = state.reports.get(event.call), hash((event.text, event.end))
    if told == new or (told is not None and not event.text and event.end is CallEnd.OK):
        return False
    state.reports[event.call] = new
    state.out.append(event)
    return True


def _orphan(state: State, result: Result) -> SubagentStarted | None:
    """Start a subagent whose call is missing; its report also contains the task."""
    given = as_dict(result.raw)
    if result.call in state.calls or not (as_str(given.get("agentId")) and isinstance(given.get("content"), list)):
        return None
    started = SubagentStarted(result.at, result.call, "", as_str(given.get("prompt")), agent=given["agentId"])
    state.agents[result.call] = started
    state.out.append(started)
    return started


def _agent_result(state: State, started: SubagentStarted, result: Result) -> None:
    """Handle a report, or the notice that the subagent continues in the background and reports later."""
    given = as_dict(result.raw)
    said, agent, tokens = peel_agent_tail(result.text)
    agent = as_str(given.get("agentId")) or as_str(given.get("agent_id")) or agent or started.agent
    launched = given.get("isAsync") or as_str(given.get("status")) in _LAUNCHED
    if launched or result.text.startswith("Async agent launched"):
        name_agent(state, started.call, agent or _named_in(result.text), result.at)
        return
    if agent and not started.agent:
        state.agents[started.call] = replace(started, agent=agent)
    if isinstance(given.get("content"), list):
        said, _ = content_text(given["content"])
    elif result.end is CallEnd.FAILED:
        said = said.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")
    elif result.end is CallEnd.INTERRUPTED:
        said = ""
    tokens = count(given.get("totalTokens")) or tokens
    report(state, SubagentReturned(result.at, started.call, agent, said, result.end, tokens))


def _named_in(text: str) -> str:
    words = text.partition("agentId:")[2].split(None, 1)
    return words[0] if words else ""


def _fetched(state: State, task: Mapping[str, Any], at: At) -> None:
    """Handle the report of a background subagent that the agent asked for.  Older versions put the calls before the report."""
    agent, end = as_str(task.get("task_id")), background_end(task.get("status"))
    call = call_of(state, agent) if task.get("task_type") == "local_agent" else ""
    if not call or end is None:
        return
    said = _LOGGED_CALL.split(as_str(task.get("result")) or as_str(task.get("output")))[-1].strip("\n")
    report(state, SubagentReturned(at, call, agent, said or as_str(task.get("error")), end))
