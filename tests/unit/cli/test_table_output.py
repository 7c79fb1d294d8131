"""Rows as TOON tables."""

from __future__ import annotations

import toons
from hypothesis import given
from hypothesis import strategies as st

from crucible.cli.table_output import flat_rows


def test_rows_are_one_table_two_spaces_deep() -> None:
    rows = [
        {"id": "a", "n": 1, "who": ["x@1", "y"], "none": None},
        {"id": "b, c", "n": 2, "who": [], "none": None},
    ]
    assert toons.dumps(flat_rows(rows)) == '[2]{id,n,who,none}:\n  a,1,"x@1, y",null\n  "b, c",2,"",null'


def test_a_byte_that_was_no_text_does_not_stop_a_table() -> None:
    assert toons.loads(toons.dumps(flat_rows([{"a": "x\udcff"}]))) == [{"a": "x\ufffd"}]


VALUES = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(codec="utf-8"))


@given(st.lists(st.fixed_dictionaries({"a": VALUES, "b": VALUES}), min_size=1, max_size=5))
def test_every_row_is_read_back(rows: list[dict[str, object]]) -> None:
    assert toons.loads(toons.dumps(flat_rows(rows))) == rows
