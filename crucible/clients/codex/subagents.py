"""Match subagents in Codex's rollouts to the calls that started them, and read their reports.

A subagent's end is logged as a notice with the user role, a message between agents, or the result of `wait_agent`, and
often as two of these.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from crucible.clients.codex.files import dicts, parsed
from crucible.clients.codex.state import State
from crucible.clients.events import (
    At,
    CallEnd,
    Injected,
    Prompted,
    PromptKind,
    SubagentReturned,
    SubagentStarted,
)
from crucible.clients.log_values import Row, as_dict, as_list, as_str, text_in_tag

AGENT_TOOLS = frozenset({"spawn_agent"})
_TITLE = 80
_ENDS = {"completed": CallEnd.OK, "errored": CallEnd.FAILED, "interrupted": CallEnd.INTERRUPTED}
_MESSAGE = re.compile(r"Message Type: (?P<kind>\w+)\n(?:[A-Z][a-z ]+: [^\n]*\n)*?Payload:\n?", re.DOTALL)
_OPAQUE = re.compile(r"gAAAA|[A-Za-z0-9_+/=-]{120,}\Z")


def start_agent(state: State, at: At, call: str, arguments: Mapping[str, Any]) -> None:
    """Emit that a call started a subagent."""
    task = as_str(arguments.get("message")) or as_str(arguments.get("prompt")) or _items_text(arguments.get("items"))
    if _OPAQUE.match(task):
        task = ""  # the task is encrypted for the subagent
    kind = as_str(arguments.get("agent_type")) or as_str(arguments.get("agent_role")) or "agent"
    title = as_str(arguments.get("task_name")).replace("_", " ") or _title(task)
    state.out.append(SubagentStarted(at, call, kind, task, title))


def _items_text(items: object) -> str:
    return "\n".join(filter(None, (as_str(item.get("text")) for item in dicts(items))))


def _title(task: str) -> str:
    """Return the first words of a task, as a title."""
    line = next((line.strip() for line in task.split("\n") if line.strip()), "")
    if len(line) <= _TITLE:
        return line
    return line[:_TITLE].rpartition(" ")[0] or line[:_TITLE]


def emit_agent_id(state: State, at: At, call: str, agent: str, path: str = "") -> None:
    """Emit a subagent's id once it is known."""
    if not agent or not call or state.spawned.get(agent) == call:
        return
    state.spawned[agent] = call
    if path:
        state.agents[path] = agent
    state.out.append(SubagentStarted(at, call, "", "", agent=agent))


# --- reports ---------------------------------------------------------------------------------------------------------


def _report(state: State, at: At, agent: str, status: object) -> None:
    """Emit a subagent's report, once, if its status says that it ended."""
    agent = state.agents.get(agent, agent)
    by_kind = as_dict(status)
    kind = as_str(status) or next((kind for kind in _ENDS if kind in by_kind), "")
    if kind not in _ENDS or not agent:
        return
    text = as_str(by_kind.get(kind)) or as_str(as_dict(by_kind.get(kind)).get("message"))
    mark = hash((kind, text))
    if state.reports.get(agent) != mark:
        state.reports[agent] = mark
        state.out.append(SubagentReturned(at, state.spawned.get(agent, ""), agent, text, _ENDS[kind]))


def read_notice(state: State, at: At, text: str) -> None:
    """Read a `<subagent_notification>`."""
    notice = parsed(text_in_tag(text, "subagent_notification").strip())
    _report(state, at, as_str(notice.get("agent_path")) or as_str(notice.get("agent_id")), notice.get("status"))


def read_statuses(state: State, at: At, output: Row) -> None:
    """Read the result of `wait_agent` or of another tool that returns the status of agents."""
    for agent, status in as_dict(output.get("status")).items():
        _report(state, at, agent, status)


def read_agent_message(state: State, message: Row, at: At) -> None:
    """Read a message from one agent to another."""
    parts = dicts(message.get("content"))
    text = "".join(as_str(part.get("text")) for part in parts) or as_str(message.get("content"))
    encrypted = "".join(as_str(part.get("encrypted_content")) for part in parts)
    head = _MESSAGE.match(text)
    message_text = (text[head.end() :] if head else text) + ("" if _OPAQUE.match(encrypted) else encrypted)
    kind = head["kind"] if head else ""
    author = as_str(message.get("author"))
    if kind == "FINAL_ANSWER" and author:
        _report(state, at, author, {"completed": message_text})
    elif (state.agent or state.by_agent) and message_text.strip():
        state.out.append(Prompted(at, message_text, PromptKind.TASK))
        state.turn.prompted = True
    elif message_text.strip():
        state.out.append(Injected(at, message_text, "agent-message"))


def read_activity(state: State, item: Row, at: At) -> None:
    """Read the start or continuation of a subagent."""
    agent, path = as_str(item.get("agent_thread_id")), as_str(item.get("agent_path"))
    if as_str(item.get("kind")) == "started":
        emit_agent_id(state, at, as_str(item.get("id")) or as_str(item.get("event_id")), agent, path)


def read_collab(state: State, item: Row, at: At) -> None:
    """Read the end of a call about subagents from an interface event."""
    call = as_str(item.get("id")) or as_str(item.get("call_id"))
    tool = as_str(item.get("tool"))
    receivers = [as_str(agent) for agent in as_list(item.get("receiver_thread_ids"))]
    new = as_str(item.get("new_thread_id")) or (receivers[0] if tool == "spawn_agent" and receivers else "")
    emit_agent_id(state, at, call, new)
    statuses = item.get("agents_states", item.get("statuses"))
    read_statuses(state, at, {"status": statuses})
