"""The checks of `cru doctor`, and their results."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CheckState(StrEnum):
    """The severity of a result."""

    GOOD = "good"
    NOTE = "note"
    """Not a problem, but may be worth knowing."""
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check.

    `topic` is one of settings, trust, personas, vault, git-hooks, rename, hooks, mcp, agents, transcripts, secrets, formats,
    spool, sessions, format, index.  `fix` is the command or advice that fixes the problem, or "".  `items` are the paths, ids
    or `path:line: reason` lines that the result is about.
    """

    topic: str
    state: CheckState
    text: str
    fix: str = ""
    items: tuple[str, ...] = ()


def good(topic: str, text: str, fix: str = "", items: tuple[str, ...] = ()) -> CheckResult:
    """Return a result without a problem."""
    return CheckResult(topic, CheckState.GOOD, text, fix, items)


def notice(topic: str, text: str, fix: str = "", items: tuple[str, ...] = ()) -> CheckResult:
    """Return a result that is worth knowing but not a problem."""
    return CheckResult(topic, CheckState.NOTE, text, fix, items)


def bad(topic: str, text: str, fix: str = "", items: tuple[str, ...] = ()) -> CheckResult:
    """Return a result with a problem."""
    return CheckResult(topic, CheckState.BAD, text, fix, items)
