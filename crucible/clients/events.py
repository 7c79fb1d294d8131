"""The events of a session, in the same form for every client: a closed union of frozen dataclasses in the past tense.

A dialect (`claude_code`, `codex`, …) converts its client's rows to events.  Their text is raw: not shortened, contained
or redacted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class At:
    """Where an event comes from.

    `line` is the line of the file, from 1; `row` is the client's id of the row ("" if it has none); `time` is in UTC;
    `agent` is the id of the subagent that the row belongs to, "" in the trunk.
    """

    line: int
    row: str = ""
    time: datetime | None = None
    agent: str = ""


class PromptKind(StrEnum):
    """How a prompt was given."""

    TYPED = "typed"
    STEERING = "steering"
    """Typed while the agent was working; the client queued it."""
    COMMAND = "command"
    """A slash command, text `/name args`."""
    SHELL = "shell"
    """A shell command that the user ran, text `!command`."""
    PLAN = "plan"
    """The user accepted a plan; the text contains the plan."""
    TASK = "task"
    """A task, or a later message, that another agent gave to a subagent (`at.agent` is set)."""


class CallEnd(StrEnum):
    """How a tool call ended."""

    OK = "ok"
    FAILED = "failed"
    REJECTED = "rejected"
    INTERRUPTED = "interrupted"
    """Interrupted by the user, or cancelled because a parallel call failed."""


@dataclass(frozen=True, slots=True)
class ContextSeen:
    """The session's folder, branch, client version and entry point; emitted first, and again when one changes."""

    at: At
    session: str
    cwd: str = ""
    branch: str = ""
    version: str = ""
    entrypoint: str = ""


@dataclass(frozen=True, slots=True)
class Prompted:
    """The user sent `text`; `images` is the number of images sent with it."""

    at: At
    text: str
    kind: PromptKind = PromptKind.TYPED
    images: int = 0


@dataclass(frozen=True, slots=True)
class Replied:
    """The agent said `text`.  `final` is True if it ended the turn."""

    at: At
    text: str
    message: str = ""
    model: str = ""
    final: bool = False


@dataclass(frozen=True, slots=True)
class Reasoned:
    """The agent's reasoning, as far as the client logs it."""

    at: At
    text: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class ToolUsed:
    """The agent called a tool.  `arguments` is the JSON object passed to the tool (`{"input": …}` for other JSON)."""

    at: At
    call: str
    name: str
    arguments: Mapping[str, object]
    message: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """A call's result.

    `feedback` is what the user said when rejecting it; the call itself may be missing from the log.
    """

    at: At
    call: str
    text: str
    end: CallEnd = CallEnd.OK
    feedback: str = ""
    details: Mapping[str, object] | None = None
    """A few flat facts for a one-line summary, with our own keys: `lines`, `files`, `exit_code`, `bytes` …"""


@dataclass(frozen=True, slots=True)
class Choice:
    """A question that the agent asked the user, and the exact answer ("" if there is none).

    `options` are the labels offered, with their descriptions (or "").  `picked` are the labels in the answer; empty if
    the user answered in their own words.
    """

    question: str
    answer: str = ""
    options: tuple[tuple[str, str], ...] = ()
    picked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionsAnswered:
    """The result of a call that asked the user; emitted before its `ToolReturned`.

    Unanswered questions have an empty answer.
    """

    at: At
    call: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class PlanSettled:
    """The user's decision on a plan; emitted before the call's `ToolReturned`.

    `approved` is None if the log does not show it: usually an approval that continues with a fresh context.  If the
    user rejected the plan, their words are the `feedback` of `ToolReturned`.
    """

    at: At
    call: str
    text: str
    approved: bool | None


@dataclass(frozen=True, slots=True)
class SubagentStarted:
    """A call started a subagent.  `agent` is its id, or "" if not known yet; emitted again once the id is known."""

    at: At
    call: str
    kind: str
    task: str
    title: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class SubagentReturned:
    """A subagent returned its report; this replaces the call's `ToolReturned`.

    A background subagent returns later, and again each time it is given more to do.  `text` is the report without the
    client's trailer.  A call that the user rejected also has a `ToolReturned` with the user's feedback.
    """

    at: At
    call: str
    agent: str
    text: str
    end: CallEnd = CallEnd.OK
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TaskState:
    """One task of the client's task list; `priority` is "" if the client has none."""

    id: str
    content: str
    status: str = "pending"
    priority: str = ""
    depends_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TasksListed:
    """The entire task list was replaced (TodoWrite)."""

    at: At
    tasks: tuple[TaskState, ...]


@dataclass(frozen=True, slots=True)
class TaskChanged:
    """One task was created or changed; None means unchanged.  `status` may be `deleted` or `cancelled`."""

    at: At
    id: str
    content: str | None = None
    status: str | None = None
    adds_dependencies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UsageCounted:
    """The tokens of one message from the model; a later event with the same `message` replaces an earlier one.

    `fresh` = input + cache writes, `cached` = cache reads, `said` = output.  `written` is the part of `fresh` that was
    written to the cache; `written_1h` is the part of `written` kept for an hour instead of five minutes.  `searches`
    is the number of web searches that the provider did and charges for.
    """

    at: At
    message: str
    model: str
    fresh: int
    cached: int
    said: int
    written: int = 0
    written_1h: int = 0
    searches: int = 0


@dataclass(frozen=True, slots=True)
class Answered:
    """The agent's turn ended in a finished answer."""

    at: At


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The user stopped the agent."""

    at: At
    in_tool: bool = False


@dataclass(frozen=True, slots=True)
class Compacted:
    """The client compacted its context; `summary` is what it kept."""

    at: At
    trigger: str = ""
    tokens_before: int | None = None
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Rewound:
    """The user went back to an earlier point in the conversation; no prompt is waiting for an answer now.

    `turns` is the number of prompts undone with their answers, or None if the client does not log it; then `text`
    describes it briefly (`2 messages`).  The event log keeps the removed messages.
    """

    at: At
    turns: int | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Titled:
    """The session was given a title by the client or, if `by_user`, by the user."""

    at: At
    title: str
    by_user: bool = False


@dataclass(frozen=True, slots=True)
class Injected:
    """Text that the client or a hook added to the conversation; kept in the event log, but not in the note."""

    at: At
    text: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Faulted:
    """The client or its API failed."""

    at: At
    text: str


@dataclass(frozen=True, slots=True)
class ContinuedIn:
    """The conversation continued in another native session."""

    at: At
    session: str


@dataclass(frozen=True, slots=True)
class Resumed:
    """`cru` resumed a session, so the prompt is not the user's.

    No dialect emits this: the importer converts a `Prompted` that begins with a mark issued by `cru`.  `session` is the
    id in the session's note, `after` the name of the phase that it continues ("" if unknown), `size` the prompt's size
    in bytes.
    """

    at: At
    session: str
    after: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A row, or part of one, could not be read."""

    at: At
    reason: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """A row has a type that this dialect does not support."""

    at: At
    type: str


Event: TypeAlias = (
    ContextSeen
    | Prompted
    | Replied
    | Reasoned
    | ToolUsed
    | ToolReturned
    | QuestionsAnswered
    | PlanSettled
    | SubagentStarted
    | SubagentReturned
    | TasksListed
    | TaskChanged
    | UsageCounted
    | Answered
    | Interrupted
    | Compacted
    | Rewound
    | Titled
    | Injected
    | Faulted
    | ContinuedIn
    | Resumed
    | Unreadable
    | Unknown
)
