"""Words, sentences and durations of plain text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.text import (
    CLAUSE_END,
    LINE_END,
    PROSE_END,
    TITLE_END,
    cut_at_word,
    day_words,
    elapsed_words,
    long_words,
    overlap,
    split_sentences,
    stem,
    stop_words,
)

NOW = datetime(2026, 5, 6, 1, tzinfo=UTC)


def test_a_list_of_stop_words_holds_those_it_includes() -> None:
    assert stop_words("file_names") < stop_words("search") < stop_words("briefing")
    assert not any(word.startswith(("+", "#", "[")) for word in stop_words("briefing"))


def test_a_stem_keeps_three_letters() -> None:
    assert stem("retrying", ("ing", "s")) == "retry"
    assert stem("king", ("ing", "s")) == "king"
    assert stem("runs", ("ing", "s")) == "run"


def test_long_words_have_four_characters() -> None:
    assert long_words("The Token_Bucket is full") == {"token_bucket", "full"}


@pytest.mark.parametrize(("of", "share"), [("first", 1 / 4), ("smaller", 1 / 2), ("larger", 1 / 4), ("union", 1 / 5)])
def test_overlap_is_a_share_of_one_set_or_of_both(of: str, share: float) -> None:
    assert overlap({1, 2, 3, 4}, {4, 5}, of) == share  # type: ignore[arg-type]  # one of the four
    assert overlap({1}, set(), of) == 0  # type: ignore[arg-type]


@given(st.text(alphabet="ab .!?:\n。e.g", max_size=60))
def test_sentences_together_are_the_text(text: str) -> None:
    for end in (PROSE_END, TITLE_END, CLAUSE_END, LINE_END):
        assert "".join(split_sentences(text, end)) == text


def test_an_abbreviation_ends_no_sentence_of_prose() -> None:
    assert split_sentences("Use a tool, e.g. Ruff. It is fast. or so") == [
        "Use a tool, e.g. Ruff.",
        " It is fast. or so",
    ]
    assert split_sentences("It is fast. or so", TITLE_END) == ["It is fast.", " or so"]


@given(st.text(alphabet="ab ,", max_size=40), st.integers(2, 50))
def test_a_cut_text_fits_and_says_that_it_was_cut(text: str, limit: int) -> None:
    found = cut_at_word(text, limit)
    assert len(found) <= limit
    assert found == text if len(text) <= limit else found.endswith("…")


def test_a_day_is_counted_by_the_calendar() -> None:
    assert day_words(NOW - timedelta(hours=2), NOW) == "yesterday"
    assert day_words(NOW - timedelta(days=3), NOW) == "3 days ago"
    assert day_words(NOW + timedelta(days=1), NOW) == "today"


def test_elapsed_time_is_exact_below_a_minute() -> None:
    assert [elapsed_words(ms) for ms in (None, 3210, 250_000)] == ["", "3.2 s", "4 min 10 s"]
