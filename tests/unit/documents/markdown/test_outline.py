"""Where blocks begin and end: the line scanner, markdown-it, and that the two agree."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.documents.markdown.frontmatter import find_frontmatter
from crucible.documents.markdown.line_scan import Block, Kind, scan_lines
from crucible.documents.markdown.outline import find_blocks, mask_comments, parse_blocks
from crucible.documents.markdown.source import Source
from samples.hostile_texts import FRAGMENTS
from tests.cases import for_each
from tests.paths import TESTS

DATA = TESTS / "data" / "conformance"


def blocks_of(text: str) -> list[tuple[Kind, int, int]]:
    return [(b.kind, b.first, b.end) for b in find_blocks(Source(text)).blocks]


def headings_of(text: str) -> list[list[object]]:
    source = Source(text)
    blocks = find_blocks(source, find_frontmatter(source).lines.end).blocks
    return [[b.level, b.text, b.first] for b in blocks if b.kind is Kind.HEADING]


def heading_rows() -> list[dict[str, object]]:
    rows = []
    for name in ("structure.jsonl", "frontmatter.jsonl"):
        rows += [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["op"] == "headings"]


@pytest.mark.parametrize("row", heading_rows(), ids=lambda row: row["id"])
def test_headings_of_other_projects_are_found_on_their_lines(row: dict[str, object]) -> None:
    assert headings_of(str(row["input"])) == row["expected"]


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12))
def test_the_line_scanner_agrees_with_markdown_it_or_gives_up(lines: list[str]) -> None:
    scanned = scan_lines(lines)
    if scanned is not None:
        assert scanned == parse_blocks(mask_comments(Source("\n".join(lines)))[0])


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=4))
def test_the_line_scanner_agrees_with_markdown_it_on_short_notes(lines: list[str]) -> None:
    scanned = scan_lines(lines)
    if scanned is not None:
        assert scanned == parse_blocks(mask_comments(Source("\n".join(lines)))[0])


@given(st.text(st.characters(codec=None), max_size=200))
def test_any_text_has_an_outline_whose_blocks_do_not_overlap(text: str) -> None:
    source = Source(text)
    at = 0
    for block in find_blocks(source).blocks:
        assert at <= block.first < block.end <= len(source.lines)
        at = block.end


def test_a_tidy_session_needs_no_markdown_it() -> None:
    text = (DATA.parent / "upstream" / "feature-implementation-session.md").read_text(encoding="utf-8")
    source = Source(text)
    assert scan_lines(source.lines, find_frontmatter(source).lines.end) is not None


def test_a_tool_list_is_only_the_list_right_under_its_line() -> None:
    text = "**Tool calls:**\n- `a` → b\n\n- `c` → d\n\ntext\n\n- `e` → f"
    assert blocks_of(text) == [(Kind.TOOLS, 0, 1), (Kind.LIST, 1, 4), (Kind.TEXT, 5, 8)]


@for_each(
    ("text", "expected"),
    [
        ("%%\n## hidden\n%%\n## shown", [[2, "shown", 3]]),
        ("<!--\n## hidden\n-->\n\n## shown", [[2, "shown", 4]]),
        ("```\n## hidden\n```\n## shown", [[2, "shown", 3]]),
        ("> ## quoted\n\n## shown", [[2, "shown", 2]]),
        ("- a\n  ## in a list\n\n## shown", [[2, "shown", 3]]),
        ("setext\n---\n\n## shown", [[2, "shown", 3]]),
        ("```\n%%\n```\n## shown\n\n%%", [[2, "shown", 3]]),
        ("`%%` and `%%`\n## shown", [[2, "shown", 1]]),
        ("%%\n```\n%%\n## shown", [[2, "shown", 3]]),
        ("<!-- %% -->\n## shown\n\n%%", [[2, "shown", 1]]),
        ("- ```\n  %%\n  ```\n\n## shown\n\n%%", [[2, "shown", 4]]),
        ("> ```\n> %%\n\n## shown\n\n%%", [[2, "shown", 3]]),
        ("a %% b\n## hidden\nc %% d\n\n## shown", [[2, "shown", 4]]),
    ],
)
def test_hidden_headings_are_no_headings(text: str, expected: list[list[object]]) -> None:
    assert headings_of(text) == expected


def test_an_unclosed_comment_is_reported_and_hides_nothing() -> None:
    found = find_blocks(Source("text\n\n%% open\n\n## Two"))
    assert [(p.code, p.line) for p in found.problems] == [("unclosed-comment", 3)]
    assert found.blocks[-1] == Block(Kind.HEADING, 4, 5, 2, "Two")


def test_a_comment_that_opens_in_a_quote_closes_on_its_line_or_not_at_all() -> None:
    found = find_blocks(Source("> %% a\n\n## Two\n\n%%"))
    assert [p.line for p in found.problems] == [1, 5]
    assert found.blocks[1].kind is Kind.HEADING


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("a\n\n```py\nx\n", "unclosed-fence", 3),
        ("a\n\n~~~\n```\n", "unclosed-fence", 3),
        ("a\n\n<!-- x\n\n## no\n", "unclosed-html", 3),
        ("<!-- x -->\n\n<script>\n\nb", "unclosed-html", 3),
        ("<?php\n\nb", "unclosed-html", 1),
    ],
)
def test_what_hides_the_rest_of_a_note_is_reported_with_its_line(text: str, code: str, line: int) -> None:
    assert [(p.code, p.line) for p in find_blocks(Source(text)).problems] == [(code, line)]


def test_closed_html_is_no_problem() -> None:
    assert find_blocks(Source("<!-- a -->\n<div>\n\n<script>\n\n</script>\n")).problems == ()


def test_masking_keeps_the_number_and_length_of_lines() -> None:
    assert mask_comments(Source("a %% b\n\n## c\nd %% e"))[0] == ["a %% b", "", "xxxx", "xxxx e"]


def test_lines_without_comments_come_back_as_they_are() -> None:
    source = Source("a\nb")
    assert mask_comments(source)[0] is source.lines


@pytest.mark.timed
@pytest.mark.parametrize(
    "text",
    [
        "`" * 1_000_000,
        "%%" * 500_000,
        "```\n" * 5_001,
        "<!--\n" * 5_000,
        "%% a\n\n> %%\n" * 5_000,
        "> " * 5_000 + "x",
    ],
    ids=["backticks", "percents", "fences", "html", "comments", "quotes"],
)
def test_pathological_notes_take_no_more_than_seconds(text: str) -> None:
    started = time.perf_counter()
    find_blocks(Source(text))
    assert time.perf_counter() - started < 5


def test_an_untidy_note_beyond_the_limit_is_kept_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crucible.documents.markdown.outline.TOO_LARGE", 10)
    found = find_blocks(Source("<div>\n\n## Two and more\n"))
    assert [b.kind for b in found.blocks] == [Kind.TEXT]
    assert found.problems[0].code == "too-large"
