"""Times that a question names, and their effect on ranking."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.search.answers import age_of_folded
from crucible.search.question_words import NamedTime, is_at_time, times_in
from samples.hostile_texts import hostile_text
from tests.cases import for_each
from tests.unit.search.vaults import ask, session_of, vault_of


@for_each(
    ("text", "moments"),
    [
        ("the outage in July", [NamedTime(7)]),
        ("in July 2026", [NamedTime(7, 2026)]),
        ("what broke on 26 October?", [NamedTime(10, None, 26)]),
        ("on the 3rd of September", [NamedTime(9, None, 3)]),
        ("September 3rd, 2026", [NamedTime(9, 2026, 3)]),
        ("Sept. 3", [NamedTime(9, None, 3)]),
        ("on 2026-02-11", [NamedTime(2, 2026, 11)]),
        ("in 2026-02", [NamedTime(2, 2026)]),
        ("on Friday in October", [NamedTime(10, None, None, 4)]),
        ("on Monday 26 October", [NamedTime(10, None, 26)]),
        ("between March 2025 and May 2026", [NamedTime(3, 2025), NamedTime(5, 2026)]),
        ("caching in May", [NamedTime(5)]),
        ("what may fail", []),
        ("may we march on", []),
        ("the dec alpha and jan", []),
        ("every Tuesday", []),
        ("2026-11-20 03:12:44 [error] timeout", []),
        ("2026-11-20T03:12:44Z timeout", []),
        ("port 2026", []),
        ("", []),
    ],
)
def test_times_are_parsed(text: str, moments: list[NamedTime]) -> None:
    assert list(times_in(text)) == moments


@given(hostile_text() | st.text())
def test_parsing_times_accepts_any_text(text: str) -> None:
    assert not is_at_time(times_in(text), 0)


@pytest.mark.timed
@pytest.mark.parametrize("unit", ["1 ", "2026-", "may ", "1st of ", " ", "monday "])
def test_a_long_text_is_parsed_quickly(unit: str) -> None:
    start = time.perf_counter()
    times_in(unit * 20_000)
    assert time.perf_counter() - start < 1


def test_days_are_in_utc() -> None:
    friday = int(datetime(2026, 10, 9, 23, 59, tzinfo=UTC).timestamp())
    for one in (
        NamedTime(10),
        NamedTime(10, 2026),
        NamedTime(10, None, 9),
        NamedTime(10, 2026, 9),
        NamedTime(10, weekday=4),
    ):
        assert is_at_time([one], friday), one
    for one in (NamedTime(9), NamedTime(10, 2025), NamedTime(10, None, 10), NamedTime(10, weekday=5), NamedTime(99)):
        assert not is_at_time([one], friday), one
    assert is_at_time([NamedTime(1), NamedTime(10)], friday)
    assert not is_at_time([], friday)
    assert not is_at_time([NamedTime(10)], 2**62)


def test_of_equal_events_that_of_the_named_month_ranks_first(
    tmp_path: Path,
) -> None:
    said = ("Which limit did we take?", "A limit of a hundred calls a minute")
    root = vault_of(tmp_path / "v", session_of("one", *said), session_of("two", *said, days=-40))
    answer = ask(root, "the limit of September")
    assert [one.session for one in answer.sessions] == ["two", "one"]
    assert answer.hits[0].event.session == "two"
    assert answer.hits[0].parts["date"] == answer.sessions[0].parts["date"] == 1.6
    assert "date" not in answer.sessions[1].parts
    assert [one.session for one in answer.hits[0].also] == ["one"]
    assert age_of_folded(answer.hits[0]) == "other"
    assert [one.session for one in ask(root, "the limit").sessions] == ["one", "two"]
