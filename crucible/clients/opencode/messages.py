"""Convert OpenCode's messages and parts to events, in the order of `stored.moments`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from crucible.clients.events import (
    Answered,
    At,
    Compacted,
    ContextSeen,
    Event,
    Faulted,
    Injected,
    Interrupted,
    Prompted,
    PromptKind,
    Reasoned,
    Replied,
    Rewound,
    SubagentReturned,
    Titled,
    ToolUsed,
    Unknown,
    Unreadable,
    UsageCounted,
)
from crucible.clients.log_values import Row, as_dict, as_str, count
from crucible.clients.opencode.call_results import (
    AGENT_TOOLS,
    called,
    find_report,
    returned,
    started,
    tool_of,
    written_plan,
)
from crucible.clients.opencode.stored import (
    QUIET_ROLES,
    Head,
    Kind,
    Message,
    Moment,
    Part,
    Store,
    created_at,
    moments,
    role_of,
    utc,
)

_DEFAULT_TITLE = re.compile(r"\A(?:New|Child) session - \d{4}-")
_OF_SUBAGENT = re.compile(r" \(@([\w./-]+) subagent\)\Z")
_USERS_SHELL = "The following tool was executed by the user"
_NOT_IN_NOTE = (ContextSeen, Injected, Unknown, Unreadable)
_WHOLE = (Kind.MESSAGE, Kind.USER, Kind.STEERING)
_PLANNER = "plan"
_CACHED = 4
"""Number of messages to cache, since moments of adjacent messages can interleave."""


@dataclass(slots=True)
class _State:
    """The state after the moments read so far."""

    head: Head
    by_agent: bool
    """True if an agent wrote the prompts.  Also true if the parent is missing and the session is read as a trunk."""
    cwd: str
    shells: set[str] = field(default_factory=set)
    """The user's messages that run a shell command."""
    compactions: dict[str, str] = field(default_factory=dict)
    """What triggered a compaction (`auto` or `manual`), by the message that requested it."""
    interrupted: bool = False
    plan: str = ""
    """The current plan of the planning agent."""


def read_session(store: Store, head: Head, agent: str) -> Iterator[Event]:
    """Yield the events of a session.  `agent` is the subagent's id, or "" for a main session."""
    state = _State(head, bool(agent or head.parent), head.directory)
    ordered = moments(store.messages(head.id))
    at = At(1, head.id, utc(head.created), agent)
    yield ContextSeen(at, head.id, head.directory, "", head.version)
    cached: dict[str, Message | None] = {}
    reverted = 0
    for line, moment in enumerate(ordered, 2):
        if moment.id not in cached:
            if len(cached) >= _CACHED:
                cached.pop(next(iter(cached)))
            cached[moment.id] = store.message(head.id, moment.id)
        message = cached[moment.id]
        here = At(line, _row(moment, message), utc(moment.time), agent)
        for event in _events_of_moment(state, moment, message, here):
            at = at if isinstance(event, _NOT_IN_NOTE) else here
            # Message ids are in ascending order.
            reverted += isinstance(event, Prompted) and moment.id >= head.reverted_to
            yield event
    if head.reverted_to:
        # The client keeps reverted messages until the next prompt, then deletes them.
        at = At(len(ordered) + 2, f"{head.reverted_to}.revert", _later(at, utc(head.updated)), agent)
        yield Rewound(at, reverted or None)
    title = bare_title(head.title)
    if title and not agent:
        # A title has no row of its own, so it gets the position of the last row in the note.  A title that is set after
        # an import is then picked up with the next row.
        yield Titled(at, title)


def _later(at: At, time: datetime | None) -> datetime | None:
    return max(filter(None, (at.time, time)), default=None)


def bare_title(title: str) -> str:
    """Return a title without the client's suffix; "" for the client's default title."""
    return "" if _DEFAULT_TITLE.match(title) else _OF_SUBAGENT.sub("", title)


def kind_in(title: str) -> str:
    """Return the kind of agent from the suffix that the client adds to a title, else ""."""
    found = _OF_SUBAGENT.search(title)
    return found[1] if found else ""


def _row(moment: Moment, message: Message | None) -> str:
    """Return the id of a moment: the row's own id, with a suffix for what was written to the row later."""
    if moment.kind is Kind.END:
        return f"{moment.id}.end"
    if moment.kind in _WHOLE or message is None or not message.parts:
        return moment.id if moment.kind in _WHOLE else f"{moment.id}.end"
    ident = message.parts[moment.part].id
    return f"{ident}.end" if moment.kind is Kind.RESULT else ident


def _events_of_moment(state: _State, moment: Moment, message: Message | None, at: At) -> Iterator[Event]:
    if message is None:
        yield Unreadable(at, "a message without an id")
        return
    if message.data is None and moment.kind in _WHOLE:
        yield Unreadable(at, message.reason)
    role = role_of(message)
    if role == "user":
        yield from _user(state, message, at, PromptKind.STEERING if moment.kind is Kind.STEERING else PromptKind.TYPED)
    elif role == "assistant" and moment.kind is not Kind.MESSAGE:
        yield from _assistant(state, moment, message, at)
    elif message.data is not None:
        yield from _ROLES.get(role, _unknown_role)(state, moment, message.data, at)


# --- messages with a single moment -----------------------------------------------------------------------------------


def _shell(_state: _State, moment: Moment, data: Row, at: At) -> Iterator[Event]:
    if moment.kind is Kind.RESULT:
        output = data.get("output")
        yield Injected(at, as_str(as_dict(output).get("output")) or as_str(output), "shell-output")
    else:
        yield Prompted(at, f"!{as_str(data.get('command'))}", PromptKind.SHELL)


def _compaction(_state: _State, _moment: Moment, data: Row, at: At) -> Iterator[Event]:
    if data.get("status") == "failed":
        yield Faulted(at, _fault(as_dict(data.get("error"))) or "The compaction failed.")
    else:
        yield Compacted(at, as_str(data.get("reason")), None, as_str(data.get("summary")))


def _interruption(state: _State, _moment: Moment, data: Row, at: At) -> Iterator[Event]:
    if data.get("outcome") == "interrupted" and not state.interrupted:
        yield Interrupted(at)


def _unknown_role(_state: _State, _moment: Moment, data: Row, at: At) -> Iterator[Event]:
    yield Unknown(at, f"message/{as_str(data.get('role'))}")


_ROLES: dict[str, Callable[[_State, Moment, Row, At], Iterator[Event]]] = {
    "shell": _shell,
    "compaction": _compaction,
    **dict.fromkeys(QUIET_ROLES, _interruption),
}

# --- the user --------------------------------------------------------------------------------------------------------


def _user(state: _State, message: Message, at: At, kind_of_prompt: PromptKind) -> Iterator[Event]:
    state.interrupted = False
    at = At(at.line, at.row, utc(created_at(message)) or at.time, at.agent)
    words: list[str] = []
    images = 0
    for part in message.parts:
        data = part.data
        if data is None:
            yield Unreadable(at, part.reason)
            continue
        kind = as_str(data.get("type"))
        if kind == "text" and not data.get("synthetic") and not data.get("ignored"):
            words.append(as_str(data.get("text")))
        elif kind == "file":
            images += as_str(data.get("mime")).startswith("image/")
        else:
            yield from _other_user_part(state, message.id, data, at)
    text = "\n".join(filter(None, words))
    if text or images:
        text = _as_typed(text) if state.head.by_command and not state.by_agent else text
        yield Prompted(at, text, PromptKind.TASK if state.by_agent else kind_of_prompt, images)


def _as_typed(text: str) -> str:
    """Remove the quotes that `opencode run` puts around an argument with a space."""
    inner = text[1:-1]
    quoted = len(text) > 2 and text[0] == text[-1] == '"' and " " in inner
    return inner.replace('\\"', '"') if quoted and not re.search(r'(?<!\\)"', inner) else text


def _other_user_part(state: _State, message: str, data: Row, at: At) -> Iterator[Event]:
    """Yield the events of the parts of a user's message that the user did not type."""
    kind = as_str(data.get("type"))
    if kind == "text":
        yield from _injected(state, message, data, at)
    elif kind == "subtask":
        command = as_str(data.get("command"))
        prompt = f"/{command.removeprefix('/')}" if command else as_str(data.get("prompt"))
        yield Prompted(at, prompt, PromptKind.COMMAND if command else PromptKind.TYPED)
    elif kind == "compaction":
        state.compactions[message] = "auto" if data.get("auto") is True else "manual"
    elif kind not in _SILENT_PARTS:
        yield Unknown(at, f"part/{kind}")


def _injected(state: _State, message: str, data: Row, at: At) -> Iterator[Event]:
    text = as_str(data.get("text"))
    if text.startswith(_USERS_SHELL) and "<shell " not in text:
        state.shells.add(message)
    elif text.strip():
        yield Injected(at, text, as_str(data.get("kind")) or "synthetic")
        report = find_report(text)
        if report.child and report.state and not report.is_at_work:
            yield SubagentReturned(at, "", report.child, report.text, report.end)


# --- the agent -------------------------------------------------------------------------------------------------------

_SILENT_PARTS = frozenset({"step-start", "snapshot", "patch", "agent", "file", "text"})


def _assistant(state: _State, moment: Moment, message: Message, at: At) -> Iterator[Event]:
    data = message.data or {}
    cwd = as_str(as_dict(data.get("path")).get("cwd"))
    if cwd and cwd != state.cwd:
        state.cwd = cwd
        yield ContextSeen(at, state.head.id, cwd, "", state.head.version)
    if moment.kind is Kind.END:
        yield from _ended(state, message, data, at)
        return
    part = message.parts[moment.part]
    if part.data is None:
        yield Unreadable(at, part.reason)
    elif part.data.get("type") == "tool":
        yield from _tool(state, moment, data, part, at)
    elif not _is_summary(data):
        yield from _PARTS.get(as_str(part.data.get("type")), _unknown_part)(message, part, at)
    elif part.data.get("type") == "step-finish":
        yield from _step(message, part, at)


def _is_summary(data: Row) -> bool:
    """Return whether this message is the summary for a compaction, which is not an answer."""
    return data.get("summary") is True or data.get("mode") == "compaction"


def _model(message: Message) -> str:
    return as_str((message.data or {}).get("modelID"))


def _tool(state: _State, moment: Moment, data: Row, part: Part, at: At) -> Iterator[Event]:
    tool = tool_of(part.data or {}, part.id)
    if data.get("parentID") in state.shells:
        if moment.kind is Kind.RESULT:
            yield Injected(at, as_str(tool.state.get("output")), "shell-output")
        else:
            yield Prompted(at, f"!{as_str(tool.arguments.get('command'))}", PromptKind.SHELL)
    elif moment.kind is Kind.RESULT:
        if _PLANNER in (data.get("agent"), data.get("mode")):
            state.plan = written_plan(tool, state.plan)
        yield from returned(at, tool, state.plan, attended=not state.head.by_command)
    else:
        yield ToolUsed(at, tool.call, *called(tool), moment.id, as_str(data.get("modelID")))
        if tool.name in AGENT_TOOLS:
            yield started(at, tool)


def _text(message: Message, part: Part, at: At) -> Iterator[Event]:
    data = part.data or {}
    text = as_str(data.get("text"))
    if not text.strip():
        return
    if data.get("synthetic") or data.get("ignored"):
        yield Injected(at, text, "synthetic")
    else:
        yield Replied(at, text, message.id, _model(message))


def _reasoning(message: Message, part: Part, at: At) -> Iterator[Event]:
    text = as_str((part.data or {}).get("text"))
    if text.strip():
        yield Reasoned(at, text, message.id)


def _retry(_message: Message, part: Part, at: At) -> Iterator[Event]:
    yield Faulted(at, _fault(as_dict((part.data or {}).get("error"))) or "The provider failed; tried again.")


def _step(message: Message, part: Part, at: At) -> Iterator[Event]:
    """Yield a step's tokens.  A message has one step, except in the oldest versions."""
    steps = [each.id for each in message.parts if (each.data or {}).get("type") == "step-finish"]
    ident = message.id if steps[0] == part.id else part.id
    yield from _usage(as_dict((part.data or {}).get("tokens")), ident, _model(message), at)


def _usage(tokens: Row, ident: str, model: str, at: At) -> Iterator[Event]:
    cache = as_dict(tokens.get("cache"))
    sent, written, read = count(tokens.get("input")), count(cache.get("write")), count(cache.get("read"))
    output, reasoning, total = (count(tokens.get(key)) for key in ("output", "reasoning", "total"))
    if not total or total != sent + written + read + output:
        output += reasoning  # reasoning is not included in the output unless the total shows that it is
    if sent or written or read or output:
        yield UsageCounted(at, ident, model, sent + written, read, output, written)


def _unknown_part(_message: Message, part: Part, at: At) -> Iterator[Event]:
    kind = as_str((part.data or {}).get("type"))
    if kind not in _SILENT_PARTS:
        yield Unknown(at, f"part/{kind}")


_PARTS: dict[str, Callable[[Message, Part, At], Iterator[Event]]] = {
    "text": _text,
    "reasoning": _reasoning,
    "retry": _retry,
    "step-finish": _step,
}


def _ended(state: _State, message: Message, data: Row, at: At) -> Iterator[Event]:
    kinds = [as_str((part.data or {}).get("type")) for part in message.parts]
    if "step-finish" not in kinds:
        yield from _usage(as_dict(data.get("tokens")), message.id, _model(message), at)
    error = data.get("error")
    if error:
        yield _broken(state, message, as_dict(error), at)
    elif _is_summary(data):
        trigger = state.compactions.get(as_str(data.get("parentID")), "")
        yield Compacted(at, trigger, None, _words(message))
    elif data.get("parentID") not in state.shells and _is_answer(message, data):
        yield Answered(at)


def _words(message: Message) -> str:
    texts = (part.data or {} for part in message.parts)
    return "\n".join(filter(None, (as_str(data.get("text")) for data in texts if data.get("type") == "text")))


def _is_answer(message: Message, data: Row) -> bool:
    """Return whether the agent finished: by the logged reason or, if there is none, because text came last."""
    steps = [part.data or {} for part in message.parts]
    reasons = [as_str(data.get("finish")), *(as_str(step.get("reason")) for step in reversed(steps))]
    reason = next(filter(None, reasons), "")
    if reason:
        return reason not in ("tool-calls", "tool_calls", "unknown", "error")
    spoken = [as_str(step.get("type")) for step in steps if step.get("type") in ("text", "tool")]
    return spoken[-1:] == ["text"]


def _broken(state: _State, message: Message, error: Row, at: At) -> Event:
    name = as_str(error.get("name"))
    if name == "MessageAbortedError" or "abort" in name.lower() or "interrupt" in name.lower():
        state.interrupted = True
        states = [as_dict((part.data or {}).get("state")) for part in message.parts]
        return Interrupted(at, any(as_str(each.get("error")).startswith("Tool execution") for each in states))
    return Faulted(at, _fault(error) or "The client failed.")


def _fault(error: Row) -> str:
    """Return the error message from the provider or the client."""
    data = as_dict(error.get("data"))
    message = as_str(data.get("message")) or as_str(error.get("message")) or as_str(error.get("name"))
    status = count(data.get("statusCode")) or count(data.get("status"))
    return f"{message} ({status})" if message and status and str(status) not in message else message
