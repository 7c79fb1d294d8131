"""What a check of `cru doctor` found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CheckState(StrEnum):
    """How good a result is."""

    GOOD = "good"
    NOTE = "note"
    """Nothing is wrong, and it may be worth knowing."""
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One result.

    `topic` is one of settings, trust, vault, git-hooks, rename, hooks, mcp, agents, transcripts, secrets, spool, sessions, format, index.  `mend` is
    the command that fixes it, or "".
    `items` names what it is about, one text each: paths, ids, `path:line: reason`.
    """

    topic: str
    state: CheckState
    text: str
    mend: str = ""
    items: tuple[str, ...] = ()


def good(topic: str, text: str, mend: str = "", items: tuple[str, ...] = ()) -> CheckResult:
    """Nothing is wrong."""
    return CheckResult(topic, CheckState.GOOD, text, mend, items)


def notice(topic: str, text: str, mend: str = "", items: tuple[str, ...] = ()) -> CheckResult:
    """Nothing is broken, and it may be worth knowing."""
    return CheckResult(topic, CheckState.NOTE, text, mend, items)


def bad(topic: str, text: str, mend: str = "", items: tuple[str, ...] = ()) -> CheckResult:
    """Something is wrong."""
    return CheckResult(topic, CheckState.BAD, text, mend, items)


def numbered(number: int, one: str, many: str = "") -> str:
    """`1 session`, `2 sessions`; `many` where it is more than an s, or a verb follows: `1 session is`, `2 sessions are`."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"
