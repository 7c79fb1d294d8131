"""Rows of type `user` and whatever else brings texts in the user's name: results of tools, a human's words, the rest.

Owns the order of the tests that tell them apart.  The sentences are `texts`', results are `calls`'.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from crucible.transcript.claude.background import fetched_report
from crucible.transcript.claude.calls import (
    TASK_TOOLS,
    call_end,
    content_text,
    details,
    peel_agent_tail,
    task_events,
)
from crucible.transcript.claude.state import OpenCall, State
from crucible.transcript.claude.texts import (
    INTERRUPTIONS,
    Notice,
    Said,
    Speech,
    classify,
    find_notices,
    is_summary,
    peel_reminders,
)
from crucible.transcript.events import (
    At,
    CallEnd,
    Compacted,
    Injected,
    Interrupted,
    Prompted,
    PromptKind,
    SubagentReturned,
    SubagentStarted,
    ToolReturned,
    Unreadable,
)
from crucible.transcript.values import Row, as_dict, as_str, count

__all__ = ["read_user", "tell", "tell_steering"]

_LAUNCHED = frozenset({"async_launched", "teammate_spawned", "remote_launched"})
_NOTICE_ENDS = {"failed": CallEnd.FAILED, "killed": CallEnd.INTERRUPTED, "stopped": CallEnd.INTERRUPTED}


def read_user(state: State, row: Row, at: At) -> None:
    """The events of one user row."""
    content = as_dict(row.get("message")).get("content")
    if isinstance(content, str):
        texts, images = [content], 0
    elif isinstance(content, list):
        texts, images = _read_blocks(state, content, row, at)
    else:
        state.out.append(Unreadable(at, "a user row without content"))
        return
    if texts or images:
        _say(state, texts, images, row, at)


def _read_blocks(state: State, content: list[object], row: Row, at: At) -> tuple[list[str], int]:
    """Results become events; the texts and the number of images beside them come back."""
    blocks = [block for block in content if isinstance(block, dict)]
    results = [block for block in blocks if block.get("type") == "tool_result"]
    # the structured result belongs to the row, so it can be told only when there is one result
    raw = row.get("toolUseResult") if len(results) == 1 else None
    for block in results:
        _result(state, block, raw, at)
    texts = [as_str(block.get("text")) for block in blocks if block.get("type") == "text"]
    return [text for text in texts if text], sum(block.get("type") == "image" for block in blocks)


# --- words -----------------------------------------------------------------------------------------------------------


def _say(state: State, texts: list[str], images: int, row: Row, at: At) -> None:
    """Who spoke, by the row; then, for what may be a human's, by the text."""
    origin = as_str(as_dict(row.get("origin")).get("kind"))
    human = origin == "human"
    text = "\n".join(texts)
    if row.get("isMeta"):
        state.out.append(Injected(at, text, "skill" if row.get("sourceToolUseID") else "meta"))
    elif row.get("isCompactSummary") or (is_summary(text) and not human):
        _compacted(state, text, at)
    elif _from_client(row, origin) and not text.startswith("<task-notification>"):
        state.out.append(Injected(at, text, origin or "client"))
    else:
        state.flush_boundary()
        kind = _kind_of_row(state, text, row, at, human=human)
        if kind is not None:
            tell(state, texts, images, at, kind, human=human)


def _from_client(row: Row, origin: str) -> bool:
    """Newer versions say outright that nobody typed a row; a skill's text is brought in by the agent's own call."""
    return (
        origin not in ("", "human") or row.get("promptSource") == "system" or bool(row.get("sourceToolUseID"))
    )


def _kind_of_row(state: State, text: str, row: Row, at: At, *, human: bool) -> PromptKind | None:
    """How a prompt of this row was said, None when it was told already."""
    if at.agent and not human:
        return PromptKind.TASK
    kind = state.queue.typed(text, state.working)
    return PromptKind.PLAN if kind and row.get("planContent") else kind


def tell(
    state: State,
    texts: list[str],
    images: int,
    at: At,
    kind: PromptKind,
    *,
    human: bool = False,
) -> None:
    """The events of texts in the user's name; prompts in them are told as `kind`."""
    words: list[str] = []
    for text in texts:
        said = classify(text, human=human)
        if said.speech is Speech.PROMPT or said.kind == "reminder":
            rest, peeled = peel_reminders(text)
            state.out.extend(Injected(at, reminder, "reminder") for reminder in peeled)
            words.extend([rest] if rest else [])
        else:
            _SPEECH[said.speech](state, said, at)
    if words or images:
        _prompt(state, "\n".join(words), images, kind, at)


def tell_steering(state: State, text: str, images: int, at: At) -> None:
    """A text that entered the running turn."""
    tell(state, [text], images, at, PromptKind.STEERING)


def _prompt(state: State, text: str, images: int, kind: PromptKind, at: At) -> None:
    if kind is PromptKind.TASK:
        _name_agent(state, text, at)
    if at.agent == state.agent:
        state.working, state.last_word = True, None
    state.out.append(Prompted(at, text, kind, images))


def _name_agent(state: State, task: str, at: At) -> None:
    """The oldest versions link a subagent in the trunk to its call by nothing but the task's words."""
    for call, started in state.agents.items():
        if not started.agent and started.task == task:
            name_agent(state, call, at.agent, at)
            return


def name_agent(state: State, call: str, agent: str, at: At) -> None:
    """Tell a subagent's id once it is known; it is the parent's event whoever's row told it."""
    started = state.agents.get(call)
    if started is not None and not started.agent and agent:
        state.agents[call] = started = replace(started, at=replace(at, agent=started.at.agent), agent=agent)
        state.out.append(started)


def _command(state: State, said: Said, at: At) -> None:
    state.out.append(Prompted(at, said.text, PromptKind.COMMAND))


def _shell(state: State, said: Said, at: At) -> None:
    state.out.append(Prompted(at, said.text, PromptKind.SHELL))


def _injected(state: State, said: Said, at: At) -> None:
    state.out.append(Injected(at, said.text, said.kind))


def _interruption(state: State, said: Said, at: At) -> None:
    state.out.append(Interrupted(at, INTERRUPTIONS[said.text]))
    if at.agent == state.agent:
        state.end_turn()


def _notices(state: State, said: Said, at: At) -> None:
    notices = find_notices(said.text)
    known = [notice for notice in notices if _agent_call(state, notice)]
    for notice in known:
        call = _agent_call(state, notice)
        end = _NOTICE_ENDS.get(notice.status, CallEnd.OK)
        state.out.append(SubagentReturned(at, call, notice.task, notice.text, end, notice.tokens))
    if len(known) < len(notices) or not notices:
        state.out.append(Injected(at, said.text, "task-notification"))


def _agent_call(state: State, notice: Notice) -> str:
    """The call that started the subagent a notice is about, "" for a background command."""
    if notice.call in state.agents:
        return notice.call
    calls = (call for call, started in state.agents.items() if started.agent and started.agent == notice.task)
    return next(calls, "")


_SPEECH: dict[Speech, Callable[[State, Said, At], None]] = {
    Speech.COMMAND: _command,
    Speech.SHELL: _shell,
    Speech.NOTICE: _notices,
    Speech.INTERRUPTION: _interruption,
    Speech.INJECTED: _injected,
}


def _compacted(state: State, text: str, at: At) -> None:
    boundary, state.boundary = state.boundary, None
    if boundary is None:
        state.out.append(Compacted(at, summary=text))
    else:
        state.out.append(replace(boundary, at=at, summary=text))


# --- results ---------------------------------------------------------------------------------------------------------


class _Result(NamedTuple):
    """A result as it stands in its row; `raw` is the structured one or anything else."""

    at: At
    call: str
    text: str
    images: int
    end: CallEnd
    raw: object


def _result(state: State, block: Row, raw: object, at: At) -> None:
    call = as_str(block.get("tool_use_id"))
    text, images = content_text(block.get("content"))
    end, feedback = call_end(text, block.get("is_error") is True, raw)
    result = _Result(at, call, text, images, end, raw)
    if at.agent == state.agent:
        state.queue.step += 1
        state.working, state.last_word = True, None
    opened, started = state.calls.pop(call, None), state.agents.get(call)
    if started is not None:
        _agent_result(state, started, result)
    if started is None or end is CallEnd.REJECTED:
        state.out.append(ToolReturned(at, call, text, end, feedback, _facts(opened, result)))
        state.out.extend(fetched_report(state, raw, at))
    if opened is not None and opened.name in TASK_TOOLS and end is CallEnd.OK:
        state.out.extend(task_events(at, opened.name, opened.kept, raw, text))


def _facts(opened: OpenCall | None, result: _Result) -> dict[str, object] | None:
    facts = None
    if opened is not None and (
        result.end is CallEnd.OK or (result.end is CallEnd.FAILED and opened.name == "Bash")
    ):
        facts = details(opened.name, result.raw, result.text, opened.facts)
    return {**(facts or {}), "images": result.images} if result.images else facts


def _agent_result(state: State, started: SubagentStarted, result: _Result) -> None:
    """A report, or the notice that the subagent goes on in the background and reports later."""
    given = as_dict(result.raw)
    report, agent, tokens = peel_agent_tail(result.text)
    agent = as_str(given.get("agentId")) or as_str(given.get("agent_id")) or agent or started.agent
    launched = given.get("isAsync") or as_str(given.get("status")) in _LAUNCHED
    if launched or result.text.startswith("Async agent launched"):
        name_agent(state, started.call, agent or _named_in(result.text), result.at)
        return
    if agent and not started.agent:
        state.agents[started.call] = replace(started, agent=agent)
    tokens = count(given.get("totalTokens")) or tokens
    state.out.append(SubagentReturned(result.at, started.call, agent, report, result.end, tokens))


def _named_in(text: str) -> str:
    words = text.partition("agentId:")[2].split(None, 1)
    return words[0] if words else ""
