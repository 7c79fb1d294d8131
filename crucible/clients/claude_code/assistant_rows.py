"""Rows of type `assistant`: what the model said, thought and called, and what it cost.

Newer versions write one content block a row, all rows of a message share its id and repeat its usage: the last row's
usage is the message's.
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
"""The model of what the client itself says in the agent's name."""


class _Message(NamedTuple):
    """What the blocks of a row share; `own` when the file's own agent speaks."""

    at: At
    id: str
    model: str
    stop: str
    own: bool
    row: Row


def read_assistant(state: State, row: Row, at: At) -> None:
    """The events of one assistant row."""
    raw = row.get("message")
    if not isinstance(raw, dict):
        state.out.append(Unreadable(at, "an assistant row without a message"))
        return
    state.flush_boundary()
    model = as_str(raw.get("model"))
    if model == _SYNTHETIC or row.get("isApiErrorMessage"):
        _synthetic(state, row, raw, at)
        return
    message = _Message(
        at,
        as_str(raw.get("id")) or at.row,
        model,
        as_str(raw.get("stop_reason")),
        at.agent == state.agent,
        row,
    )
    _count(state, raw.get("usage"), message)
    if message.own:
        state.queue.step += 1
        state.unanswered = state.local = False
    content = raw.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            kind = as_str(block.get("type"))
            _BLOCKS.get(kind, _unknown)(state, block, message)
    _close(state, message)


def _synthetic(state: State, row: Row, raw: Row, at: At) -> None:
    text, _ = content_text(raw.get("content"))
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
    given = (
        message.model,
        get("input_tokens"),
        get("cache_read_input_tokens"),
        get("output_tokens"),
        get("cache_creation_input_tokens"),
        long,
        short,
    )
    # Most rows repeat what the message's last one said.
    if state.usage.get(message.id) == given:
        return
    state.usage[message.id] = given
    fresh, cached, said, written, long, short = map(count, given[1:])
    # before 2.1.152 some rows had the sum only in its parts
    written = written or long + short
    state.out.append(
        UsageCounted(
            message.at,
            message.id,
            message.model,
            fresh + written,
            cached,
            said,
            written,
            min(long, written),
        )
    )


def _close(state: State, message: _Message) -> None:
    """End the turn when a text of this row ended it: `last_word` is this row's then."""
    spoke = any(type(event) is Replied for event in state.out)
    if spoke and message.stop in _ENDINGS and state.answered != message.id:
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


def _quiet(_state: State, _block: Row, _message: _Message) -> None:
    """Blocks without words: thoughts that are encrypted."""


def _unknown(state: State, block: Row, message: _Message) -> None:
    state.out.append(Unknown(message.at, f"assistant/{as_str(block.get('type'))}"))


_BLOCKS: dict[str, Callable[[State, Row, _Message], None]] = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _quiet,
    "tool_use": _tool_use,
    "server_tool_use": _tool_use,
    "web_search_tool_result": _server_result,
    "web_fetch_tool_result": _server_result,
}
