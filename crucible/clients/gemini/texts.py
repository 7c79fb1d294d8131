"""Who spoke: what a text in the user's name is in Gemini CLI's logs, and the shapes that text comes in.

Content is a string, a part, or a list of either (`PartListUnion`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import Enum, auto
from hashlib import blake2s
from typing import Any, NamedTuple

from crucible.clients.log_values import Row, as_dict, as_str


def parts_of(content: object) -> list[Row]:
    """The parts of a message's content or of a call's result, strings as text parts."""
    raw = content if isinstance(content, list) else [content]
    parts = ({"text": part} if isinstance(part, str) else part for part in raw)
    return [part for part in parts if isinstance(part, dict)]


def is_thought(part: Mapping[str, Any]) -> bool:
    """Whether a part is what the model thought, not what it said."""
    return bool(part.get("thought"))


def is_response(part: Mapping[str, Any]) -> bool:
    """Whether a part hands a call's result to the model."""
    return isinstance(part.get("functionResponse"), dict)


def text_of(content: object) -> str:
    """The words of a content, thoughts left out."""
    return "".join(as_str(part.get("text")) for part in parts_of(content) if not is_thought(part))


def pictures(content: object) -> int:
    """How many images stand beside the words."""
    data = (as_dict(part.get("inlineData") or part.get("fileData")) for part in parts_of(content))
    return sum(as_str(each.get("mimeType")).startswith("image/") for each in data)


def row_id(*names: object) -> str:
    """16 hex digits for a part of a message: the same in every copy of a log, however often it was written again.

    The client's own ids are of messages, and two parts of one must not look alike in their first 8 characters, by which
    a note says how far it goes.
    """
    told = json.dumps(names, default=str).encode("utf-8", "surrogatepass")
    return blake2s(told, digest_size=8).hexdigest()


_CONTEXT = ("<session_context>", "This is the Gemini CLI. We are setting up the context for our chat.")
_HOOK = "<hook_context>"
_FILES = "--- Content from referenced files ---"
_SNAPSHOT = ("<state_snapshot>", "</state_snapshot>")
_SHELL = re.compile(
    r"I ran the following shell command:\n```sh\n(?P<command>.*?)\n```\n\nThis produced the following result:\n",
    re.DOTALL,
)
_COMMAND = re.compile(r"/[a-z][\w:-]*(?:\s|\Z)")
_STEERING = re.compile(
    r"User (?:steering update|hints):\n<user_input>\n(?P<words>.*?)\n</user_input>\s*Internal instruction: ",
    re.DOTALL,
)
_BACKGROUND = ("Background execution update:\n<background_output>", "[Background command completed")
_NOTICES = (
    "You have stopped calling tools without finishing.",
    "You have exceeded the time limit.",
    "You have exceeded the maximum number of turns.",
    "System: Please continue.",
    "System: Potential loop detected. ",
    "Here is the user's editor context as a JSON object.",
    "Here is a summary of changes in the user's editor context",
    "Please continue.",
)
"""What the client tells a model, or a subagent that goes wrong, in the user's name."""
_ACKNOWLEDGEMENTS = ("Got it. Thanks for the context!", "Got it. Thanks for the additional context!")
"""What the client answers in the model's name when it gave it context."""
_CANCELLATIONS = ("Request cancelled.", "User cancelled the request.")


class Speech(Enum):
    """What a text is."""

    PROMPT = auto()
    COMMAND = auto()
    SHELL = auto()
    STEERING = auto()
    SNAPSHOT = auto()
    INJECTED = auto()


class Said(NamedTuple):
    """A text and what it is; `kind` of injected text."""

    speech: Speech
    text: str
    kind: str = ""


def said_by_user(message: Row) -> list[Said]:
    """The texts of a record of type `user`, in order; none when it only hands results to the model.

    `displayContent` is what the user typed where the client put more into what it sent.
    """
    shown = message.get("displayContent")
    sent = _texts(message.get("content"))
    if shown is not None:
        typed = "".join(_texts(shown))
        if typed.strip():
            whole = "".join(sent)
            return [_classify(typed), *([Said(Speech.INJECTED, whole, "sent")] if whole != typed else [])]
    return _without_files(sent)


def is_context(message: Row) -> bool:
    """True if a record begins with the context that the client sends to the model."""
    return message.get("type") == "user" and "".join(_texts(message.get("content"))).lstrip().startswith(_CONTEXT)


def is_acknowledgement(text: str) -> bool:
    """Whether the client spoke in the model's name."""
    return text.strip() in _ACKNOWLEDGEMENTS


def is_cancellation(text: str) -> bool:
    """Whether a notice says that the user stopped the agent."""
    return text.strip().startswith(_CANCELLATIONS)


def _texts(content: object) -> list[str]:
    return [as_str(part.get("text")) for part in parts_of(content) if part.get("text") and not is_thought(part)]


def _without_files(texts: list[str]) -> list[Said]:
    """A prompt, and apart from it what hooks and `@file` put behind it."""
    hooks = [text for text in texts if text.lstrip().startswith(_HOOK)]
    steering = [text for text in texts if _STEERING.match(text.lstrip())]
    own = [text for text in texts if text not in hooks and text not in steering]
    files = next((number for number, text in enumerate(own) if text.lstrip().startswith(_FILES)), len(own))
    prompt, attached = "".join(own[:files]), "".join(own[files:])
    said = [_classify(prompt)] if prompt.strip() else []
    said += [Said(Speech.INJECTED, attached, "files")] if attached else []
    said += [each for text in steering for each in _steered(text)]
    return said + [Said(Speech.INJECTED, text, "hook") for text in hooks]


def _steered(text: str) -> list[Said]:
    """What was typed while the agent worked, without the client's wrapping, which is also used for finished background tasks."""
    found = _STEERING.match(text.lstrip())
    words = found["words"] if found else ""
    typed = bool(words.strip()) and not words.startswith(_BACKGROUND)
    return [*([Said(Speech.STEERING, words)] if typed else []), Said(Speech.INJECTED, text, "steering")]


def _classify(text: str) -> Said:
    bare = text.strip()
    if bare.startswith(_CONTEXT):
        return Said(Speech.INJECTED, text, "context")
    if bare.startswith(_SNAPSHOT[0]) or (bare.endswith(_SNAPSHOT[1]) and _SNAPSHOT[0] in bare):
        return Said(Speech.SNAPSHOT, text)
    if bare.startswith(_BACKGROUND):
        return Said(Speech.INJECTED, text, "background")
    if bare.startswith(_NOTICES):
        return Said(Speech.INJECTED, text, "notice")
    shell = _SHELL.match(bare)
    if shell:
        return Said(Speech.SHELL, "!" + shell["command"])
    return Said(Speech.COMMAND if _COMMAND.match(bare) else Speech.PROMPT, text)
