"""Turns as a conversation that chat templates take: who speaks when, calls with their answers, nothing that reads as a template's own mark.

Owns the order: an optional system message, then the user, then the assistant; no two messages of one role in a row; each call of an
assistant's answered right behind it, in order; the assistant ends.  What cannot be a real turn there (a harness's message amid the work, an
answer to no call) is quoted in the user's.  Which turns belong to a lesson is `lessons`'.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import orjson

from crucible.cases.model import Call, Role, Turn
from crucible.patterns import late_pattern

__all__ = [
    "Message",
    "Row",
    "chat_messages",
    "conversation",
    "function_name",
    "plain_messages",
    "quoted",
    "spoken",
    "without_marks",
]

Row: TypeAlias = "dict[str, object]"

_MARK = late_pattern(
    r"<(?=[|｜][^|｜<>\n]{1,60}[|｜]>)"
    r"|<(?=/?(?:s|bos|eos|pad|unk|tools?|tool_calls?|tool_responses?|start_of_turn|end_of_turn|start_of_image)>)"
    r"|<(?=</?SYS>>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|IMG)\])"
)
"""Where a mark begins by which a chat template parts its messages: ChatML's and Llama's `<|…|>`, DeepSeek's, Mistral's, Gemma's, Hermes'."""

_NO_NAME = late_pattern(r"[^A-Za-z0-9_-]")
_RUN = late_pattern(r"`{3,}")


@dataclass(slots=True)
class Message:
    """One message.

    `answers` are those of its calls, in their order, None where there is none; `taught` is what is to be learnt.
    """

    role: Role
    text: str
    taught: bool = False
    calls: list[Call] = field(default_factory=list)
    answers: list[str | None] = field(default_factory=list)

    @property
    def is_answered(self) -> bool:
        """Whether any of its calls was: what is said then is another message."""
        return any(answer is not None for answer in self.answers)


def without_marks(text: str) -> str:
    """A text in which nothing reads as a chat template's own mark: `< |im_start|>`, which a person reads as before."""
    return _MARK.sub(lambda found: found[0] + " ", text) if "<" in text or "[" in text else text


def quoted(label: str, text: str) -> str:
    """A text as data: under a label, in a fence that nothing in it ends."""
    fence = "`" * max(3, *(len(run) + 1 for run in _RUN.findall(text)), 3)
    return f"{label}:\n\n{fence}text\n{text}\n{fence}"


def function_name(name: str) -> str:
    """A tool's name as function calling takes it: letters, digits, `_` and `-`, 64 at most."""
    return _NO_NAME.sub("_", name)[:64] or "tool"


def conversation(before: Sequence[Turn], taught: Sequence[Turn] | None = None) -> list[Message]:
    """The messages, up to the last one that is taught (without `taught`: all); empty where the assistant is taught nothing."""
    made = _Making()
    for turn in before:
        made.add(turn, taught=False)
    for turn in taught or ():
        made.add(turn, taught=True)
    if taught is None:
        return made.messages
    last = max((at for at, one in enumerate(made.messages) if one.taught), default=-1)
    return made.messages[: last + 1]


class _Making:
    """Messages in the making, with the calls that wait for an answer by their id; an answer to none in particular is the first one's."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._waiting: dict[str, list[tuple[Message, int]]] = {}

    def add(self, turn: Turn, *, taught: bool) -> None:
        if turn.role is Role.ASSISTANT:
            self._assistant(turn, taught=taught)
        elif turn.role is Role.TOOL:
            self._tool(turn)
        elif turn.text.strip():
            if turn.role is Role.SYSTEM and not self.messages:
                self.messages.append(Message(Role.SYSTEM, turn.text))
            elif turn.role is Role.USER:
                self._user(turn.text)
            else:
                self._user(quoted("The system said", turn.text))

    def _assistant(self, turn: Turn, *, taught: bool) -> None:
        if not turn.text.strip() and not turn.calls:
            return
        last = self.messages[-1] if self.messages else None
        if last is None or last.role is not Role.ASSISTANT or last.is_answered or last.taught is not taught:
            last = Message(Role.ASSISTANT, "", taught)
            self.messages.append(last)
        last.text = _joined(last.text, turn.text)
        for call in turn.calls:
            self._waiting.setdefault(call.id, []).append((last, len(last.calls)))
            last.calls.append(call)
            last.answers.append(None)

    def _tool(self, turn: Turn) -> None:
        key = turn.answers or next(iter(self._waiting), "")
        waiting = self._waiting.get(key, [])
        if waiting:
            message, at = waiting.pop(0)
            message.answers[at] = turn.text
        elif turn.text.strip():
            self._user(quoted("A tool said", turn.text))
        if not waiting:
            self._waiting.pop(key, None)

    def _user(self, text: str) -> None:
        last = self.messages[-1] if self.messages else None
        if last is None or last.role is not Role.USER:
            last = Message(Role.USER, "")
            self.messages.append(last)
        last.text = _joined(last.text, text)


def _joined(one: str, other: str) -> str:
    return f"{one}\n\n{other}" if one.strip() and other.strip() else one if one.strip() else other


# --- as rows hold them -----------------------------------------------------------------------------------------------


def chat_messages(messages: Sequence[Message], no_answer: str) -> list[Row]:
    """With `tool_calls`, arguments as JSON, and tool messages; `no_answer` stands for an answer that is not known.

    An assistant's has `weight` 1 for what is taught and 0 for what is not.  Since a user's has none, the messages of each row differ in their keys,
    so that `datasets` reads all messages as JSON values and none as a struct that lacks what comes later.
    """
    rows: list[Row] = []
    number = 0
    for message in messages:
        row: Row = {"role": message.role.value, "content": without_marks(message.text)}
        rows.append(row)
        if message.role is not Role.ASSISTANT:
            continue
        ids = [f"call{number + at:05d}" for at in range(1, len(message.calls) + 1)]
        number += len(ids)
        if ids:
            row["tool_calls"] = [
                {"id": own, "type": "function", "function": _function(call)}
                for own, call in zip(ids, message.calls, strict=True)
            ]
        row["weight"] = int(message.taught)
        if message is not messages[-1]:
            rows += _answers(message, ids, no_answer)
    return rows


def _answers(message: Message, ids: Sequence[str], no_answer: str) -> Iterator[Row]:
    for own, answer in zip(ids, message.answers, strict=True):
        text = no_answer if answer is None else without_marks(answer)
        yield {"role": Role.TOOL.value, "content": text, "tool_call_id": own}


def _function(call: Call) -> Row:
    return {"name": function_name(call.name), "arguments": without_marks(_json(dict(call.arguments)))}


def _json(value: object) -> str:
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # a number beyond 64 bits, half a pair of a character
        return json.dumps(json.loads(json.dumps(value, default=str), parse_constant=lambda _: None))


def plain_messages(messages: Sequence[Message], no_answer: str, tool: Role) -> list[tuple[Role, str]]:
    """Role and text alone: calls as `<tool_call>` in the assistant's text, answers as `<tool_response>` of the role `tool`."""
    plain: list[tuple[Role, str]] = []
    for message in messages:
        pieces = [(message.role, spoken([message]))]
        if message is not messages[-1]:
            texts = (no_answer if one is None else without_marks(one) for one in message.answers)
            answers = "\n".join(f"<tool_response>\n{text}\n</tool_response>" for text in texts)
            pieces.append((tool, answers))
        for role, text in pieces:
            if plain and plain[-1][0] is role:
                plain[-1] = role, _joined(plain[-1][1], text)
            elif text.strip():
                plain.append((role, text))
    return plain


def spoken(messages: Iterable[Message]) -> str:
    """What messages say, with their calls as `<tool_call>`, without any answer."""
    pieces: list[str] = []
    for message in messages:
        pieces.append(without_marks(message.text))
        for call in message.calls:
            function = {"name": function_name(call.name), "arguments": dict(call.arguments)}
            pieces.append(f"<tool_call>\n{without_marks(_json(function))}\n</tool_call>")
    return "\n\n".join(piece for piece in pieces if piece.strip())
