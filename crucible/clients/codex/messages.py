"""What was said, in Codex's rollouts: prompts, answers, thoughts, whichever side told them first."""

from __future__ import annotations

from crucible.clients.codex.call_results import settle_plan
from crucible.clients.codex.files import dicts
from crucible.clients.codex.state import State
from crucible.clients.codex.subagents import read_notice
from crucible.clients.codex.texts import (
    Said,
    inside,
    plan_in,
    said_by_agent,
    said_by_user,
    split_plan,
)
from crucible.clients.codex.tools import read_user_shell
from crucible.clients.events import At, Injected, Interrupted, Prompted, PromptKind, Reasoned, Replied
from crucible.clients.log_values import Row, as_dict, as_list, as_str

_PLAIN = frozenset({"", "plain"})


# --- prompts ---------------------------------------------------------------------------------------------------------


def read_message(state: State, item: Row, at: At) -> None:
    """A message of the API, in anybody's name."""
    role, content = as_str(item.get("role")), item.get("content")
    if role == "assistant":
        parts = content if isinstance(content, str) else "".join(as_str(p.get("text")) for p in dicts(content))
        state.plan = plan_in(parts) or state.plan
        _reply(state, "api", said_by_agent(content), item, at)
        return
    told = as_dict(item.get("internal_chat_message_metadata_passthrough"))
    kinds = told.get("content_item_kinds")
    if role == "user":
        _speak(state, "api", said_by_user(content, kinds), at)
        return
    texts = [content] if isinstance(content, str) else [as_str(part.get("text")) for part in dicts(content)]
    names = [as_str(kind) for kind in as_list(kinds)]
    for place, text in enumerate(texts):
        if text:
            kind = names[place] if len(names) == len(texts) else ""
            state.out.append(Injected(at, text, kind or role))


def read_ui_prompt(state: State, event: Row, at: At) -> None:
    """The event of a prompt."""
    text = as_str(event.get("message"))
    images = len(as_list(event.get("images"))) + len(as_list(event.get("local_images")))
    if as_str(event.get("kind")) not in _PLAIN:
        state.out.append(Injected(at, text, as_str(event.get("kind"))))
        return
    if text.lstrip().startswith(("<environment_context>", "<user_instructions>")):
        state.out.append(Injected(at, text, "environment"))
        return
    _speak(state, "ui", Said(text, images), at)


def read_item_prompt(state: State, item: Row, at: At) -> None:
    """A completed `UserMessage`."""
    parts = dicts(item.get("content"))
    text = "".join(as_str(part.get("text")) for part in parts)
    _speak(state, "ui", Said(text, sum("image" in as_str(part.get("type")) for part in parts)), at)


def _speak(state: State, side: str, said: Said, at: At) -> None:
    for kind, text in said.injected:
        _inject(state, side, kind, text, at)
    if not (said.text.strip() or said.images) or state.mirror.is_copy(side, "user", said.text):
        return
    if state.agent or state.by_agent:
        kind = PromptKind.TASK
    elif state.turn.known and state.turn.prompted:
        kind = PromptKind.STEERING
    else:
        kind = settle_plan(state, at, said.text)
    state.out.append(Prompted(at, said.text, kind, said.images))
    state.turn.prompted, state.turn.last_word = True, None
    state.compacted = state.aborted = state.at_rest = False
    if not state.turns_told:
        state.mirror.forget("agent")


def _inject(state: State, side: str, kind: str, text: str, at: At) -> None:
    if kind == "turn-aborted":
        interrupt(state, at)
    elif kind == "user-shell":
        read_user_shell(state, at, side, inside(text, "command").strip())
    state.out.append(Injected(at, text, kind))
    if kind in ("subagent-notification", "subagent_notification"):
        read_notice(state, at, text)


def interrupt(state: State, at: At) -> None:
    """The user stopped the agent; the client says so twice."""
    if not state.aborted:
        state.out.append(Interrupted(at, state.turn.cut))
        state.aborted = True


# --- answers and thoughts --------------------------------------------------------------------------------------------


def read_ui_message(state: State, event: Row, at: At) -> None:
    """The event of an answer."""
    state.plan = plan_in(as_str(event.get("message"))) or state.plan
    _reply(state, "ui", split_plan(as_str(event.get("message"))), event, at)


def read_item_message(state: State, item: Row, at: At) -> None:
    """A completed `AgentMessage` or `Plan`."""
    text = as_str(item.get("text"))
    if as_str(item.get("type")) == "Plan":
        state.plan = text
    _reply(state, "ui", split_plan(text) or said_by_agent(item.get("content")), item, at)


def _reply(state: State, side: str, texts: list[str], item: Row, at: At) -> None:
    fresh = [text for text in texts if not state.mirror.is_copy(side, "agent", text)]
    final = as_str(item.get("phase")) == "final_answer"
    for text in fresh:
        state.out.append(Replied(at, text, as_str(item.get("id")), state.model, final))
    if fresh:
        state.work()
        state.turn.spoke, state.turn.last_word = True, at
        if not state.turns_told:
            state.mirror.forget("user")


def read_thought(state: State, item: Row, at: At) -> None:
    """Reasoning of the API: its summaries, and the whole where it is not encrypted."""
    parts = [*dicts(item.get("summary")), *dicts(item.get("content"))]
    _think(state, "api", [as_str(part.get("text")) for part in parts], at)


def read_item_thought(state: State, item: Row, at: At) -> None:
    """A completed `Reasoning`."""
    _think(
        state,
        "ui",
        [*map(as_str, as_list(item.get("summary_text"))), *map(as_str, as_list(item.get("raw_content")))],
        at,
    )


def read_ui_thought(state: State, event: Row, at: At) -> None:
    """The event of a thought."""
    _think(state, "ui", [as_str(event.get("text"))], at)


def _think(state: State, side: str, texts: list[str], at: At) -> None:
    for text in texts:
        if text.strip() and not state.mirror.is_copy(side, "thought", text):
            state.out.append(Reasoned(at, text))
            state.work()
