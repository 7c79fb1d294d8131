"""Which session another one goes on from, where no transcript says so: after `/clear`, and a fork.

Owns what is taken as proof: one process of the client ended the one session and began the other.
"""

from __future__ import annotations

from collections.abc import Iterable

from crucible.vault.events.spooled import Spooled, SpoolLine

__all__ = ["session_before"]

_GOES_ON = frozenset(("clear", "fork"))


def session_before(spooled: Spooled, others: Iterable[Spooled]) -> str:
    """The native id of the session that this one goes on from, "" for none."""
    if not spooled.lines:
        return ""
    first = next((line for line in spooled.lines if line.event == "SessionStart"), spooled.lines[0])
    if first.pid <= 1:
        return ""
    if first.event != "SessionStart":
        return _forked_from(spooled.session, first, others)
    ends = [
        (line.time, other.session)
        for other in others
        for line in other.lines
        if line.pid == first.pid and line.time <= first.time and other.session != spooled.session
    ]
    return max(ends, default=(0.0, ""))[1] if first.source in _GOES_ON else ""


def _forked_from(session: str, first: SpoolLine, others: Iterable[Spooled]) -> str:
    """A fork made from the command line begins without a start: that was told of the old session, and nothing after it."""
    for other in others:
        lines = [line for line in other.lines if line.pid == first.pid]
        opened = lines[-1:] and lines[-1].event == "SessionStart" and lines[-1].source == "resume"
        if other.session != session and opened and lines[-1].time <= first.time:
            return other.session
    return ""
