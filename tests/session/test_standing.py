"""The status rule, for every way in which a turn, a client and the clock can stand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from crucible.session.model import Status
from crucible.session.standing import (
    CLOSED_REASON,
    DIED_REASON,
    Client,
    Turn,
    pause_reason,
    session_status,
)

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
IDLE = timedelta(minutes=60)

turns = st.sampled_from(list(Turn))
clients = st.sampled_from(list(Client))
lasts = st.none() | st.integers(0, 7200).map(lambda seconds: NOW - timedelta(seconds=seconds))


@given(turns, lasts, st.booleans())
def test_a_running_client_makes_every_session_active(
    turn: Turn, last: datetime | None, goes_on: bool
) -> None:
    assert session_status(turn, last, NOW, IDLE, Client.RUNNING, goes_on=goes_on) is Status.ACTIVE


@given(turns, lasts, st.booleans())
def test_where_nothing_is_known_of_the_client_only_the_clock_and_the_turn_count(
    turn: Turn, last: datetime | None, goes_on: bool
) -> None:
    found = session_status(turn, last, NOW, IDLE, goes_on=goes_on)
    done = {Turn.ANSWERED: Status.COMPLETED, Turn.MOVED: Status.COMPLETED, Turn.FAULTED: Status.FAILED}
    young = last is not None and NOW - last < IDLE
    assert found is (Status.ACTIVE if young else done.get(turn, Status.PAUSED))


@given(turns, lasts, st.booleans())
def test_a_client_that_ended_leaves_nothing_active(turn: Turn, last: datetime | None, goes_on: bool) -> None:
    found = session_status(turn, last, NOW, IDLE, Client.ENDED, goes_on=goes_on)
    quiet = last is None or NOW - last >= IDLE
    answered = Status.COMPLETED if quiet and not goes_on else Status.PAUSED
    done = {Turn.ANSWERED: answered, Turn.MOVED: Status.COMPLETED, Turn.FAULTED: Status.FAILED}
    assert found is done.get(turn, Status.PAUSED)


@given(turns, lasts, st.booleans())
def test_a_client_that_died_completes_nothing(turn: Turn, last: datetime | None, goes_on: bool) -> None:
    found = session_status(turn, last, NOW, IDLE, Client.DIED, goes_on=goes_on)
    assert found is (Status.FAILED if turn is Turn.FAULTED else Status.PAUSED)


@given(turns, clients, lasts, st.integers(0, 10_000))
def test_what_a_clients_end_completed_time_does_not_take_back(
    turn: Turn, client: Client, last: datetime | None, later: int
) -> None:
    first = session_status(turn, last, NOW, IDLE, client)
    then = session_status(turn, last, NOW + timedelta(seconds=later), IDLE, client)
    if first in (Status.COMPLETED, Status.FAILED):
        assert then is first
    if first is Status.PAUSED:
        assert then in (Status.PAUSED, Status.COMPLETED)


@given(turns, clients, st.sampled_from(["", "Bash make"]))
def test_every_pause_has_a_reason_and_a_death_is_told_by_its_own(
    turn: Turn, client: Client, waiting: str
) -> None:
    reason = pause_reason(turn, waiting, client)
    assert reason
    assert reason.startswith(DIED_REASON) == (client is Client.DIED)
    assert (reason == CLOSED_REASON) == (turn is Turn.ANSWERED and client is not Client.DIED)


def test_an_idle_time_of_zero_completes_at_once() -> None:
    assert session_status(Turn.ANSWERED, NOW, NOW, timedelta(0), Client.ENDED) is Status.COMPLETED
