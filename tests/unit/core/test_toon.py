"""TOON tables out, and leniently in."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible.core.toon import ToonError, dump_rows, load


def test_rows_are_one_table_two_spaces_deep() -> None:
    rows = [
        {"id": "a", "n": 1, "who": ["x@1", "y"], "none": None},
        {"id": "b, c", "n": 2, "who": [], "none": None},
    ]
    assert dump_rows(rows) == '[2]{id,n,who,none}:\n  a,1,"x@1, y",null\n  "b, c",2,"",null'


def test_blocks_indented_by_one_space_and_with_wrong_counts_are_read() -> None:
    assert load("a[3]{x,y}:\n 1,2\n\n 3,four\nb: 5") == {
        "a": [{"x": 1, "y": 2}, {"x": 3, "y": "four"}],
        "b": 5,
    }


def test_what_is_no_toon_names_the_line() -> None:
    with pytest.raises(ToonError, match="line 2"):
        load('a[1]{x}:\n  "unclosed')


def test_a_byte_that_was_no_text_does_not_stop_a_table() -> None:
    assert load(dump_rows([{"a": "x\udcff"}])) == [{"a": "x\ufffd"}]


VALUES = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(codec="utf-8"))


@given(st.lists(st.fixed_dictionaries({"a": VALUES, "b": VALUES}), min_size=1, max_size=5))
@settings(max_examples=100, deadline=None)
def test_every_row_is_read_back(rows: list[dict[str, object]]) -> None:
    assert load(dump_rows(rows)) == rows
