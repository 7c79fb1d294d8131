"""Who really spoke: what a text in the user's name is, in Gemini CLI's logs.

Owns the tags and sentences that the client wraps its own words in.  Which record a text stood in is `messages`'.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import NamedTuple

from crucible.clients.gemini.values import is_thought, parts_of
from crucible.clients.log_values import Row, as_str

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
