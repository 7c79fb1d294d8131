"""The status rule, for every way in which a turn, a client and the clock can stand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.documents.session.session import Status
from crucible.documents.session.status_rules import (
    Client,
    Turn,
    closing_question,
    is_our_reason,
    open_end,
    pause_reason,
    session_status,
)
from tests.cases import for_each

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
IDLE = timedelta(minutes=60)

turns = st.sampled_from(list(Turn))
clients = st.sampled_from(list(Client))
lasts = st.none() | st.integers(0, 7200).map(lambda seconds: NOW - timedelta(seconds=seconds))


@given(turns, lasts, st.booleans())
def test_a_running_client_makes_every_session_active(turn: Turn, last: datetime | None, waits: bool) -> None:
    assert session_status(turn, last, NOW, IDLE, Client.RUNNING, waits=waits) is Status.ACTIVE


@given(turns, lasts, st.booleans(), st.sampled_from([Client.ENDED, Client.DIED]))
def test_hooks_and_imports_have_one_rule(turn: Turn, last: datetime | None, waits: bool, client: Client) -> None:
    """An import that knows nothing of the client says, once all is quiet, what a hook said at the client's end."""
    by_hooks = session_status(turn, last, NOW, IDLE, client, waits=waits)
    by_import = session_status(turn, last, NOW + 3 * IDLE, IDLE, waits=waits)
    answered = Status.PAUSED if waits else Status.COMPLETED
    done = {Turn.ANSWERED: answered, Turn.MOVED: Status.COMPLETED, Turn.FAULTED: Status.FAILED}
    assert by_hooks is by_import is done.get(turn, Status.PAUSED)


@given(turns, lasts, st.booleans())
def test_where_nothing_is_known_of_the_client_a_young_transcript_is_active(
    turn: Turn, last: datetime | None, waits: bool
) -> None:
    found = session_status(turn, last, NOW, IDLE, waits=waits)
    young = last is not None and NOW - last < IDLE
    assert (found is Status.ACTIVE) == young


@given(turns, clients, lasts, st.booleans(), st.integers(0, 10_000))
def test_time_takes_back_nothing(turn: Turn, client: Client, last: datetime | None, waits: bool, later: int) -> None:
    first = session_status(turn, last, NOW, IDLE, client, waits=waits)
    then = session_status(turn, last, NOW + timedelta(seconds=later), IDLE, client, waits=waits)
    assert then is first or first is Status.ACTIVE


@given(turns, st.sampled_from(["", "Bash make"]), st.sampled_from(["", "asked: Shall I?", "1 open task: Test"]))
def test_every_pause_has_a_reason_that_is_known_for_ours(turn: Turn, waiting: str, waits: str) -> None:
    if turn is not Turn.ANSWERED or waits:
        assert is_our_reason(pause_reason(turn, waiting, waits))


@pytest.mark.parametrize("reason", ["lunch", "", None, "tasks", "2 tasks are open", "asked Bob"])
def test_a_humans_reason_is_not_ours(reason: str | None) -> None:
    assert not is_our_reason(reason)


@pytest.mark.parametrize(
    ("question", "tasks", "reason"),
    [
        ("", [], ""),
        ("Shall I commit?", ["A"], "asked: Shall I commit?"),
        ("", ["Write it"], "1 open task: Write it"),
        ("", ["A", "B", "C"], "3 open tasks: A; B; C"),
        ("", ["A", "B", "C", "D", "E"], "5 open tasks: A; B; C; …"),
    ],
)
def test_what_a_session_waits_for_is_named(question: str, tasks: list[str], reason: str) -> None:
    assert open_end(question, tasks) == reason


@for_each(
    ("text", "question"),
    [
        ("Done.", ""),
        ("Is it? Yes, it is.", ""),
        ("Done. Shall I commit?", "Shall I commit?"),
        ("All tests pass.\n\n**Shall I also update the docs?**", "Shall I also update the docs?"),
        ("Two ways:\n\n1. SQLite\n2. Redis\n\nWhich one do you prefer?\n", "Which one do you prefer?"),
        ("- Keep v1.2 of the API?", "Keep v1.2 of the API?"),
        ("どちらにしますか？", "どちらにしますか？"),
        ("`a?b`", ""),
    ],
)
def test_a_closing_text_that_ends_in_a_question_mark_asks(text: str, question: str) -> None:
    assert closing_question(text) == question
