"""Read text in Gemini CLI's logs, and classify text with the user role.

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
    """Return the parts of message content or of a call's result; strings become text parts."""
    raw = content if isinstance(content, list) else [content]
    parts = ({"text": part} if isinstance(part, str) else part for part in raw)
    return [part for part in parts if isinstance(part, dict)]


def is_thought(part: Mapping[str, Any]) -> bool:
    """Return whether a part is the model's reasoning."""
    return bool(part.get("thought"))


def is_response(part: Mapping[str, Any]) -> bool:
    """Return whether a part returns a call's result to the model."""
    return isinstance(part.get("functionResponse"), dict)


def text_of(content: object) -> str:
    """Return the text of content, without reasoning."""
    return "".join(as_str(part.get("text")) for part in parts_of(content) if not is_thought(part))


def pictures(content: object) -> int:
    """Return the number of images in content."""
    data = (as_dict(part.get("inlineData") or part.get("fileData")) for part in parts_of(content))
    return sum(as_str(each.get("mimeType")).startswith("image/") for each in data)


def row_id(*names: object) -> str:
    """Return 16 hex digits for a part of a message: the same in every copy of a log and after every rewrite.

    The client has ids for messages only.  A note records its position with the first 8 characters, so the ids of a
    message's parts must differ in these.
    """
    key = json.dumps(names, default=str).encode("utf-8", "surrogatepass")
    return blake2s(key, digest_size=8).hexdigest()


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
"""Text that the client sends to the model with the user role, such as when a subagent fails."""
_ACKNOWLEDGEMENTS = ("Got it. Thanks for the context!", "Got it. Thanks for the additional context!")
"""Text that the client logs as the model's reply to the context it sends."""
_CANCELLATIONS = ("Request cancelled.", "User cancelled the request.")


class Speech(Enum):
    """The kind of text with the user role."""

    PROMPT = auto()
    COMMAND = auto()
    SHELL = auto()
    STEERING = auto()
    SNAPSHOT = auto()
    INJECTED = auto()


class UserText(NamedTuple):
    """Text with its classification; `kind` is the kind of injected text."""

    speech: Speech
    text: str
    kind: str = ""


def texts_of_user(message: Row) -> list[UserText]:
    """Return the classified text of a `user` record, in order; empty if it only returns results to the model.

    `displayContent` is what the user typed, if the client sent additional text.
    """
    shown = message.get("displayContent")
    sent = _texts(message.get("content"))
    if shown is not None:
        typed = "".join(_texts(shown))
        if typed.strip():
            whole = "".join(sent)
            return [_classify(typed), *([UserText(Speech.INJECTED, whole, "sent")] if whole != typed else [])]
    return _without_files(sent)


def is_context(message: Row) -> bool:
    """Return whether a record begins with the context that the client sends to the model."""
    return message.get("type") == "user" and "".join(_texts(message.get("content"))).lstrip().startswith(_CONTEXT)


def is_acknowledgement(text: str) -> bool:
    """Return whether the client, not the model, wrote this model message."""
    return text.strip() in _ACKNOWLEDGEMENTS


def is_cancellation(text: str) -> bool:
    """Return whether a notice says that the user stopped the agent."""
    return text.strip().startswith(_CANCELLATIONS)


def _texts(content: object) -> list[str]:
    return [as_str(part.get("text")) for part in parts_of(content) if part.get("text") and not is_thought(part)]


def _without_files(texts: list[str]) -> list[UserText]:
    """Separate a prompt from text that hooks and `@file` appended to it."""
    hooks = [text for text in texts if text.lstrip().startswith(_HOOK)]
    steering = [text for text in texts if _STEERING.match(text.lstrip())]
    own = [text for text in texts if text not in hooks and text not in steering]
    files = next((number for number, text in enumerate(own) if text.lstrip().startswith(_FILES)), len(own))
    prompt, attached = "".join(own[:files]), "".join(own[files:])
    found = [_classify(prompt)] if prompt.strip() else []
    found += [UserText(Speech.INJECTED, attached, "files")] if attached else []
    found += [each for text in steering for each in _steered(text)]
    return found + [UserText(Speech.INJECTED, text, "hook") for text in hooks]


def _steered(text: str) -> list[UserText]:
    """Return what the user typed while the agent was working; finished background tasks have the same wrapper."""
    found = _STEERING.match(text.lstrip())
    words = found["words"] if found else ""
    typed = bool(words.strip()) and not words.startswith(_BACKGROUND)
    return [*([UserText(Speech.STEERING, words)] if typed else []), UserText(Speech.INJECTED, text, "steering")]


def _classify(text: str) -> UserText:
    bare = text.strip()
    if bare.startswith(_CONTEXT):
        return UserText(Speech.INJECTED, text, "context")
    if bare.startswith(_SNAPSHOT[0]) or (bare.endswith(_SNAPSHOT[1]) and _SNAPSHOT[0] in bare):
        return UserText(Speech.SNAPSHOT, text)
    if bare.startswith(_BACKGROUND):
        return UserText(Speech.INJECTED, text, "background")
    if bare.startswith(_NOTICES):
        return UserText(Speech.INJECTED, text, "notice")
    shell = _SHELL.match(bare)
    if shell:
        return UserText(Speech.SHELL, "!" + shell["command"])
    return UserText(Speech.COMMAND if _COMMAND.match(bare) else Speech.PROMPT, text)
