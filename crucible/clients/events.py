"""What happened in a session, whatever client logged it: a closed union of frozen values in the past tense.

A dialect (`claude_code`, `codex`, …) turns its client's rows into these and nothing else of that client passes
this line.  Texts are raw: nothing is cut, contained or redacted yet.
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

    `line` counts from 1 in the file; `row` is the client's id of the row ("" when it has none); `time` is aware, UTC;
    `agent` is the subagent's id when the row belongs to one, "" in the trunk.
    """

    line: int
    row: str = ""
    time: datetime | None = None
    agent: str = ""


class PromptKind(StrEnum):
    """How a human spoke."""

    TYPED = "typed"
    STEERING = "steering"
    """Typed while the agent was working (queued)."""
    COMMAND = "command"
    """A slash command, text `/name args`."""
    SHELL = "shell"
    """A shell command the user ran, text `!command`."""
    PLAN = "plan"
    """The user accepted a plan; the text holds it."""
    TASK = "task"
    """Nobody typed it: the task, or a further word, that another agent gave to a subagent (`at.agent` is set)."""


class CallEnd(StrEnum):
    """How a tool call ended."""

    OK = "ok"
    FAILED = "failed"
    REJECTED = "rejected"
    INTERRUPTED = "interrupted"
    """Interrupted by the user, or cancelled because a sibling failed."""


@dataclass(frozen=True, slots=True)
class ContextSeen:
    """Where and with what the session ran; sent first and again whenever one of them changes."""

    at: At
    session: str
    cwd: str = ""
    branch: str = ""
    version: str = ""
    entrypoint: str = ""


@dataclass(frozen=True, slots=True)
class Prompted:
    """A human said `text`; `images` counts pictures beside it."""

    at: At
    text: str
    kind: PromptKind = PromptKind.TYPED
    images: int = 0


@dataclass(frozen=True, slots=True)
class Replied:
    """The agent said `text`.  `final` when this ended its turn."""

    at: At
    text: str
    message: str = ""
    model: str = ""
    final: bool = False


@dataclass(frozen=True, slots=True)
class Reasoned:
    """The agent thought `text` aloud."""

    at: At
    text: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class ToolUsed:
    """The agent called a tool.  `arguments` is the JSON object it gave (or `{"input": …}` for other JSON)."""

    at: At
    call: str
    name: str
    arguments: Mapping[str, object]
    message: str = ""
    model: str = ""


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """A call's result.  `feedback` is what the user said when rejecting it; an orphan names a call never seen."""

    at: At
    call: str
    text: str
    end: CallEnd = CallEnd.OK
    feedback: str = ""
    details: Mapping[str, object] | None = None
    """Facts the client adds for a summary: `lines`, `files`, `exit_code`, `bytes` … flat, small, already ours."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A question that the agent asked the user, and the exact answer ("" for none).

    `options` are the labels that were offered with what was said of each ("" nothing); `picked` the labels among them that the
    answer names, none where the user answered in words of their own.
    """

    question: str
    answer: str = ""
    options: tuple[tuple[str, str], ...] = ()
    picked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionsAnswered:
    """The result of a call that asked the user; sent before its `ToolReturned`.  Unanswered questions have no answer."""

    at: At
    call: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class PlanSettled:
    """The user's decision on a plan; sent before the call's `ToolReturned`.

    `approved` is None when the user left it without a word: mostly an approval that goes on with a fresh context.  What
    they said when they refused is the `feedback` of `ToolReturned`.
    """

    at: At
    call: str
    text: str
    approved: bool | None


@dataclass(frozen=True, slots=True)
class SubagentStarted:
    """A call handed work to a subagent.  `agent` is its id, "" while unknown; sent again when the id becomes known."""

    at: At
    call: str
    kind: str
    task: str
    title: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class SubagentReturned:
    """A subagent's work came back, at once or later; its call's result is folded into this.

    A subagent that goes on in the background comes back by a later event, and may come back again when it was given
    more to do.  `text` is its report without the client's tail.  A call that the user rejected has a `ToolReturned`
    too, with what the user said.
    """

    at: At
    call: str
    agent: str
    text: str
    end: CallEnd = CallEnd.OK
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TaskState:
    """One task as the client has it; `priority` is "" when the client has none."""

    id: str
    content: str
    status: str = "pending"
    priority: str = ""
    depends_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TasksListed:
    """The whole task list was written anew (TodoWrite)."""

    at: At
    tasks: tuple[TaskState, ...]


@dataclass(frozen=True, slots=True)
class TaskChanged:
    """One task was created or changed; None means that this part stayed as it was.  `status` may be `deleted` or `cancelled`."""

    at: At
    id: str
    content: str | None = None
    status: str | None = None
    adds_dependencies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UsageCounted:
    """Tokens of one message of the model; a later event of the same `message` replaces an earlier one.

    `fresh` = input + cache writes, `cached` = cache reads, `said` = output.  `written` is what of `fresh` was written to
    the cache, `written_1h` what of that is kept for an hour rather than five minutes.
    """

    at: At
    message: str
    model: str
    fresh: int
    cached: int
    said: int
    written: int = 0
    written_1h: int = 0


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
    """The user took words back, and what was done after them: nothing asked is waiting for an answer now.

    `turns` is how many prompts with their answers, None when the client does not say; `text` then says what it was in a
    few words (`2 messages`).  The words themselves stay among the whole events.
    """

    at: At
    turns: int | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Titled:
    """The client named the session; `by_user` when a human did."""

    at: At
    title: str
    by_user: bool = False


@dataclass(frozen=True, slots=True)
class Injected:
    """Text that the client or a hook put into the conversation, nobody's words; kept whole, not in the note."""

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
    """The client went on in another native session."""

    at: At
    session: str


@dataclass(frozen=True, slots=True)
class Resumed:
    """`cru` had the client go on with a session: what it gave as a prompt is nobody's words.

    No dialect tells this; it is a `Prompted` that begins with a mark which `cru` issued.  `session` is the id of the
    session's note then, `after` the name of the phase that it goes on from ("" unknown), `size` the prompt in bytes.
    """

    at: At
    session: str
    after: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A row, or a part of one, that could not be read."""

    at: At
    reason: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """A row of a type this dialect does not know."""

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
