"""Merged lines equal those of a plain sort of all rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.vault.index import index_draft as module
from crucible.vault.index.index_draft import merged_lines, split_lines
from crucible.vault.index.schema import TABLES, decode_lines, encode_cell, encode_rows

names = st.one_of(
    st.sampled_from(
        (
            "a",
            "b",
            "a,b",
            '"',
            'a"b',
            "a\\",
            "\\",
            '\\"',
            ",",
            "null",
            "007",
            "-",
            " ",
            "a: b",
            "é",
            "\n",
            "\ufffdFF",
        )
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
)
times = st.sampled_from(
    (
        "2026-11-21T20:26:47Z",
        "2026-11-21T20:26:48Z",
        "2026-11-03T00:00:00Z",
        "2026-11-30T23:59:59Z",
        "0999-11-01T00:00:00Z",
    )
)


class OneNote(NamedTuple):
    """What stands of one note in a shard: `cells` of its lines in any table."""

    path: str
    started: str | None
    id: str
    cells: list[str]

    def rows(self, table: str) -> list[tuple[object, ...]]:
        width = len(TABLES[table])
        if table == "sessions":
            rest = [*self.cells, *[None] * width]
            return [(self.started, self.id, self.path, *rest[: width - 3])]
        return [(self.path, cell, *[None] * (width - 2)) for cell in self.cells]


def notes(started: st.SearchStrategy[str | None]) -> st.SearchStrategy[list[OneNote]]:
    one = st.builds(OneNote, names, started, names, st.lists(names, max_size=3))
    return st.lists(one, max_size=8, unique_by=lambda found: found.path)


shards = st.one_of(notes(times), notes(st.none()))


def in_order(table: str, found: list[OneNote]) -> list[bytes]:
    """All lines, sorted the plain way: by time downwards, then by the cells of id and path."""
    by_cell = sorted(found, key=lambda one: encode_cell(one.path))
    if table == "sessions":
        by_cell.sort(key=lambda one: encode_cell(one.id))
        by_cell.sort(key=lambda one: one.started or "", reverse=True)
    return [line for one in by_cell for line in encode_rows(table, one.rows(table))]


@contextmanager
def few(number: int) -> Iterator[None]:
    """Whether few new lines are put in their places or many are merged is a matter of speed."""
    kept = module._FEW
    module._FEW = number
    try:
        yield
    finally:
        module._FEW = kept


@pytest.mark.parametrize("table", TABLES)
@given(shard=shards, data=st.data(), number=st.sampled_from([0, 1, 50]))
def test_merging_is_putting_all_together_and_sorting(
    table: str, shard: list[OneNote], data: st.DataObject, number: int
) -> None:
    sides = [data.draw(st.sampled_from(("kept", "dropped", "new", "changed"))) for _ in shard]
    old = [one for one, side in zip(shard, sides, strict=True) if side != "new"]
    before = in_order(table, old)
    drop = {encode_cell(one.path) for one, side in zip(shard, sides, strict=True) if side in {"dropped", "changed"}}
    new = [one for one, side in zip(shard, sides, strict=True) if side == "new"]
    new += [
        one._replace(id=one.id + "x", cells=one.cells[1:])
        for one, side in zip(shard, sides, strict=True)
        if side == "changed"
    ]
    lines = [line for one in data.draw(st.permutations(new)) for line in encode_rows(table, one.rows(table))]
    with few(number):
        merged = merged_lines(table, b"\n".join(before), len(before), drop, lines)
        after = list(merged.lines)
    kept = [one for one, side in zip(shard, sides, strict=True) if side == "kept"]
    expected = in_order(table, [*kept, *new])
    assert after == expected
    assert merged.rows == len(expected)
    assert merged.changed or after == before
    assert len(decode_lines(table, after)) == merged.rows


@pytest.mark.parametrize("table", TABLES)
@given(shard=shards)
def test_what_names_no_line_changes_nothing(table: str, shard: list[OneNote]) -> None:
    before = in_order(table, shard)
    drop = {encode_cell("sessions/other.md"), encode_cell('"'[:0] + "x" * 9)}
    merged = merged_lines(table, b"\n".join(before), len(before), drop, [])
    assert not merged.changed
    assert list(merged.lines) == before


def test_the_newest_session_comes_first_and_equal_times_go_by_id() -> None:
    found = [
        OneNote("p", "2026-11-01T00:00:00Z", "b", []),
        OneNote("q", "2026-11-09T00:00:00Z", "z", []),
        OneNote("r", "2026-11-10T00:00:00Z", "y", []),
        OneNote("s", "2026-11-01T00:00:00Z", "a", []),
    ]
    new = [line for one in found for line in encode_rows("sessions", one.rows("sessions"))]
    merged = merged_lines("sessions", b"", 0, set(), new)
    assert [row["id"] for row in decode_lines("sessions", list(merged.lines))] == ["y", "z", "a", "b"]


def test_lines_of_one_note_stay_in_the_notes_order() -> None:
    lines = [line for n in "93712" for line in encode_rows("callouts", [("p", n, None, "z", *[None] * 7)])]
    others = encode_rows("callouts", [("q", 1, None, "a", *[None] * 7), ("o", 1, None, "b", *[None] * 7)])
    merged = list(merged_lines("callouts", b"\n".join(lines), 5, set(), others).lines)
    assert merged[1:-1] == lines


@given(st.lists(st.binary(min_size=1).map(lambda line: line.replace(b"\n", b"")).filter(bool)))
def test_lines_are_split_as_they_were_joined(lines: list[bytes]) -> None:
    assert list(split_lines(b"\n".join(lines))) == lines
