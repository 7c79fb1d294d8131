"""One thing that was looked at, and what was found: values only."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Finding", "State"]


class State(StrEnum):
    """How good a finding is."""

    GOOD = "good"
    NOTE = "note"
    """Nothing is wrong, and it may be worth knowing."""
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    """`topic` is one of hooks, transcripts, spool, sessions, index, secrets; `mend` the command that mends it, or "".

    `items` names what it is about, one text each: paths, ids, `path:line: reason`.
    """

    topic: str
    state: State
    text: str
    mend: str = ""
    items: tuple[str, ...] = ()
