"""The block at the top of a note: found, read, recovered when broken, and edited by a key's own lines."""

import json
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from crucible.core.errors import EditRefused
from crucible.documents.markdown import frontmatter_values as properties
from crucible.documents.markdown import yaml_nodes as nodes
from crucible.documents.markdown.frontmatter import (
    Frontmatter,
    find_frontmatter,
    remove_key,
    render_frontmatter,
    set_key,
)
from crucible.documents.markdown.source import Edit, Lines, Source, Span, apply_edits
from crucible.documents.markdown.yaml_scalars import EXACT, Value, read_list, same_value
from tests.cases import for_each
from tests.paths import TESTS

DATA = TESTS / "data" / "conformance"


def append_item(source: Source, fm: Frontmatter, key: str, value: Value) -> list[Edit]:
    """Edits that add an item to a list; a missing key becomes a list, a single value its first item."""
    old = fm.values.get(key)
    items = old if isinstance(old, list) else [*read_list(old)] if key == "tags" or old is None else [old]
    return set_key(source, fm, key, [*items, value])


ROWS = [json.loads(line) for line in (DATA / "frontmatter.jsonl").read_text("utf-8").splitlines()]


def read(text: str) -> Frontmatter:
    return find_frontmatter(Source(text))


def codes(text: str) -> list[tuple[str, int]]:
    return [(p.code, p.line) for p in read(text).problems]


def after(text: str, edit: Callable[..., list[Edit]], *args: Any) -> str:
    source = Source(text)
    return apply_edits(source, edit(source, find_frontmatter(source), *args)).text


# --- other projects' cases ----------------------------------------------------------------------------------------


def rows(op: str) -> list[Any]:
    return [row for row in ROWS if row["op"] == op]


@for_each("row", rows("frontmatter"))
def test_tags_and_aliases_read_as_in_markdown_oxide(row: dict[str, Any]) -> None:
    values = read(row["input"]).values
    expected = row["expected"]
    if row["id"] == "frontmatter-007":
        # Decided: Obsidian dropped the singular `tag` in 1.9, so it is a property like any other.
        assert values == {"tag": "mytag"}
        return
    # Decided for frontmatter-004: Obsidian 1.9 marks a comma list invalid; we still read what is plainly meant.
    assert {key: read_list(values.get(key)) for key in expected} == expected


@for_each("row", rows("frontmatter_block"))
def test_blocks_are_found_as_in_crucible(row: dict[str, Any]) -> None:
    text, expected = row["input"], row["expected"]
    fm = read(text)
    if row["id"] == "frontmatter-016":
        # Decided: Obsidian knows no TOML frontmatter, so `+++` is body text.
        assert (fm.present, fm.problems) == (False, ())
        return
    assert fm.present is expected["present"]
    assert fm.values == expected.get("data", {})
    if "body" in expected:
        assert text[fm.span.end :] == expected["body"]
    warning = expected.get("warning")
    assert [p.code for p in fm.problems] == ([f"{warning}-frontmatter"] if warning else [])


def test_a_comment_line_in_frontmatter_is_no_heading() -> None:
    row = next(row for row in ROWS if row["op"] == "headings")
    fm = read(row["input"])
    assert fm.values == {"title": "Some frontmatter"}
    assert row["input"][fm.span.end :].startswith("\n# The title")


# --- bounds -------------------------------------------------------------------------------------------------------


@for_each(
    ("text", "lines", "end"),
    [
        ("---\na: 1\n---\nbody", Lines(0, 3), 13),
        ("---\na: 1\n---", Lines(0, 3), 12),
        ("--- \t\na: 1\n---  \nx", Lines(0, 3), 17),
        ("---\r\na: 1\r\n---\r\nx", Lines(0, 3), 16),
        ("---\ra: 1\r---\rx", Lines(0, 3), 13),
        ("---\na: 1\r---\r\nx", Lines(0, 3), 14),
        ("---\n---\n", Lines(0, 2), 8),
        ("---\na: |\n  x\n ---\n---\n", Lines(0, 5), 22),
    ],
)
def test_bounds_hold_for_every_line_end(text: str, lines: Lines, end: int) -> None:
    fm = read(text)
    assert (fm.present, fm.lines, fm.span) == (True, lines, Span(0, end))


@pytest.mark.parametrize("text", ["", "-", "---", "\n---\na: 1\n---\n", " ---\na: 1\n---\n", "----\na: 1\n---\n"])
def test_no_block_elsewhere_than_on_line_one(text: str) -> None:
    assert read(text) == Frontmatter(present=False, span=Span(0, 0), lines=Lines(0, 0), values={}, keys={})


def test_an_unclosed_block_is_reported_and_read_as_body() -> None:
    fm = read("---\na: 1\n ---\n----\n...\n")
    assert not fm.present
    assert fm.values == {}
    assert [(p.code, p.line) for p in fm.problems] == [("unclosed-frontmatter", 1)]


@pytest.mark.parametrize("inside", ["", "\n", "# only a comment\n", "\t\n", "  # c\r\n"])
def test_an_empty_block_is_reported(inside: str) -> None:
    assert codes(f"---\n{inside}---\n") == [("empty-frontmatter", 1)]


def test_a_byte_order_mark_does_not_hide_the_block() -> None:
    source = Source.from_bytes(b"\xef\xbb\xbf---\na: 1\n---\n")
    fm = find_frontmatter(source)
    assert fm.values == {"a": 1}
    assert apply_edits(source, set_key(source, fm, "a", 2)).to_bytes() == b"\xef\xbb\xbf---\na: 2\n---\n"


# --- values -------------------------------------------------------------------------------------------------------


@for_each(
    ("inside", "values"),
    [
        ("a: !tag 5", {"a": "5"}),
        ('a: !!int "3"', {"a": 3}),
        ("a: !!str 3", {"a": "3"}),
        ("<<: {a: 1}\nb: 2", {"<<": {"a": 1}, "b": 2}),
        ("{a: 1, b: [x]}", {"a": 1, "b": ["x"]}),
        ("a: x\u2028y\x85z", {"a": "x\u2028y\x85z"}),
        ("a: 'x\x01\x7f\ufeff\udc80y'", {"a": "x\x01\x7f\ufeff\udc80y"}),
        ("a: x\ty\t# c", {"a": "x\ty"}),
        ("a: two\n  lines # c", {"a": "two lines"}),
        ("a: >-\n  x\n  y\n\n# c\nb: 1", {"a": "x y", "b": 1}),
        ("a:\n  b:\n    - c: 1", {"a": {"b": [{"c": 1}]}}),
        ("a: &x [1]\nb: *x\nc: {d: *x}", {"a": [1], "b": [1], "c": {"d": [1]}}),
        ("0123: 1\n~: 2\nno: 3", {"0123": 1, "~": 2, "no": 3}),
        ("? [k]\n: 1", {"['k']": 1}),
        ("'a b': \"c\\td\"", {"a b": "c\td"}),
        (" a: 1\n b: 2", {"a": 1, "b": 2}),
        ("a:\n- 1\n- x: y\n  z: 2\n-   'q'\nb:", {"a": [1, {"x": "y", "z": 2}, "q"], "b": None}),
        ("Größe: ü", {"Größe": "ü"}),
        ("a: 1\n\t\n\t# c\nb:\n  - 2\n\t \n  - 3", {"a": 1, "b": [2, 3]}),
    ],
)
def test_values_read_by_yaml_1_2(inside: str, values: dict[str, Value]) -> None:
    fm = read(f"---\n{inside}\n---\n")
    assert (fm.values, fm.problems) == (values, ())


def test_of_repeated_keys_the_last_counts_and_each_repetition_is_reported() -> None:
    fm = read("---\na: 1\nb: {x: 1, x: 2}\na: 3\na: 4\n---\n")
    assert fm.values == {"a": 4, "b": {"x": 2}}
    assert [(p.code, p.line) for p in fm.problems] == [("duplicate-key", n) for n in (3, 4, 5)]
    assert [(name, span.start) for name, span in fm.repeats] == [("a", 4), ("a", 25)]


@pytest.mark.parametrize(
    ("inside", "keys"),
    [
        ("a: 1\n# about b\nb: 2\n\nc: 3", ["a: 1\n", "b: 2\n", "c: 3\n"]),
        ("a:\n  - 1\n  # in\n  - 2\n  # after\n\nb: |\n  x\n  # text\n\nc: 1", None),
        ("a: >+\n  x\n\n\nb: &q [1,\n  2] # c\n# d\nc: *q\n# e", None),
        ("a:\n  - &n x\n  - *n\n# e\nb:\n  c: *n\n  # f\nd:", None),
    ],
)
def test_an_entry_is_all_its_lines_and_no_others(inside: str, keys: list[str] | None) -> None:
    text = f"---\n{inside}\n---\n"
    fm = read(text)
    entries = [text[span.start : span.end] for span in fm.keys.values()]
    if keys is not None:
        assert entries == keys
    assert all(entry.startswith(key) for key, entry in zip(fm.keys, entries, strict=True))
    assert all(a.end <= b.start for a, b in pairwise(fm.keys.values()))
    assert not any(entry.endswith(("\n\n", "# after\n", "# d\n", "# e\n", "# f\n")) for entry in entries)
    assert all("# text" not in text[a.end : b.start] for a, b in pairwise(fm.keys.values()))


# --- broken, large, deep ------------------------------------------------------------------------------------------


def test_broken_yaml_is_reported_with_its_line_and_the_other_keys_are_recovered() -> None:
    text = (
        "---\nsession_id: s1\ntitle: Fix: the bug\nstatus: active\ntags:\n  - a\n  - b\n# c\nother: [1,\n  2]\n"
        'garbage\n  more\nquote: "x\nended: @x\nproject: shop\n\tz: 1\n---\n'
    )
    fm = read(text)
    assert [(p.code, p.line) for p in fm.problems] == [("broken-yaml", 3)]
    assert fm.values == {
        "session_id": "s1", "status": "active", "tags": ["a", "b"], "other": [1, 2], "project": "shop",
    }  # fmt: skip
    assert list(fm.keys) == ["session_id", "status", "tags", "other"]


def test_a_repeated_key_is_reported_in_broken_yaml_too() -> None:
    assert codes("---\na: 1\nx: @\na: 2\n---\n") == [("broken-yaml", 3), ("duplicate-key", 4)]


@pytest.mark.parametrize("inside", ["just text", "- a\n- b", "[a]", "@"])
def test_a_block_that_is_no_map_is_broken(inside: str) -> None:
    assert codes(f"---\n{inside}\n---\n") == [("broken-yaml", 2)]


@pytest.mark.parametrize("deep", ["[" * 100_000, "- " * 100_000, "? " * 100_000, "{a: " * 50_000])
def test_deep_nesting_neither_crashes_nor_hides_other_keys(deep: str) -> None:
    fm = read(f"---\nsession_id: x\nb: {deep}\n  {deep}\n---\n")
    assert fm.values == {"session_id": "x"}
    assert {p.code for p in fm.problems} <= {"yaml-too-large", "broken-yaml"}


def test_nesting_of_a_hundred_and_fifty_is_too_deep_for_its_key_alone() -> None:
    fm = read(f"---\na: {'[' * 150}{']' * 150}\nb: x\tz\n---\n")
    assert fm.values == {"b": "x\tz"}
    assert [(p.code, p.line) for p in fm.problems] == [("yaml-too-large", 2)]


def test_blocks_indented_level_by_level_are_bounded_too() -> None:
    inside = "".join(f"{' ' * n}k:\n" for n in range(300))
    fm = read(f"---\n{inside}b: 1\n---\n")
    assert fm.values["b"] == 1
    assert [p.code for p in fm.problems] == ["yaml-too-large"]


@pytest.mark.timed
def test_a_billion_laughs_are_a_problem_of_their_key() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
    )
    began = time.perf_counter()
    fm = read(f"---\nsession_id: x\n{bomb}z: 1\n---\n")
    assert time.perf_counter() - began < 2
    assert fm.values["session_id"] == "x"
    assert "a9" not in fm.values
    assert ("yaml-too-large", 12) in [(p.code, p.line) for p in fm.problems]


def test_an_anchor_inside_itself_is_a_problem_of_its_key() -> None:
    fm = read("---\na: &a [*a]\nb: x\n---\n")
    assert fm.values == {"b": "x"}
    assert [(p.code, p.line) for p in fm.problems] == [("yaml-too-large", 2)]


@pytest.mark.timed
def test_a_megabyte_of_untidy_yaml_is_read_in_seconds() -> None:
    began = time.process_time()  # another test of a busy machine takes none of it
    read("---\n" + "a: @b\n" * 100_000 + "---\n")
    read("---\n" + "x" * 1_000_000 + "\n---\n")
    read("---\n" + "---x\n" * 200_000)
    assert time.process_time() - began < 5


def test_without_libyaml_the_same_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "---\na: {b: 0123}\nc: |\n  x\n# d\ne: '1'\nf: 12:30 # g\n---\n"
    fast = read(text)
    monkeypatch.delattr(yaml, "CSafeLoader")
    nodes._loader.cache_clear()
    try:
        assert nodes._loader().__base__ is yaml.SafeLoader
        assert read(text) == fast
    finally:
        nodes._loader.cache_clear()


# --- the two readers ----------------------------------------------------------------------------------------------

TIDY_LINES = st.sampled_from(
    [
        "a: 1", "b: text here", "c:", "d: 'q'", 'e: "[[L]]"', "  - x", "  - session: s", "    agent: t", "    agent: u",
        "- y", "-   z: 1", "    k: 2", "# c", "  # c", "", "   ", "f: []", "g: a: b", "h: a #b", "i: a#b", "j: x:", "k: -",
        "l: 0123", "m: 12e03   ", 'n: "a" # c', "  - 'it'", "  - ", "    more", "o:x", "p : 1", "q: é\xa0", "r: ~",
        "s: /p", "t: [a]", "  u: 1", "v: 'it''s'", "w: |", "x: &a 1", "y: *a", "2: x", "z: ---", "...", "--- x", "%YAML 1.2",
        "a: 2", "  -  - n", "      - far", "key: # c", "'q': 1", "  - []", "  - a: []", "  - # c", "  -x", "\taa: 1",
    ]
)  # fmt: skip
INSIDE = st.lists(TIDY_LINES | st.text(alphabet="ab:- #'\"[]\t\u2028\r", max_size=8), max_size=9)


@given(INSIDE, st.sampled_from(["\n", "\r\n", "\r"]))
def test_reading_by_hand_gives_what_libyaml_gives(lines: list[str], newline: str) -> None:
    text = "".join(f"{line}{newline}" for line in ("---", *lines))
    tidy = properties._read_tidy(text, 3 + len(newline), len(text))
    if tidy is not None:
        untidy = nodes.read_composed(text[3 + len(newline) :], 3 + len(newline))
        assert same_value(tidy.values, untidy.values)
        assert list(tidy.values) == list(untidy.values)
        assert (tidy.keys, tidy.problems) == (untidy.keys, untidy.problems)


def test_the_formats_own_frontmatter_is_read_by_hand() -> None:
    text = render_frontmatter({"type": "session", "tags": ["a", "[[b]]"], "subagents": [{"session": "x", "tokens": 3}]})
    tidy = properties._read_tidy(text, 4, len(text) - 4)
    assert tidy is not None
    assert tidy.values == read(text).values


# --- any text -----------------------------------------------------------------------------------------------------


@given(st.one_of(st.text(), st.text(alphabet="-\n\r \t:a1'\"[]{}&*#|>!?%@\u2028\udc80", max_size=60)))
def test_no_text_raises_and_every_span_lies_in_the_block(text: str) -> None:
    for source in (Source(text), Source(f"---\n{text}\n---\n")):
        fm = find_frontmatter(source)
        assert source.span_of(fm.lines) == fm.span or not fm.present
        spans = [*fm.keys.values(), *(span for _, span in fm.repeats)]
        assert all(0 < span.start < span.end <= fm.span.end for span in spans)


@given(st.binary(max_size=80))
def test_no_bytes_raise_and_reading_changes_none(data: bytes) -> None:
    block = b"---\n" + data + b"\n---\n"
    source = Source.from_bytes(block)
    find_frontmatter(source)
    assert source.to_bytes() == block


# --- edits --------------------------------------------------------------------------------------------------------


@for_each(
    ("before", "key", "value", "expected"),
    [
        ("status: active # now\nb: 2\n", "status", "paused", "status: paused # now\nb: 2\n"),
        ("'status' :  'active'  \nb: 2\n", "status", "paused", "'status' :  paused  \nb: 2\n"),
        ("a:\nb: 2\n", "a", "x", "a: x\nb: 2\n"),
        ("a: # c\nb: 2\n", "a", "x", "a: x # c\nb: 2\n"),
        ("a: 1 # c\nb: 2\n", "a", ["x", "z"], "a: # c\n  - x\n  - z\nb: 2\n"),
        ("a: # c\n  - x\n  # d\nb: 2\n", "a", 5, "a: 5 # c\n  # d\nb: 2\n"),
        ("a: |  # c\n  x\n\n# d\nb: 2\n", "a", "z", "a: z\n\n# d\nb: 2\n"),
        ("a: [x,\n  y] # c\nb: 2\n", "a", ["z"], "a:\n  - z\nb: 2\n"),
        ("a: [x] # c\nb: 2\n", "a", "2025-12-05", 'a: "2025-12-05" # c\nb: 2\n'),
        ("a:\n  b: 1\n  c: 2\nd: 3\n", "a", {"b": 2}, "a:\n  b: 2\nd: 3\n"),
        ("a: 1\n", "new", "no", 'a: 1\nnew: "no"\n'),
        (" a: 1\n", "new", 2, " a: 1\n new: 2\n"),
        ("# only\n", "new", 2, "# only\nnew: 2\n"),
        ("", "new", [], "new: []\n"),
        ("a: |+\n  x\n\n", "b", 1, "a: |+\n  x\n\nb: 1\n"),
        ("? a\n: 1\nb: 2\n", "a", 2, "a: 2\nb: 2\n"),
        ("a: 1\na: 2 # c\n", "a", 3, "a: 1\na: 3 # c\n"),
        ("a: 1\nx: @\nb: 2 # c\n", "b", 3, "a: 1\nx: @\nb: 3 # c\n"),
        ("t:\n- a # 1\n# two\n- b\n- c # 3\n", "t", ["a", "x", "c"], "t:\n- a # 1\n# two\n- x\n- c # 3\n"),
        (
            "t:\n    - a\n    # end\n",
            "t",
            ["a", {"k": 1, "l": 2}],
            "t:\n    - a\n    - k: 1\n      l: 2\n    # end\n",
        ),
        ("t:\n  - a\n  # b\n  - b\n", "t", ["b"], "t:\n  # b\n  - b\n"),
        ("t:\n  - b\n", "t", ["a", "b"], "t:\n  - a\n  - b\n"),
        ("t:\n  - a\n  # x\n  - b\n", "t", ["c", "d", "e"], "t:\n  - c\n  - d\n  - e\n  # x\n"),
        ("t:\n  -\n    a\n  - b\n", "t", ["a", "c"], "t:\n  - a\n  - c\n"),
        ("t:\n  - a\n", "t", [], "t: []\n"),
        ("t: # c\u2028d\n  - a\x01\n", "t", "x", "t: x # c\u2028d\n"),
    ],
)
def test_setting_a_key_changes_its_own_lines_only(before: str, key: str, value: Value, expected: str) -> None:
    for newline in ("\n", "\r\n"):
        old = f"---\n{before}---\nbody\n".replace("\n", newline)
        assert after(old, set_key, key, value) == f"---\n{expected}---\nbody\n".replace("\n", newline)


@pytest.mark.parametrize("value", [1, "x", None, ["a"], {"b": [1.5]}])
def test_setting_an_equal_value_edits_nothing(value: Value) -> None:
    source = Source(render_frontmatter({"a": value}))
    assert set_key(source, find_frontmatter(source), "a", value) == []


def test_setting_an_int_where_a_boolean_or_float_stands_is_an_edit() -> None:
    assert after("---\na: true\n---\n", set_key, "a", 1) == "---\na: 1\n---\n"
    assert after("---\na: 1.0\n---\n", set_key, "a", 1) == "---\na: 1\n---\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", "---\na: 1\n---\n"),
        ("# T\n", "---\na: 1\n---\n# T\n"),
        ("# T\r\n", "---\r\na: 1\r\n---\r\n# T\r\n"),
        ("+++\nx = 1\n+++\n", "---\na: 1\n---\n+++\nx = 1\n+++\n"),
    ],
)
def test_a_note_without_frontmatter_gets_a_block_at_the_top(body: str, expected: str) -> None:
    assert after(body, set_key, "a", 1) == expected


@for_each(
    ("text", "key", "value", "message"),
    [
        ("---\na: 1\n", "a", 2, "line 1: the frontmatter opened here is never closed"),
        ("---\na: @\nb: 1\n---\n", "a", 2, "line 1: the frontmatter's YAML is broken"),
        ("---\na: @\nb: 1\n---\n", "new", 2, "line 1: the frontmatter's YAML is broken"),
        ("---\nb: 1\n\tz: 1\n---\n", "b", 2, "line 1: the frontmatter's YAML is broken"),
        ("---\n- a\n---\n", "b", 2, "line 1: the frontmatter is not a map of keys"),
        ("---\n{a: 1}\n---\n", "a", 2, "line 2: the frontmatter is one flow map"),
        ("---\na: &x 1\nb: *x\n---\n", "a", 2, "line 2: 'a' would not read back"),
        ("---\na: 1\n---\n", "k" * 2000, 2, "would not read back"),
        ("---\na: 1\n---\n", "a", EXACT + 1, "beyond 2\\*\\*53"),
        ("---\na: 1\n...\n---\n", "b", 1, "line 4: 'b' would not read back"),
    ],
)
def test_what_cannot_be_set_safely_is_refused_with_its_line(text: str, key: str, value: Value, message: str) -> None:
    with pytest.raises(EditRefused, match=message):
        after(text, set_key, key, value)


def test_a_value_nested_too_deeply_is_refused() -> None:
    deep: Value = 1
    for _ in range(200):
        deep = [deep]
    with pytest.raises(EditRefused, match="too deeply"):
        render_frontmatter({"a": deep})


@pytest.mark.parametrize(
    ("before", "key", "expected"),
    [
        ("a: 1 # c\n# d\nb: 2\n", "a", "# d\nb: 2\n"),
        ("a:\n  - 1\n  # in\n  - 2\n\nb: 2\n", "a", "\nb: 2\n"),
        ("a: 1\nb: 2\na: 3\n", "a", "b: 2\n"),
        ("a: 1\n", "a", ""),
        ("a: 1\n", "none", "a: 1\n"),
        ("a: 1\nx: @\n", "a", "x: @\n"),
    ],
)
def test_removing_a_key_takes_every_entry_of_it_and_nothing_else(before: str, key: str, expected: str) -> None:
    assert after(f"---\n{before}---\nbody", remove_key, key) == f"---\n{expected}---\nbody"


@pytest.mark.parametrize(
    "inside", ["{a: 1}", "a: &x 1\nb: *x", "z: @\nc: 1\n\td: 1", "t: |\n  x\na: 1\n  # would become text"]
)
def test_a_key_that_others_hang_on_is_not_removed(inside: str) -> None:
    with pytest.raises(EditRefused):
        after(f"---\n{inside}\n---\n", remove_key, "a")


def test_removing_from_a_note_without_frontmatter_does_nothing() -> None:
    assert after("---\na: 1\n", remove_key, "a") == "---\na: 1\n"


@for_each(
    ("before", "key", "expected"),
    [
        ("sources:\n  - a # 1\n  # c\n", "sources", "sources:\n  - a # 1\n  - x\n  # c\n"),
        ("sources: [a] # c\n", "sources", "sources: # c\n  - a\n  - x\n"),
        ("sources: []\n", "sources", "sources:\n  - x\n"),
        ("sources:\n", "sources", "sources:\n  - x\n"),
        ("sources: a, b\n", "sources", "sources:\n  - a, b\n  - x\n"),
        ("tags: a, b\n", "tags", "tags:\n  - a\n  - b\n  - x\n"),
        ("b: 1\n", "tags", "b: 1\ntags:\n  - x\n"),
        ("t:\n  - caf\udcc3 # bytes stay\n", "t", "t:\n  - caf\udcc3 # bytes stay\n  - x\n"),
    ],
)
def test_appending_an_item_keeps_the_others_lines(before: str, key: str, expected: str) -> None:
    assert after(f"---\n{before}---\n", append_item, key, "x") == f"---\n{expected}---\n"


# --- edits, at random ---------------------------------------------------------------------------------------------

VALUES: st.SearchStrategy[Value] = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["no", "12:30", "2025-12-05", "12e03", "[[x]]", "a: b", "\u2028", "é"]),
    st.integers(-EXACT, EXACT),
    st.booleans(),
    st.none(),
    st.lists(st.sampled_from(["a", "b", "x y", "1"]) | st.integers(0, 9), max_size=4),
    st.lists(st.fixed_dictionaries({"session": st.sampled_from(["s", "t"])}, optional={"n": st.integers(0, 3)}), max_size=3),
    st.dictionaries(st.sampled_from(["p", "q"]), st.integers(0, 3), max_size=2),
)  # fmt: skip
ENTRIES = [
    "{k}: text", "{k}: 12:30   # when", "{k}:", "{k}: # nothing", "{k}: 'it''s'  ", '{k}: "a\\tb" # q', "{k}: [a, b] # f",
    "{k}: [a,\n  b]", "{k}:\n  - a # one\n  # two\n  - b\n  # end", "{k}:\n- a\n\n- b", "{k}: |\n  x\n  # y\n", "{k}: >-\n  x\n",
    "{k}:\n  p: 1\n  # r\n  q: 2", "{k}:\n  - session: s\n    n: 1\n  # z\n  - session: t", "{k}: x\u2028y # \u2028é", "# about {k}\n{k}: 1",
    "{k}: two\n   lines", "{k}: {{p: 1}}", "{k}:   -5",
]  # fmt: skip
ODD_ENTRIES = ["{k}: 1\n{k}: 2", "? {k}\n: v", "{k}: @broken", "{k}: a: b"]
KEYS = st.sampled_from(["a", "b", "tags", "x y", "Ü"])


@st.composite
def notes(draw: st.DrawFn, *, sound: bool = False) -> str:
    """Draw a note; a `sound` one has properties that can be read, each once."""
    keys = draw(st.lists(KEYS, max_size=5, unique=sound))
    kinds = st.sampled_from(ENTRIES if sound else [*ENTRIES, *ODD_ENTRIES])
    entries = [draw(kinds).format(k=key) for key in keys]
    gaps = st.sampled_from(["", "", "\n", "# c\n", "  # odd\n"])
    block = "".join(f"{draw(gaps)}{entry}\n" for entry in entries) + draw(gaps)
    body = draw(st.sampled_from(["", "# T", "# T\n\n---\nx: 1\n---\n", "\u2028 \x0c"]))
    text = f"---{draw(st.sampled_from(['', '  ']))}\n{block}---\n{body}" if sound or draw(st.integers(0, 9)) else body
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


def spans_of(fm: Frontmatter, key: str) -> list[Span]:
    return [*([fm.keys[key]] if key in fm.keys else []), *(span for name, span in fm.repeats if name == key)]


@given(notes(), KEYS | st.text(min_size=1, max_size=6), VALUES)
def test_setting_any_key_touches_its_lines_only_and_reads_back_here_and_in_pyyaml(
    text: str, key: str, value: Value
) -> None:
    source = Source(text)
    fm = find_frontmatter(source)
    try:
        edits = set_key(source, fm, key, value)
    except EditRefused:
        assert fm.problems
        return
    changed = apply_edits(source, edits)
    again = find_frontmatter(changed)
    assert same_value(again.values, {**fm.values, key: value})
    own = fm.keys.get(key)
    for edit in edits:
        if own is None:
            assert edit.span.start == edit.span.end
        else:
            assert own.start <= edit.span.start <= edit.span.end <= own.end
    if edits and not any(p.code == "broken-yaml" for p in again.problems):
        inside = changed.text[: changed.starts[again.lines.end - 1]].replace("\u2028", " ")
        assert same_value(yaml.safe_load(inside)[key], value)


@given(notes(sound=True), st.permutations(["a", "b", "tags", "x y", "Ü"]), VALUES, VALUES)
def test_two_keys_set_in_one_go_both_read_back(text: str, keys: list[str], first: Value, second: Value) -> None:
    source = Source(text)
    fm = find_frontmatter(source)
    assume(fm.present and not fm.problems)
    old = fm.values.get(keys[0])
    wanted: dict[str, Value] = {keys[0]: [*old, "more"] if isinstance(old, list) else first, keys[1]: second}
    for order in (keys[:2], keys[1::-1]):
        try:
            edits = [edit for key in order for edit in set_key(source, fm, key, wanted[key])]
        except EditRefused:
            return
        again = find_frontmatter(apply_edits(source, edits))
        assert same_value(again.values, {**fm.values, **wanted})
        assert not again.problems


@given(notes(), KEYS)
def test_removing_any_key_touches_its_lines_only_and_reads_back(text: str, key: str) -> None:
    source = Source(text)
    fm = find_frontmatter(source)
    try:
        edits = remove_key(source, fm, key)
    except EditRefused:
        # Without the key between them, an indented comment would become text of a block scalar above.
        assert fm.problems or ("\n  # " in text.replace("\r", "") and ("|" in text or ">" in text))
        return
    assert sorted(edit.span for edit in edits) == sorted(spans_of(fm, key))
    again = find_frontmatter(apply_edits(source, edits))
    assert same_value(again.values, {k: v for k, v in fm.values.items() if k != key})


@given(notes(), KEYS, VALUES)
def test_setting_a_value_twice_edits_once(text: str, key: str, value: Value) -> None:
    source = Source(text)
    try:
        changed = apply_edits(source, set_key(source, find_frontmatter(source), key, value))
    except EditRefused:
        return
    assert set_key(changed, find_frontmatter(changed), key, value) == []


@given(st.dictionaries(st.text(min_size=1, max_size=8), VALUES, max_size=5))
def test_a_rendered_block_reads_back_here_and_in_pyyaml(values: dict[str, Value]) -> None:
    text = render_frontmatter(values)
    assert same_value(read(text).values, values)
    assert same_value(yaml.safe_load(text[4:-4]) or {}, values)
