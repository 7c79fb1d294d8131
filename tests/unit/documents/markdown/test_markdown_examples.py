"""Small facts about links, hidden stretches, marks, callouts and code spans: exact places and exact words."""

from __future__ import annotations

import pytest

from crucible.core.errors import EditRefused
from crucible.documents.markdown.code_spans import code_span, read_code_span
from crucible.documents.markdown.hidden_ranges import Hidden, hidden_ranges, scan
from crucible.documents.markdown.line_scan import quote_lines, read_callout, unquote_lines
from crucible.documents.markdown.source import Source, Span
from crucible.documents.markdown.wikilinks import (
    LinkText,
    encode_target,
    find_links,
    find_property_links,
    heading_key,
    parse_linktext,
    render_link,
)
from crucible.documents.markdown.yaml_scalars import EXACT, read_scalar, same_value, write_scalar
from tests.cases import for_each

# --- what is hidden -------------------------------------------------------------------------------------------------


@for_each(
    ("text", "hidden"),
    [
        ("    a\n    b", [("indented", "    a\n    b")]),
        ("    a\n \t\n    b", [("indented", "    a\n \t\n    b")]),
        (">     a\n>\n>     b", [("indented", ">     a\n>\n>     b")]),
        ("    a\n\n\x0c\n\n    b", [("indented", "    a"), ("indented", "    b")]),
        ("    a\n\nb\n\n    c", [("indented", "    a"), ("indented", "    c")]),
        (">\t```\n>\ta\n>\t```\nb `c`", [("fence", "```\n>\ta\n>\t```"), ("code", "`c`")]),
        ("> >```\n> >a\n> >```\n> `b`", [("fence", "> >```\n> >a\n> >```"), ("code", "`b`")]),
        ("-\t\t`a` b", [("indented", "`a` b")]),
        ("-\t`a`\n\n\t`b`\n\n\t\tc", [("code", "`a`"), ("code", "`b`"), ("indented", "c")]),
        ("   - a\n\n     `b`\n\n         c", [("code", "`b`"), ("indented", "c")]),
        ("<div>\n`a`\n\n`b`", [("html", "<div>\n`a`\n"), ("code", "`b`")]),
        ("<!-- a --> `b`", [("html", "<!-- a -->"), ("code", "`b`")]),
        ("<!-- a\n--> `b`\n\n`c`", [("html", "<!-- a\n-->"), ("code", "`b`"), ("code", "`c`")]),
        ("a <!-- b --> c", [("html", "<!-- b -->")]),
        ("%%\na\n\n%% `b`", [("comment", "%%\na\n\n%%"), ("code", "`b`")]),
        ("%%\na\n\n%%\n# `b`", [("comment", "%%\na\n\n%%"), ("code", "`b`")]),
        ("%%a%%%%b%% `c`", [("comment", "%%a%%%%b%%"), ("code", "`c`")]),
        ("$$a$$ `b`", [("math", "$$a$$"), ("code", "`b`")]),
        ("``a`b`` `c`", [("code", "``a`b``"), ("code", "`c`")]),
        ("\\`a `b`", [("code", "`b`")]),
    ],
)
def test_hidden_stretches_reach_from_their_first_mark_to_their_last(text: str, hidden: list[tuple[str, str]]) -> None:
    found = scan(text)
    assert [(one.kind, text[one.span.start : one.span.end].lstrip("> ")) for one in found.hidden] == [
        (kind, part.lstrip("> ")) for kind, part in hidden
    ]
    assert found.unclosed == ()
    assert hidden_ranges(text) == [one.span for one in found.hidden]


def test_code_is_fences_indented_lines_and_spans_and_nothing_else() -> None:
    text = "    a\n\n`b`\n\n```\nc\n```\n\n%%d%% $$e$$ <!-- f -->"
    found = scan(text).hidden
    assert [text[s.start : s.end] for kind, s in found if kind in ("fence", "indented", "code")] == [
        "a",
        "`b`",
        "```\nc\n```",
    ]


def test_hidden_stretches_are_looked_for_from_the_start_asked_for() -> None:
    text = "`a\n\nb` `c`"
    assert scan(text, 4).hidden == (Hidden("code", Span(5, 8)),)
    assert scan(text, 7).hidden == (Hidden("code", Span(7, 10)),)
    assert hidden_ranges(text, 7) == [Span(7, 10)]


@pytest.mark.parametrize(
    ("text", "unclosed"),
    [
        ("a\n\n```\nb", [Hidden("fence", Span(3, 8))]),
        ("<!-- a", [Hidden("html", Span(0, 6))]),
        ("<div>\na", []),
        ("<div>\n\na", []),
        ("```\n```", []),
        ("a %% b", [Hidden("comment", Span(2, 4))]),
        ("> ```\n\na", [Hidden("fence", Span(2, 5))]),
    ],
)
def test_what_is_never_closed_stands_apart(text: str, unclosed: list[Hidden]) -> None:
    assert list(scan(text).unclosed) == unclosed


# --- links ----------------------------------------------------------------------------------------------------------


@for_each(
    ("text", "found"),
    [
        ("`a`[[b]]", [("b", "[[b]]")]),
        ("[[b]]`a`[[c]]", [("b", "[[b]]"), ("c", "[[c]]")]),
        ("[[a`]] b`]]", []),
        ("[a](b.md)[[c]]", [("b", "[a](b.md)"), ("c", "[[c]]")]),
        ("[a] [[b]] (c)", [("b", "[[b]]")]),
        ("[a [b](c.md) d](e.md)", [("c", "[b](c.md)")]),
        ("![a ![b](c.md) d](e.md)", [("c", "![b](c.md)"), ("e", "![a ![b](c.md) d](e.md)")]),
        ("[a\n\nb](c.md)", []),
        ("[a\nb](c.md)", [("c", "[a\nb](c.md)")]),
        ("[a]](b.md)", []),
        ("[[a] b](c.md)", [("c", "[[a] b](c.md)")]),
        ("[x](a/b.png) ![y](a/b.png)", [("a/b.png", "[x](a/b.png)")]),
        ("![y](a.b/c)", [("a.b/c", "![y](a.b/c)")]),
        ("![y](b.MD)", [("b", "![y](b.MD)")]),
        ("[](http://x.y) [](//x) [](mailto:a)", []),
    ],
)
def test_links_stand_where_their_brackets_do(text: str, found: list[tuple[str, str]]) -> None:
    source = Source(text)
    links = find_links(source)
    assert [(link.target, source.slice(link.span)) for link in links] == found
    assert all(source.slice(link.target_span).removesuffix(".md").removesuffix(".MD") == link.target for link in links)


def test_links_are_looked_for_from_the_start_asked_for() -> None:
    source = Source("[[a]] [[b]]")
    assert [link.target for link in find_links(source, 1)] == ["b"]
    assert [link.target for link in find_links(Source("---\nx: '[[a]]'\n---\n[[b]]"))] == ["b"]
    assert [link.target for link in find_links(Source("---\nx: '[[a]]'\n---\n[[b]]"), 0)] == ["a", "b"]


@for_each(
    ("text", "parsed"),
    [
        ("a", LinkText("a")),
        (" \ta \t", LinkText("a")),
        ("\xa0a\xa0", LinkText("\xa0a\xa0")),
        ("a#\xa0b\xa0|\xa0c\xa0", LinkText("a", "\xa0b\xa0", "\xa0c\xa0")),
        ("XaX#XbX|XcX", LinkText("XaX", "XbX", "XcX")),
        ("a | b ", LinkText("a", None, "b")),
        ("a|", LinkText("a")),
        ("a#", LinkText("a")),
        ("a\\|b", LinkText("a", None, "b")),
        ("a|b|c", LinkText("a", None, "b|c")),
        ("a#b#c", LinkText("a", "b#c")),
        ("a.md#b", LinkText("a", "b")),
        (".md", LinkText(".md")),
        ("x/.md", LinkText("x/.md")),
    ],
)
def test_linktext_is_taken_apart(text: str, parsed: LinkText) -> None:
    assert parse_linktext(text) == parsed


def test_an_address_has_codes_for_what_cannot_stand_in_it() -> None:
    assert encode_target("a b(c)é") == "a%20b%28c%29é"
    assert encode_target("é", like="%c3%a9") == encode_target("é", like="%C3%A9") == "%C3%A9"
    assert encode_target("é", like="a%20b%7F") == "é"
    assert encode_target("\x7f\ud800z", like="%FF") == "%7F\ud800z"


@pytest.mark.parametrize("target", ["a%%b", "a|b", "a#b", "a]]", ""])
def test_a_link_that_cannot_be_written_says_what_to_leave_out(target: str) -> None:
    with pytest.raises(EditRefused) as refused:
        render_link(target)
    assert str(refused.value) == f"{target!r} cannot be used in a wikilink"
    assert refused.value.hint == "remove # | ^ : %% [[ ]] and line breaks"


def test_headings_are_the_same_to_a_link_when_punctuation_and_case_differ() -> None:
    assert heading_key(" One:  Two/Three! ") == "one two three"
    assert heading_key("ÉTÉ") == "été"


@for_each(
    ("inside", "targets"),
    [
        ('a: "[[b]]"', ["b"]),
        ("a: '[[b]]' # '[[c]]'", ["b"]),
        ('a: ["[[b]]", "[[c]]"]', ["b", "c"]),
        ('a:\n  - "[[b]]"\n  - k: "[[c]]"', ["b", "c"]),
        ('a: |\n  "[[b]]"\nc: "[[d]]"', ["d"]),
        ('a: |\n\n  "[[b]]"\n', []),
        ('- "[[a]]"\n"b": "[[c]]"', ["a", "c"]),
        ('a: x "[[b]]"', []),
        ('a: "![[b]]"', []),
        ('a: "x [[b]]"', []),
        ('a: "[[b\\n]]"', []),
        ("a: '[[b''c]]'", []),
        ('a: [x\n  , "[[b]]"]', ["b"]),
        ('a: {k: "[[b]]"}', ["b"]),
        ('# "[[b]]"', []),
    ],
)
def test_a_quoted_property_is_a_link_when_it_is_nothing_else(inside: str, targets: list[str]) -> None:
    source = Source(f'---\n{inside}\n---\n"[[body]]"\n')
    links = find_property_links(source)
    assert [link.target for link in links] == targets
    assert [source.slice(link.span) for link in links] == [f"[[{target}]]" for target in targets]


# --- callouts -------------------------------------------------------------------------------------------------------


def test_a_callout_without_marks_has_none() -> None:
    raw = read_callout(["> [!a]"])
    assert raw is not None
    assert (raw.fold, raw.metadata, raw.title) == ("", "", "")


def test_quote_marks_come_off_one_level_and_up_to_three_blanks_deep() -> None:
    assert unquote_lines(["> a", ">", ">  a", ">a", "   > a", "    > a", "\t> a", "a", "> > a", "X> a", ">\ta"]) == [
        "a", "", " a", "a", "a", "    > a", "\t> a", "a", "> a", "X> a", "\ta",
    ]  # fmt: skip
    assert quote_lines(["a", "", " "]) == ["> a", ">", ">  "]


# --- code spans and scalars -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("a", "`a`"),
        ("a`b", "``a`b``"),
        ("`a", "`` `a ``"),
        ("a`", "`` a` ``"),
        (" a ", "`  a  `"),
        ("X", "`X`"),
        (" X", "` X`"),
    ],
)
def test_a_code_span_reads_back_as_its_text(text: str, span: str) -> None:
    assert code_span(text) == span
    assert read_code_span(span) == (text, len(span))
    assert read_code_span(f"x {span} y", 2) == (text, 2 + len(span))


@pytest.mark.parametrize(("line", "at"), [("a", 0), ("``a`", 0), ("``a``", 1), ("x`a`", 0), ("", 0)])
def test_no_code_span_begins_there(line: str, at: int) -> None:
    assert read_code_span(line, at) is None


@pytest.mark.parametrize(
    ("number", "text"),
    [(float("inf"), ".inf"), (float("-inf"), "-.inf"), (float("nan"), ".nan"), (1e22, "1.0e+22")],
)
def test_odd_numbers_are_written_for_both_dialects(number: float, text: str) -> None:
    assert write_scalar(number) == text
    assert same_value(read_scalar(text), number)


def test_integers_are_exact_up_to_the_last_exact_one() -> None:
    assert read_scalar("0x20000000000000") == EXACT
    assert type(read_scalar("0x20000000000000")) is int
    assert type(read_scalar("0x20000000000002")) is float
    assert not same_value(None, 0)
    assert not same_value("a", 1)
    assert not same_value(1.0, 1)
