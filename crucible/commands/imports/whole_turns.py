"""A running session's transcript up to the end of its last whole turn.

Owns what begins and what ends a turn.  A client writes the rows of a turn while it goes on, so a turn that is half there
would be written down half, and a human might edit that half before the rest comes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crucible.clients.events import (
    Answered,
    ContinuedIn,
    Event,
    Faulted,
    Interrupted,
    Prompted,
    Replied,
    Resumed,
    Rewound,
    ToolUsed,
)

_BEGINS = Prompted | Resumed | Replied | ToolUsed
_ENDS = Answered | Interrupted | Faulted | Rewound | ContinuedIn


class WholeTurns:
    """`cut` tells, once all events were asked for, whether some were left for the next time."""

    def __init__(self) -> None:
        self.cut = False

    def until_last_end(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events without those of a turn that has no end yet; a turn is held in memory until its end."""
        held: list[Event] = []
        for event in events:
            if _is_end(event):
                yield from held
                held.clear()
                yield event
            elif held or isinstance(event, _BEGINS):
                held.append(event)
            else:
                yield event
        self.cut = bool(held)


def _is_end(event: Event) -> bool:
    """Whether the trunk's own turn is over; the oldest versions have a subagent's rows between."""
    return not event.at.agent and (isinstance(event, _ENDS) or (isinstance(event, Replied) and event.final))
