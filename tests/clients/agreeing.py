"""Check that a note agrees with what was played: by our own parser, and by plain parsing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from crucible.documents.session.session import Session
from tests.clients.accounts import compare, played, task_of, tasks_played, tokens_played, tokens_told, told
from tests.clients.model import MAIN, Said, ScriptedModel
from tests.clients.plain_notes import look_at
from tests.clients.stage import Stage


def agree(stage: Stage, model: ScriptedModel, main: Session) -> None:
    """Fail unless the note, its subagents' notes and their plain texts tell what was played, and nothing else."""
    assert not model.unforeseen, model.unforeseen
    subagents = subagents_of(stage, main)
    tasks = {session.id: task_of(session) for session in subagents}
    compare(played(model), told(main, tasks), main.id)
    assert tokens_told(main) == tokens_played(model), main.id
    assert [(task.content, task.status) for task in main.tasks] == tasks_played(model), main.id
    _results_agree(model, main)
    agree_in_plain_text(stage, main, played(model), [s.id for s in subagents])
    _subagents_agree(stage, model, main, subagents)
    for session in (main, *subagents):
        assert not session.problems, f"{session.id}: {session.problems}"


def holds_no_secret(stage: Stage, model: ScriptedModel, secrets: Mapping[str, str]) -> None:
    """No file of the vault has one in its bytes or name; what was taken out is counted, and all else is there."""
    found = {name: stage.holding(value) for name, value in secrets.items()}
    assert not any(found.values()), found
    (main,) = stage.mains()
    assert main.redactions, "they are counted"
    assert "[REDACTED:" in stage.note_text(main.id)
    kinds = [line.partition(" | ")[0] for line in played(model)]
    assert [line.partition(" | ")[0] for line in told(main, {})] == kinds


def subagents_of(stage: Stage, main: Session) -> list[Session]:
    """The notes that name this one as their parent."""
    return [session for session in stage.sessions() if session.parent == main.id]


def _subagents_agree(stage: Stage, model: ScriptedModel, main: Session, subagents: Sequence[Session]) -> None:
    """Each has its own calls and tokens in its own note, and the links go both ways."""
    by_task = {action.given["task"]: action.given["agent"] for action in _delegated(model)}
    assert sorted(map(task_of, subagents)) == sorted(by_task), main.id
    assert sorted(ref.session for ref in main.subagents) == sorted(s.id for s in subagents)
    logs = re.findall(r'^  - "\[\[(.*)\]\]"$', look_at(stage.note_text(main.id)).frontmatter, re.MULTILINE)
    assert sorted(logs) == sorted(map(_link_text, (s.id for s in subagents)))
    for session in subagents:
        agent = by_task[task_of(session)]
        expected = played(model, agent)
        compare(expected, [line for line in told(session, {}) if not _is_task(line)], session.id)
        assert tokens_told(session) == tokens_played(model, agent), session.id
        told_of = next(ref for ref in main.subagents if ref.session == session.id)
        assert told_of.tokens == tokens_played(model, agent).used
        agree_in_plain_text(stage, session, expected, [])
        assert f'parent: "[[{_link_text(main.id)}]]"' in look_at(stage.note_text(session.id)).frontmatter, session.id


def _link_text(session_id: str) -> str:
    return f"sessions/{session_id}|{session_id}"


def _is_task(line: str) -> bool:
    """Some clients write a subagent's task down as a prompt of a user, which it is to the subagent."""
    return line.startswith("prompt | [agent:")


def _delegated(model: ScriptedModel) -> list:
    said = [event for event in model.log if isinstance(event, Said) and event.agent == MAIN]
    return [c.action for e in said for c in e.answer.calls if c.action.kind == "delegate"]


def _results_agree(model: ScriptedModel, main: Session) -> None:
    said = [e for e in model.log if isinstance(e, Said) and e.agent == MAIN]
    calls = [c.action for e in said for c in e.answer.calls if c.action.kind != "delegate"]
    for action, call in zip(calls, main.calls(), strict=True):
        assert action.shows in call.result, f"{call.call}: {call.result!r}"
        assert len(call.result) <= 100, call.call


def agree_in_plain_text(stage: Stage, session: Session, expected: Sequence[str], links: Sequence[str]) -> None:
    """Check by plain parsing that the note has exactly this account's phases, prompts and calls, and these links."""
    plain = look_at(stage.note_text(session.id))
    kinds = [line.partition(" | ")[0] for line in expected]
    assert len(plain.phases) == kinds.count("phase"), plain.headings
    assert [tag for tag, _ in plain.headings].count("h1") == 1, plain.headings
    # A task that was begun opens a part of its phase.
    below = {text for tag, text in plain.headings if tag not in {"h1", "h2"}} - {"Tasks"}
    assert below <= {task.content for task in session.tasks}, plain.headings
    for kind, callout in {"prompt": "user", "subagent": "subagent"}.items():
        count = plain.callouts.count(callout) - _tasks_as_prompts(plain.callouts, session)
        assert count == kinds.count(kind), f"{session.id}: {callout} callouts: {plain.callouts}"
    assert not {"decision", "error", "milestone"} & set(plain.callouts), plain.callouts
    marks = {"": "ok", "❌": "failed"}
    found = [f"{marks[mark]} | {call}" for call, mark in plain.calls]
    compare([line for line in expected if line.startswith(("ok |", "failed |"))], found, f"calls of {session.id}")
    assert plain.links == set(map(_link_text, links)), f"{session.id}: {plain.links}"
    assert not plain.embeds, plain.embeds
    assert not plain.comments, f"{session.id}: {plain.comments} comment marks"
    foreign = [html for html in plain.html if not html.startswith("<!-- crucible\n")]  # what only imports need
    assert {html.strip() for html in foreign} <= {"<!-- -->"}, plain.html
    assert not {"dataview", "mermaid"} & set(plain.fences), plain.fences
    assert plain.headings.count(("h3", "Tasks")) == bool(session.tasks), plain.headings
    assert "tasks" not in plain.fences, plain.fences
    assert plain.rules == max(0, kinds.count("phase") - 1), f"{session.id}: {plain.rules} rules"


def _tasks_as_prompts(callouts: Sequence[str], session: Session) -> int:
    return min(1, callouts.count("user")) if session.parent else 0
