"""How much of a running session is told: whole turns."""

from __future__ import annotations

import pytest

from crucible.clients.events import (
    Answered,
    At,
    ContinuedIn,
    Event,
    Faulted,
    Interrupted,
    Prompted,
    Replied,
    Rewound,
)
from crucible.commands.imports.trunk_events import WholeTurns

AT = At(1)
TURN: list[Event] = [Prompted(AT, "Go"), Replied(AT, "I look.")]


@pytest.mark.parametrize(
    "end",
    [Answered(AT), Interrupted(AT), Faulted(AT, "overloaded"), Rewound(AT, 1), ContinuedIn(AT, "s2")],
)
def test_a_turn_is_complete_at_any_kind_of_end(end: Event) -> None:
    turns = WholeTurns()
    assert list(turns.until_last_end(TURN)) == []
    assert turns.cut
    assert list(turns.until_last_end([*TURN, end])) == [*TURN, end]
    assert not turns.cut
