"""Callouts as Obsidian has them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.documents.markdown.line_scan import Kind, quote_lines, read_callout, unquote_lines
from crucible.documents.markdown.outline import find_blocks
from crucible.documents.markdown.source import Source
from tests.cases import for_each
from tests.paths import TESTS

ROWS = [
    json.loads(line) for line in (TESTS / "data" / "conformance" / "callouts.jsonl").read_text("utf-8").splitlines()
]


@for_each("row", ROWS)
def test_callouts_of_other_projects_read_alike(row: dict[str, Any]) -> None:
    source = Source(row["input"])
    quotes = [block for block in find_blocks(source).blocks if block.kind is Kind.QUOTE]
    callouts = [read_callout(source.lines[block.first : block.end]) for block in quotes]
    found = [
        {
            "type": callout.kind,
            "title": callout.title or callout.kind.capitalize(),
            "fold": callout.fold or None,
            "body": "\n".join(callout.body),
        }
        for callout in callouts
        if callout
    ]
    assert row["op"] == "callouts"
    assert found == [{key: value for key, value in one.items() if key != "kind"} for one in row["expected"]]


def test_metadata_behind_a_bar_is_no_part_of_the_kind() -> None:
    found = read_callout(["> [!Info|wide right]+ Title  "])
    assert found
    assert (found.kind, found.metadata, found.fold, found.title) == ("info", "wide right", "+", "Title")


def test_a_link_definition_in_a_quote_is_a_callout_all_the_same() -> None:
    assert read_callout(["> [!decision]: /url"]) is None
    found = read_callout(["> [!decision] : /url"])
    assert found is not None
    assert found.title == ": /url"


@pytest.mark.parametrize("head", ["> text [!note]", "> [! note]", ">[note]", "[!note]", "    > [!note]", "> [!]"])
def test_what_is_no_head_makes_no_callout(head: str) -> None:
    assert read_callout([head]) is None


def test_only_one_level_of_quoting_is_taken_off() -> None:
    assert unquote_lines(["> a", ">", ">b", "> > c", "lazy", "  > d", ">  e", "    > f"]) == [
        "a", "", "b", "> c", "lazy", "d", " e", "    > f",
    ]  # fmt: skip


@given(st.lists(st.text(st.characters(exclude_characters="\n\r"), max_size=20)))
def test_quoting_lines_and_back_changes_nothing(lines: list[str]) -> None:
    assert unquote_lines(quote_lines(lines)) == lines
