"""A question to the user and its answer, in the shape that every client except Claude Code uses: `question`, `options`, `label`."""

from __future__ import annotations

from collections.abc import Sequence

from crucible.clients.events import Choice
from crucible.clients.log_values import Row, as_dict, as_list, as_str


def choice_of(question: Row, given: Sequence[str]) -> Choice:
    """Read a question; `given` are the user's answers, and one string may hold several labels separated by ", "."""
    offered = map(as_dict, as_list(question.get("options")))
    options = tuple((as_str(option.get("label")), as_str(option.get("description"))) for option in offered)
    answer = ", ".join(given)
    picked = tuple(label for label, _ in options if label and f", {label}, " in f", {answer}, ")
    return Choice(as_str(question.get("question")), answer, options, picked)
