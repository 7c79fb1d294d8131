"""Convert Gemini CLI's messages to events, one at a time, in the order of the conversation.

`conversation` lists the messages, `texts` classifies text with the user role, and `call_results` reads results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from crucible.clients.events import (
    Answered,
    At,
    CallEnd,
    Compacted,
    Event,
    Faulted,
    Injected,
    Interrupted,
    PlanSettled,
    Prompted,
    PromptKind,
    QuestionsAnswered,
    Reasoned,
    Replied,
    Rewound,
    SubagentReturned,
    SubagentStarted,
    TasksListed,
    ToolReturned,
    ToolUsed,
    Unknown,
    UsageCounted,
)
from crucible.clients.gemini.call_results import (
    AGENT_TOOLS,
    END_TOOL,
    PLAN_TOOL,
    QUESTION_TOOL,
    TASK_TOOL,
    Result,
    choices_of,
    peel_report,
    plan_settled,
    report_of,
    result_of,
    written_plan,
)
from crucible.clients.gemini.conversation import Slot, TakenBack, call_key
from crucible.clients.gemini.texts import (
    Speech,
    UserText,
    is_acknowledgement,
    is_cancellation,
    is_response,
    is_thought,
    parts_of,
    pictures,
    row_id,
    text_of,
    texts_of_user,
)
from crucible.clients.log_values import Row, arguments_of, as_dict, as_list, as_str, as_time, count, tasks_of

_HUMAN = {
    Speech.PROMPT: PromptKind.TYPED,
    Speech.COMMAND: PromptKind.COMMAND,
    Speech.SHELL: PromptKind.SHELL,
    Speech.STEERING: PromptKind.STEERING,
}
_TITLE = 80
"""Maximum length of a task's title in code points.  The title is the task's first line: the client logs none."""
_NO_FAULTS = ("Unknown command:",)
"""Errors that only reply to what the user typed."""


class _Message(NamedTuple):
    """A message and its slot; `at` returns the positions of its parts."""

    slot: Slot
    row: Row
    time: datetime | None
    agent: str

    def at(self, *part: object, time: object = None) -> At:
        return At(self.slot.line, row_id(self.slot.id, *part), as_time(time) or self.time, self.agent)


class MessageReader:
    """Converts messages one at a time.  `agent` is the subagent's id if the log is a subagent's.

    `by_agent` is True if an agent wrote the prompts.  Also true for a subagent's log read as a trunk because its
    parent's log is missing.
    """

    def __init__(self, agent: str = "", *, by_agent: bool = False) -> None:
        self.agent = agent
        self._by_agent = by_agent or bool(agent)
        self._told = False
        self._asked = False
        self._answered = False
        self._waiting: dict[str, str] = {}
        self._taken: list[UsageCounted] = []
        self._plans: dict[str, str] = {}

    def tell(self, slot: Slot, row: Row) -> Iterator[Event]:
        """Yield the events of one message."""
        message = _Message(slot, row, as_time(row.get("timestamp")), self.agent)
        if slot.is_back:
            return self._tell_taken(message)
        match row.get("type"):
            case "user":
                return self._user(message)
            case "gemini":
                return self._gemini(message)
            case "info" | "warning" | "error" as kind:
                return self._notice(message, kind)
            case other:
                return iter([Unknown(message.at("type"), as_str(other))])

    def take_back(self, step: TakenBack) -> Iterator[Event]:
        """Yield that messages were removed from the conversation, and the tokens used for them."""
        at = At(step.line, row_id(step.how, step.line), step.time, self.agent)
        if self._told:
            yield from self._spend(at)
        messages = "1 message" if step.count == 1 else f"{step.count} messages"
        yield Rewound(at, text=messages if step.how == "rewound" else f"{messages}, which others replaced")

    # --- user messages
    # --------------------------------------------------------------------------------------------------

    def _user(self, message: _Message) -> Iterator[Event]:
        images = pictures(message.row.get("content"))
        texts = texts_of_user(message.row)
        if images and not any(each.speech in _HUMAN for each in texts):
            texts = [UserText(Speech.PROMPT, ""), *texts]
        for number, each in enumerate(texts):
            at = message.at("words", number)
            if each.speech in _HUMAN:
                yield self._prompt(at, each, images)
            elif each.speech is Speech.SNAPSHOT:
                yield Compacted(at, summary=each.text)
            else:
                yield Injected(at, each.text, each.kind)
        yield from self._responses(message)

    def _prompt(self, at: At, text: UserText, images: int) -> Prompted:
        kind = PromptKind.TASK if self._by_agent else _HUMAN[text.speech]
        if kind in (PromptKind.TYPED, PromptKind.STEERING, PromptKind.TASK):
            self._told, self._answered = True, False
        return Prompted(at, text.text, kind, images)

    def _responses(self, message: _Message) -> Iterator[Event]:
        """Yield call results that were logged as parts of a user's message."""
        for part in filter(is_response, parts_of(message.row.get("content"))):
            response = as_dict(part["functionResponse"])
            call = as_str(response.get("id")) or as_str(response.get("name"))
            name = self._waiting.pop(call, None)
            result = result_of(name, {"id": call, "result": [part]}) if name is not None else None
            if result:
                yield ToolReturned(message.at("result", call), call, *result[:2], details=result.details)

    # --- the model ---------------------------------------------------------------------------------------------------

    def _gemini(self, message: _Message) -> Iterator[Event]:
        row = message.row
        if is_acknowledgement(text_of(row.get("content"))) and not row.get("model"):
            yield Injected(message.at("words"), text_of(row.get("content")), "context")
            return
        self._told = True
        yield from self._spend(message.at("taken"))
        calls = {call_key(as_dict(c), n): as_dict(c) for n, c in enumerate(as_list(row.get("toolCalls")))}
        at = message.at("words")
        for _, parts in groupby(message.slot.parts.items(), itemgetter(1)):
            for part, _ in parts:
                for event in self._part(message, part, calls):
                    at = event.at
                    yield event
            if self._answered:
                # An import at that time took this text as the answer, so it remains one; calls in a later record reopen
                # the turn.
                yield Answered(at)

    def _part(self, message: _Message, part: str, calls: Mapping[str, Row]) -> Iterator[Event]:
        match part:
            case "thoughts":
                return _thoughts(message)
            case "words":
                return self._words(message, calls)
            case "tokens":
                return _usage(message)
            case _ if part in calls:
                return self._call(message, part, calls[part])
            case _:
                return iter(())

    def _words(self, message: _Message, calls: Mapping[str, Row]) -> Iterator[Event]:
        row, parts = message.row, parts_of(message.row.get("content"))
        first = message.slot.parts
        has_calls = any(first[key] <= first["words"] for key in calls if key in first)
        at, model = message.at("words"), as_str(row.get("model"))
        if not row.get("thoughts"):
            for number, part in enumerate(parts):
                if is_thought(part) and as_str(part.get("text")).strip():
                    yield Reasoned(message.at("thought", number), part["text"], message.slot.id)
        uncounted = [] if calls else [as_dict(p.get("functionCall")) for p in parts if p.get("functionCall")]
        text = text_of(row.get("content"))
        self._answered = bool(text.strip()) and not has_calls and not uncounted
        if text.strip():
            yield Replied(at, text, message.slot.id, model, self._answered)
        for number, call in enumerate(uncounted):
            yield self._part_call(message, call, number, model)

    def _part_call(self, message: _Message, call: Row, number: int, model: str) -> Event:
        name = as_str(call.get("name"))
        ident = as_str(call.get("id")) or name
        self._waiting[ident] = name
        return ToolUsed(message.at("part", number), ident, name, as_dict(call.get("args")), message.slot.id, model)

    # --- calls -------------------------------------------------------------------------------------------------------

    def _call(self, message: _Message, key: str, call: Row) -> Iterator[Event]:
        name, arguments = as_str(call.get("name")), arguments_of(call.get("args"))
        ident = as_str(call.get("id")) or f"{message.slot.id} {key}"
        self._answered = False
        at = message.at(key)
        yield ToolUsed(at, ident, name, arguments, message.slot.id, as_str(message.row.get("model")))
        agent = as_str(call.get("agentId"))
        is_agent = bool(agent) or name in AGENT_TOOLS
        if is_agent:
            yield _started(at, ident, name, arguments, agent)
        result = result_of(name, call)
        if result is None:
            self._waiting[ident] = name
            return
        done = message.at(key, "result", time=call.get("timestamp"))
        if is_agent:
            report, reached = peel_report(result.text)
            end = result.end if reached or result.end is not CallEnd.OK else CallEnd.FAILED
            yield SubagentReturned(done, ident, agent, report, end)
        yield from self._settled(done, ident, name, arguments, result)
        if not is_agent or result.end is CallEnd.REJECTED:
            yield ToolReturned(done, ident, result.text, result.end, result.feedback, result.details)
        if result.end is CallEnd.OK:
            plan = written_plan(call)
            self._plans.update([plan] if plan else [])
            yield from self._consequences(done, name, arguments)

    def _settled(
        self, at: At, call: str, name: str, arguments: Mapping[str, object], result: Result
    ) -> Iterator[Event]:
        """Yield the user's decision: answers to questions, or a decision on a plan."""
        if name == QUESTION_TOOL and result.end is not CallEnd.FAILED:
            yield QuestionsAnswered(at, call, choices_of(arguments, result.text))
        approved = plan_settled(result) if name == PLAN_TOOL else None
        if approved is not None:
            file = as_str(arguments.get("plan_filename")).rpartition("/")[2]
            yield PlanSettled(at, call, self._plans.get(file, file), approved)

    def _consequences(self, at: At, name: str, arguments: Mapping[str, object]) -> Iterator[Event]:
        if name == TASK_TOOL:
            yield TasksListed(at, tasks_of(arguments.get("todos"), "description"))
        elif name == END_TOOL and self._by_agent:
            self._answered = True
            report = report_of(arguments)
            if report.strip():
                yield Replied(at, report, final=True)

    # --- the client --------------------------------------------------------------------------------------------------

    def _notice(self, message: _Message, kind: str) -> Iterator[Event]:
        text = text_of(message.row.get("displayContent")) or text_of(message.row.get("content"))
        if not text.strip():
            return
        at = message.at("words")
        if is_cancellation(text):
            yield Interrupted(at)
        elif kind == "error" and not text.startswith(_NO_FAULTS):
            self._told, self._answered = True, False
            yield Faulted(at, text)
        else:
            yield Injected(at, text, kind)

    # --- removed messages
    # ------------------------------------------------------------------------------------------------

    def _tell_taken(self, message: _Message) -> Iterator[Event]:
        """Yield a removed message's text for the event log, and keep its tokens for `_spend`."""
        kind = as_str(message.row.get("type")) or "message"
        calls = [as_str(as_dict(call).get("name")) for call in as_list(message.row.get("toolCalls"))]
        text = "\n".join(filter(None, [text_of(message.row.get("content")), *calls]))
        if text:
            yield Injected(message.at("taken"), f"{kind}: {text}", "rewound")
        self._taken += _usage(message)

    def _spend(self, at: At) -> Iterator[Event]:
        """Yield the tokens of removed messages when there is a phase to count them in."""
        for event in self._taken:
            yield UsageCounted(
                At(at.line, event.at.row, at.time, at.agent),
                event.message,
                event.model,
                event.fresh,
                event.cached,
                event.said,
            )
        self._taken.clear()


def _thoughts(message: _Message) -> Iterator[Event]:
    for number, raw in enumerate(as_list(message.row.get("thoughts"))):
        thought = as_dict(raw)
        text = "\n\n".join(filter(None, (as_str(thought.get(key)).strip() for key in ("subject", "description"))))
        if text:
            yield Reasoned(message.at("thought", number), text, message.slot.id)


def _usage(message: _Message) -> Iterator[UsageCounted]:
    """Yield a message's token counts.

    `input` includes `cached`.  The total shows whether it also includes the tokens of tools' prompts.
    """
    tokens = message.row.get("tokens")
    if not isinstance(tokens, dict):
        return
    sent, output, cached, thoughts, tool, total = (
        count(tokens.get(key)) for key in ("input", "output", "cached", "thoughts", "tool", "total")
    )
    extra = tool if total >= sent + output + thoughts + tool else 0
    fresh = max(0, sent - cached) + extra
    yield UsageCounted(
        message.at("tokens"),
        message.slot.id,
        as_str(message.row.get("model")),
        fresh,
        cached,
        output + thoughts,
    )


def _started(at: At, call: str, name: str, arguments: Mapping[str, object], agent: str) -> SubagentStarted:
    kind = (
        as_str(arguments.get("agent_name")) or as_str(arguments.get("agent")) or ("" if name in AGENT_TOOLS else name)
    )
    given = ("prompt", "objective", "query", "task", "request")
    task = next((as_str(arguments[key]) for key in given if as_str(arguments.get(key))), "")
    title = task.strip().partition("\n")[0][:_TITLE]
    return SubagentStarted(at, call, kind, task, title, agent)
