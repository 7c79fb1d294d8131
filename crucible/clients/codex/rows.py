"""Convert Codex's rows to events, one at a time, in file order.

Contains the tables of row types, and readers for context, turns, tokens, compactions, errors and reviews.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import orjson

from crucible.clients.codex.call_results import read_retained
from crucible.clients.codex.files import Line, dicts
from crucible.clients.codex.messages import (
    interrupt,
    read_item_message,
    read_item_prompt,
    read_item_thought,
    read_message,
    read_thought,
    read_ui_message,
    read_ui_prompt,
    read_ui_thought,
)
from crucible.clients.codex.state import Events, State, is_subagent, parent_of
from crucible.clients.codex.subagents import read_activity, read_agent_message
from crucible.clients.codex.tools import API_CALLS, UI_CALLS
from crucible.clients.events import (
    Answered,
    At,
    Compacted,
    ContextSeen,
    Faulted,
    Injected,
    Replied,
    Rewound,
    Titled,
    ToolReturned,
    Unknown,
    Unreadable,
    UsageCounted,
)
from crucible.clients.log_values import Row, as_dict, as_str, count


def read_usage_record(state: State, record: Row, at: At) -> None:
    """Count the tokens of one response, unless the response was copied from the parent's history."""
    thread = as_str(record.get("thread_id"))
    if thread and thread in (as_str(state.meta.get("forked_from_id")), parent_of(state.meta)[0]):
        return
    state.total = _total(as_dict(record.get("thread_token_usage"))) or state.total
    state.turn.counted = True
    _count_usage(state, as_dict(record.get("usage")), as_str(record.get("response_id")), at)


def read_token_count(state: State, event: Row, at: At) -> None:
    """Count the tokens used since the last running total.

    Nothing is counted if the usage of each response is logged: the total only repeats it.  A client that was killed
    between writing the two continues from the one it wrote last, so they may differ.
    """
    info = as_dict(event.get("info"))
    total = _total(as_dict(info.get("total_token_usage")))
    if not total or total == state.total:
        return
    last = as_dict(info.get("last_token_usage")) or _step(state.total, total)
    state.total = total
    if not state.turn.counted:
        _count_usage(state, last, "", at)


def _total(usage: Row) -> tuple[int, int, int] | None:
    """Return the input, cached input and output tokens; None if all are 0."""
    counts = (
        count(usage.get("input_tokens")),
        count(usage.get("cached_input_tokens")),
        count(usage.get("output_tokens")),
    )
    return counts if any(counts) else None


def _step(before: tuple[int, int, int], after: tuple[int, int, int]) -> Row:
    """Return the difference between two totals, or `after` if the total was reset."""
    if any(new < old for old, new in zip(before, after, strict=True)):
        before = (0, 0, 0)
    steps = [new - old for old, new in zip(before, after, strict=True)]
    return dict(zip(("input_tokens", "cached_input_tokens", "output_tokens"), steps, strict=True))


def _count_usage(state: State, usage: Row, response: str, at: At) -> None:
    sent, cached, output = _total(usage) or (0, 0, 0)
    written = count(usage.get("cache_write_input_tokens"))
    # Tokens written to the cache are included in the input, unless the total shows otherwise.
    on_top = written if written and count(usage.get("total_tokens")) == sent + output + written else 0
    if sent or output:
        fresh = max(sent - cached, 0) + on_top
        message = response or f"tokens-{at.row}"
        state.out.append(UsageCounted(at, message, state.model, fresh, cached, output, min(written, fresh)))


SILENT_ROWS = frozenset({"world_state", "inter_agent_communication_metadata", "state"})
"""Types of rows with client state that does not matter for the session's work."""
_SILENT_EVENTS = frozenset(
    {
        "agent_message_delta",
        "agent_reasoning_section_break",
        "background_event",
        "exec_command_begin",
        "exec_command_output_delta",
        "guardian_assessment",
        "item_started",
        "mcp_startup_complete",
        "mcp_startup_update",
        "mcp_tool_call_begin",
        "patch_apply_begin",
        "plan_update",
        "raw_response_item",
        "session_configured",
        "shutdown_complete",
        "terminal_interaction",
        "turn_diff",
        "turn_moderation_metadata",
        "web_search_begin",
    }
)
_SILENT_ITEMS = frozenset({"Extension", "FunctionCallOutput", "Sleep", "UserAgentControl"})
_SILENT_API = frozenset({"additional_tools", "compaction_trigger", "ghost_snapshot", "other"})
_AT_WORK = (ToolReturned, UsageCounted, Replied)


def feed(state: State, line: Line) -> Events:
    """Return the events of one row."""
    at = At(line.number, line.row, line.time, state.agent)
    if not line.type:
        return [Unreadable(at, line.reason)]
    out: Events = []
    state.out, rested = out, state.at_rest
    if line.type in ROWS:
        ROWS[line.type](state, line.payload, at)
    elif line.type not in SILENT_ROWS:
        out.append(Unknown(at, line.type))
    if rested and state.at_rest and any(isinstance(event, _AT_WORK) for event in out):
        # Events after the answer, such as the end of a command, do not reopen the turn.
        out.append(Answered(at))
    return out


def finish(state: State) -> Events:
    """Return the events due at the end of the file: if turns are not logged, the last text counts as the answer."""
    word = state.turn.last_word
    return [Answered(word)] if word and not state.has_turn_rows else []


# --- context ---------------------------------------------------------------------------------------------------------


def _session_meta(state: State, meta: Row, at: At) -> None:
    if not state.session:
        state.session, state.meta = as_str(meta.get("id")), meta
        state.by_agent = is_subagent(meta)
    state.model = as_str(meta.get("model")) or state.model
    source = meta.get("source")
    entry = source if isinstance(source, str) else "subagent" if isinstance(source, dict) else ""
    branch = as_str(as_dict(meta.get("git")).get("branch"))
    version = as_str(meta.get("cli_version"))
    _emit_context(state, at, (as_str(meta.get("cwd")), branch, version, entry or as_str(meta.get("originator"))))


def _turn_context(state: State, context: Row, at: At) -> None:
    state.model = as_str(context.get("model")) or state.model
    state.mode = as_str(as_dict(context.get("collaboration_mode")).get("mode")) or state.mode
    cwd = as_str(context.get("cwd"))
    if cwd:
        _emit_context(state, at, (cwd, *(state.context or ("", "", "", ""))[1:]))


def _settings(state: State, event: Row, _at: At) -> None:
    state.model = as_str(as_dict(event.get("thread_settings")).get("model")) or state.model


def _emit_context(state: State, at: At, context: tuple[str, ...]) -> None:
    if context != state.context:
        state.context = context
        state.out.append(ContextSeen(at, state.session, *context))


# --- turns -----------------------------------------------------------------------------------------------------------


def _turn_began(state: State, event: Row, _at: At) -> None:
    state.begin_turn(known=True)
    state.mode = as_str(event.get("collaboration_mode_kind"))


def _turn_ended(state: State, event: Row, at: At) -> None:
    turn, fault = state.turn, _fault_text(event.get("error"))
    state.has_turn_rows = True
    last = as_str(event.get("last_agent_message"))
    if last.strip() and not turn.spoke:
        state.out.append(Replied(at, last, model=state.model, final=True))
    if fault:
        _fault(state, fault, at)
    elif last.strip() or turn.worked:
        state.out.append(Answered(at))
    state.end_turn(answered=not fault)


def _turn_aborted(state: State, event: Row, at: At) -> None:
    reason = as_str(event.get("reason"))
    state.has_turn_rows = True
    if reason == "review_ended":
        state.out.append(Injected(at, "The review ended.", "review"))
    elif reason == "budget_limited":
        state.out.append(Faulted(at, "The budget is used up."))
    else:
        interrupt(state, at)
    state.end_turn(answered=False)
    state.aborted = True


def _rolled_back(state: State, event: Row, at: At) -> None:
    state.out.append(Rewound(at, count(event.get("num_turns")) or None))
    state.at_rest = True


# --- what happens to a session ---------------------------------------------------------------------------------------


def _compacted(state: State, event: Row, at: At) -> None:
    summary = as_str(event.get("message"))
    if not state.compacted:
        state.out.append(Compacted(at, summary=summary))
        state.compacted = True
    elif summary:
        state.out.append(Injected(at, summary, "summary"))


def _fault_text(error: object) -> str:
    return as_str(error) or as_str(as_dict(error).get("message"))


def _fault(state: State, text: str, at: At) -> None:
    if text != state.turn.fault:  # logged as an event, and again at the turn's end
        state.turn.fault = text
        state.out.append(Faulted(at, text))


def _error(state: State, event: Row, at: At) -> None:
    _fault(state, as_str(event.get("message")) or "The client failed.", at)


def _warning(state: State, event: Row, at: At) -> None:
    state.out.append(Injected(at, as_str(event.get("message")), "warning"))


def _review(state: State, event: Row, at: At) -> None:
    counts = event.get("review_output") or event.get("user_facing_hint") or event.get("target") or ""
    text = counts if isinstance(counts, str) else orjson.dumps(counts, default=str).decode()
    state.out.append(Injected(at, text, "review"))


def _hook(state: State, item: Row, at: At) -> None:
    for part in dicts(item.get("fragments")):
        state.out.append(Injected(at, as_str(part.get("text")), "hook"))


def _goal(state: State, event: Row, at: At) -> None:
    goal = as_dict(event.get("goal"))
    state.out.append(Injected(at, as_str(goal.get("objective")), "goal"))


def _named(state: State, event: Row, at: At) -> None:
    title = as_str(event.get("thread_name")) or as_str(event.get("name"))
    if title:
        state.out.append(Titled(at, title, by_user=True))


def _communication(state: State, row: Row, at: At) -> None:
    read_agent_message(state, as_dict(row.get("communication")) or row, at)


# --- tables ----------------------------------------------------------------------------------------------------------


def _response_item(state: State, item: Row, at: At) -> None:
    _read_by_type(state, "response_item", item, at)


def _event_msg(state: State, event: Row, at: At) -> None:
    _read_by_type(state, "event_msg", event, at)


def _item_completed(state: State, event: Row, at: At) -> None:
    _read_by_type(state, "item_completed", as_dict(event.get("item")), at)


def _read_by_type(state: State, where: str, part: Row, at: At) -> None:
    """Read a part of a row by its type; a type that is missing from the tables for `where` is unknown."""
    kind = as_str(part.get("type"))
    readers, silent = _TABLES[where]
    if read := readers.get(kind):
        read(state, part, at)
    elif kind not in silent:
        state.out.append(Unknown(at, f"{where}/{kind}"))


_Read = Callable[[State, Row, At], None]
ROWS: Mapping[str, _Read] = {
    "session_meta": _session_meta,
    "turn_context": _turn_context,
    "response_item": _response_item,
    "event_msg": _event_msg,
    "compacted": _compacted,
    "token_usage_record": read_usage_record,
    "retained_context": read_retained,
    "inter_agent_communication": _communication,
}
_API: Mapping[str, _Read] = {
    **API_CALLS,
    "message": read_message,
    "agent_message": read_agent_message,
    "reasoning": read_thought,
    "compaction": _compacted,
    "compaction_summary": _compacted,
    "context_compaction": _compacted,
}
_ITEMS: Mapping[str, _Read] = {
    **UI_CALLS,
    "UserMessage": read_item_prompt,
    "AgentMessage": read_item_message,
    "Plan": read_item_message,
    "Reasoning": read_item_thought,
    "SubAgentActivity": read_activity,
    "HookPrompt": _hook,
    "EnteredReviewMode": _review,
    "ExitedReviewMode": _review,
    "ContextCompaction": _compacted,
    "Error": _error,
}
_EVENTS: Mapping[str, _Read] = {
    **UI_CALLS,
    "item_completed": _item_completed,
    "user_message": read_ui_prompt,
    "agent_message": read_ui_message,
    "agent_reasoning": read_ui_thought,
    "agent_reasoning_raw_content": read_ui_thought,
    "token_count": read_token_count,
    "task_started": _turn_began,
    "turn_started": _turn_began,
    "task_complete": _turn_ended,
    "turn_complete": _turn_ended,
    "turn_aborted": _turn_aborted,
    "thread_rolled_back": _rolled_back,
    "context_compacted": _compacted,
    "entered_review_mode": _review,
    "exited_review_mode": _review,
    "error": _error,
    "stream_error": _error,
    "warning": _warning,
    "sub_agent_activity": read_activity,
    "thread_goal_updated": _goal,
    "thread_name_updated": _named,
    "thread_settings_applied": _settings,
}
_TABLES = {
    "response_item": (_API, _SILENT_API),
    "event_msg": (_EVENTS, _SILENT_EVENTS),
    "item_completed": (_ITEMS, _SILENT_ITEMS),
}
"""For each location: the readers by part type, and the types to ignore."""
