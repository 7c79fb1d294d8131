"""Cases as rows of training data, in the shapes that trainers load.

shape              columns                          a row from                                                 for
messages           messages                         every lesson                                               TRL's SFT, OpenAI's chat files
tools              messages, tools                  every lesson that holds a call                             function calling, the same readers
prompt-completion  prompt, completion               every lesson but a workflow's                              TRL's SFT on the answer alone
preference         prompt, chosen, rejected         a correction; a puzzle whose resolution a check confirmed  TRL's DPO
sharegpt           conversations (`from`, `value`)  every lesson                                               Axolotl, LLaMA-Factory

What a lesson is, `lessons` says.  Beside these columns each row has one `metadata`, with the same keys of the same types in all rows: a reader takes the
types from what it sees first, so nothing is null, no text is a time (Arrow would read others as times too), no list may be empty (names of tools and tags are one text, parted by commas), and only `messages` and
`tools`, which `datasets` reads as JSON values, hold objects that differ.  All other shapes have texts alone: a call is `<tool_call>` with its JSON,
what it gave is `<tool_response>`, as Hermes and Qwen write them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from crucible.cases.chat import Message, Row, chat_messages, conversation, plain_messages, spoken
from crucible.cases.lessons import Lesson, lesson_of
from crucible.cases.model import Case, Puzzle, Role

__all__ = ["Provenance", "Shape", "metadata_of", "row_of"]


class Shape(StrEnum):
    """How a row is laid out."""

    MESSAGES = "messages"
    PREFERENCE = "preference"
    PROMPT_COMPLETION = "prompt-completion"
    TOOLS = "tools"
    SHAREGPT = "sharegpt"


@dataclass(frozen=True, slots=True)
class Provenance:
    """What every row says of where it comes from: the licence of the data, the vault's name, and its split ("" for none)."""

    licence: str = "unspecified"
    source: str = "crucible"
    split: str = ""


def row_of(case: Case, shape: Shape, provenance: Provenance = Provenance()) -> Row | None:
    """The row that a case gives in a shape, its `metadata` last; None where it gives none."""
    lesson = lesson_of(case)
    columns = _SHAPES[shape](lesson) if lesson else None
    return {**columns, "metadata": metadata_of(case, provenance)} if columns else None


def metadata_of(case: Case, provenance: Provenance) -> Row:
    """What to filter rows by: texts, numbers and booleans, none of them null."""
    why = case.body.attribution if isinstance(case.body, Puzzle) else None
    return {
        "id": case.id,
        "type": case.type.value,
        "session": case.place.session,
        "phase": case.place.phase,
        "phase_name": case.place.phase_name,
        "line": case.place.line,
        "agent": case.agent,
        "model": case.model,
        "channel": case.channel,
        "project": case.project,
        "tools": _list(case.tools),
        "tags": _list(case.tags),
        "difficulty": case.difficulty.value,
        "tokens": case.tokens,
        "verified": case.verification.verified,
        "fault": case.fault.value,
        "category": why.category.value if why else "",
        "review": case.review.value,
        "complete": case.complete,
        "problems": "; ".join(case.problems),
        "redactions": sum(case.redactions.values()),
        "digest": case.digest,
        "licence": provenance.licence,
        "source": provenance.source,
        "split": provenance.split,
    }


def _list(names: Sequence[str]) -> str:
    return ",".join(name.replace(",", " ") for name in names)


# --- the columns of each shape ---------------------------------------------------------------------------------------


def _messages(lesson: Lesson) -> Row | None:
    messages = conversation(lesson.before, lesson.right)
    return {"messages": chat_messages(messages, lesson.no_answer)} if messages else None


def _tools(lesson: Lesson) -> Row | None:
    """The schemas come later, when all calls are known: see `toolbox`."""
    messages = conversation(lesson.before, lesson.right)
    if not any(message.calls for message in messages):
        return None
    return {"messages": chat_messages(messages, lesson.no_answer)}


def _prompt_completion(lesson: Lesson) -> Row | None:
    messages = conversation(lesson.before, lesson.right)
    if not messages or not lesson.one_answer:
        return None
    return {"prompt": _prompt(messages, lesson), "completion": _answer(_taught(messages))}


def _preference(lesson: Lesson) -> Row | None:
    chosen, rejected = (
        spoken(_taught(conversation(lesson.asked, turns))) if turns else ""
        for turns in (lesson.right, lesson.wrong)
    )
    if not chosen or not rejected or chosen == rejected:
        return None
    prompt = _prompt(conversation(lesson.asked), lesson)
    return {
        "prompt": prompt,
        "chosen": [{"role": Role.ASSISTANT.value, "content": chosen}],
        "rejected": [{"role": Role.ASSISTANT.value, "content": rejected}],
    }


_SPEAKERS = {Role.SYSTEM: "system", Role.USER: "human", Role.ASSISTANT: "gpt", Role.TOOL: "tool"}


def _sharegpt(lesson: Lesson) -> Row | None:
    messages = conversation(lesson.before, lesson.right)
    told = plain_messages(messages, lesson.no_answer, Role.TOOL)
    turns = [{"from": _SPEAKERS[role], "value": text} for role, text in told]
    return {"conversations": turns} if turns else None


_SHAPES: dict[Shape, Callable[[Lesson], Row | None]] = {
    Shape.MESSAGES: _messages,
    Shape.PREFERENCE: _preference,
    Shape.PROMPT_COMPLETION: _prompt_completion,
    Shape.TOOLS: _tools,
    Shape.SHAREGPT: _sharegpt,
}


def _taught(messages: Sequence[Message]) -> list[Message]:
    return [message for message in messages if message.taught]


def _prompt(messages: Sequence[Message], lesson: Lesson) -> list[Row]:
    """All that is not taught: what stands before it, with the answers to its calls."""
    before = [message for message in messages if not message.taught and message.role is not Role.ASSISTANT]
    first = next((at for at, message in enumerate(messages) if message.taught), len(messages))
    # A message that nobody says stands for the answer: so the results of the last calls before it are told.
    end = [Message(Role.ASSISTANT, "")]
    told = plain_messages([*messages[:first], *end], lesson.no_answer, Role.USER) if before else []
    return [{"role": role.value, "content": text} for role, text in told]


def _answer(messages: Sequence[Message]) -> list[Row]:
    return [{"role": Role.ASSISTANT.value, "content": spoken(messages)}]
