"""Read rows of type `assistant`: the model's text, reasoning, tool calls and usage.

Newer versions write one row per content block.  The rows of a message share its id; the last row's usage counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from crucible.clients.claude_code.call_results import AGENT_TOOLS, TASK_TOOLS, content_text, facts_of_use
from crucible.clients.claude_code.result_rows import ASKING_TOOLS, edited_plan
from crucible.clients.claude_code.state import OpenCall, State
from crucible.clients.events import (
    Answered,
    At,
    Faulted,
    Injected,
    Reasoned,
    Replied,
    SubagentStarted,
    ToolReturned,
    ToolUsed,
    Unknown,
    Unreadable,
    UsageCounted,
)
from crucible.clients.log_values import Row, arguments_of, as_dict, as_str, count

_ENDINGS = frozenset({"end_turn", "stop_sequence"})
_LONG, _SHORT = "ephemeral_1h_input_tokens", "ephemeral_5m_input_tokens"
_WRITING_TOOLS = frozenset({"Write", "Edit"})
_NO_WORDS = frozenset({"", "(no content)"})
_SYNTHETIC = "<synthetic>"
"""The model name of assistant messages that the client itself wrote."""


class _Message(NamedTuple):
    """The values shared by the blocks of a row.  `own` is True if the row is from the file's own agent."""

    at: At
    id: str
    model: str
    stop: str
    own: bool
    row: Row


def read_assistant(state: State, row: Row, at: At) -> None:
    """Emit the events of one assistant row."""
    raw_message = row.get("message")
    if not isinstance(raw_message, dict):
        state.out.append(Unreadable(at, "an assistant row without a message"))
        return
    state.flush_boundary()
    model = as_str(raw_message.get("model"))
    if model == _SYNTHETIC or row.get("isApiErrorMessage"):
        _synthetic(state, row, raw_message, at)
        return
    message = _Message(
        at,
        as_str(raw_message.get("id")) or at.row,
        model,
        as_str(raw_message.get("stop_reason")),
        at.agent == state.agent,
        row,
    )
    _count(state, raw_message.get("usage"), message)
    if message.own:
        state.queue.step += 1
        state.unanswered = state.local = False
    content = raw_message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            kind = as_str(block.get("type"))
            _BLOCKS.get(kind, _unknown)(state, block, message)
    _end_turn_if_final(state, message)


def _synthetic(state: State, row: Row, raw_message: Row, at: At) -> None:
    text, _ = content_text(raw_message.get("content"))
    if row.get("isApiErrorMessage") or text.startswith("API Error"):
        state.out.append(Faulted(at, text or as_str(row.get("error")) or "API error"))
        if at.agent == state.agent:
            state.end_turn()
    elif text:
        state.out.append(Injected(at, text, "synthetic"))


def _count(state: State, usage: object, message: _Message) -> None:
    if not isinstance(usage, dict) or not message.id:
        return
    get = usage.get
    parts = get("cache_creation")
    long, short = (parts.get(_LONG), parts.get(_SHORT)) if isinstance(parts, dict) else (0, 0)
    usage_values = (
        message.model,
        get("input_tokens"),
        get("cache_read_input_tokens"),
        get("output_tokens"),
        get("cache_creation_input_tokens"),
        long,
        short,
        as_dict(get("server_tool_use")).get("web_search_requests"),
    )
    # Most rows repeat the usage of the message's previous row.
    if state.usage.get(message.id) == usage_values:
        return
    state.usage[message.id] = usage_values
    fresh, cached, output, written, long, short, searches = map(count, usage_values[1:])
    # Before 2.1.152 some rows had the parts without the sum.
    written = written or long + short
    state.out.append(
        UsageCounted(
            message.at,
            message.id,
            message.model,
            fresh + written,
            cached,
            output,
            written,
            min(long, written),
            searches,
        )
    )


def _end_turn_if_final(state: State, message: _Message) -> None:
    """End the turn if this row has its final text."""
    has_reply = any(type(event) is Replied for event in state.out)
    if has_reply and message.stop in _ENDINGS and state.answered != message.id:
        state.answered = message.id
        state.out.append(Answered(message.at))
        if message.own:
            state.end_turn()


# --- blocks ----------------------------------------------------------------------------------------------------------


def _text(state: State, block: Row, message: _Message) -> None:
    text = as_str(block.get("text"))
    if text.strip() in _NO_WORDS:
        return
    state.out.append(Replied(message.at, text, message.id, message.model, message.stop in _ENDINGS))
    if message.own:
        state.last_word, state.unsure = message.at, not message.stop
        state.working = bool(message.stop)


def _thinking(state: State, block: Row, message: _Message) -> None:
    thought = as_str(block.get("thinking"))
    if thought.strip():
        state.out.append(Reasoned(message.at, thought, message.id))


def _tool_use(state: State, block: Row, message: _Message) -> None:
    call, name = as_str(block.get("id")), as_str(block.get("name"))
    arguments = arguments_of(block.get("input"))
    state.out.append(ToolUsed(message.at, call, name, arguments, message.id, message.model))
    if message.own:
        state.working, state.last_word = True, None
    if name in AGENT_TOOLS:
        started = SubagentStarted(
            message.at,
            call,
            as_str(arguments.get("subagent_type")) or "general-purpose",
            as_str(arguments.get("prompt")),
            as_str(arguments.get("description")),
        )
        state.agents[call] = started
        state.out.append(started)
    if name in _WRITING_TOOLS:
        state.plan = edited_plan(state.plan, name, arguments, as_str(message.row.get("slug")))
    kept = arguments if name in TASK_TOOLS or name in ASKING_TOOLS else {}
    state.calls[call] = OpenCall(name, kept, facts_of_use(name, arguments))


def _server_result(state: State, block: Row, message: _Message) -> None:
    call = as_str(block.get("tool_use_id"))
    state.calls.pop(call, None)
    text, _ = content_text(block.get("content"))
    state.out.append(ToolReturned(message.at, call, text or as_str(as_dict(block.get("content")).get("error_code"))))


def _ignore(_state: State, _block: Row, _message: _Message) -> None:
    """Ignore a block without text, such as encrypted reasoning."""


def _unknown(state: State, block: Row, message: _Message) -> None:
    state.out.append(Unknown(message.at, f"assistant/{as_str(block.get('type'))}"))


_BLOCKS: dict[str, Callable[[State, Row, _Message], None]] = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _ignore,
    "tool_use": _tool_use,
    "server_tool_use": _tool_use,
    "web_search_tool_result": _server_result,
    "web_fetch_tool_result": _server_result,
}
