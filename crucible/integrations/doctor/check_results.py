"""One thing that was looked at, and what was found: values only."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How good a finding is."""

    GOOD = "good"
    NOTE = "note"
    """Nothing is wrong, and it may be worth knowing."""
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    `topic` is one of settings, trust, vault, git-hooks, rename, hooks, mcp, agents, transcripts, secrets, spool, sessions, format, index.  `mend` is
    the command that fixes it, or "".
    `items` names what it is about, one text each: paths, ids, `path:line: reason`.
    """

    topic: str
    state: State
    text: str
    mend: str = ""
    items: tuple[str, ...] = ()


def numbered(number: int, one: str, many: str = "") -> str:
    """`1 session`, `2 sessions`; `many` where it is more than an s, or a verb follows: `1 session is`, `2 sessions are`."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"
