"""Which session another one goes on from, where no transcript says so: after `/clear`, and a fork.

Owns what is taken as proof: one process of the client ended the one session and began the other.
"""

from __future__ import annotations

from collections.abc import Iterable

from crucible.flight.spooled import Spooled

__all__ = ["session_before"]

_GOES_ON = frozenset(("clear", "fork"))


def session_before(spooled: Spooled, others: Iterable[Spooled]) -> str:
    """The native id of the session that this one goes on from, "" for none."""
    start = next((line for line in spooled.lines if line.event == "SessionStart"), None)
    if start is None or start.source not in _GOES_ON or start.pid <= 1:
        return ""
    ends = [
        (line.time, other.session)
        for other in others
        for line in other.lines
        if line.pid == start.pid and line.time <= start.time and other.session != spooled.session
    ]
    return max(ends, default=(0.0, ""))[1]
