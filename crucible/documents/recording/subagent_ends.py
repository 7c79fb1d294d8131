"""The sentences with which a subagent's callout says that its work did not end well.

Owns their words, and telling them from what the callout says otherwise: they are ours, and no part of a task.
"""

from __future__ import annotations

from crucible.documents.session.session import Outcome

_ENDINGS = {
    Outcome.FAILED: "The subagent failed.",
    Outcome.REJECTED: "The user rejected it.",
    Outcome.INTERRUPTED: "The subagent was stopped.",
}
"""What stands in a line of its own at the end of a callout's text."""


def ending(outcome: Outcome, message: str | None = None) -> str:
    """One sentence on how a subagent failed, with the error message; "" for work that succeeded or has not ended."""
    sentence = _ENDINGS.get(outcome, "")
    return f"{sentence[:-1]}: {message}" if sentence and message else sentence


def part_ending(text: str) -> tuple[str, Outcome]:
    """A callout's text without our sentence at its end, and how the work ended by that; `OK` where there is none."""
    above, _, last = text.rstrip().rpartition("\n")
    for outcome, sentence in _ENDINGS.items():
        if last.strip() == sentence or last.lstrip().startswith(f"{sentence[:-1]}: "):
            return above.rstrip(), outcome
    return text, Outcome.OK
