"""Which heading of a case's note holds which part of it.

Owns the tables by which `notes` writes and `notes_reading` reads, so that both know the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple

from crucible.cases.model import CaseType
from crucible.patterns import late_pattern

__all__ = [
    "ORIGIN",
    "SECTIONS",
    "STAMP",
    "STAMP_BESIDES",
    "Form",
    "Section",
    "without_origin",
]


class Form(Enum):
    """How a part is written: a text as prose where that can be, a text that is never prose, texts, or turns."""

    TEXT = "text"
    EXACT = "exact"
    ITEMS = "items"
    TURNS = "turns"


class Section(NamedTuple):
    """A level-2 heading, the field of the case's body under it, and its form; `item` is what one of several is called."""

    heading: str
    field: str
    form: Form = Form.TEXT
    item: str = ""


SECTIONS: Mapping[CaseType, tuple[Section, ...]] = MappingProxyType(
    {
        CaseType.PUZZLE: (
            Section("Goal", "goal"),
            Section("State", "state"),
            Section("Tried", "tried", Form.TURNS),
            Section("Failure", "failure", Form.EXACT),
            Section("Hints", "hints", Form.ITEMS, "Hint"),
            Section("Expected", "expected"),
            Section("Solution", "solution", Form.TURNS),
        ),
        CaseType.CORRECTION: (
            Section("Goal", "goal"),
            Section("What the agent did", "did", Form.TURNS),
            Section("Rejected", "rejected", Form.EXACT),
            Section("The user's words", "words"),
            Section("What followed", "then", Form.TURNS),
        ),
        CaseType.DECISION: (
            Section("Situation", "situation"),
            Section("Options", "options", Form.ITEMS, "Option"),
            Section("Choice", "choice"),
            Section("Rationale", "rationale"),
            Section("Outcome", "outcome"),
        ),
        CaseType.DELEGATION: (
            Section("Task", "task"),
            Section("Result", "result"),
            Section("Evidence", "evidence"),
        ),
        CaseType.WORKFLOW: (Section("Goal", "goal"), Section("Turns", "turns", Form.TURNS)),
    }
)

STAMP = "written"
"""The property that tells whether anybody changed the note since."""

STAMP_BESIDES = ("session", "status")
"""What changes when a session is renamed, and when the case is reviewed: its content is the same."""

ORIGIN = "From [["
"""How that line begins."""


_ORIGIN_LINE = late_pattern(r"^From \[\[(?:(?!\]\]).)*\]\], line -?[0-9]+\.\n", re.MULTILINE)


def without_origin(text: str) -> str:
    """The note without the line that links to where it comes from, as long as that says nothing else."""
    return _ORIGIN_LINE.sub("", text, count=1)
