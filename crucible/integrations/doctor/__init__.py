"""The checks of `cru doctor`, and their results."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CheckState(StrEnum):
    """The severity of a result."""

    GOOD = "good"
    NOTE = "note"
    """Nothing is wrong, but it may be worth knowing."""
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One result.

    `topic` is one of settings, trust, vault, git-hooks, rename, hooks, mcp, agents, transcripts, secrets, spool,
    sessions, format, index.  `fix` is the command or advice that fixes it, or "".  `items` are the paths, ids or
    `path:line: reason` that it is about.
    """

    topic: str
    state: CheckState
    text: str
    fix: str = ""
    items: tuple[str, ...] = ()


def good(topic: str, text: str, fix: str = "", items: tuple[str, ...] = ()) -> CheckResult:
    """Return a result: nothing is wrong."""
    return CheckResult(topic, CheckState.GOOD, text, fix, items)


def notice(topic: str, text: str, fix: str = "", items: tuple[str, ...] = ()) -> CheckResult:
    """Return a result: nothing is broken, but it may be worth knowing."""
    return CheckResult(topic, CheckState.NOTE, text, fix, items)


def bad(topic: str, text: str, fix: str = "", items: tuple[str, ...] = ()) -> CheckResult:
    """Return a result: something is wrong."""
    return CheckResult(topic, CheckState.BAD, text, fix, items)


def numbered(number: int, one: str, many: str = "") -> str:
    """Return `1 session` or `2 sessions`; `many` is an irregular plural, or one with a verb (`sessions are`)."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"
