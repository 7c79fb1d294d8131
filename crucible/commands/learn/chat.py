"""Turns as a conversation for chat templates: roles alternate, answers follow their calls, no text reads as a mark.

What cannot be a turn there, such as an answer to no call, is quoted in the user's message.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeAlias

import orjson

from crucible.commands.learn.case import CaseCall, CaseTurn, Role
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.quoting import fenced

Row: TypeAlias = dict[str, Any]

_MARK = late_pattern(
    r"<(?=[|｜][^|｜<>\n]{1,60}[|｜]>)"
    r"|<(?=/?(?:s|bos|eos|pad|unk|tools?|tool_calls?|tool_responses?|start_of_turn|end_of_turn|start_of_image)>)"
    r"|<(?=</?SYS>>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|IMG)\])"
)
"""Where a mark begins by which a chat template parts its messages: ChatML's and Llama's `<|…|>`, DeepSeek's, Mistral's, Gemma's, Hermes'."""

_NO_NAME = late_pattern(r"[^A-Za-z0-9_-]")


@dataclass(slots=True)
class ChatMessage:
    """One message.

    `answers` are those of its calls, in their order, None where there is none; `taught` is what is to be learnt.
    """

    role: Role
    text: str
    taught: bool = False
    calls: list[CaseCall] = field(default_factory=list)
    answers: list[str | None] = field(default_factory=list)


def without_marks(text: str) -> str:
    """A text in which nothing reads as a chat template's own mark: `< |im_start|>`, which a person reads as before."""
    return _MARK.sub(lambda found: found[0] + " ", text) if "<" in text or "[" in text else text


def quoted(label: str, text: str) -> str:
    """A text as data: under a label, in a fence that nothing in it ends."""
    return f"{label}:\n\n{fenced(text, 'text')}"


def conversation(before: Sequence[CaseTurn], taught: Sequence[CaseTurn] = ()) -> list[ChatMessage]:
    """The messages; an answer to no call in particular is the first one's that waits."""
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


# --- as rows hold them -----------------------------------------------------------------------------------------------


def chat_messages(messages: Sequence[ChatMessage], no_answer: str) -> list[Row]:
    """With `tool_calls`, arguments as JSON, and tool messages; `no_answer` stands for an answer that is not known.

    An assistant's has `weight` 1 for what is taught and 0 for what is not.  Since a user's has none, the messages of each row differ in their keys,
    so that `datasets` reads all messages as JSON values and none as a struct that lacks what comes later.
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
            told = zip(calls, _answers(message, no_answer), strict=True)
            rows += [{"role": Role.TOOL.value, "content": text, "tool_call_id": own} for (own, _), text in told]
    return rows


def plain_messages(messages: Sequence[ChatMessage], no_answer: str, tool: Role) -> list[tuple[Role, str]]:
    """Role and text alone: calls as `<tool_call>` in the assistant's text, answers as `<tool_response>` of the role `tool`."""
    plain: list[tuple[Role, str]] = []
    for message in messages:
        answers = _answers(message, no_answer) if message is not messages[-1] else []
        responses = "\n".join(f"<tool_response>\n{text}\n</tool_response>" for text in answers)
        for role, text in ((message.role, spoken([message])), (tool, responses)):
            if plain and plain[-1][0] is role:
                plain[-1] = role, _joined(plain[-1][1], text)
            elif text.strip():
                plain.append((role, text))
    return plain


def spoken(messages: Iterable[ChatMessage]) -> str:
    """What messages say, with their calls as `<tool_call>`, without any answer."""
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
    """A tool's name as function calling takes it: letters, digits, `_` and `-`, 64 at most."""
    return _NO_NAME.sub("_", call.name)[:64] or "tool"


def _json(value: object) -> str:
    try:
        told = orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # a number beyond 64 bits, half a pair of a character
        told = json.dumps(json.loads(json.dumps(value, default=str), parse_constant=lambda _: None))
    return without_marks(told)
