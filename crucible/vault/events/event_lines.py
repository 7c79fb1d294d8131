"""A record in one line: the fields that a person would look for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import orjson

from crucible.documents.recording.call_lines import call_line
from crucible.vault.events.event_reader import EventRecord


def record_line(record: EventRecord) -> str:
    """One text, perhaps with line ends."""
    return _TOLD.get(record.type, _said)(record.values)


def cut_mark(record: EventRecord) -> str:
    """How long what was cut had been, "" when nothing was."""
    total = sum(record.cut.values())
    return f"[cut: {total} bytes]" if total else "[cut]" if record.cut else ""


def _said(values: Mapping[str, object]) -> str:
    """What an entry says and why, or the text of an event; else all fields."""
    for name in ("content", "text", "reason", "title", "name"):
        if isinstance(said := values.get(name), str) and said:
            return said + "".join(f" ({label}: {values[label]})" for label in _REASONS if values.get(label))
    return _fields(values)


_REASONS = ("rationale", "resolution", "summary")


def _entry_of_tool(values: Mapping[str, object]) -> str:
    """A recorder's call: its command as it was told, or its arguments as an imported call's."""
    name, command, arguments = str(values.get("tool") or "tool"), values.get("command"), values.get("args")
    if isinstance(command, str):
        called = f"{name} {command}".rstrip()
    else:
        given = arguments if isinstance(arguments, Mapping) else values
        called = call_line(name, {k: v for k, v in given.items() if k not in _OF_RESULTS})
    outcome = str(values.get("outcome") or "ok")
    told = ["" if outcome == "ok" else outcome]
    told += [
        form.format(values[key]) for key, form in _OF_RESULTS.items() if form and values.get(key) not in (None, "")
    ]
    came = ", ".join(filter(None, told))
    return f"{called} → {came}" if came else called


_OF_RESULTS = {
    "tool": "",
    "outcome": "",
    "exit_code": "exit {}",
    "duration_ms": "{} ms",
    "lines_changed": "lines changed {}",
    "results": "results {}",
    "result": "{}",
}
"""Fields of a call that are no arguments, and how they are told."""


def _used(values: Mapping[str, object]) -> str:
    arguments = values.get("arguments")
    return call_line(str(values.get("name", "")), arguments if isinstance(arguments, Mapping) else {})


def _returned(values: Mapping[str, object]) -> str:
    end = str(values.get("end", ""))
    return f"{'' if end == 'ok' else f'{end}: '}{values.get('text') or values.get('feedback') or '-'}"


def _delegated(values: Mapping[str, object]) -> str:
    return f"@{values.get('kind') or 'agent'}: {values.get('task') or values.get('title') or values.get('subagent') or '-'}"


def _entry_of_subagent(values: Mapping[str, object]) -> str:
    """A recorder's: who works, on what, and in which session."""
    name = f"@{values.get('subagent') or 'agent'}"
    about = values.get("task") or values.get("content") or values.get("summary")
    return name + (f": {about}" if about else "") + _arrow(values.get("session"))


def _arrow(target: object) -> str:
    return f" → {target}" if target else ""


def _usage(values: Mapping[str, object]) -> str:
    """Tokens, an import's or a recorder's."""
    counts = [f"{values[key]} {key}" for key in ("fresh", "used", "cached", "said") if values.get(key)]
    return f"{', '.join(counts) or '0'} tokens" + _in_brackets(values.get("model"))


def _in_brackets(what: object) -> str:
    return f" ({what})" if what else ""


def _task_list(values: Mapping[str, object]) -> str:
    """How long the list is, and what is being done."""
    tasks = values.get("tasks")
    if not isinstance(tasks, list):
        return _fields(values)
    known = [task for task in tasks if isinstance(task, Mapping)]
    now = [str(task.get("content")) for task in known if task.get("status") == "in_progress"]
    done = sum(task.get("status") == "completed" for task in known)
    count = f"{len(tasks)} {'task' if len(tasks) == 1 else 'tasks'}, {done} done"
    return f"{count}, now: {now[0]}" if now else count


def _task(values: Mapping[str, object]) -> str:
    said = [str(values[key]) for key in ("content", "status") if values.get(key)]
    return f"task {values.get('id') or '?'}: {', '.join(said) or 'changed'}"


def _answers(values: Mapping[str, object]) -> str:
    """Questions that the agent put, with the answers."""
    choices = values.get("choices")
    asked = [each for each in choices if isinstance(each, Mapping)] if isinstance(choices, list) else []
    return "; ".join(f"{each.get('question')} {each.get('answer') or '-'}" for each in asked) or "-"


def _context(values: Mapping[str, object]) -> str:
    told = [f"{key} {values[key]}" for key in ("cwd", "branch", "version") if values.get(key)]
    return ", ".join(told) or _fields(values)


def _resumed(values: Mapping[str, object]) -> str:
    """Which session a client went on with, and how much it was given to read."""
    after = values.get("after")
    return f"{values.get('session') or '?'}{f' after {after}' if after else ''}, {values.get('size') or 0} bytes of context"


def _switched(values: Mapping[str, object]) -> str:
    said = values.get("content")
    return f"{values.get('from_agent') or '?'} → {values.get('to_agent') or '?'}{f': {said}' if said else ''}"


def _fields(values: Mapping[str, object]) -> str:
    """Those that say something, as compact JSON."""
    told = {name: value for name, value in values.items() if value not in ("", None, [], {})}
    return orjson.dumps(told, default=str).decode() if told else "-"


_TOLD: Mapping[str, Callable[[Mapping[str, object]], str]] = {
    "tool": _entry_of_tool,
    "ToolUsed": _used,
    "ToolReturned": _returned,
    "SubagentReturned": _returned,
    "SubagentStarted": _delegated,
    "agent_switch": _switched,
    "subagent": _entry_of_subagent,
    "tokens": _usage,
    "UsageCounted": _usage,
    "tasks": _task_list,
    "TasksListed": _task_list,
    "TaskChanged": _task,
    "QuestionsAnswered": _answers,
    "ContextSeen": _context,
    "Resumed": _resumed,
}
