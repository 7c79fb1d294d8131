"""Execution markers: rows with their types and places, what is broken, and the way back."""

from __future__ import annotations

import pytest
import toons
from hypothesis import example, given
from hypothesis import strategies as st

from crucible.documents.markdown.source import Source
from crucible.documents.workflow.marker_blocks import (
    MarkerBlock,
    is_marker_fence,
    read_cell,
    read_marker_block,
    render_cell,
    render_markers,
)
from crucible.documents.workflow.workflow import Cell, Place, Severity
from crucible.documents.workflow.workflow_reader import read_workflow
from samples.hostile_texts import hostile_line
from tests.cases import for_each

HEAD = "execution[1]{phase,status}:"


def read(text: str, first: int = 1) -> MarkerBlock:
    return read_marker_block(text.split("\n"), first)


def problems(text: str) -> list[tuple[str, Place]]:
    return [(d.code, d.place) for d in read(text).diagnostics]


@pytest.mark.parametrize("indent", [" ", "  ", "\t", "      ", " \t"])
def test_rows_are_read_at_any_indent(indent: str) -> None:
    found = read(f"execution[2]{{phase,status,n}}:\n{indent}A,success,1\n\n{indent}B,failed,2.5", 7)
    assert [dict(m.values) for m in found.markers] == [
        {"phase": "A", "status": "success", "n": 1},
        {"phase": "B", "status": "failed", "n": 2.5},
    ]
    assert [m.place for m in found.markers] == [Place(8, len(indent) + 1), Place(10, len(indent) + 1)]
    assert not found.diagnostics


def test_a_row_without_an_indent_is_a_row_and_a_second_header_begins_a_table() -> None:
    found = read(f"{HEAD}\nA,success\nexecution[1]{{status,phase,x}}:\n failed,B,true")
    assert [(m.phase, m.status, m.values.get("x")) for m in found.markers] == [
        ("A", "success", None),
        ("B", "failed", True),
    ]
    assert not found.diagnostics


@for_each(
    ("cell", "value"),
    [
        ("", ""),
        ('""', ""),
        ("true", True),
        ("null", None),
        ('"null"', "null"),
        ("12", 12),
        ("-1.50", -1.5),
        ("1e3", 1000.0),
        ('"12"', "12"),
        ("007", "007"),
        ("$19.99", "$19.99"),
        ("1.0.0", "1.0.0"),
        ("a b", "a b"),
        ("C:\\new", "C:\\new"),
        ('"a,b"', "a,b"),
        ('"say \\"hi\\" \\\\ \\n\\t\\u00e9"', 'say "hi" \\ \n\té'),
        ("2025-12-05T14:32:15Z", "2025-12-05T14:32:15Z"),
        ("[x]", "[x]"),
        ("9" * 5000, "9" * 5000),
        ("1e999", "1e999"),
        ("٣", "٣"),
    ],
)
def test_cells_have_the_types_of_toon(cell: str, value: Cell) -> None:
    (marker,) = read(f"execution[1]{{phase,x,status}}:\n  A, {cell} ,success").markers
    assert marker.values["x"] == value
    assert type(marker.values["x"]) is type(value)


@for_each(
    ("header", "column", "missing"),
    [
        ("execution[1{phase,status}:", 12, "`]`"),
        ("execution[1", 12, "`]`"),
        ("execution 1]{phase,status}:", 11, "`[`"),
        ("execution{phase,status}:", 10, "`[`"),
        ("execution[1]phase,status}:", 13, "`{`"),
        ("execution[1]", 13, "`{`"),
        ("execution[1]{phase,status:", 26, "`}`"),
        ("execution[1]{phase,status", 26, "`}`"),
        ("execution[1]{phase,status}", 27, "`:`"),
        ("  execution[1]{phase,status}  ", 29, "`:`"),
        ("execution[]{phase,status}:", 11, "number of rows"),
        ("execution[x]{phase,status}:", 11, "number of rows"),
        ("execution[-1]{phase,status}:", 11, "number of rows"),
        ("execution[{phase,status}:", 11, "`]`"),
        ("[1]{phase,status}:", 1, "`execution`"),
        ("other[1{phase,status}:", 1, "`execution`"),
        ("execution:", 10, "`[`"),
        ('execution[1]{"phase,status}:', 28, "`}`"),
        ("execution[1]{phase,status}: A,success", 29, "on its own line"),
    ],
)
def test_a_broken_header_is_told_with_what_is_missing_and_where(header: str, column: int, missing: str) -> None:
    found = read_marker_block([header, " A,success"], 5)
    assert not found.markers
    (problem,) = found.diagnostics
    assert (problem.code, problem.severity, problem.place) == ("bad-header", Severity.ERROR, Place(5, column))
    assert missing in problem.message


def test_a_broken_header_does_not_stop_the_table_behind_it() -> None:
    found = read(f"execution[1{{phase,status}}:\n A,success\n{HEAD}\n B,success")
    assert [m.phase for m in found.markers] == ["B"]


def test_phase_and_status_are_required_and_others_are_kept() -> None:
    assert problems("execution[1]{phase,agent}:\n A,x") == [("missing-column", Place(1, 1))]
    assert len(problems(" execution[1]{x}:\n A")) == 2
    (marker,) = read('execution[1]{status,phase,"odd key"}:\n success,A,7').markers
    assert marker.values == {"status": "success", "phase": "A", "odd key": 7}


def test_columns_that_mean_something_are_known_in_any_case_and_others_keep_theirs() -> None:
    found = read("execution[1]{Phase,STATUS,Tokens_Used,Host}:\n  A,success,5,mill")
    assert not found.diagnostics
    (marker,) = found.markers
    assert marker.values == {"phase": "A", "status": "success", "tokens_used": 5, "Host": "mill"}
    assert (marker.phase, marker.status) == ("A", "success")
    assert problems("execution[1]{Phase,status,phase}:\n A,success,B") == [("duplicate-column", Place(1, 1))]


def test_a_row_that_does_not_fit_is_told_and_the_others_count() -> None:
    text = 'execution[4]{phase,status}:\n A,success\n B\n  C,"success\n D,failed,3\n E,"x"y\n F,skipped'
    found = read(text)
    assert [m.phase for m in found.markers] == ["A", "F"]
    assert problems(text) == [
        ("bad-row", Place(3, 2)),
        ("bad-row", Place(4, 13)),
        ("bad-row", Place(5, 2)),
        ("bad-row", Place(6, 7)),
        ("wrong-count", Place(1, 1)),
    ]
    assert found.diagnostics[0].message == "the row has 1 cell, the header names 2 columns"
    assert '`"` is missing' in found.diagnostics[1].message


def test_a_wrong_count_and_an_unknown_status_are_warnings_and_rows_are_kept() -> None:
    found = read("execution[3]{phase,status}:\n A,success\n B, done")
    assert [(d.code, d.severity, d.place) for d in found.diagnostics] == [
        ("unknown-status", Severity.WARNING, Place(3, 5)),
        ("wrong-count", Severity.WARNING, Place(1, 1)),
    ]
    assert [m.status for m in found.markers] == ["success", "done"]


def test_a_row_without_phase_or_status_is_told_and_kept() -> None:
    found = read('execution[3]{phase,status}:\n A,\n "",success\n null,null')
    assert [(d.code, d.severity, d.place) for d in found.diagnostics] == [
        ("bad-row", Severity.ERROR, Place(2, 4)),
        ("bad-row", Severity.ERROR, Place(3, 2)),
        ("bad-row", Severity.ERROR, Place(4, 2)),
        ("bad-row", Severity.ERROR, Place(4, 7)),
    ]
    assert [d.message for d in found.diagnostics[:2]] == ["the row has no status", "the row has no phase"]
    assert [(m.phase, m.status) for m in found.markers] == [("A", ""), ("", "success"), ("", "")]


def test_other_tables_empty_blocks_and_repeated_columns_are_told() -> None:
    assert problems(f"totals[1]{{a}}:\n 1\n{HEAD}\n A,success") == [("unknown-table", Place(1, 1))]
    assert problems(f"total: 5\n{HEAD}\n A,success\nsummary:\n  runs: 3\n  x\n") == [
        ("unknown-table", Place(1, 1)),
        ("unknown-table", Place(4, 1)),
    ]
    assert problems("") == [("empty-block", Place(1, 1))]
    assert problems("execution[1]{phase,status,status}:\n A,x,success") == [("duplicate-column", Place(1, 1))]


@pytest.mark.parametrize(("mark", "delimiter"), [("|", "|"), ("\t", "\t"), (",", ",")])
def test_other_delimiters_of_toon_are_read(mark: str, delimiter: str) -> None:
    row = delimiter.join(["A", "", "success", "x"])
    columns = delimiter.join(["phase", "e", "status", "z"])
    found = read(f"execution[1{mark}]{{{columns}}}:\n  {row}")
    assert [dict(m.values) for m in found.markers] == [{"phase": "A", "e": "", "status": "success", "z": "x"}]
    assert not found.diagnostics


def test_the_info_word_alone_makes_a_marker_block() -> None:
    assert is_marker_fence("session-toon")
    assert is_marker_fence("session-toon of today")
    assert not is_marker_fence("session-toons")
    assert not is_marker_fence("toon")


# --- the way back -----------------------------------------------------------------------------------------------------

_TEXT = st.one_of(
    st.sampled_from(
        ["", " ", "true", "null", "False", "1", "-0", "1e5", "007", "a,b", 'q"q', "back\\slash", "l1\nl2", "\r", "\t", "```",
         "~~~", "- x", "#", "[1]", "{a}", "a:b", "x y", " lead", "trail ", "\u2028", "\x85", "\x00", "é😀", "%%", "|", "0x1f",
         ".5", "+1", "NaN", "inf", "1_000", "2025-01-01"]
    ),
    hostile_line(),
    st.text(max_size=12),
)  # fmt: skip
_CELL = st.one_of(
    _TEXT,
    st.integers(-(10**40), 10**40),
    st.booleans(),
    st.none(),
    st.floats(allow_nan=False, allow_infinity=False),
)
_KEY = st.one_of(
    st.sampled_from(["agent", "input", "items_count", "odd key", "a.b", "[x]", "1st", "é"]),
    st.text(min_size=1, max_size=5),
)


def _sound(text: Cell) -> bool:
    return not isinstance(text, str) or not any(0xD800 <= ord(c) < 0xE000 for c in text)


_ROW = st.fixed_dictionaries(
    {"phase": _TEXT.filter(_sound), "status": st.sampled_from(["success", "failed", "skipped", "timeout"])},
    optional={"agent": _CELL.filter(_sound), "a,b": _CELL.filter(_sound), "x y": _CELL.filter(_sound)},
)


def _same(one: Cell, other: Cell) -> bool:
    return one == other and (type(one) is type(other) or not {type(one), type(other)} & {bool, str})


@given(_CELL.filter(_sound))
@example("```")
@example("true")
@example(";\n")
def test_every_cell_comes_back_and_is_the_same_to_another_reader(value: Cell) -> None:
    text = render_cell(value)
    assert _same(read_cell(text), value)
    assert "\n" not in text
    assert "\r" not in text
    assert toons.loads(f"execution[1]{{a,b}}:\n  {text},x") == {"execution": [{"a": value, "b": "x"}]}


@given(st.lists(_ROW, min_size=1, max_size=5))
def test_a_block_comes_back_from_a_note(rows: list[dict[str, Cell]]) -> None:
    lines = render_markers(rows)
    workflow = read_workflow(Source("\n".join(["## S", "", *lines, "", "## T", "a → b", ""])), "w")
    step, other = workflow.steps
    assert len(other.flows) == 1
    assert not [d for d in workflow.diagnostics if d.message != "the row has no phase"]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    assert [list(marker.values) for marker in step.markers] == [columns] * len(rows)
    for marker, row in zip(step.markers, rows, strict=True):
        assert all(_same(marker.values[name], row.get(name)) for name in columns)


@given(_KEY.filter(_sound), _CELL.filter(_sound))
def test_every_column_name_comes_back(name: str, value: Cell) -> None:
    row = {"phase": "P", "status": "success", name: value}
    (marker,) = read("\n".join(render_markers([row])[1:-1])).markers
    assert list(marker.values) == list(row)


def test_a_block_is_written_two_blanks_deep() -> None:
    rows: list[dict[str, Cell]] = [
        {"phase": "A", "status": "success", "ms": 3},
        {"phase": "B", "status": "failed", "why": "a, b"},
    ]
    assert render_markers(rows) == [
        "```session-toon",
        "execution[2]{phase,status,ms,why}:",
        "  A,success,3,null",
        '  B,failed,null,"a, b"',
        "```",
    ]
    assert render_markers([]) == []


def test_what_toon_cannot_hold_is_written_as_what_comes_nearest() -> None:
    assert render_cell(float("nan")) == "null"
    assert render_cell("x\udcff") == "x\ufffd"
    assert str(read_cell(render_cell(10**400))).startswith("0x")


@given(st.lists(st.one_of(hostile_line(), st.sampled_from([HEAD, " A,success", ' "', "execution[", " ,"])), max_size=8))
def test_reading_never_raises_and_places_stand_in_the_block(lines: list[str]) -> None:
    found = read_marker_block(lines, 3)
    for place in [d.place for d in found.diagnostics] + [m.place for m in found.markers]:
        assert 2 <= place.line <= 2 + len(lines)
        assert 1 <= place.column <= (len(lines[place.line - 3]) + 1 if place.line > 2 else 1)
