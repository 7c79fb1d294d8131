"""Prose is split into passages where paragraphs end, and nowhere else."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.documents.markdown.fences import whole_fences
from crucible.search.session_events import passages_of
from tests.cases import for_each

TEXTS = st.lists(
    st.sampled_from(
        ["", " ", "a", "b c:", "# h", "**x**", "- i", "  more", "\tmore", "```", "~~~", "````py", "é", "d"]
    ),
    max_size=14,
).map("\n".join)


def cut(text: str) -> list[str]:
    lines = text.split("\n")
    return ["\n".join(lines[one.first : one.end]) for one in passages_of(text)]


@for_each(
    ("text", "passages"),
    [
        ("", []),
        ("\n \n", []),
        ("one", ["one"]),
        ("one\ngoes on\n\ntwo\n\n\nthree\n", ["one\ngoes on", "two", "three"]),
        ("# Why\n\nbecause\n\nso", ["# Why\n\nbecause", "so"]),
        ("**Why**\n\nbecause", ["**Why**\n\nbecause"]),
        ("Two ways:\n\n- a\n- b\n\nI took a.", ["Two ways:\n\n- a\n- b", "I took a."]),
        ("- a\n\n  more of a\n\n- b", ["- a\n\n  more of a", "- b"]),
        (
            "It runs\n\n```sh\nmake\n\nmake test\n```\n\nand ends",
            ["It runs\n\n```sh\nmake\n\nmake test\n```", "and ends"],
        ),
        ("ends with a colon:\n\n", ["ends with a colon:"]),
        (
            "a\n\nb <!-- cru:recalled -->\n\nc\n\n\\<!-- /cru:recalled -->\n\nd",
            ["a", "b <!-- cru:recalled -->\n\nc\n\n\\<!-- /cru:recalled -->", "d"],
        ),
        ("<!-- cru:recalled -->\n\nb\n\nc", ["<!-- cru:recalled -->", "b", "c"]),
        (
            "<!-- /cru:recalled -->\n\nb\n\n<!-- cru:recalled -->",
            ["<!-- /cru:recalled -->", "b", "<!-- cru:recalled -->"],
        ),
    ],
)
def test_prose_is_split_where_paragraphs_end(text: str, passages: list[str]) -> None:
    assert cut(text) == passages


@given(TEXTS)
def test_passages_contain_every_word_once_and_in_order(text: str) -> None:
    assert [line for one in cut(text) for line in one.split("\n") if line.strip()] == [
        line for line in text.split("\n") if line.strip()
    ]


@given(TEXTS)
def test_no_passage_begins_or_ends_blank_or_inside_a_fence(text: str) -> None:
    inside = {line for first, end in whole_fences(text) for line in range(first + 1, end)}
    for one in passages_of(text):
        lines = text.split("\n")[one.first : one.end]
        assert lines[0].strip()
        assert lines[-1].strip()
        assert one.first not in inside
        assert one.end not in inside


@pytest.mark.timed
@pytest.mark.parametrize("text", ["word\n\n" * 40_000, "led on:\n" + "\n" * 40_000 + "b", "- a\n\n  b\n\n" * 40_000])
def test_splitting_takes_linear_time(text: str) -> None:
    began = time.process_time()
    assert sum(1 for _ in passages_of(text)) in (1, 40_000)
    assert time.process_time() - began < 1.5
