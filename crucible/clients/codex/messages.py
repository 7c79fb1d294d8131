"""Read prompts, answers and reasoning in Codex's rollouts.

Each is logged by both the API and the interface; the first copy is emitted.  Newer rows classify text with the user
role (`content_item_kinds`); in older rows, the first words show whether the user typed it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from crucible.clients.codex.call_results import settle_plan
from crucible.clients.codex.files import dicts
from crucible.clients.codex.state import State
from crucible.clients.codex.subagents import read_notice
from crucible.clients.codex.tools import read_user_shell
from crucible.clients.events import At, Injected, Interrupted, Prompted, PromptKind, Reasoned, Replied
from crucible.clients.log_values import Row, as_dict, as_list, as_str, text_in_tag


class UserMessage(NamedTuple):
    """A message with the user role: the user's own text, the number of images, and text injected by the client."""

    text: str
    images: int
    injected: tuple[tuple[str, str], ...] = ()
    """The kind and text of each injected part."""


_INJECTED = {
    "agents.md": "instructions",
    "apps_instructions": "instructions",
    "collaboration_mode": "mode",
    "environment_context": "environment",
    "environments_instructions": "instructions",
    "goal_context": "goal",
    "hook_prompt": "hook",
    "instructions": "instructions",
    "model_switch": "model",
    "multi_agent_mode": "mode",
    "permissions": "permissions",
    "personality_spec": "instructions",
    "plugins_instructions": "instructions",
    "recommended_plugins": "instructions",
    "skill": "skill",
    "skills_instructions": "instructions",
    "subagent_notification": "subagent-notification",
    "turn_aborted": "turn-aborted",
    "user_action": "review",
    "user_instructions": "instructions",
    "user_shell_command": "user-shell",
}
"""Leading tags of text that the user did not type, and our name for each kind."""

_TAG = re.compile(r"\s*<([a-z][a-z0-9_.-]*)[\s>]", re.IGNORECASE)
_IMAGE_TAG = re.compile(r"\s*(?:<image(?: [^>]*)?>|</image>)\s*\Z")
_PLAN = re.compile(r"<proposed_plan>\s*(.*?)\s*</proposed_plan>", re.DOTALL)
_SENTENCES = (
    ("# AGENTS.md instructions for ", "instructions"),
    ("# Global instructions", "instructions"),
    ("Another language model started to solve this problem", "summary"),
)


def _kind(text: str, client_kind: str) -> str:
    """Return the kind of an injected text, "" for the user's own text.

    The client's kinds look like `user.text` and `environments.environment_context`.
    """
    if client_kind.startswith("user."):
        return ""
    found = _TAG.match(text)
    kind = _INJECTED.get(found[1].lower(), "") if found else ""
    kind = kind or next((kind for words, kind in _SENTENCES if text.startswith(words)), "")
    if kind or client_kind in ("", "unknown"):
        return kind
    return client_kind.rpartition(".")[2] or client_kind


def split_user_message(content: object, kinds: object = None) -> UserMessage:
    """Split the content of a message with the user role; `kinds` are the client's names for the kinds of its parts."""
    if isinstance(content, str):
        content = [{"type": "input_text", "text": content}]
    client_kinds = [as_str(kind) for kind in as_list(kinds)]
    texts: list[str] = []
    injected: list[tuple[str, str]] = []
    images = 0
    for place, part in enumerate(dicts(content)):
        text = as_str(part.get("text"))
        if as_str(part.get("type")) in ("input_image", "image", "local_image"):
            images += 1
        elif text and not _IMAGE_TAG.match(text):
            kind = _kind(text, client_kinds[place] if len(client_kinds) == len(as_list(content)) else "")
            if kind:
                injected.append((kind, text))
            else:
                texts.append(text)
    return UserMessage("\n".join(texts), images, tuple(injected))


def split_agent_message(content: object) -> list[str]:
    """Return the parts of an agent's message, with a proposed plan as a separate part."""
    if isinstance(content, str):
        return split_plan(content)
    parts: list[Row] = dicts(content)
    return [text for part in parts for text in split_plan(as_str(part.get("text")))]


def split_plan(text: str) -> list[str]:
    """Split text into plans and other text, as the client displays them."""
    if "<proposed_plan>" not in text:
        return [text] if text.strip() else []
    rest = _PLAN.sub("", text)
    return [part for part in (rest, *(found[1] for found in _PLAN.finditer(text))) if part.strip()]


def plan_in(text: str) -> str:
    """Return the last plan in a text, else ""."""
    plans = _PLAN.findall(text) if "<proposed_plan>" in text else []
    return plans[-1] if plans else ""


_PLAIN = frozenset({"", "plain"})


# --- prompts ---------------------------------------------------------------------------------------------------------


def read_message(state: State, item: Row, at: At) -> None:
    """Read an API message, with any role."""
    role, content = as_str(item.get("role")), item.get("content")
    if role == "assistant":
        parts = content if isinstance(content, str) else "".join(as_str(p.get("text")) for p in dicts(content))
        state.plan = plan_in(parts) or state.plan
        _reply(state, "api", split_agent_message(content), item, at)
        return
    metadata = as_dict(item.get("internal_chat_message_metadata_passthrough"))
    kinds = metadata.get("content_item_kinds")
    if role == "user":
        _prompt(state, "api", split_user_message(content, kinds), at)
        return
    texts = [content] if isinstance(content, str) else [as_str(part.get("text")) for part in dicts(content)]
    names = [as_str(kind) for kind in as_list(kinds)]
    for place, text in enumerate(texts):
        if text:
            kind = names[place] if len(names) == len(texts) else ""
            state.out.append(Injected(at, text, kind or role))


def read_ui_prompt(state: State, event: Row, at: At) -> None:
    """Read a prompt from an interface event."""
    text = as_str(event.get("message"))
    images = len(as_list(event.get("images"))) + len(as_list(event.get("local_images")))
    if as_str(event.get("kind")) not in _PLAIN:
        state.out.append(Injected(at, text, as_str(event.get("kind"))))
        return
    if text.lstrip().startswith(("<environment_context>", "<user_instructions>")):
        state.out.append(Injected(at, text, "environment"))
        return
    _prompt(state, "ui", UserMessage(text, images), at)


def read_item_prompt(state: State, item: Row, at: At) -> None:
    """Read a completed `UserMessage`."""
    parts = dicts(item.get("content"))
    text = "".join(as_str(part.get("text")) for part in parts)
    _prompt(state, "ui", UserMessage(text, sum("image" in as_str(part.get("type")) for part in parts)), at)


def _prompt(state: State, side: str, message: UserMessage, at: At) -> None:
    for kind, text in message.injected:
        _inject(state, side, kind, text, at)
    if not (message.text.strip() or message.images) or state.mirror.is_copy(side, "user", message.text):
        return
    if state.agent or state.by_agent:
        kind = PromptKind.TASK
    elif state.turn.known and state.turn.prompted:
        kind = PromptKind.STEERING
    else:
        kind = settle_plan(state, at, message.text)
    state.out.append(Prompted(at, message.text, kind, message.images))
    state.turn.prompted, state.turn.last_word = True, None
    state.compacted = state.aborted = state.at_rest = False
    if not state.has_turn_rows:
        state.mirror.forget("agent")


def _inject(state: State, side: str, kind: str, text: str, at: At) -> None:
    if kind == "turn-aborted":
        interrupt(state, at)
    elif kind == "user-shell":
        read_user_shell(state, at, side, text_in_tag(text, "command").strip())
    state.out.append(Injected(at, text, kind))
    if kind in ("subagent-notification", "subagent_notification"):
        read_notice(state, at, text)


def interrupt(state: State, at: At) -> None:
    """Emit that the user stopped the agent, once: the client logs it twice."""
    if not state.aborted:
        state.out.append(Interrupted(at, state.turn.cut))
        state.aborted = True


# --- answers and reasoning -------------------------------------------------------------------------------------------


def read_ui_message(state: State, event: Row, at: At) -> None:
    """Read an answer from an interface event."""
    state.plan = plan_in(as_str(event.get("message"))) or state.plan
    _reply(state, "ui", split_plan(as_str(event.get("message"))), event, at)


def read_item_message(state: State, item: Row, at: At) -> None:
    """Read a completed `AgentMessage` or `Plan`."""
    text = as_str(item.get("text"))
    if as_str(item.get("type")) == "Plan":
        state.plan = text
    _reply(state, "ui", split_plan(text) or split_agent_message(item.get("content")), item, at)


def _reply(state: State, side: str, texts: list[str], item: Row, at: At) -> None:
    fresh = [text for text in texts if not state.mirror.is_copy(side, "agent", text)]
    final = as_str(item.get("phase")) == "final_answer"
    for text in fresh:
        state.out.append(Replied(at, text, as_str(item.get("id")), state.model, final))
    if fresh:
        state.work()
        state.turn.spoke, state.turn.last_word = True, at
        if not state.has_turn_rows:
            state.mirror.forget("user")


def read_thought(state: State, item: Row, at: At) -> None:
    """Read reasoning from the API: its summaries, and the full text if it is not encrypted."""
    parts = [*dicts(item.get("summary")), *dicts(item.get("content"))]
    _think(state, "api", [as_str(part.get("text")) for part in parts], at)


def read_item_thought(state: State, item: Row, at: At) -> None:
    """Read a completed `Reasoning`."""
    _think(
        state,
        "ui",
        [*map(as_str, as_list(item.get("summary_text"))), *map(as_str, as_list(item.get("raw_content")))],
        at,
    )


def read_ui_thought(state: State, event: Row, at: At) -> None:
    """Read reasoning from an interface event."""
    _think(state, "ui", [as_str(event.get("text"))], at)


def _think(state: State, side: str, texts: list[str], at: At) -> None:
    for text in texts:
        if text.strip() and not state.mirror.is_copy(side, "thought", text):
            state.out.append(Reasoned(at, text))
            state.work()
