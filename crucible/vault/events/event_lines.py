"""Show a record as one line, with the most useful fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import orjson

from crucible.core.patterns import late_pattern
from crucible.core.text import counted
from crucible.documents.recording.call_lines import call_line
from crucible.vault.events.event_reader import EventRecord


def record_line(record: EventRecord) -> str:
    """Return the text for a record, which may contain line ends."""
    return _RENDERERS.get(record.type, _entry)(record.values)


def cut_mark(record: EventRecord) -> str:
    """Return the original size in bytes of the strings that were cut; "" if none were."""
    total = sum(record.cut.values())
    return f"[cut: {total} bytes]" if total else "[cut]" if record.cut else ""


def _entry(values: Mapping[str, object]) -> str:
    """Return an entry's content and reason, or the text of an event; otherwise all fields."""
    for name in ("content", "text", "reason", "title", "name"):
        if isinstance(text := values.get(name), str) and text:
            return text + "".join(f" ({label}: {values[label]})" for label in _REASONS if values.get(label))
    return _fields(values)


_REASONS = ("rationale", "resolution", "summary")


def _entry_of_tool(values: Mapping[str, object]) -> str:
    """Show a recorded tool call: its command, or its arguments as for an imported call."""
    name, command, arguments = str(values.get("tool") or "tool"), values.get("command"), values.get("args")
    if isinstance(command, str):
        called = f"{name} {command}".rstrip()
    else:
        given = arguments if isinstance(arguments, Mapping) else values
        called = call_line(name, {k: v for k, v in given.items() if k not in _OF_RESULTS})
    outcome = str(values.get("outcome") or "ok")
    parts = ["" if outcome == "ok" else outcome]
    parts += [
        form.format(values[key]) for key, form in _OF_RESULTS.items() if form and values.get(key) not in (None, "")
    ]
    came = ", ".join(filter(None, parts))
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
"""Fields of a call that are not arguments, and how to show them."""


def _used(values: Mapping[str, object]) -> str:
    arguments = values.get("arguments")
    return call_line(str(values.get("name", "")), arguments if isinstance(arguments, Mapping) else {})


def _returned(values: Mapping[str, object]) -> str:
    end = str(values.get("end", ""))
    return f"{'' if end == 'ok' else f'{end}: '}{values.get('text') or values.get('feedback') or '-'}"


def _delegated(values: Mapping[str, object]) -> str:
    return f"@{values.get('kind') or 'agent'}: {values.get('task') or values.get('title') or values.get('subagent') or '-'}"


def _entry_of_subagent(values: Mapping[str, object]) -> str:
    """Show a recorded subagent: name, task and session."""
    name = f"@{values.get('subagent') or 'agent'}"
    about = values.get("task") or values.get("content") or values.get("summary")
    return name + (f": {about}" if about else "") + _arrow(values.get("session"))


def _arrow(target: object) -> str:
    return f" → {target}" if target else ""


def _usage(values: Mapping[str, object]) -> str:
    """Show token counts, imported or recorded."""
    counts = [f"{values[key]} {key}" for key in ("fresh", "used", "cached", "said") if values.get(key)]
    return f"{', '.join(counts) or '0'} tokens" + _in_brackets(values.get("model"))


def _in_brackets(what: object) -> str:
    return f" ({what})" if what else ""


def _task_list(values: Mapping[str, object]) -> str:
    """Show the number of tasks, how many are done, and the current one."""
    tasks = values.get("tasks")
    if not isinstance(tasks, list):
        return _fields(values)
    known = [task for task in tasks if isinstance(task, Mapping)]
    now = [str(task.get("content")) for task in known if task.get("status") == "in_progress"]
    done = sum(task.get("status") == "completed" for task in known)
    count = f"{counted(len(tasks), 'task')}, {done} done"
    return f"{count}, now: {now[0]}" if now else count


def _task(values: Mapping[str, object]) -> str:
    text = [str(values[key]) for key in ("content", "status") if values.get(key)]
    return f"task {values.get('id') or '?'}: {', '.join(text) or 'changed'}"


def _answers(values: Mapping[str, object]) -> str:
    """Show the agent's questions and the answers."""
    choices = values.get("choices")
    asked = [each for each in choices if isinstance(each, Mapping)] if isinstance(choices, list) else []
    return "; ".join(f"{each.get('question')} {each.get('answer') or '-'}" for each in asked) or "-"


def _context(values: Mapping[str, object]) -> str:
    parts = [f"{key} {values[key]}" for key in ("cwd", "branch", "version") if values.get(key)]
    return ", ".join(parts) or _fields(values)


def _resumed(values: Mapping[str, object]) -> str:
    """Show which session was resumed, and the size of its context."""
    after = values.get("after")
    return f"{values.get('session') or '?'}{f' after {after}' if after else ''}, {values.get('size') or 0} bytes of context"


def _switched(values: Mapping[str, object]) -> str:
    text = values.get("content")
    return f"{values.get('from_agent') or '?'} → {values.get('to_agent') or '?'}{f': {text}' if text else ''}"


def _fields(values: Mapping[str, object]) -> str:
    """Return the non-empty fields as compact JSON."""
    parts = {name: value for name, value in values.items() if value not in ("", None, [], {})}
    return orjson.dumps(parts, default=str).decode() if parts else "-"


_INNER_CAPITAL = late_pattern(r"(?<=[a-z])(?=[A-Z])")


def type_word(type_: str) -> str:
    """Return a record's type as shown to people: `tool_used` for `ToolUsed`."""
    return _INNER_CAPITAL.sub("_", type_).lower()


_RENDERERS: Mapping[str, Callable[[Mapping[str, object]], str]] = {
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
