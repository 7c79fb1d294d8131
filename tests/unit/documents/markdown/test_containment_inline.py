"""Hidden stretches: the conformance rows, the traps, and time."""

from __future__ import annotations

import json
import time
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.documents.markdown.hidden_ranges import hidden_ranges, scan
from crucible.documents.markdown.source import Source, Span
from tests.cases import for_each
from tests.paths import TESTS

DATA = TESTS / "data" / "conformance"
MULTIBYTE = json.loads((DATA / "robustness_multibyte.json").read_text("utf-8"))


def rows(name: str) -> list[dict]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").split("\n") if line]


def columns(text: str, span: Span) -> list[list[int]]:
    source = Source(text)
    return [[line := source.line_of(at), at - source.starts[line]] for at in (span.start, span.end)]


def code_ranges(text: str, start: int = 0) -> list[Span]:
    """Fences, indented code and code spans, marks included."""
    return [one.span for one in scan(text, start).hidden if one.kind in ("fence", "indented", "code")]


# The rows of op `headings` are the outline's, and tested with it.
@pytest.mark.parametrize(
    "row", [row for row in rows("structure.jsonl") if row["op"] == "code_ranges"], ids=lambda row: row["id"]
)
def test_structure_is_found_where_it_stands(row: dict) -> None:
    assert row["obsidian"] == "agree"
    assert [columns(row["input"], span) for span in code_ranges(row["input"])] == row["expected"]


def hidden(text: str) -> list[str]:
    return [text[span.start : span.end] for span in hidden_ranges(text)]


@for_each(
    ("text", "expected"),
    [
        ("- a\n\n    ```\n    #x\n    ```\n\n#y", ["```\n    #x\n    ```"]),
        ("- ```\n  #x\n  ```\n#y", ["```\n  #x\n  ```"]),
        ("1) - ~~~\n     #x\n     ~~~", ["~~~\n     #x\n     ~~~"]),
        ("> ```\n> #x\n> ```\n> #y", ["```\n> #x\n> ```"]),
        ("> > ~~~\n> > #x\n> #y", ["~~~\n> > #x"]),
        ("> ```\n> #x\n#y", ["```\n> #x"]),
        ("- ```\n  #x\n#y", ["```\n  #x"]),
        ("````\n```\n````\n#y", ["````\n```\n````"]),
        ("```\n~~~\n```", ["```\n~~~\n```"]),
        ("``` a`b\n#y", []),
        ("~~~ a`b\n#x", ["~~~ a`b\n#x"]),
        ("```\r\n#x\r\n```\r\n#y", ["```\r\n#x\r\n```"]),
        ("```\r#x\r```\r#y", ["```\r#x\r```"]),
        ("```\n#x\n    ```\n```", ["```\n#x\n    ```\n```"]),
        ("```\n#x\n```   \n#y", ["```\n#x\n```   "]),
        ("```\n#x\n``` y", ["```\n#x\n``` y"]),
        ("```\n\u2028```\n#x", ["```\n\u2028```\n#x"]),
    ],
)
def test_fences_are_found_in_lists_and_quotes_and_end_with_them(text: str, expected: list[str]) -> None:
    assert hidden(text) == expected


@for_each(
    ("text", "expected"),
    [
        ("a `b` c", ["`b`"]),
        ("``a ` b`` `", ["``a ` b``"]),
        ("`a\nb` c", ["`a\nb`"]),
        ("`a\n\nb` c", []),
        ("`a\n# b` c", []),
        ("`a\n- b` c", []),
        ("`a\n2. b` c", ["`a\n2. b`"]),
        ("- `a\n- b` c", []),
        ("1. `a\n2. b` c", []),
        ("> `a\nb` c", ["`a\nb`"]),
        ("`a\n> b` c", []),
        ("\\`a` b`", ["` b`"]),
        ("`a\\` b`", ["`a\\`"]),
        ("\\``a` b", ["`a`"]),
        ("# `a` `b", ["`a`"]),
        ("`a\n---\nb`", []),
        ("`a\n***\nb`", []),
        ("`a\n```\nb`", ["```\nb`"]),
    ],
)
def test_code_spans_close_within_their_paragraph(text: str, expected: list[str]) -> None:
    assert hidden(text) == expected


@for_each(
    ("text", "expected"),
    [
        ("    #x", ["    #x"[4:]]),
        ("a\n    #x", []),
        ("a\n\n    #x\n\n    #z\n\nb", ["#x\n\n    #z"]),
        ("a\n\n\t#x", ["#x"]),
        ("- a\n\n    #x", []),
        ("- a\n\n      #x", ["#x"]),
        ("-     #x", ["#x"]),
        ("- a\n\nb\n\n    #x", ["#x"]),
        (">     #x", ["#x"]),
        (">   #x", []),
    ],
)
def test_indented_code_counts_from_the_list_item(text: str, expected: list[str]) -> None:
    assert hidden(text) == expected


@for_each(
    ("text", "expected"),
    [
        ("a %%b%% c", ["%%b%%"]),
        ("%%\n\n```\n%%\n`x`", ["%%\n\n```\n%%", "`x`"]),
        ("```\n%%\n```\n%% b", ["```\n%%\n```"]),
        ("`%%` b %%", ["`%%`"]),
        ("%% `b %% c`", ["%% `b %%"]),
        ("a %%%b%% c%%", ["%% c%%"]),
        ("a\n%%\n# b\n%% c `d`\ne", ["%%\n# b\n%%", "`d`"]),
        ("# a %%\nb\n%% c", ["%%\nb\n%%"]),
        ("> a %% b\n> c %% d", []),
        ("> a %% b %% d", ["%% b %%"]),
        ("\\%% a %% b", []),
        ("%%a%%\n```\n#x\n```", ["%%a%%", "```\n#x\n```"]),
    ],
)
def test_comments_hide_across_blocks_but_not_out_of_a_quote(text: str, expected: list[str]) -> None:
    assert hidden(text) == expected


@for_each(
    ("text", "expected"),
    [
        ("<!-- a\n\n%% b --> %%c%%", ["<!-- a\n\n%% b -->", "%%c%%"]),
        ("a <!-- b --> c", ["<!-- b -->"]),
        ("a <!-- b\n\nc --> d", []),
        ("%% <!-- %% b -->", ["%% <!-- %%"]),
        ("<div>\n#x\n\n#y", ["<div>\n#x\n"]),
        ("a\n<details>\n```\n\nb", ["<details>\n```\n"]),
        ("<pre>\n\n#x\n</pre> #y", ["<pre>\n\n#x\n</pre>"]),
        ("<?php #x ?> y", ["<?php #x ?>"]),
        ("<![CDATA[ a\n\nb ]]>", ["<![CDATA[ a\n\nb ]]>"]),
        ("<!DOCTYPE a> b", ["<!DOCTYPE a>"]),
        ("> <!-- a\nb", ["<!-- a"]),
        ("<b>\n#x", []),
        ("a < b", []),
    ],
)
def test_html_hides_its_block(text: str, expected: list[str]) -> None:
    assert hidden(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$$\n- #x\n$$", ["$$\n- #x\n$$"]),
        ("a $$b$$ c", ["$$b$$"]),
        ("kill $$\n\nand $$", []),
        ("> kill $$\n>\n> and $$", []),
        ("`$$` a $$", ["`$$`"]),
    ],
)
def test_math_never_reaches_over_a_blank_line(text: str, expected: list[str]) -> None:
    assert hidden(text) == expected


def test_unclosed_comment_is_told_and_hides_nothing() -> None:
    text = "a %% b\n\n`c`"
    assert hidden(text) == ["`c`"]
    assert [(u.kind, u.span) for u in scan(text).unclosed] == [("comment", Span(2, 4))]


def test_unclosed_fence_is_told_and_hides_the_rest() -> None:
    text = "a\n```\n#b\n"
    assert hidden(text) == ["```\n#b\n"]
    assert [(u.kind, u.span) for u in scan(text).unclosed] == [("fence", Span(2, 9))]


def test_html_block_that_ends_at_a_blank_line_is_never_unclosed() -> None:
    assert scan("<div>\na").unclosed == ()
    assert [u.kind for u in scan("<!-- a").unclosed] == ["html"]


def test_what_stands_before_the_start_is_not_looked_at() -> None:
    text = "---\na: %%\n---\n#d %%"
    assert hidden_ranges(text, 14) == []
    assert hidden_ranges(text) != []


FRAGMENTS = st.sampled_from(
    [
        "`",
        "``",
        "```",
        "~~~",
        "%%",
        "$$",
        "<!--",
        "-->",
        "<div>",
        "<pre>",
        "</pre>",
        "\\",
        "> ",
        "- ",
        "1. ",
        "    ",
        "\t",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        "# ",
        "---",
        "#t",
        " ^b",
        "[^1]",
        "[^1]: ",
        "[[",
        "]]",
        "x",
        " ",
        "é",
        "�",
    ]
)
NOTES = st.lists(FRAGMENTS, max_size=40).map("".join)


@given(NOTES | st.text(max_size=200))
def test_any_text_is_read_and_hidden_stretches_stand_in_order(text: str) -> None:
    at = 0
    for span in hidden_ranges(text):
        assert at <= span.start < span.end <= len(text)
        at = span.end


@given(NOTES.filter(lambda text: "\r" not in text))
def test_line_ends_do_not_change_what_is_hidden(text: str) -> None:
    windows = text.replace("\n", "\r\n")
    assert [h.replace("\r\n", "\n") for h in hidden(windows)] == hidden(text)


def test_multibyte_text_around_any_syntax_is_read() -> None:
    for mb, syntax, layout in product(MULTIBYTE["multibyte"], MULTIBYTE["syntax"], MULTIBYTE["layouts"]):
        text = layout.format(pad=mb * 40, syn=syntax, mb=mb)
        for span in hidden_ranges(text):
            assert text[span.start] in "`$"


MEGABYTE = 1_000_000


@pytest.mark.timed
@pytest.mark.parametrize(
    "text",
    [
        "x" * MEGABYTE,
        "`" * MEGABYTE,
        "".join("`" * n + " " for n in range(1, 1400)),
        "%% " * 5001,
        "<!-- " * 5000,
        "a <!-- " * 5000,
        "a\n<!--\n" * 5000,
        "$$ a\n\n" * 5000,
        "> " * (MEGABYTE // 2) + "\n" + "> " * 1000,
        "- " * 50_000 + "\n" * 50_000,
        "```\n" * 5001,
        "> ```\n\n" * 5000,
        "<div>\n\n" * 5000,
        "[^" * 100_000,
        "#" * MEGABYTE,
        "- - - x " * 100_000,
        "_ " * 500_000 + "x",
        "a ^b " * 100_000,
        "^b" + " " * MEGABYTE + "x",
        ("^" + "b" * 1000) * 1000,
        " " * MEGABYTE + "x",
        "\t" * 100_000 + "x\n" * 1000,
        ">\n" * 30_000,
        "[[a" * 100_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_text_takes_linear_time(text: str) -> None:
    began = time.perf_counter()
    scan(text)
    # Measured well below one second; quadratic work on any of these takes minutes.
    assert time.perf_counter() - began < 10
