"""Convert Claude Code's rows to events, one at a time, in file order.

`ROWS` maps row types to readers.  `parentUuid` is not followed, and rows with a known uuid are copies.
"""

from __future__ import annotations

from collections.abc import Callable

from crucible.clients.claude_code.assistant_rows import read_assistant
from crucible.clients.claude_code.call_results import content_text
from crucible.clients.claude_code.result_rows import is_notice, name_agent
from crucible.clients.claude_code.state import NO_ROWS, Events, State
from crucible.clients.claude_code.user_rows import read_user, tell, tell_steering
from crucible.clients.events import (
    Answered,
    At,
    Compacted,
    ContextSeen,
    ContinuedIn,
    Injected,
    PromptKind,
    Titled,
    Unknown,
    Unreadable,
)
from crucible.clients.log_values import Row, as_dict, as_str, as_time, count

SILENT_ROWS = frozenset(
    {
        "agent-color",
        "agent-name",
        "agent-setting",
        "file-change",
        "file-history-delta",
        "file-history-snapshot",
        "last-prompt",
        "mode",
        "permission-mode",
        "tag",
        "worktree-state",
    }
)
"""Types of rows with client state that does not matter for the session's work."""


def feed(state: State, line: int, row: Row) -> Events:
    """Return the events of one row."""
    kind = row.get("type")
    if not isinstance(kind, str):
        return [Unreadable(At(line), "a row without a type")]
    if kind in SILENT_ROWS:
        return []
    uuid = as_str(row.get("uuid"))
    if uuid in state.seen or (state.agent and uuid and _is_of_trunk(row)):
        return []
    is_copy = state.elder is not NO_ROWS and state.elder.has(row)
    out: Events = []
    state.out = out
    at = At(line, uuid, as_time(row.get("timestamp")), _agent_of(state, row, uuid))
    if uuid:
        _emit_context(state, row, at)
    ROWS.get(kind, _unknown)(state, row, at)
    if state.titles and uuid in state.titles:
        _title(state, state.titles.pop(uuid), False, at)
    if is_copy:
        # Read the copy anyway: later rows may refer to its calls.
        state.context = ()
        return []
    return out


def finish(state: State) -> Events:
    """Return the events due at the end of the file.

    Versions before 2.1.97 do not log a stop reason, so their last text counts as the answer.
    """
    return [Answered(state.last_word)] if state.last_word and state.unsure else []


def _is_of_trunk(row: Row) -> bool:
    """Return whether a row in a subagent's file was copied from the trunk."""
    return row.get("isSidechain") is False and not row.get("agentId")


def _agent_of(state: State, row: Row, uuid: str) -> str:
    if state.agent or not row.get("isSidechain"):
        return state.agent
    agent = as_str(row.get("agentId"))
    if agent or not uuid:
        return agent
    # The oldest versions log subagents in the trunk without an id: use the uuid of their first row.
    root = state.chains.get(as_str(row.get("parentUuid")), uuid)
    state.chains[uuid] = root
    return root


def _emit_context(state: State, row: Row, at: At) -> None:
    state.seen.add(at.row)
    if at.agent != state.agent or "cwd" not in row:
        return
    get = row.get
    context = (get("sessionId"), get("cwd"), get("gitBranch"), get("version"), get("entrypoint"))
    if context != state.context:
        state.context = context
        state.out.append(ContextSeen(at, *map(as_str, context)))


def _unknown(state: State, row: Row, at: At) -> None:
    state.out.append(Unknown(at, as_str(row.get("type"))))


# --- rows of the chain -----------------------------------------------------------------------------------------------


def _system(state: State, row: Row, at: At) -> None:
    kind, text = as_str(row.get("subtype")), as_str(row.get("content"))
    if kind == "compact_boundary":
        state.flush_boundary()
        metadata = as_dict(row.get("compactMetadata"))
        state.boundary = Compacted(at, as_str(metadata.get("trigger")), count(metadata.get("preTokens")) or None)
    elif kind == "turn_duration":
        _turn_end(state, row, at)
    elif kind == "local_command":
        state.local = True
        tell(state, [text], 0, at, PromptKind.COMMAND)
    elif text and kind != "microcompact_boundary":
        state.out.append(Injected(at, text, kind or "system"))


def _turn_end(state: State, _row: Row, at: At) -> None:
    # A turn that the user or an error interrupted has no final text.
    if state.last_word and at.agent == state.agent:
        state.out.append(Answered(at))
        state.end_turn()


def _progress(state: State, row: Row, at: At) -> None:
    """Read a subagent's row that versions 2.1.0 to 2.1.4x embed in the trunk; ignore other progress rows."""
    data = as_dict(row.get("data"))
    inner = as_dict(data.get("message"))
    agent = as_str(data.get("agentId"))
    read = {"user": read_user, "assistant": read_assistant}.get(as_str(inner.get("type")))
    uuid = as_str(inner.get("uuid"))
    if data.get("type") != "agent_progress" or not agent or read is None or uuid in state.seen:
        return
    inside = At(at.line, uuid, as_time(inner.get("timestamp")) or at.time, agent)
    if uuid:
        state.seen.add(uuid)
    name_agent(state, as_str(row.get("parentToolUseID")), agent, inside)
    read(state, inner, inside)


def _attachment(state: State, row: Row, at: At) -> None:
    attached = row.get("attachment")
    if not isinstance(attached, dict):
        state.out.append(Unreadable(at, "an attachment that is not an object"))
        return
    kind = as_str(attached.get("type"))
    if kind == "queued_command":
        _queued(state, attached, at)
        return
    text = _attached_text(attached)
    if text:
        state.out.append(Injected(at, text, "hook" if kind.startswith("hook_") else kind))


def _queued(state: State, attached: Row, at: At) -> None:
    text, images = content_text(attached.get("prompt"))
    origin = as_str(as_dict(attached.get("origin")).get("kind"))
    if not (text or images) or not state.queue.attached(text):
        return
    if (origin in ("", "human") and not attached.get("isMeta")) or is_notice(text):
        tell_steering(state, text, images, at)
    else:
        state.out.append(Injected(at, text, origin or "meta"))


def _attached_text(attached: Row) -> str:
    """Return the text of an attachment; the key depends on the attachment's type."""
    content = attached.get("content")
    if isinstance(content, dict):
        file = content.get("file")
        content = file.get("content") if isinstance(file, dict) else content.get("content")
    if isinstance(content, list):
        return "\n".join(line for line in content if isinstance(line, str))
    return as_str(content) or as_str(attached.get("stdout")) or as_str(attached.get("snippet"))


# --- rows of state ---------------------------------------------------------------------------------------------------


def _summary(state: State, row: Row, at: At) -> None:
    """Read a title.  Old versions also log titles of other sessions; a title counts only if its row is in this file."""
    leaf, title = as_str(row.get("leafUuid")), as_str(row.get("summary"))
    if leaf and leaf not in state.seen:
        state.titles[leaf] = title
    else:
        _title(state, title, False, at)


def _ai_title(state: State, row: Row, at: At) -> None:
    _title(state, as_str(row.get("aiTitle")), False, at)


def _custom_title(state: State, row: Row, at: At) -> None:
    _title(state, as_str(row.get("customTitle")), True, at)


def _title(state: State, title: str, by_user: bool, at: At) -> None:
    if title and state.title != (title, by_user):
        state.title = (title, by_user)
        state.out.append(Titled(at, title, by_user))


def _queue_operation(state: State, row: Row, at: At) -> None:
    text = state.queue.operate(row)
    if text:
        tell_steering(state, text, 0, at)


def _pr_link(state: State, row: Row, at: At) -> None:
    url = as_str(row.get("prUrl"))
    if url:
        state.out.append(Injected(at, url, "pr-link"))


def _continued_in(state: State, row: Row, at: At) -> None:
    session = as_str(row.get("continuedInSessionId"))
    if session:
        state.out.append(ContinuedIn(at, session))


ROWS: dict[str, Callable[[State, Row, At], None]] = {
    "user": read_user,
    "assistant": read_assistant,
    "system": _system,
    "progress": _progress,
    "attachment": _attachment,
    "summary": _summary,
    "ai-title": _ai_title,
    "custom-title": _custom_title,
    "queue-operation": _queue_operation,
    "pr-link": _pr_link,
    "continued-in": _continued_in,
    "turn_end": _turn_end,
}
