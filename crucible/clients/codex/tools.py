"""Read tool calls and their results in Codex's rollouts, as logged by the API and by the interface.

A call is an API item (such as `function_call`) or, if a code-mode script made it, only an interface event.  Its result
is often logged as both.  The call's id links them; the first result counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from crucible.clients.codex.call_results import (
    QUESTION_TOOL,
    Result,
    answered,
    command_line,
    of_command,
    of_output,
    of_patch,
    tasks_of,
    tasks_of_script,
)
from crucible.clients.codex.files import dicts, parsed
from crucible.clients.codex.state import OpenCall, State
from crucible.clients.codex.subagents import (
    AGENT_TOOLS,
    emit_agent_id,
    read_collab,
    read_statuses,
    start_agent,
)
from crucible.clients.events import (
    At,
    CallEnd,
    Prompted,
    PromptKind,
    SubagentReturned,
    TasksListed,
    TaskState,
    ToolReturned,
    ToolUsed,
)
from crucible.clients.log_values import Row, as_dict, as_str, line_count

_KILLED = -1
_POLL = "write_stdin"
_KEPT = frozenset({"update_plan", "exec", QUESTION_TOOL, _POLL, *AGENT_TOOLS})


# --- API and interface -----------------------------------------------------------------------------------------------


def _use(state: State, at: At, call: str, name: str, arguments: Mapping[str, Any], *, api: bool) -> None:
    """Emit a call, unless the other side has already logged it."""
    known = state.calls.get(call)
    if known and not (api and known.api):
        known.api = known.api or api
        return
    state.calls[call] = OpenCall(name, arguments if name in _KEPT else {}, api)
    state.out.append(ToolUsed(at, call, name, arguments, model=state.model))
    if name in AGENT_TOOLS:
        start_agent(state, at, call, arguments)
    state.work()


def _return(state: State, at: At, call: str, result: Result) -> None:
    """Emit a result, unless the call has already had its final result: then this is a copy."""
    known = state.calls.get(call)
    if known and known.closed:
        return
    if known:
        known.closed = not result.open
    if result.open:
        state.running[as_str((result.details or {}).get("background"))] = call
    if result.end is CallEnd.FAILED and _is_killed(state, result):
        result = result._replace(end=CallEnd.INTERRUPTED)
    state.turn.cut = result.end is CallEnd.INTERRUPTED
    if known and known.name == QUESTION_TOOL and result.end is not CallEnd.FAILED:
        state.out.append(answered(at, call, known.kept, result.text))
    state.out.append(ToolReturned(at, call, result.text, result.end, details=result.details))
    if known and result.end is CallEnd.OK:
        _plan(state, at, known)


def _is_killed(state: State, result: Result) -> bool:
    """Return whether the client killed a background command after the end of the turn that started it."""
    return state.has_turn_rows and not state.turn.known and (result.details or {}).get("exit_code") == _KILLED


def _plan(state: State, at: At, call: OpenCall) -> None:
    tasks: tuple[TaskState, ...] = ()
    if call.name == "update_plan":
        tasks = tasks_of(call.kept)
    elif call.name == "exec":
        tasks = tasks_of_script(as_str(call.kept.get("input")))
    if tasks:
        state.out.append(TasksListed(at, tasks))


# --- API -------------------------------------------------------------------------------------------------------------


def _call_id(item: Row, at: At) -> str:
    return as_str(item.get("call_id")) or as_str(item.get("id")) or f"row-{at.row}"


def _function_call(state: State, item: Row, at: At) -> None:
    name, space = as_str(item.get("name")), as_str(item.get("namespace"))
    if space.startswith("mcp__") and not name.startswith("mcp__"):
        name = f"{space.rstrip('_')}__{name}"
    given = item.get("arguments")
    arguments = parsed(given) or ({"input": given} if given not in (None, "", "{}") else {})
    _use(state, at, _call_id(item, at), name, arguments, api=True)


def _custom_call(state: State, item: Row, at: At) -> None:
    _use(
        state,
        at,
        _call_id(item, at),
        as_str(item.get("name")),
        {"input": as_str(item.get("input"))},
        api=True,
    )


def _shell_call(state: State, item: Row, at: At) -> None:
    action = {key: value for key, value in as_dict(item.get("action")).items() if key != "type" and value is not None}
    _use(state, at, _call_id(item, at), "local_shell", action, api=True)


def _output(state: State, item: Row, at: At) -> None:
    call = _call_id(item, at)
    known = state.calls.get(call)
    result = of_output(item.get("output"))
    details = parsed(result.text)
    if known and known.name in AGENT_TOOLS and result.end is not CallEnd.REJECTED:
        if result.end is CallEnd.OK:
            emit_agent_id(state, at, call, as_str(details.get("agent_id")))
        elif not known.closed:
            state.out.append(SubagentReturned(at, call, "", result.text, result.end))
        known.closed = True
        return
    if known and known.name == _POLL:
        result = _polled(state, at, str(known.kept.get("session_id")), result)
    _return(state, at, call, result)
    if known and details and as_dict(details.get("status")):
        read_statuses(state, at, details)


def _polled(state: State, at: At, session: str, result: Result) -> Result:
    """Read the result of polling a running command.  The exit code belongs to the command's call, not to the poll."""
    begun = state.running.get(session)
    if begun is None or result.open or "exit_code" not in (result.details or {}):
        return result
    del state.running[session]
    _return(state, at, begun, result)
    return Result(result.text, details={"lines": line_count(result.text)})


def _web_search(state: State, item: Row, at: At, side: str = "api") -> None:
    action = as_dict(item.get("action"))
    details = {key: action[key] for key in ("query", "url", "pattern") if as_str(action.get(key))}
    details = details or ({"query": item["query"]} if as_str(item.get("query")) else {})
    if state.mirror.is_copy(side, "web", repr(sorted(details.items()))):
        return
    call = _call_id(item, at)
    _use(state, at, call, "web_search", details, api=True)
    failed = as_str(item.get("status")) == "failed"
    _return(state, at, call, Result("", CallEnd.FAILED if failed else CallEnd.OK))


def _tool_search(state: State, item: Row, at: At) -> None:
    _use(state, at, _call_id(item, at), "tool_search", parsed(item.get("arguments")), api=True)


def _tools_found(state: State, item: Row, at: At) -> None:
    found = len(dicts(item.get("tools")))
    _return(state, at, _call_id(item, at), Result(f"{found} tool{'' if found == 1 else 's'}"))


def _image_made(state: State, item: Row, at: At) -> None:
    call = _call_id(item, at)
    prompt = as_str(item.get("revised_prompt"))
    _use(state, at, call, "image_generation", {"prompt": prompt} if prompt else {}, api=False)
    failed = as_str(item.get("status")) == "failed"
    _return(state, at, call, Result(as_str(item.get("saved_path")), CallEnd.FAILED if failed else CallEnd.OK))


API_CALLS: Mapping[str, Callable[[State, Row, At], None]] = {
    "function_call": _function_call,
    "custom_tool_call": _custom_call,
    "local_shell_call": _shell_call,
    "function_call_output": _output,
    "custom_tool_call_output": _output,
    "web_search_call": _web_search,
    "tool_search_call": _tool_search,
    "tool_search_output": _tools_found,
    "image_generation_call": _image_made,
}
"""Readers for the API's calls and results, by item type."""


# --- interface -------------------------------------------------------------------------------------------------------


def _ui_id(item: Row, at: At) -> str:
    return as_str(item.get("id")) or as_str(item.get("call_id")) or f"row-{at.row}"


def _command(state: State, item: Row, at: At) -> None:
    command = command_line(item.get("command"))
    if as_str(item.get("source")) in ("user_shell", "userShell"):
        read_user_shell(state, at, "ui", command)
        return
    call = _ui_id(item, at)
    if as_str(item.get("source")) == "unified_exec_interaction" and call not in state.calls:
        return  # input typed into a running command; the API logs its call
    _use(state, at, call, "exec_command", {"cmd": command}, api=False)
    _return(state, at, call, of_command(item))


def read_user_shell(state: State, at: At, side: str, command: str) -> None:
    """Emit a command that the user ran."""
    if command and not state.mirror.is_copy(side, "shell", command):
        state.out.append(Prompted(at, f"!{command}", PromptKind.SHELL))


def _patch(state: State, item: Row, at: At) -> None:
    call = _ui_id(item, at)
    _use(state, at, call, "apply_patch", {"path": ", ".join(as_dict(item.get("changes")))}, api=False)
    _return(state, at, call, of_patch(item))


def _mcp(state: State, item: Row, at: At) -> None:
    called = as_dict(item.get("invocation")) or item
    call = _ui_id(item, at)
    name = f"mcp__{as_str(called.get('server'))}__{as_str(called.get('tool'))}"
    _use(state, at, call, name, parsed(called.get("arguments")), api=False)
    details, error = item.get("result"), item.get("error")
    if isinstance(details, dict) and ("Ok" in details or "Err" in details):
        details, error = as_dict(details.get("Ok")), details.get("Err")
    problem = as_str(error) or as_str(as_dict(error).get("message"))
    good = of_output({"content": as_dict(details).get("content")})
    bad = bool(problem) or as_dict(details).get("is_error") is True or as_dict(details).get("isError") is True
    _return(state, at, call, Result(problem or good.text, CallEnd.FAILED if bad else good.end, good.details))


def _dynamic(state: State, item: Row, at: At) -> None:
    call = _ui_id(item, at)
    _use(state, at, call, as_str(item.get("tool")), parsed(item.get("arguments")), api=False)
    failed = item.get("success") is False or as_str(item.get("status")) == "failed"
    result = of_output({"content": item.get("content_items")}, failed=failed)
    _return(state, at, call, result._replace(text=as_str(item.get("error")) or result.text))


def _web_seen(state: State, item: Row, at: At) -> None:
    _web_search(state, item, at, "ui")


def _image_seen(state: State, item: Row, at: At) -> None:
    call = _ui_id(item, at)
    if call not in state.calls:
        path = as_str(item.get("path")).removeprefix("file://")
        _use(state, at, call, "view_image", {"path": path}, api=False)
        _return(state, at, call, Result(""))


def _collab(state: State, item: Row, at: At) -> None:
    call, tool = _ui_id(item, at), as_str(item.get("tool"))
    if tool and call not in state.calls:
        given = {"message": as_str(item.get("prompt"))} if item.get("prompt") else {}
        _use(state, at, call, tool, given, api=False)
        if tool not in AGENT_TOOLS:
            failed = as_str(item.get("status")) == "failed"
            _return(state, at, call, Result("", CallEnd.FAILED if failed else CallEnd.OK))
    read_collab(state, item, at)


UI_CALLS: Mapping[str, Callable[[State, Row, At], None]] = {
    "CommandExecution": _command,
    "exec_command_end": _command,
    "FileChange": _patch,
    "patch_apply_end": _patch,
    "McpToolCall": _mcp,
    "mcp_tool_call_end": _mcp,
    "DynamicToolCall": _dynamic,
    "WebSearch": _web_seen,
    "web_search_end": _web_seen,
    "ImageView": _image_seen,
    "view_image_tool_call": _image_seen,
    "ImageGeneration": _image_made,
    "image_generation_end": _image_made,
    "CollabAgentToolCall": _collab,
    "collab_agent_spawn_end": _collab,
    "collab_agent_interaction_end": _collab,
    "collab_waiting_end": _collab,
    "collab_close_end": _collab,
    "collab_resume_end": _collab,
}
"""Readers for the interface's calls and results, by item or event type."""
