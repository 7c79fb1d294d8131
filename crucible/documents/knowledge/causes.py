"""Why something failed: a report of a failure, and what it is attributed to.

Owns the categories and which of them knowledge could have prevented, after the user's learning plan.  Deciding on one is
`classifying`'s by a rule and `judging`'s by a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Category(StrEnum):
    """Where a failure comes from."""

    REQUIREMENTS_AMBIG = "requirements_ambig"
    KNOWLEDGE_GAP = "knowledge_gap"
    TOOL_MISUSE = "tool_misuse"
    CONTEXT_MISSING = "context_missing"
    EXECUTION_ERROR = "execution_error"
    EXTERNAL_DEP = "external_dep"


PREVENTABLE = frozenset((Category.KNOWLEDGE_GAP, Category.TOOL_MISUSE, Category.CONTEXT_MISSING))
"""What knowing something beforehand could have prevented: a human must make a wish clear, chance and others' services are nobody's."""


@dataclass(frozen=True, slots=True)
class FailureReport:
    """What is known of a failure; all but `error` may be empty.

    `happened` says in words what went wrong, `error` is the exact message, `context` what was being done (the goal, the step, the
    user's words), `tool` and `call` the tool call that failed in one line, `resolution` what fixed it: words, or the call that passed instead.
    `files` are those that the fix changed, `before` those that had been changed before it failed (a line each), `corrected` the user's words
    where they stepped in.
    """

    error: str
    happened: str = ""
    context: str = ""
    tool: str = ""
    call: str = ""
    resolution: str = ""
    files: str = ""
    corrected: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class Attribution:
    """What a failure is attributed to; `confidence` from 0 to 1, `judge` is "rules" or the model's name."""

    category: Category
    root_cause: str
    preventable_with: str = ""
    confidence: float = 0.0
    judge: str = "rules"

    @property
    def preventable(self) -> bool:
        """By the category alone."""
        return self.category in PREVENTABLE
