"""The sentences with which a subagent's callout says that its work did not end well.

Owns their words, and telling them from what the callout says otherwise: they are ours, and no part of a task.
"""

from __future__ import annotations

from crucible.session.model import Outcome

__all__ = ["ENDINGS", "part_ending"]

ENDINGS = {
    Outcome.FAILED: "The subagent failed.",
    Outcome.REJECTED: "The user rejected it.",
    Outcome.INTERRUPTED: "The subagent was stopped.",
}
"""What stands in a line of its own at the end of a callout's text."""

_OUTCOMES = {sentence: outcome for outcome, sentence in ENDINGS.items()}


def part_ending(text: str) -> tuple[str, Outcome]:
    """A callout's text without our sentence at its end, and how the work ended by that; `OK` where there is none."""
    above, _, last = text.rstrip().rpartition("\n")
    outcome = _OUTCOMES.get(last.strip())
    return (above.rstrip(), outcome) if outcome else (text, Outcome.OK)
