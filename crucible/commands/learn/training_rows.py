"""Cases as rows of training data, in the shapes that trainers load.

A case becomes a `Lesson`, and a lesson becomes the columns of a `Shape`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from typing import Any, TypeAlias

import orjson

from crucible.commands.learn.case import (
    CUT,
    CaseCall,
    CaseTurn,
    Role,
)
from crucible.commands.learn.lessons import REFUSED, Lesson, quoted
from crucible.core.patterns import late_pattern

Row: TypeAlias = dict[str, Any]

_MARK = late_pattern(
    r"<(?=[|｜][^|｜<>\n]{1,60}[|｜]>)"
    r"|<(?=/?(?:s|bos|eos|pad|unk|tools?|tool_calls?|tool_responses?|start_of_turn|end_of_turn|start_of_image)>)"
    r"|<(?=</?SYS>>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|IMG)\])"
)
"""Matches the start of a control token: `<|…|>` (ChatML, Llama), or those of DeepSeek, Mistral, Gemma and Hermes."""

_NO_NAME = late_pattern(r"[^A-Za-z0-9_-]")


@dataclass(slots=True)
class ChatMessage:
    """One message. `taught` is True if a model should learn it.

    `answers` has the results of its calls in order, None for an unknown result.
    """

    role: Role
    text: str
    taught: bool = False
    calls: list[CaseCall] = field(default_factory=list)
    answers: list[str | None] = field(default_factory=list)


def without_marks(text: str) -> str:
    """Break up control tokens of chat templates in text, such as `< |im_start|>`."""
    return _MARK.sub(lambda found: found[0] + " ", text) if "<" in text or "[" in text else text


def conversation(before: Sequence[CaseTurn], taught: Sequence[CaseTurn] = ()) -> list[ChatMessage]:
    """Join turns into messages with alternating roles, and attach results to their calls.

    A result without an id goes to the first open call. If no call is open, the result is quoted in the user message.
    """
    messages: list[ChatMessage] = []
    waiting: list[tuple[str, ChatMessage, int]] = []
    for turn, is_right in [*((turn, False) for turn in before), *((turn, True) for turn in taught)]:
        role, text = turn.role, turn.text
        if role is Role.TOOL:
            at = next((at for at, one in enumerate(waiting) if turn.answers in ("", one[0])), None)
            if at is not None:
                _, asked, place = waiting.pop(at)
                asked.answers[place] = text
                continue
        if not text.strip() and not turn.calls:
            continue
        if role is Role.TOOL:
            text, role = quoted("A tool said", text), Role.USER
        is_taught = is_right and role is Role.ASSISTANT
        last = messages[-1] if messages else None
        is_over = last and any(answer is not None for answer in last.answers)
        if last is None or last.role is not role or is_over or last.taught is not is_taught:
            last = ChatMessage(role, "", is_taught)
            messages.append(last)
        last.text = _joined(last.text, text)
        for call in turn.calls:
            waiting.append((call.id, last, len(last.calls)))
            last.calls.append(call)
            last.answers.append(None)
    return messages


def _joined(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text.strip())


# --- messages in rows ------------------------------------------------------------------------------------------------


def chat_messages(messages: Sequence[ChatMessage], no_answer: str) -> list[Row]:
    """Return messages with `tool_calls`, and tool messages; `no_answer` replaces unknown results.

    An assistant message has the `weight` 1 if taught, else 0. User messages have none, so that the keys differ within
    every row and `datasets` reads the messages as JSON values, not as structs that drop later keys.
    """
    rows: list[Row] = []
    numbers = count(1)
    for message in messages:
        row: Row = {"role": message.role.value, "content": without_marks(message.text)}
        rows.append(row)
        calls = [(f"call{next(numbers):05d}", call) for call in message.calls]
        if calls:
            row["tool_calls"] = [
                {
                    "id": own,
                    "type": "function",
                    "function": {"name": _name(call), "arguments": _json(dict(call.arguments))},
                }
                for own, call in calls
            ]
        if message.role is Role.ASSISTANT:
            row["weight"] = int(message.taught)
        if message is not messages[-1]:
            results = zip(calls, _answers(message, no_answer), strict=True)
            rows += [{"role": Role.TOOL.value, "content": text, "tool_call_id": own} for (own, _), text in results]
    return rows


def plain_messages(messages: Sequence[ChatMessage], no_answer: str, tool: Role) -> list[tuple[Role, str]]:
    """Return messages as role and text: calls as `<tool_call>`, results as `<tool_response>` with the role `tool`."""
    plain: list[tuple[Role, str]] = []
    for message in messages:
        answers = _answers(message, no_answer) if message is not messages[-1] else []
        responses = "\n".join(f"<tool_response>\n{text}\n</tool_response>" for text in answers)
        for role, text in ((message.role, assistant_text([message])), (tool, responses)):
            if plain and plain[-1][0] is role:
                plain[-1] = role, _joined(plain[-1][1], text)
            elif text.strip():
                plain.append((role, text))
    return plain


def assistant_text(messages: Iterable[ChatMessage]) -> str:
    """Return the text of messages, with calls as `<tool_call>` and without results."""
    pieces: list[str] = []
    for message in messages:
        pieces.append(without_marks(message.text))
        for call in message.calls:
            function = {"name": _name(call), "arguments": dict(call.arguments)}
            pieces.append(f"<tool_call>\n{_json(function)}\n</tool_call>")
    return _joined(*pieces)


def _answers(message: ChatMessage, no_answer: str) -> list[str]:
    return [no_answer if answer is None else without_marks(answer) for answer in message.answers]


def _name(call: CaseCall) -> str:
    """Return a tool's name as allowed in function calling: at most 64 letters, digits, `_` and `-`."""
    return _NO_NAME.sub("_", call.name)[:64] or "tool"


def _json(value: object) -> str:
    try:
        text = orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # a number beyond 64 bits, or a lone surrogate
        text = json.dumps(json.loads(json.dumps(value, default=str), parse_constant=lambda _: None))
    return without_marks(text)


class Shape(StrEnum):
    """The layout of rows.

    shape              columns                          a row for                          made for
    messages           messages                         every lesson                       TRL's SFT, OpenAI's chat files
    tools              messages, tools                  complete lessons with a call       function calling
    prompt-completion  prompt, completion               every lesson except workflows      TRL's SFT on the answer only
    preference         prompt, chosen, rejected         corrections, verified puzzles      TRL's DPO
    sharegpt           conversations (`from`, `value`)  every lesson                       Axolotl, LLaMA-Factory

    Readers infer column types from the first rows, so only `messages` and `tools`, which `datasets` reads as JSON
    values, hold objects with varying keys. The other shapes hold only text: a call is `<tool_call>` with JSON and a
    result is `<tool_response>`, the format of Hermes and Qwen.
    """

    MESSAGES = "messages"
    PREFERENCE = "preference"
    PROMPT_COMPLETION = "prompt-completion"
    TOOLS = "tools"
    SHAREGPT = "sharegpt"


# --- the columns of each shape ---------------------------------------------------------------------------------------


def _messages(lesson: Lesson) -> Row | None:
    messages = _taught_conversation(lesson)
    return {"messages": chat_messages(messages, lesson.no_answer)} if messages else None


def _tools(lesson: Lesson) -> Row | None:
    """Return the messages of a lesson with calls; `export` adds the tool schemas after reading all calls."""
    return _messages(lesson) if any(message.calls for message in _taught_conversation(lesson)) else None


def _taught_conversation(lesson: Lesson) -> list[ChatMessage]:
    """Return the conversation up to the last taught message; messages with failed or cut calls are not taught."""
    messages = conversation(lesson.before, lesson.right)
    failed = {turn.answers for turn in lesson.right if turn.failed}
    for message in messages:
        if not _is_whole(message) or any(call.id in failed for call in message.calls):
            message.taught = False
    return _up_to_taught(messages)


def _is_whole(message: ChatMessage) -> bool:
    """True if no text or call of the message was cut."""
    return CUT not in message.text and not any(CUT in repr(call.arguments) for call in message.calls)


def _prompt_completion(lesson: Lesson) -> Row | None:
    prompt, answer = _asked(lesson)
    return {"prompt": prompt, "completion": [_says(answer)]} if prompt and lesson.one_answer else None


def _preference(lesson: Lesson) -> Row | None:
    prompt, chosen = _asked(lesson)
    rejected = assistant_text(_last_step(conversation(lesson.wrong), refused=lesson.no_answer == REFUSED))
    if not prompt or not rejected or chosen == rejected:
        return None
    return {"prompt": prompt, "chosen": [_says(chosen)], "rejected": [_says(rejected)]}


_SPEAKERS = {Role.USER: "human", Role.ASSISTANT: "gpt", Role.TOOL: "tool"}


def _sharegpt(lesson: Lesson) -> Row | None:
    messages = _up_to_taught(conversation(lesson.before, lesson.right))
    if any(message.taught and not _is_whole(message) for message in messages):
        return None  # this shape has no weights, so all assistant messages are taught
    plain = plain_messages(messages, lesson.no_answer, Role.TOOL)
    turns = [{"from": _SPEAKERS[role], "value": text} for role, text in plain]
    return {"conversations": turns} if turns else None


ROW_OF_SHAPE: dict[Shape, Callable[[Lesson], Row | None]] = {
    Shape.MESSAGES: _messages,
    Shape.PREFERENCE: _preference,
    Shape.PROMPT_COMPLETION: _prompt_completion,
    Shape.TOOLS: _tools,
    Shape.SHAREGPT: _sharegpt,
}


def _up_to_taught(messages: list[ChatMessage]) -> list[ChatMessage]:
    return messages[: max((at for at, one in enumerate(messages, 1) if one.taught), default=0)]


def _asked(lesson: Lesson) -> tuple[list[Row], str]:
    """Return the prompt, with the results of its calls, and the answer up to its first calls.

    Text after those calls depends on their results, and a model would learn to invent it. Both parts are empty if the
    prompt does not end with a user message, or if the answer was cut.
    """
    messages = conversation(lesson.before, lesson.right)
    taught = [message for message in messages if message.taught]
    before = messages[: messages.index(taught[0])] if taught else messages
    # The empty message is a placeholder for the answer, so that the results of the calls before it are included.
    prompt = plain_messages([*before, ChatMessage(Role.ASSISTANT, "")], lesson.no_answer, Role.USER)
    first = next((at for at, one in enumerate(taught, 1) if one.calls), len(taught))
    answer = assistant_text(taught[:first])
    if not answer or not prompt or prompt[-1][0] is not Role.USER or CUT in answer:
        return [], ""
    return [{"role": role.value, "content": text} for role, text in prompt], answer


def _last_step(messages: Sequence[ChatMessage], *, refused: bool) -> Sequence[ChatMessage]:
    """Return the last message that changed a file, else the last one with a call, else the last one.

    Calls after the change, such as tests, did not cause the problem. If the user rejected a call, it was the last one.
    """
    spoken = [message for message in messages if message.role is Role.ASSISTANT]
    calling = [message for message in spoken if message.calls]
    changing = [message for message in calling if any(_CHANGES.search(call.name) for call in message.calls)]
    return (() if refused else changing[-1:]) or calling[-1:] or spoken[-1:]


_CHANGES = late_pattern(r"^(?!.*(?:todo|plan|memory)).*(?:write|edit|replace|patch|create_file)", re.IGNORECASE)
"""Matches names of tools that change files, in any client."""


def _says(text: str) -> Row:
    return {"role": Role.ASSISTANT.value, "content": text}
