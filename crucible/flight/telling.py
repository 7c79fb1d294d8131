"""A record in one line: what a person would look for.

Owns which of a record's fields those are.  How long a line may be, and what a terminal would obey in it, is the door's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import orjson

from crucible.flight.reading import Record
from crucible.session.calls import call_line

__all__ = ["cut_mark", "record_line"]


def record_line(record: Record) -> str:
    """One text, perhaps with line ends."""
    return _TOLD.get(record.type, _said)(record.values)


def cut_mark(record: Record) -> str:
    """How long what was cut had been, "" when nothing was."""
    longest = sum(record.cut.values())
    return f"[cut: {longest} bytes]" if longest else "[cut]" if record.cut else ""


def _said(values: Mapping[str, object]) -> str:
    """What an entry says and why, or the text of an event; else all fields."""
    for name in ("content", "text", "reason", "title", "name"):
        if isinstance(said := values.get(name), str) and said:
            return said + "".join(f" ({label}: {values[label]})" for label in _REASONS if values.get(label))
    return _fields(values)


_REASONS = ("rationale", "resolution", "summary")


def _entry_of_tool(values: Mapping[str, object]) -> str:
    arguments = values.get("args")
    given = arguments if isinstance(arguments, Mapping) else values
    called = call_line(
        str(values.get("tool") or "tool"), {k: v for k, v in given.items() if k not in _OF_RESULTS}
    )
    told = [
        f"{label} {values[name]}"
        for name, label in _OF_RESULTS.items()
        if values.get(name) is not None and label
    ]
    return f"{called} → {', '.join(told)}" if told else called


_OF_RESULTS = {
    "tool": "",
    "exit_code": "exit",
    "lines_changed": "lines changed",
    "results": "results",
    "result": "result",
    "duration_ms": "ms",
}
"""Fields of a call that are no arguments, and what they are called."""


def _used(values: Mapping[str, object]) -> str:
    arguments = values.get("arguments")
    return call_line(str(values.get("name", "")), arguments if isinstance(arguments, Mapping) else {})


def _returned(values: Mapping[str, object]) -> str:
    end = str(values.get("end", ""))
    return f"{'' if end == 'ok' else f'{end}: '}{values.get('text') or values.get('feedback') or '-'}"


def _delegated(values: Mapping[str, object]) -> str:
    return f"@{values.get('kind') or 'agent'}: {values.get('task') or values.get('title') or values.get('subagent') or '-'}"


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
}
