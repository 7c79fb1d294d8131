"""A note's exact text: bytes in and out, the line table, and edits that touch nothing but their spans."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.errors import EditRefused
from crucible.documents.markdown.source import NOWHERE, Edit, Lines, Source, Span, apply_edits
from tests.cases import for_each

BOM = b"\xef\xbb\xbf"
ENDS = ("\n", "\r\n", "\r")
PIECES = (*ENDS, "a", "bc ", "\u2028", "\x0c", "\x0b", "\x85", "é", "😀", "\ufeff", "\udc80")
texts = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


# --- bytes --------------------------------------------------------------------------------------------------------


@given(st.binary() | texts.map(lambda text: text.encode("utf-8", "surrogateescape")))
def test_any_bytes_come_back_exactly(data: bytes) -> None:
    assert Source.from_bytes(data).to_bytes() == data
    assert Source.from_bytes(BOM + data).to_bytes() == BOM + data


def test_a_byte_order_mark_is_peeled_off_and_kept() -> None:
    source = Source.from_bytes(BOM + b"---\n")
    assert source == Source("---\n", bom=True)
    assert source.to_bytes() == BOM + b"---\n"


def test_only_the_first_byte_order_mark_is_peeled_off() -> None:
    assert Source.from_bytes(BOM + BOM + b"a").text == "\ufeffa"


def test_without_a_byte_order_mark_none_is_written() -> None:
    source = Source.from_bytes(b"a")
    assert not source.bom
    assert source.to_bytes() == b"a"
    assert Source("a").to_bytes() == b"a"


def test_bytes_that_are_no_utf_8_travel_as_lone_surrogates() -> None:
    source = Source.from_bytes(b"caf\xe9 \xc3\xa9")
    assert source.text == "caf\udce9 é"
    assert source.to_bytes() == b"caf\xe9 \xc3\xa9"


# --- lines --------------------------------------------------------------------------------------------------------


@for_each(
    ("text", "starts", "lines"),
    [
        ("", [0, 0], [""]),
        ("a", [0, 1], ["a"]),
        ("a\n", [0, 2, 2], ["a", ""]),
        ("a\nb", [0, 2, 3], ["a", "b"]),
        ("a\r\nb", [0, 3, 4], ["a", "b"]),
        ("a\rb", [0, 2, 3], ["a", "b"]),
        ("a\n\rb", [0, 2, 3, 4], ["a", "", "b"]),
        ("a\r\r\nb\n", [0, 2, 4, 6, 6], ["a", "", "b", ""]),
        ("a\u2028b\x0cc\x0bd\x85e\u2029f\x1cg", [0, 13], ["a\u2028b\x0cc\x0bd\x85e\u2029f\x1cg"]),
    ],
)
def test_lines_end_at_lf_crlf_and_lone_cr_and_nowhere_else(text: str, starts: list[int], lines: list[str]) -> None:
    source = Source(text)
    assert source.starts == starts
    assert source.lines == lines


@given(texts)
def test_the_line_table_cuts_the_text_into_its_lines(text: str) -> None:
    source = Source(text)
    assert len(source.starts) == len(source.lines) + 1
    assert source.starts[-1] == len(text)
    for number, line in enumerate(source.lines):
        whole = source.slice(source.span_of(Lines(number, number + 1)))
        assert whole.removeprefix(line) in ("", *ENDS)
        assert not set(line) & {"\n", "\r"}


@given(texts)
def test_the_lines_of_a_text_joined_are_the_text(text: str) -> None:
    source = Source(text)
    assert "".join(source.slice(source.span_of(Lines(n, n + 1))) for n in range(len(source.lines))) == text


@for_each(("offset", "line"), [(0, 0), (1, 0), (2, 0), (3, 1), (4, 1), (5, 2), (6, 2), (7, 3), (8, 3), (99, 3)])
def test_an_offset_lies_on_the_line_that_holds_it(offset: int, line: int) -> None:
    """A line end belongs to its line; what lies past the text is on the last line."""
    assert Source("a\r\nb\rc\nd").line_of(offset) == line


def test_the_end_of_a_text_that_ends_in_a_line_end_is_its_empty_last_line() -> None:
    assert Source("a\n").line_of(2) == 1
    assert Source("").line_of(0) == 0


@given(texts, st.data())
def test_line_of_agrees_with_the_line_table(text: str, data: st.DataObject) -> None:
    source = Source(text)
    offset = data.draw(st.integers(0, max(len(text) - 1, 0)))
    number = source.line_of(offset)
    assert source.starts[number] <= offset
    assert offset < source.starts[number + 1] or not text


def test_the_span_of_lines_includes_the_last_line_end() -> None:
    source = Source("a\nbb\r\nccc")
    assert source.span_of(Lines(0, 1)) == Span(0, 2)
    assert source.span_of(Lines(1, 2)) == Span(2, 6)
    assert source.span_of(Lines(1, 3)) == Span(2, 9)
    assert source.slice(source.span_of(Lines(2, 3))) == "ccc"


def test_the_span_of_no_lines_is_empty() -> None:
    assert Source("a\nb").span_of(Lines(1, 1)) == Span(2, 2)


def test_the_span_of_lines_past_the_end_stops_at_the_end() -> None:
    assert Source("a\nb").span_of(Lines(1, 50)) == Span(2, 3)


@pytest.mark.parametrize(
    ("text", "newline"),
    [("", "\n"), ("a", "\n"), ("a\n", "\n"), ("a\r\nb\n", "\r\n"), ("a\rb\r\n", "\r"), ("a\nb\r\n", "\n")],
)
def test_new_lines_get_the_first_line_end_of_the_text(text: str, newline: str) -> None:
    assert Source(text).newline == newline


def test_nowhere_is_no_place_in_any_text() -> None:
    assert (NOWHERE.first, NOWHERE.end) == (-1, -1)


# --- edits --------------------------------------------------------------------------------------------------------


def edited(text: str, *edits: tuple[int, int, str]) -> str:
    return apply_edits(Source(text), [Edit(Span(start, end), new) for start, end, new in edits]).text


def test_edits_are_made_in_any_order() -> None:
    assert edited("abcdef", (4, 5, "E"), (0, 1, "A"), (2, 3, "")) == "AbdEf"


def test_an_empty_span_inserts() -> None:
    assert edited("ab", (0, 0, "<"), (1, 1, "|"), (2, 2, ">")) == "<a|b>"


def test_insertions_at_one_place_keep_their_order() -> None:
    assert edited("ab", (1, 1, "1"), (1, 1, "2"), (1, 1, "3")) == "a123b"


def test_an_insertion_comes_before_what_is_replaced_at_its_place() -> None:
    assert edited("abc", (1, 2, "B"), (1, 1, "+")) == "a+Bc"


def test_edits_may_touch() -> None:
    assert edited("abcd", (0, 2, "x"), (2, 4, "y"), (4, 4, "!")) == "xy!"


def test_no_edits_give_the_source_back() -> None:
    source = Source("a\r\n\x0c", bom=True)
    assert apply_edits(source, []) == source


def test_an_edit_keeps_the_byte_order_mark() -> None:
    assert apply_edits(Source("a", bom=True), [Edit(Span(0, 1), "b")]) == Source("b", bom=True)
    assert apply_edits(Source("a"), [Edit(Span(0, 1), "b")]) == Source("b")


@pytest.mark.parametrize(
    ("edits", "offset"),
    [
        ([(0, 2, "x"), (1, 3, "y")], 1),
        ([(1, 3, "y"), (0, 2, "x")], 1),
        ([(0, 4, "x"), (2, 2, "y")], 2),
        ([(1, 2, "x"), (1, 2, "y")], 1),
        ([(3, 5, "x")], 3),
        ([(5, 5, "x")], 5),
        ([(-1, 0, "x")], -1),
    ],
)
def test_overlaps_and_places_outside_the_text_are_refused(edits: list[tuple[int, int, str]], offset: int) -> None:
    with pytest.raises(EditRefused, match=f"edits overlap at offset {offset}$"):
        edited("abcd", *edits)


@given(texts, st.data())
def test_everything_outside_the_spans_is_kept(text: str, data: st.DataObject) -> None:
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=8)))
    spans = [Span(a, b) for a, b in zip(places[::2], places[1::2], strict=False)]
    edits = [Edit(span, f"<{n}>") for n, span in enumerate(spans)]
    after = apply_edits(Source(text), data.draw(st.permutations(edits))).text if _apart(spans) else None
    if after is not None:
        kept, at = [], 0
        for n, span in enumerate(spans):
            kept += [text[at : span.start], f"<{n}>"]
            at = span.end
        assert after == "".join([*kept, text[at:]])


def _apart(spans: list[Span]) -> bool:
    """No two at one place, where the order in which they are given counts."""
    return len({span.start for span in spans}) == len(spans)


def test_places_are_compared_by_their_start() -> None:
    assert sorted([Span(3, 4), Span(1, 9)]) == [Span(1, 9), Span(3, 4)]
    assert Lines(0, 2) < Lines(1, 1)
