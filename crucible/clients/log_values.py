"""Read values of any type from a client's log rows.  These functions never raise."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias

from crucible.clients.events import Choice, TaskState

Row: TypeAlias = dict[str, Any]

_MOST = 10**12
"""Larger than any count that a client logs."""


def as_str(value: object) -> str:
    """Return a string unchanged, "" for anything else."""
    return value if isinstance(value, str) else ""


def word(value: object) -> str:
    """Return an id or a word as a string, also if it was logged as a number."""
    return as_str(value) or ("" if number(value) is None else str(value))


def as_dict(value: object) -> Row:
    """Return a JSON object unchanged, {} for anything else."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return a list unchanged, [] for anything else."""
    return value if isinstance(value, list) else []


def arguments_of(given: object) -> Row:
    """Return the arguments of a call as an object; any other JSON value becomes `{"input": value}`."""
    return given if isinstance(given, dict) else {} if given is None else {"input": given}


def number(value: object) -> int | None:
    """Return an integer unchanged, None for anything else, including booleans."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def count(value: object) -> int:
    """Return a count, 0 for anything else.  Limited so that sums of counts stay exact in JSON."""
    return min(max(number(value) or 0, 0), _MOST)


def line_count(text: object) -> int:
    """Return the number of lines in a text, including a last line without a line break; 0 for anything else."""
    return text.count("\n") + (not text.endswith("\n")) if isinstance(text, str) and text else 0


def as_time(value: object) -> datetime | None:
    """Parse an ISO 8601 time and convert it to UTC, the default zone; None for anything else."""
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value)
        if time.tzinfo is None:
            return time.replace(tzinfo=UTC)
        return time if time.tzinfo is UTC else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def choice_of(question: Row, given: Sequence[str]) -> Choice:
    """Parse a question.  `given` are the user's answers; one string may hold several labels separated by ", "."""
    offered = map(as_dict, as_list(question.get("options")))
    options = tuple((as_str(option.get("label")), as_str(option.get("description"))) for option in offered)
    answer = ", ".join(given)
    picked = tuple(label for label, _ in options if label and f", {label}, " in f", {answer}, ")
    return Choice(as_str(question.get("question")), answer, options, picked)


def tasks_of(items: object, text: str = "content") -> tuple[TaskState, ...]:
    """Return the tasks of a list whose items have the text under this key; a task without an id has its position."""
    found = [item for item in as_list(items) if isinstance(item, dict)]
    return tuple(
        TaskState(
            word(item.get("id")) or str(place),
            word(item.get(text)),
            word(item.get("status")) or "pending",
            word(item.get("priority")),
        )
        for place, item in enumerate(found, 1)
    )


def text_in_tag(text: str, tag: str) -> str:
    """Return the text between the first opening tag and the last closing tag, "" if there is no such pair."""
    _, opened, rest = text.partition(f"<{tag}>")
    body, closed, _ = rest.rpartition(f"</{tag}>")
    return body if opened and closed else ""
