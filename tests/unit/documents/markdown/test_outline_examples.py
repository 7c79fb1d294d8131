"""Where blocks begin and end, note by note: what the line scanner reads itself, and what it leaves to markdown-it."""

from __future__ import annotations

import random
from itertools import product

import pytest

from crucible.documents.markdown.line_scan import Block, Kind, scan_lines
from crucible.documents.markdown.outline import TOO_LARGE, find_blocks, mask_comments, parse_blocks
from crucible.documents.markdown.source import Source
from samples.hostile_texts import FRAGMENTS
from tests.cases import for_each

TEXT, HEADING, QUOTE, FENCE, TOOLS, LIST, RULE, COMMENT = Kind
LINE = "**Tool calls:**"


def both(lines: list[str]) -> list[Block] | None:
    """The blocks of the line scanner, which must be markdown-it's; None when it gave up."""
    scanned = scan_lines(lines)
    if scanned is not None:
        assert scanned == parse_blocks(mask_comments(Source("\n".join(lines)))[0]), lines
    return scanned


def test_the_two_readers_agree_on_every_pair_of_lines() -> None:
    for lines in product(FRAGMENTS, repeat=2):
        both(list(lines))


def test_the_two_readers_agree_on_thousands_of_short_notes() -> None:
    draw = random.Random(20261121)
    for _ in range(4_000):
        both(draw.choices(FRAGMENTS, k=draw.randrange(3, 8)))


ITEM_LINES = [
    "- a", "* b", "1. c", "2. d", "10) e", "- ", "- - -", "1. ```", "1. > q", "para", "", " ", "   x", "    y", "\tz", "  # h", "## H",
    "> q", "---", "   - n", "   <!--", "  -->", "  [a]: /u", LINE, "- `a` → b", "```", "  ```", "   ```go", "   ```", "    ```",
    "  ~~~", "   ````", "\t```", "   %%",
]  # fmt: skip
"""Lines of list items and of fences in them."""


def test_the_two_readers_agree_on_fences_in_list_items() -> None:
    draw = random.Random(20261128)
    for _ in range(4_000):
        both(draw.choices(ITEM_LINES, k=draw.randrange(3, 10)))
        both(["", draw.choice(["- a", "1. a", "2. a"]), *draw.choices(["  ```", "   ```", "   x", "", "b"], k=6)])


@pytest.mark.parametrize(
    "text",
    ["1. a\n   ```\n   b\n   ```\n   c", "2. a\n\n   ```go\n     b\n\n   ```\n3. c", "- a\n  ~~~\n  > b\n  ~~~~"],
)
def test_a_fence_in_a_list_item_needs_no_markdown_it(text: str) -> None:
    assert both(text.split("\n")) == [Block(TEXT, 0, text.count("\n") + 1)]


@for_each(
    ("text", "blocks"),
    [
        ("", []),
        ("\n\n", []),
        (" \t", []),
        ("a", [Block(TEXT, 0, 1)]),
        ("a\n\nb\n", [Block(TEXT, 0, 3)]),
        ("\n a\n\n\tb", [Block(TEXT, 1, 4)]),
        ("a\n \nb", [Block(TEXT, 0, 3)]),
        ("# H", [Block(HEADING, 0, 1, 1, "H")]),
        ("######  H  ##  ", [Block(HEADING, 0, 1, 6, "H")]),
        ("##", [Block(HEADING, 0, 1, 2, "")]),
        ("#\tH#", [Block(HEADING, 0, 1, 1, "H#")]),
        ("#H\n####### H", [Block(TEXT, 0, 2)]),
        ("a\n# H\nb", [Block(TEXT, 0, 1), Block(HEADING, 1, 2, 1, "H"), Block(TEXT, 2, 3)]),
        ("> a\n> b", [Block(QUOTE, 0, 2)]),
        ("> a\n\n> b", [Block(QUOTE, 0, 1), Block(QUOTE, 2, 3)]),
        ("> a\n## H", [Block(QUOTE, 0, 1), Block(HEADING, 1, 2, 2, "H")]),
        ("> a\n \t\nb", [Block(QUOTE, 0, 1), Block(TEXT, 2, 3)]),
        ("a\n>b", [Block(TEXT, 0, 1), Block(QUOTE, 1, 2)]),
        ("```\na\n```", [Block(FENCE, 0, 3)]),
        ("```  py x \t\n```", [Block(FENCE, 0, 2, 0, "py x")]),
        ("~~~ py ` x\n```\n~~~~\nb", [Block(FENCE, 0, 3, 0, "py ` x"), Block(TEXT, 3, 4)]),
        ("````\n```\n`````", [Block(FENCE, 0, 3)]),
        ("```\n   ``` \t\nb", [Block(FENCE, 0, 2), Block(TEXT, 2, 3)]),
        ("```\n    ```\n```", [Block(FENCE, 0, 3)]),
        ("```\na\n\n \n", [Block(FENCE, 0, 2, closed=False)]),
        ("```", [Block(FENCE, 0, 1, closed=False)]),
        ("```\n\n", [Block(FENCE, 0, 1, closed=False)]),
        ("a\n```\n%%\n```\n", [Block(TEXT, 0, 1), Block(FENCE, 1, 4)]),
        ("``` a`b\n`x`", [Block(TEXT, 0, 2)]),
        ("a\n\n---\n\nb", [Block(TEXT, 0, 1), Block(RULE, 2, 3), Block(TEXT, 4, 5)]),
        ("---\nb", [Block(RULE, 0, 1), Block(TEXT, 1, 2)]),
        ("- - -\t\n---", [Block(RULE, 0, 1), Block(RULE, 1, 2)]),
        ("a\n***\nb", [Block(TEXT, 0, 1), Block(RULE, 1, 2), Block(TEXT, 2, 3)]),
        ("___\n_ _ _\n__\n_a_", [Block(RULE, 0, 1), Block(RULE, 1, 2), Block(TEXT, 2, 4)]),
        ("- a\n- b\n\n* c", [Block(TEXT, 0, 4)]),
        ("<!-- -->\n\na", [Block(TEXT, 0, 3)]),
        (f"{LINE}\n- a\n- b", [Block(TOOLS, 0, 1), Block(LIST, 1, 3)]),
        (f"{LINE} \t\n- a", [Block(TOOLS, 0, 1), Block(LIST, 1, 2)]),
        (f"{LINE}\n\n\n* a\n\n\n* b\n\nc", [Block(TOOLS, 0, 1), Block(LIST, 3, 7), Block(TEXT, 8, 9)]),
        (f"{LINE}\n+ a\n\n## H", [Block(TOOLS, 0, 1), Block(LIST, 1, 2), Block(HEADING, 3, 4, 2, "H")]),
        (f"{LINE}\n- a\n## H", [Block(TOOLS, 0, 1), Block(LIST, 1, 2), Block(HEADING, 2, 3, 2, "H")]),
        (f"{LINE}\n- a\n> q", [Block(TOOLS, 0, 1), Block(LIST, 1, 2), Block(QUOTE, 2, 3)]),
        (f"{LINE}\n- a\n<!-- -->\nb", [Block(TOOLS, 0, 1), Block(LIST, 1, 2), Block(TEXT, 2, 4)]),
        (f"{LINE}\n- a\n\n<!-- -->\n\n- b", [Block(TOOLS, 0, 1), Block(LIST, 1, 2), Block(TEXT, 3, 6)]),
        (f"{LINE}\n- a\n\n* b", [Block(TOOLS, 0, 1), Block(LIST, 1, 2), Block(TEXT, 3, 4)]),
        (f"{LINE}\n## H", [Block(TOOLS, 0, 1), Block(HEADING, 1, 2, 2, "H")]),
        (f"{LINE}\n> q", [Block(TOOLS, 0, 1), Block(QUOTE, 1, 2)]),
        (f"{LINE}\n\na", [Block(TOOLS, 0, 1), Block(TEXT, 2, 3)]),
        (f"a\n\n{LINE}\n", [Block(TEXT, 0, 1), Block(TOOLS, 2, 3)]),
        (LINE, [Block(TOOLS, 0, 1)]),
        (f"{LINE}x\n- a", [Block(TEXT, 0, 2)]),
        (f"{LINE}\n\n\n", [Block(TOOLS, 0, 1)]),
    ],
)
def test_tidy_notes_are_read_by_the_line_scanner(text: str, blocks: list[Block]) -> None:
    assert both(text.split("\n")) == blocks


@for_each(
    ("text", "blocks"),
    [
        ("a\n---", [Block(TEXT, 0, 2)]),
        ("> a\nb", [Block(QUOTE, 0, 2)]),
        ("> a\n  ## H", [Block(QUOTE, 0, 1), Block(HEADING, 1, 2, 2, "H")]),
        ("  ## H ##", [Block(HEADING, 0, 1, 2, "H")]),
        ("   ```py \n   a\n  ```", [Block(FENCE, 0, 3, 0, "py")]),
        ("  ~~~\na", [Block(FENCE, 0, 2, closed=False)]),
        ("  ```\n", [Block(FENCE, 0, 1, closed=False)]),
        ("  > a", [Block(QUOTE, 0, 1)]),
        ("  ---\na", [Block(RULE, 0, 1), Block(TEXT, 1, 2)]),
        ("- a\n  - b", [Block(TEXT, 0, 2)]),
        ("<div>\n## no\n\n## H", [Block(TEXT, 0, 2), Block(HEADING, 3, 4, 2, "H")]),
        (f"{LINE}\n- a\n  b", [Block(TOOLS, 0, 1), Block(LIST, 1, 3)]),
        (f"{LINE}\n- a\nb", [Block(TOOLS, 0, 1), Block(LIST, 1, 3)]),
        (f"{LINE}\n- a\n\n  b\n\nc", [Block(TOOLS, 0, 1), Block(LIST, 1, 4), Block(TEXT, 5, 6)]),
        (f"{LINE}\n- a\n* b", [Block(TOOLS, 0, 1), Block(LIST, 1, 2), Block(TEXT, 2, 3)]),
        (f"{LINE}\n-\ta", [Block(TOOLS, 0, 1), Block(LIST, 1, 2)]),
        (f"{LINE}\n-", [Block(TEXT, 0, 2)]),
        (f"{LINE}\n1. a", [Block(TOOLS, 0, 1), Block(TEXT, 1, 2)]),
        (f"a\n{LINE}\n- a", [Block(TEXT, 0, 3)]),
        (f"{LINE}\na\n- a", [Block(TEXT, 0, 3)]),
        (f"  {LINE}\n- a", [Block(TEXT, 0, 2)]),
        (f"{LINE}\n\n- a\n- - -", [Block(TOOLS, 0, 1), Block(LIST, 2, 3), Block(RULE, 3, 4)]),
        (f"{LINE}\n\n{LINE}", [Block(TOOLS, 0, 1), Block(TOOLS, 2, 3)]),
        ("%%\n# no\n%%", [Block(TEXT, 0, 3)]),
        ("[a]: /u\n\n<b>x</b>\n", [Block(TEXT, 0, 3)]),
    ],
)
def test_untidy_notes_are_read_by_markdown_it(text: str, blocks: list[Block]) -> None:
    source = Source(text)
    assert scan_lines(source.lines) is None or both(source.lines) == blocks
    assert find_blocks(source).blocks == blocks


@for_each(
    "text",
    [
        "a\n---", "> a\nb", "> a %% b", "a %% b", "# a %% b", "  ## H", "  > q", " ```", "  ~~~", " <b>", "   ---", "  * * *", "  -",
        f" {LINE}", "<div>", "<!-- x -->", f"a\n{LINE}", f"{LINE}\na", f"{LINE}\n-", f"{LINE}\n- a %%", f"{LINE}\n- a\n  b",
        f"{LINE}\n- a\n- - -", f"{LINE}\n- a\nb", f"{LINE}\n- a\n\n  b", f"{LINE}\n- a\n* b", "- a\n---",
    ],
)  # fmt: skip
def test_the_line_scanner_gives_up_where_it_cannot_tell(text: str) -> None:
    assert scan_lines(text.split("\n")) is None


@for_each("text", ["text %%%", "#x %% y", "**x** %% y", "_x_ %% y", "~ %%", "- x %%", " x %%", "`x` %%"])
def test_the_line_scanner_gives_up_at_a_comment_mark(text: str) -> None:
    assert scan_lines([text]) is None


def test_blocks_begin_after_the_first_line_asked_for() -> None:
    lines = ["## no", "<div>", "", "## H"]
    assert scan_lines(lines, 3) == [Block(HEADING, 3, 4, 2, "H")]
    assert parse_blocks(lines, 2) == [Block(HEADING, 3, 4, 2, "H")]
    assert find_blocks(Source("```\n## H\n<p>"), 1).blocks == [
        Block(HEADING, 1, 2, 2, "H"),
        Block(TEXT, 2, 3),
    ]


def test_a_comment_mark_above_the_first_line_opens_no_comment() -> None:
    assert find_blocks(Source("%%\n## A\n%%"), 1).blocks[0] == Block(HEADING, 1, 2, 2, "A")
    assert [p.line for p in find_blocks(Source("%%\n## A\n%%"), 1).problems] == [3]


def test_a_tidy_note_is_never_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crucible.documents.markdown.outline.TOO_LARGE", 3)
    assert find_blocks(Source("## H and more")).problems == ()


def test_an_untidy_note_beyond_the_limit_says_how_large_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source("## H\n<div>\n")
    assert len(source.text) == 11
    monkeypatch.setattr("crucible.documents.markdown.outline.TOO_LARGE", 10)
    found = find_blocks(source, 1)
    assert found.blocks == [Block(TEXT, 1, 3)]
    (problem,) = found.problems
    assert (problem.code, problem.line) == ("too-large", 2)
    assert problem.message == "11 characters of irregular Markdown are too many to parse; kept as text"
    monkeypatch.setattr("crucible.documents.markdown.outline.TOO_LARGE", 11)
    assert find_blocks(source, 1).problems == ()
    assert TOO_LARGE == 16_000_000


@for_each(
    ("text", "problems"),
    [
        ("a\n\n```\nx", [("unclosed-fence", 3, "this fence is never closed")]),
        ("a\n\n  ```\nx", [("unclosed-fence", 3, "this fence is never closed")]),
        ("> %%\n\n%%", [("unclosed-comment", 1, "this `%%` is never closed; it hides nothing"),
                        ("unclosed-comment", 3, "this `%%` is never closed; it hides nothing")]),
        ("a\n\n <!-- x\n\ny", [("unclosed-html", 3, "this HTML is never closed; it hides what is below it")]),
        ("<!DOCTYPE x\n\ny", [("unclosed-html", 1, "this HTML is never closed; it hides what is below it")]),
        ("<![CDATA[\n]>\n\ny", [("unclosed-html", 1, "this HTML is never closed; it hides what is below it")]),
        ("<style x>\n\ny", [("unclosed-html", 1, "this HTML is never closed; it hides what is below it")]),
        ("<SCRIPT\n\ny", [("unclosed-html", 1, "this HTML is never closed; it hides what is below it")]),
        ("<!-- x\n\n-->", []),
        ("<script>\n\n</SCRIPT> x", []),
        ("<div>\n\ny", []),
        ("<div>\n", []),
        ("<!-- x\n\n-->\n\n## H", []),
        ("<scripts>\n\ny", []),
    ],
)  # fmt: skip
def test_what_is_never_closed_is_said(text: str, problems: list[tuple[str, int, str]]) -> None:
    found = find_blocks(Source(text))
    assert [(p.code, p.line, p.message) for p in found.problems] == problems


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("%%\na\n\nbc\n%%", ["%%", "x", "", "xx", "xx"]),
        ("a %% b %% c", ["a %% b %% c"]),
        ("a %% b\ncc %% d", ["a %% b", "xxxxx d"]),
        ("%%\r\na\r\n%%b", ["%%", "x", "xxb"]),
        ("<!-- a\n## b -->", ["<!-- a", "## b -->"]),
        ("%% a\n%%\n\n%% b\n%% c", ["%% a", "xx", "", "%% b", "xx c"]),
    ],
)
def test_only_what_a_comment_hides_below_its_first_line_is_masked(text: str, lines: list[str]) -> None:
    assert mask_comments(Source(text))[0] == lines
