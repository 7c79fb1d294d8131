"""Rows as lines and back, lists as cells and back, paths as cells and back."""

from __future__ import annotations

import os

import pytest
import toons
from hypothesis import given
from hypothesis import strategies as st

from crucible.vault.index.query import COST, UNPRICED
from crucible.vault.index.schema import (
    LISTS,
    NUMBERS,
    TABLES,
    TIMES,
    UNDATED,
    cell_of_path,
    decode_lines,
    encode_cell,
    encode_rows,
    head_of,
    join_list,
    path_of_cell,
    shard_of,
    split_list,
)

any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
# fmt: off
MARKS = (
    "", " ", "  a ", "null", "true", "false", "0", "-1", "007", "1e5", "1.5", ".5", "-0", "+1", "0x10", "nan", "inf", "[1]", "{a}",
    "[3]{a,b}:", "- a", "-", "a: b", ":", ",", "a,b", '"', '""', '"a"', "\\", "\\n", '\\"', "\n", "\r\n", "\t", "a|b", "#", "#a",
    "\x00", "\x0b", "\x0c", "\x1b[31m", "\x85", "\u2028", "\u2029", "\ufeff", "\ufffd", "\ufffd41", "\ufffd--", "😀", "é", "e\u0301",
)
# fmt: on
texts = st.one_of(any_text, st.sampled_from(MARKS), st.lists(st.sampled_from(MARKS), max_size=4).map("".join))
cells = st.one_of(texts, st.none(), st.integers(-(2**63), 2**64))
tables = st.sampled_from([*TABLES, "files"])


@st.composite
def rows_of_a_table(draw: st.DrawFn) -> tuple[str, list[tuple[object, ...]]]:
    table = draw(tables)
    width = len(toons_columns(table))
    return table, draw(st.lists(st.tuples(*[cells] * width), max_size=4))


def toons_columns(table: str) -> list[str]:
    """As the head says them."""
    return head_of(table, 0).decode().partition("{")[2].partition("}")[0].split(",")


@given(rows_of_a_table())
def test_rows_come_back_from_their_lines(given_rows: tuple[str, list[tuple[object, ...]]]) -> None:
    table, rows = given_rows
    lines = encode_rows(table, rows)
    assert [tuple(row.values()) for row in decode_lines(table, lines)] == rows
    assert all(list(row) == toons_columns(table) for row in decode_lines(table, lines))


@given(rows_of_a_table())
def test_a_row_is_one_line_whatever_its_neighbours(
    given_rows: tuple[str, list[tuple[object, ...]]],
) -> None:
    """Old lines and new ones are put together without being read."""
    table, rows = given_rows
    lines = encode_rows(table, rows)
    assert len(lines) == len(rows)
    assert not any(b"\n" in line or b"\r" in line for line in lines)
    assert [line for row in rows for line in encode_rows(table, [row])] == lines
    assert decode_lines(table, [*lines, *lines]) == decode_lines(table, lines) * 2


@given(rows_of_a_table())
def test_a_shard_is_a_table_of_toon(given_rows: tuple[str, list[tuple[object, ...]]]) -> None:
    table, rows = given_rows
    if rows:
        text = head_of(table, len(rows)) + b"\n".join(encode_rows(table, rows))
        assert [tuple(row.values()) for row in toons.loads(text.decode())[table]] == rows


@given(texts, st.lists(cells, min_size=10, max_size=10))
def test_a_cell_is_encoded_in_a_line_as_on_its_own(text: str, others: list[object]) -> None:
    """Lines of a note are found by its path's cell."""
    (line,) = encode_rows("callouts", [(text, *others)])
    assert line.startswith(b"  " + encode_cell(text) + b",")


ROW = b"  a,1,b,c,0,d,e,f,g,h,90"


@pytest.mark.parametrize(
    "lines",
    [[b"  a,b"], [b"garbage"], [ROW, b""], [ROW.replace(b"a", b'"a', 1)], [b"\xff"], [ROW + b",7"]],
)
def test_lines_of_another_table_are_refused(lines: list[bytes]) -> None:
    with pytest.raises(ValueError):
        decode_lines("callouts", lines)


@given(st.lists(texts, max_size=5))
def test_lists_come_back_from_their_text(items: list[str]) -> None:
    assert split_list(join_list(items)) == tuple(items)


@pytest.mark.parametrize("long", ["x" * 200_000, "x," * 200_000, '"' * 200_000, "\n" * 200_000])
def test_a_list_may_hold_long_items(long: str) -> None:
    assert split_list(join_list(["a", long, "b"])) == ("a", long, "b")


@pytest.mark.parametrize(
    ("items", "text"),
    [
        ((), ""),
        (("a",), "a"),
        (("a", "b@1.2"), "a, b@1.2"),
        (("a, b", 'c"d'), '"a, b", "c""d"'),
        (("",), '""'),
    ],
)
def test_a_list_reads_as_people_write_one(items: tuple[str, ...], text: str) -> None:
    assert join_list(items) == text
    assert split_list(text) == items


file_names = st.binary(max_size=12).map(os.fsdecode)


@given(
    st.one_of(file_names, any_text, st.lists(st.sampled_from(["\ufffd", "4", "1", "-", "\udcff", "F"])).map("".join))
)
def test_paths_come_back_from_their_cells(path: str) -> None:
    cell = cell_of_path(path)
    assert path_of_cell(cell) == path
    assert cell.encode().decode() == cell


@given(st.lists(file_names, min_size=2, max_size=2, unique=True))
def test_two_paths_have_two_cells(paths: list[str]) -> None:
    assert cell_of_path(paths[0]) != cell_of_path(paths[1])


def test_a_byte_that_is_no_text_can_be_read_in_its_cell() -> None:
    assert cell_of_path(os.fsdecode(b"a\xffb")) == "a\ufffdFFb"
    assert cell_of_path("a\ufffdb") == "a\ufffd--b"
    assert cell_of_path("é.md") == "é.md"


@given(any_text)
def test_what_is_no_cell_of_ours_is_still_a_path(cell: str) -> None:
    assert isinstance(path_of_cell(cell), str)


def test_a_shard_is_the_month_of_the_start() -> None:
    assert shard_of("2026-11-21T20:26:47Z") == "2026-11"
    assert shard_of("0001-01-01T00:00:00Z") == "0001-01"
    assert {shard_of(None), shard_of("")} == {UNDATED}


def test_the_kinds_of_columns_are_distinguished() -> None:
    columns = {name for table in TABLES.values() for name in table}
    assert columns | {UNPRICED} > LISTS
    assert columns > TIMES
    assert columns | {"cost", COST} > NUMBERS
    # `participants` is a list of names and `phases` a number in `sessions`, whatever the tables are called.
    assert not LISTS & NUMBERS
    assert not TIMES & (LISTS | NUMBERS)
    assert all("path" in table for table in TABLES.values())
    assert all(table[0] == "path" for name, table in TABLES.items() if name != "sessions")
