"""Who really spoke: what a text in the user's name is, in Codex's rollouts.

Owns the tags and sentences that the client wraps its own words in.  Today's rows say of each text what kind it is
(`content_item_kinds`); older ones leave it to their first words.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from crucible.clients.codex.files import dicts
from crucible.clients.log_values import Row, as_list, as_str


class Said(NamedTuple):
    """Texts in the user's name: what a human said, how many pictures came with it, and what the client put in."""

    text: str
    images: int
    injected: tuple[tuple[str, str], ...] = ()
    """Kind and text of each."""


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
"""Leading tags of text that nobody typed, and the kind we give it."""

_TAG = re.compile(r"\s*<([a-z][a-z0-9_.-]*)[\s>]", re.IGNORECASE)
_IMAGE_TAG = re.compile(r"\s*(?:<image(?: [^>]*)?>|</image>)\s*\Z")
_PLAN = re.compile(r"<proposed_plan>\s*(.*?)\s*</proposed_plan>", re.DOTALL)
_SENTENCES = (
    ("# AGENTS.md instructions for ", "instructions"),
    ("# Global instructions", "instructions"),
    ("Another language model started to solve this problem", "summary"),
)


def _kind(text: str, told: str) -> str:
    """The kind of a text that nobody typed, "" for a human's.

    Kinds that the client tells are `user.text`, `environments.environment_context` and the like.
    """
    if told.startswith("user."):
        return ""
    found = _TAG.match(text)
    kind = _INJECTED.get(found[1].lower(), "") if found else ""
    kind = kind or next((kind for words, kind in _SENTENCES if text.startswith(words)), "")
    if kind or told in ("", "unknown"):
        return kind
    return told.rpartition(".")[2] or told


def said_by_user(content: object, kinds: object = None) -> Said:
    """The content of a message in the user's name; `kinds` has the client's word for each part."""
    if isinstance(content, str):
        content = [{"type": "input_text", "text": content}]
    told = [as_str(kind) for kind in as_list(kinds)]
    texts: list[str] = []
    injected: list[tuple[str, str]] = []
    images = 0
    for place, part in enumerate(dicts(content)):
        text = as_str(part.get("text"))
        if as_str(part.get("type")) in ("input_image", "image", "local_image"):
            images += 1
        elif text and not _IMAGE_TAG.match(text):
            kind = _kind(text, told[place] if len(told) == len(as_list(content)) else "")
            if kind:
                injected.append((kind, text))
            else:
                texts.append(text)
    return Said("\n".join(texts), images, tuple(injected))


def said_by_agent(content: object) -> list[str]:
    """The texts of a message of the agent's, a plan that it proposes apart from the rest."""
    if isinstance(content, str):
        return split_plan(content)
    parts: list[Row] = dicts(content)
    return [text for part in parts for text in split_plan(as_str(part.get("text")))]


def split_plan(text: str) -> list[str]:
    """A text, and the plans in it: the client shows them apart."""
    if "<proposed_plan>" not in text:
        return [text] if text.strip() else []
    rest = _PLAN.sub("", text)
    return [part for part in (rest, *(found[1] for found in _PLAN.finditer(text))) if part.strip()]


def plan_in(text: str) -> str:
    """The last plan in a text, "" for none."""
    plans = _PLAN.findall(text) if "<proposed_plan>" in text else []
    return plans[-1] if plans else ""


def inside(text: str, tag: str) -> str:
    """What stands between a tag's first opening and its last closing, "" when there is no such pair."""
    _, opened, rest = text.partition(f"<{tag}>")
    body, closed, _ = rest.rpartition(f"</{tag}>")
    return body.strip("\n") if opened and closed else ""
