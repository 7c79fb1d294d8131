"""What waits for a human, as frozen values.

Owns what an item is called: its id must survive whatever else is edited in its note.  Which items wait is `reading`'s.
For whoever only wants to know what waits (a briefing, say): `reading.waiting(vault, view, project="shop", limit=10)`.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

__all__ = ["Item", "Kind"]


class Kind(StrEnum):
    """What a human is to do: choose, say yes or no, look at what is done, or mend what went wrong."""

    DECISION = "decision_needed"
    APPROVAL = "approval_required"
    DONE = "task_complete"
    ERROR = "error"


class Item(NamedTuple):
    """Something that waits for a human, or waited.

    `id` is the session's id, a dot and six hexadecimal digits of what the item says (`-2` behind the second of the same): it
    changes only when the item's own words do.  `session` is the note's name, `path` the note seen from the vault.  `phase` is
    the phase's id ("" before the first), `line` the item's first line in the note, from 1.  `at` is when its phase began, else its
    session; UTC, None when neither says.  `title` and `text` are decoded, whole and on as many lines as they have.  `answer` is what
    was said, "" where the item waits, or where nobody's very words answer it; `verdict` says how: answered, approved, rejected, seen or mended.
    """

    id: str
    session: str
    path: str
    project: str
    phase: str
    line: int
    at: datetime | None
    kind: Kind
    title: str
    text: str
    answered: bool = False
    answer: str = ""
    verdict: str = ""
