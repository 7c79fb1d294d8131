"""Rows of type `user` and whatever else brings texts in the user's name: a human's words, results of tools, the rest.

Owns the order of the tests that tell them apart.  The sentences are `texts`', results are `results`'.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from crucible.clients.claude_code.result_rows import (
    background_end,
    call_of,
    name_agent,
    read_result,
    report,
)
from crucible.clients.claude_code.state import State
from crucible.clients.claude_code.texts import (
    INTERRUPTIONS,
    Notice,
    Said,
    Speech,
    classify,
    find_notices,
    is_bare_command,
    is_handed_plan,
    is_notice,
    is_stopped,
    is_summary,
    peel_reminders,
)
from crucible.clients.events import (
    At,
    CallEnd,
    Compacted,
    Injected,
    Interrupted,
    Prompted,
    PromptKind,
    SubagentReturned,
    Unreadable,
)
from crucible.clients.log_values import Row, as_dict, as_list, as_str

_MARKS = ("permissionMode", "thinkingMetadata", "promptSource", "planContent", "origin")


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
        read_result(state, block, raw, at)
    texts = [as_str(block.get("text")) for block in blocks if block.get("type") == "text"]
    return [text for text in texts if text], sum(block.get("type") == "image" for block in blocks)


# --- words -----------------------------------------------------------------------------------------------------------


def _say(state: State, texts: list[str], images: int, row: Row, at: At) -> None:
    """Who spoke, by the row; then, for what may be a human's, by the text."""
    origin = as_str(as_dict(row.get("origin")).get("kind"))
    human = origin == "human"
    text = "\n".join(texts)
    if row.get("isMeta"):
        state.local = state.local or classify(text).kind == "caveat"
        state.out.append(Injected(at, text, "skill" if row.get("sourceToolUseID") else "meta"))
    elif row.get("isCompactSummary") or (is_summary(text) and not human):
        _compacted(state, text, at)
    elif _from_client(row, origin) and not (is_notice(text) or row.get("planContent")):
        state.out.append(Injected(at, text, origin or "client"))
    elif not _is_marked(row) and _is_said_to_prompt(state, text):
        state.out.append(Injected(at, text, "client"))
    else:
        state.flush_boundary()
        kind = _kind_of_row(state, text, row, at, human=human)
        if kind is not None:
            texts = _with_plan(texts, as_str(row.get("planContent"))) if kind is PromptKind.PLAN else texts
            tell(state, texts, images, at, kind, human=human)
            state.unanswered = _is_marked(row) and at.agent == state.agent


def _from_client(row: Row, origin: str) -> bool:
    """Newer versions say outright that nobody typed a row; a skill's text is brought in by the agent's own call."""
    return origin not in ("", "human") or row.get("promptSource") == "system" or bool(row.get("sourceToolUseID"))


def _is_marked(row: Row) -> bool:
    """Whether the client noted with which settings a prompt was sent; versions that do so do it for every prompt."""
    return any(row.get(key) for key in _MARKS)


def _is_said_to_prompt(state: State, text: str) -> bool:
    """Whether a text without a mark is what the client says in place of the agent's answer: that a hook stopped the prompt, say."""
    return (state.unanswered or is_stopped(text)) and classify(text).speech is Speech.PROMPT


def _kind_of_row(state: State, text: str, row: Row, at: At, *, human: bool) -> PromptKind | None:
    """How a prompt of this row was said, None when it was told already."""
    if at.agent and not human:
        return PromptKind.TASK
    kind = state.queue.typed(text, state.working)
    if kind is None:
        return None
    if row.get("planContent") or is_handed_plan(text):
        return PromptKind.PLAN
    # Words beside a result are what the user added when they allowed the call.
    return PromptKind.STEERING if _has_result(row) else kind


def _has_result(row: Row) -> bool:
    return any(
        as_dict(block).get("type") == "tool_result" for block in as_list(as_dict(row.get("message")).get("content"))
    )


def _with_plan(texts: list[str], plan: str) -> list[str]:
    """A prompt that hands over a plan, with that plan in it once."""
    text = "\n".join(texts)
    return texts if plan.strip() in text else [f"{text}\n\n{plan}".lstrip("\n")]


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
    """A text that entered the running turn; a command alone is carried out, not said."""
    if is_bare_command(text):
        state.out.append(Injected(at, text, "command"))
    else:
        tell(state, [text], images, at, PromptKind.STEERING)


def _prompt(state: State, text: str, images: int, kind: PromptKind, at: At) -> None:
    if kind is PromptKind.TASK:
        _name_agent(state, text, at)
    if at.agent == state.agent:
        state.working, state.last_word, state.local = True, None, False
    state.out.append(Prompted(at, text, kind, images))


def _name_agent(state: State, task: str, at: At) -> None:
    """The oldest versions link a subagent in the trunk to its call by nothing but the task's words."""
    for call, started in state.agents.items():
        if not started.agent and started.task == task:
            name_agent(state, call, at.agent, at)
            return


def _command(state: State, said: Said, at: At) -> None:
    """A command for the agent, or words for the client; one that the client answers without any is between the two of them."""
    if state.local and is_bare_command(said.text):
        state.out.append(Injected(at, said.text, "command"))
    else:
        state.out.append(Prompted(at, said.text, PromptKind.COMMAND))


def _shell(state: State, said: Said, at: At) -> None:
    state.out.append(Prompted(at, said.text, PromptKind.SHELL))


def _injected(state: State, said: Said, at: At) -> None:
    if said.kind in ("caveat", "command-output", "shell-output"):
        state.local = said.kind == "caveat"
    state.out.append(Injected(at, said.text, said.kind))


def _interruption(state: State, said: Said, at: At) -> None:
    state.out.append(Interrupted(at, INTERRUPTIONS[said.text]))
    if at.agent == state.agent:
        state.end_turn()


def _notices(state: State, said: Said, at: At) -> None:
    notices = find_notices(said.text)
    known = [_returned(state, notice, at) for notice in notices]
    if not all(known) or not notices:
        state.out.append(Injected(at, said.text, "task-notification"))


def _returned(state: State, notice: Notice, at: At) -> bool:
    """Tell that a subagent ended; whether that was news of one."""
    call = notice.call if notice.call in state.agents else call_of(state, notice.task)
    end = background_end(notice.status) or CallEnd.OK
    text = notice.text or (notice.summary if end is CallEnd.FAILED else "")
    return bool(call) and report(state, SubagentReturned(at, call, notice.task, text, end, notice.tokens))


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
