"""Scalars: read as npm `yaml` 2.7 reads them, written so that every YAML reads the same."""

import json
import math
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from crucible.documents.markdown.frontmatter import find_frontmatter
from crucible.documents.markdown.source import Source
from crucible.documents.markdown.yaml_scalars import (
    EXACT,
    Value,
    read_list,
    read_scalar,
    render_entry,
    same_value,
    well_formed,
    write_scalar,
)
from tests.cases import for_each
from tests.paths import TESTS

DATA = TESTS / "data" / "conformance"
DIVERGENCE = json.loads((DATA / "yaml_divergence.json").read_text("utf-8"))

# Decided: in a note a second `---` closes the block, so this is one property and a body, as Obsidian shows it.
TWO_DOCUMENTS = "---\na: 1\n---\nb: 2"

HOSTILE = st.one_of(
    st.text(max_size=30),
    st.text(alphabet="0123456789_.:+-eExoabT ", max_size=14),
    st.text(alphabet="ab :#-?[]{}\"'\\,&*!|>%@`~=<\t\n\r\x85\u2028\ufeff\xa0", max_size=12),
    st.sampled_from(["yes", "No", "y", "NULL", "~", "", ".inf", "0x1F", "0o17", "12:30", "12e03", "007", "1_000"]),
    st.sampled_from(["2025-12-05", "2026-11-21T20:26:47Z", "=", "<<", "---", "...", "- x", "? x", "[[A]]", "a: b"]),
)
SCALARS = st.one_of(
    HOSTILE,
    st.none(),
    st.booleans(),
    st.integers(-EXACT, EXACT),
    st.floats(),
)


def normal(value: Any) -> Any:
    """JavaScript has one kind of number, and the data writes infinity as text."""
    if isinstance(value, dict):
        return {key: normal(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [normal(inner) for inner in value]
    if isinstance(value, float) and math.isinf(value):
        return "Infinity"
    return value


def read_both(text: str) -> tuple[Value, Value]:
    ours = find_frontmatter(Source(f"---\na: {text}\n---\n")).values["a"]
    return ours, yaml.safe_load(f"a: {text}\n")["a"]


@for_each("row", DIVERGENCE)
def test_every_snippet_reads_as_in_obsidian(row: dict[str, Any]) -> None:
    fm = find_frontmatter(Source(row["yaml"] if row["yaml"] == TWO_DOCUMENTS else f"---\n{row['yaml']}\n---\n"))
    expected = row["obsidian_yaml_2_7_0"]
    if row["yaml"] == TWO_DOCUMENTS:
        assert (fm.values, fm.problems) == ({"a": 1}, ())
    elif "err" in expected:
        assert fm.problems[0].code == ("duplicate-key" if expected["err"] == "DUPLICATE_KEY" else "broken-yaml")
    else:
        assert fm.problems == ()
        assert normal(fm.values) == json.loads(expected["ok"])


def test_there_are_seventy_snippets() -> None:
    assert len(DIVERGENCE) == 70


@for_each("row", DIVERGENCE)
def test_what_obsidian_reads_is_written_so_that_pyyaml_reads_it_too(row: dict[str, Any]) -> None:
    values = find_frontmatter(Source(f"---\n{row['yaml']}\n---\n")).values
    text = "\n".join(line for key, value in values.items() for line in render_entry(key, value))
    again = yaml.safe_load(text) if text else {}
    assert same_value(again, values)


@for_each(
    ("text", "value"),
    [
        ("0123", 123), ("-0", 0), ("+5", 5), ("0o17", 15), ("0x1f", 31), ("+0x1F", "+0x1F"), ("0x", "0x"),
        ("1.", 1.0), (".5", 0.5), ("-.5", -0.5), ("1e3", 1000.0), ("1.5E-2", 0.015), ("1_000", "1_000"), (".", "."),
        ("+.inf", math.inf), ("-.INF", -math.inf), ("True", True), ("tRUE", "tRUE"), ("NULL", None), ("nULL", "nULL"),
        ("", None), ("9007199254740991", EXACT - 1), ("9007199254740992", EXACT), ("9007199254740993", EXACT),
        ("9" * 5000, math.inf), ("0x" + "f" * 400, math.inf), ("1\n", "1\n"), ("٣", "٣"), ("-", "-"), ("+", "+"),
        ("0x20000000000001", EXACT), ("0xfffffffffffffffff", 2.0**68), ("-.nan", "-.nan"),
    ],
)  # fmt: skip
def test_plain_scalars_read_by_the_core_schema(text: str, value: Value) -> None:
    read = read_scalar(text)
    assert same_value(read, value), read


def test_nan_reads_as_nan() -> None:
    assert same_value(read_scalar(".NaN"), math.nan)


@for_each(
    ("value", "text"),
    [
        ("shop", "shop"),
        ("claude-code@2.1.197", "claude-code@2.1.197"),
        ("2026-11-21-add-rate-limiter", "2026-11-21-add-rate-limiter"),
        ("claude-code:e70837d4", "claude-code:e70837d4"),
        ("two words", "two words"),
        ("Größe 日本", "Größe 日本"),
        ("[[Note]]", '"[[Note]]"'),
        ("see [[Note]]", '"see [[Note]]"'),
        ("2026-11-21T20:26:47Z", '"2026-11-21T20:26:47Z"'),
        ("2025-12-05", '"2025-12-05"'),
        ("12:30", '"12:30"'),
        ("12e03", '"12e03"'),
        ("0123", '"0123"'),
        ("1_000", '"1_000"'),
        ("0b11", '"0b11"'),
        ("no", '"no"'),
        ("Y", '"Y"'),
        ("", '""'),
        ("#dev", '"#dev"'),
        ("a #b", '"a #b"'),
        ("a#b", "a#b"),
        ("a: b", '"a: b"'),
        ("a:", '"a:"'),
        (" a", '" a"'),
        ("a\xa0", '"a\xa0"'),
        ('say "x" \\', 'say "x" \\'),
        ('"x" \\', '"\\"x\\" \\\\"'),
        ("a\nb\tc", '"a\\nb\\tc"'),
        ("a\x00b\x7fc\x9fd", '"a\\x00b\\x7fc\\x9fd"'),
        ("a\u2028\u2029\ufeff\ufffe\uffff", '"a\\u2028\\u2029\\ufeff\\ufffe\\uffff"'),
        ("a\udc80b", "a\ufffdb"),
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (-7, "-7"),
        (1.0, "1.0"),
        (1e22, "1.0e+22"),
        (2.5e-7, "2.5e-07"),
        (math.inf, ".inf"),
        (-math.inf, "-.inf"),
        (math.nan, ".nan"),
    ],
)
def test_scalars_are_written_plain_only_when_nothing_could_misread_them(
    value: str | float | bool | None, text: str
) -> None:
    assert write_scalar(value) == text


@given(SCALARS)
def test_what_is_written_reads_back_the_same_here_and_in_pyyaml(value: str | float | bool | None) -> None:
    text = write_scalar(value)
    assert len(text.splitlines()) == 1
    ours, theirs = read_both(text)
    assert same_value(ours, value)
    assert same_value(theirs, value)


@given(st.text(max_size=20))
def test_reading_a_scalar_never_raises(text: str) -> None:
    assert isinstance(read_scalar(text), str | int | float | bool | None)


@given(st.recursive(SCALARS, lambda v: st.lists(v, max_size=3) | st.dictionaries(HOSTILE, v, max_size=3), max_leaves=8))
def test_nested_values_read_back_the_same_here_and_in_pyyaml(value: Value) -> None:
    text = "\n".join(render_entry("a", value)) + "\n"
    ours = find_frontmatter(Source(f"---\n{text}---\n")).values["a"]
    theirs = yaml.safe_load(text)["a"]
    expected = _well_formed(value)
    assert same_value(ours, expected)
    assert same_value(theirs, expected)


def _well_formed(value: Value) -> Value:
    if isinstance(value, list):
        return [_well_formed(item) for item in value]
    if isinstance(value, dict):
        return {well_formed(key): _well_formed(item) for key, item in value.items()}
    return value


def test_a_list_of_maps_is_written_as_the_format_shows_it() -> None:
    value: Value = [{"session": "x", "agent": "opencode"}, "z", [], {}, [1, [2]], {"deep": {"er": [True]}}]
    assert render_entry("subagents", value) == [
        "subagents:",
        "  - session: x",
        "    agent: opencode",
        "  - z",
        "  - []",
        "  - {}",
        "  - - 1",
        "    - - 2",
        "  - deep:",
        "      er:",
        "        - true",
    ]


@pytest.mark.parametrize(
    ("value", "items"),
    [
        (None, []),
        ("foo", ["foo"]),
        ("foo, bar ,,baz", ["foo", "bar", "baz"]),
        (["a, b", 2024, True, None, ["x"], {"k": 1}], ["a, b", "2024", "true"]),
        ({"k": 1}, []),
        (2024, ["2024"]),
        ("", []),
    ],
)
def test_lists_are_read_however_people_write_them(value: Value, items: list[str]) -> None:
    assert read_list(value) == items


def test_equality_tells_types_apart() -> None:
    assert not same_value(1, True)
    assert not same_value(1, 1.0)
    assert not same_value("1", 1)
    assert not same_value([1], [1, 2])
    assert not same_value({"a": 1}, {"a": 2})
    assert not same_value({"a": 1}, {"b": 1})
    assert same_value({"a": [math.nan]}, {"a": [math.nan]})
    assert same_value("a\udc80", "a\ufffd")
