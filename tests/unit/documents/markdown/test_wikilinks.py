"""What a link says and where it stands: the conformance rows, the traps, and reading back."""

from __future__ import annotations

import json
import time
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crucible.core.errors import EditRefused
from crucible.documents.markdown.source import Source, Span
from crucible.documents.markdown.wikilinks import (
    Link,
    LinkText,
    display,
    encode_target,
    find_links,
    find_property_links,
    heading_key,
    parse_linktext,
    render_link,
    strip_heading_for_link,
)
from tests.cases import for_each
from tests.paths import TESTS

DATA = TESTS / "data" / "conformance"
MULTIBYTE = json.loads((DATA / "robustness_multibyte.json").read_text("utf-8"))


def rows(name: str, *ops: str) -> list[dict]:
    found = [json.loads(line) for line in (DATA / name).read_text("utf-8").split("\n") if line]
    return [row for row in found if not ops or row["op"] in ops]


# Rows where Obsidian does something else than the project that they come from, and what we expect instead.
DECIDED = {
    "extract_links-014": ("indented by twelve blanks the line is code", []),
    "extract_links-015": (
        "Obsidian keeps a link to an attachment",
        [
            {"target": "link.png", "subpath": None, "alias": None, "embed": False, "kind": "wiki"},
            {"target": "link", "subpath": None, "alias": "display.png", "embed": False, "kind": "wiki"},
        ],
    ),
}


def told(link: Link) -> dict:
    return {name: getattr(link, name) for name in ("target", "subpath", "alias", "embed", "kind")}


@for_each("row", rows("extract_links.jsonl"))
def test_links_are_found_as_in_obsidian(row: dict) -> None:
    source = Source(row["input"])
    links = find_links(source)
    expected = DECIDED[row["id"]][1] if row["id"] in DECIDED else row["expected"]
    assert (row["id"] in DECIDED) == (row["obsidian"] != "agree")
    assert [told(link) for link in links] == [
        {name: value for name, value in link.items() if name != "range"} for link in expected
    ]
    for link, wanted in zip(links, expected, strict=True):
        places = [[line := source.line_of(at), at - source.starts[line]] for at in (link.span.start, link.span.end)]
        assert places == wanted.get("range", places)


def test_unindented_text_of_the_row_about_trailing_parentheses_holds_its_link() -> None:
    row = next(row for row in rows("extract_links.jsonl") if row["id"] == "extract_links-014")
    source = Source(row["input"].replace("            ", ""))
    assert [told(link) for link in find_links(source)] == row["expected"]


def test_target_spans_hold_exactly_the_target() -> None:
    row = next(row for row in rows("extract_links.jsonl") if row["id"] == "extract_links-027")
    source = Source(row["input"])
    assert [source.slice(link.target_span) for link in find_links(source)] == [
        "plain", "tgt", "tgt", "tgt", "emb", "after-emoji",
    ]  # fmt: skip


@pytest.mark.parametrize("row", rows("linktext.jsonl", "parse_linktext"), ids=lambda row: row["id"])
def test_linktext_is_parsed_as_in_obsidian(row: dict) -> None:
    assert row["obsidian"] == "agree"
    assert parse_linktext(row["input"]) == LinkText(**row["expected"])


@pytest.mark.parametrize("row", rows("linktext.jsonl", "display"), ids=lambda row: row["id"])
def test_link_is_shown_as_in_obsidian(row: dict) -> None:
    # linktext-007 differs: `Note#Heading` while editing.  We show notes as the reading view does: `Note > Heading`.
    assert row["obsidian"] == "agree" or row["id"] == "linktext-007"
    assert display(LinkText(**row["input"])) == row["expected"]


@for_each("row", rows("linktext.jsonl", "target_trimmed"))
def test_blanks_around_target_and_subpath_do_not_count(row: dict) -> None:
    assert row["obsidian"] == "agree"
    (link,) = find_links(Source(row["input"]))
    assert (link.target, link.subpath) == (row["expected"], row["subpath"])


@for_each(
    ("text", "targets"),
    [
        ("| [[a\\|b]] | [[c]] |", ["a", "c"]),
        ("[[x|`a`]] and `[[y]]` and [[x `z]] w`", ["x"]),
        ("[[a`b]] [[c`d]]", []),
        ("\\[[a]] \\\\[[b]] \\![[c]]", ["b", "c"]),
        ("[[[a]]] [[b[c]d]] [[ ]] [[]] [[|x]] [[#]]", ["a", "b[c]d"]),
        ("[[a [[b]]", ["b"]),
        ("[[a\nb]] [[c]]", ["c"]),
        ("%% [[a]] %% [[b]] <!-- [[c]] --> $$ [[d]] $$", ["b"]),
        ("<div>\n[[a]]\n\n[[b]]", ["b"]),
        ("[a](b.md) [c](https://d.e) [f](mailto:g) [h](//i) [j](C:/k)", ["b", "C:/k"]),
        ("[a](b 'c') [d]( <e f> ) [g](h (i))", ["b", "e f", "h"]),
        ("[a](b(c).md) [d](e\\).md) [f](g(h)", ["b(c)", "e)"]),
        ("[a [b](c) d](e)", ["c"]),
        ("[![p](q.png)](r.md)", ["r"]),
        ("![n](m.md) ![n](m) ![p](q.jpg)", ["m", "m"]),
        ("[a] (b) [c]\n(d) [e]() [f]", []),
        ("[a\nb](c)\n\n[d\n\ne](f)", ["c"]),
        ("[a](b%ZZ%FFc)", ["b%ZZ%FFc"]),
        ("[a](#b)", [""]),
        ("[[a.MD]] [[.md]] [[x/.md]]", ["a", ".md", "x/.md"]),
        ("[a `](b)` c](d)", ["d"]),
        ("[a](b`c) `", []),
    ],
)
def test_brackets_are_links_only_where_obsidian_reads_them_so(text: str, targets: list[str]) -> None:
    assert [link.target for link in find_links(Source(text))] == targets


def test_embed_begins_at_its_exclamation_mark() -> None:
    source = Source("a ![[b#c|100]] ![d](e.md)")
    assert [(link.embed, source.slice(link.span)) for link in find_links(source)] == [
        (True, "![[b#c|100]]"),
        (True, "![d](e.md)"),
    ]


def test_frontmatter_is_no_body() -> None:
    source = Source('---\na: "[[b]] `"\nc: "[[d]]"\n---\n[[e]] `[[f]]`')
    assert [link.target for link in find_links(source)] == ["e"]
    assert [link.target for link in find_property_links(source)] == ["d"]


@for_each(
    ("yaml", "targets"),
    [
        ('parent: "[[a]]"', ["a"]),
        ("parent: '[[a b|c]]'", ["a b"]),
        ('logs:\n  - "[[a]]"\n  - "[[b#c]]" # "[[d]]"', ["a", "b"]),
        ("logs: [\"[[a]]\", '[[b]]']", ["a", "b"]),
        ('logs: [\n  "[[a]]",\n  "[[b]]"\n]', ["a", "b"]),
        ('- - "[[a]]"', ["a"]),
        ('"k": "[[a]]"', ["a"]),
        ("a: [[b]]", []),
        ('a: see "[[b]]"', []),
        ('a: "see [[b]]"', []),
        ('a: "![[b]]"', []),
        ('# "[[a]]"\n # b: "[[c]]"', []),
        ('a: |\n  "[[b]]"\n\n  "[[c]]"\nd: "[[e]]"', ["e"]),
        ('a: >- # note\n  "[[b]]"\nd: "[[e]]"', ["e"]),
        ('a: "[[b\\"c]]"', []),
        ("a: '[[b''c]]'", []),
        ('a: "[[Bob\'s]]"', ["Bob's"]),
        ('a: {b: "[[c]]"}', ["c"]),
        ('a: "[[b', []),
        ('a: "[[b]]\r\nc: "[[d]]"', ["d"]),
    ],
)
def test_quoted_property_that_is_one_link_is_a_link(yaml: str, targets: list[str]) -> None:
    source = Source(f"---\n{yaml}\n---\n")
    links = find_property_links(source, Span(0, len(source.text)))
    assert [link.target for link in links] == targets
    for link in links:
        assert source.slice(link.span).startswith("[[")
        assert source.slice(link.span).endswith("]]")


def test_link_without_alias_shows_every_heading_on_its_way() -> None:
    assert display(LinkText("a", "b#c")) == "a > b > c"
    assert display(LinkText("a")) == "a"


def test_rendered_link_reads_as_asked() -> None:
    assert render_link("a/b", "c", "d", embed=True) == "![[a/b#c|d]]"
    assert render_link("a.md") == "[[a.md]]"
    assert render_link("", "^b") == "[[#^b]]"


@for_each(
    "parts",
    [
        ("a|b",),
        ("a#b",),
        ("[a",),
        ("a]",),
        ("a", "b|c"),
        ("a", None, "b]]"),
        ("a\nb",),
        (" a",),
        ("a\\", None, "b"),
        ("",),
        ("a[[b",),
        ("", None, "b"),
    ],
)
def test_link_that_would_read_as_another_is_refused(parts: tuple[str, ...]) -> None:
    with pytest.raises(EditRefused):
        render_link(*parts)


def test_heading_in_a_link_loses_the_marks_that_a_link_cannot_hold() -> None:
    assert strip_heading_for_link("Research Phase @orchestrator #dev") == "Research Phase @orchestrator dev"
    assert strip_heading_for_link("a: b | c ^d \\e %%f%% [[g]]") == "a b c d e f g"
    assert heading_key("Research: Phase @x #dev") == heading_key("research phase x dev")
    assert heading_key("a-b") != heading_key("a b")


def test_address_keeps_letters_readable_unless_they_were_codes() -> None:
    assert encode_target("é (a) b%#.md") == "é%20%28a%29%20b%25%23.md"
    assert encode_target("é.md", like="%C3%A9") == "%C3%A9.md"


FRAGMENTS = st.sampled_from(
    [
        "[[",
        "]]",
        "[",
        "]",
        "](",
        "(",
        ")",
        "!",
        "|",
        "#",
        "^",
        "<",
        ">",
        ".md",
        "%20",
        "%%",
        "`",
        "``",
        "$$",
        "\\",
        "a",
        "b",
        " ",
        "é",
        "\n",
        "\n\n",
        "\r\n",
        "> ",
        "- ",
        "```",
        "<!--",
        "-->",
        '"',
        "'",
        "---\n",
        "x: ",
        "�",
        ":",
    ]
)
NOTES = st.lists(FRAGMENTS, max_size=30).map("".join)
PARTS = st.text(alphabet="ab [(]|#^%\\.é!`", max_size=8)
WELL = st.lists(
    st.tuples(PARTS, PARTS, PARTS).map("[[{0[0]}#{0[1]}|{0[2]}]]".format)
    | st.tuples(PARTS, PARTS).map("[{0[0]}]({0[1]})".format)
    | FRAGMENTS,
    max_size=10,
).map("".join)


@given(NOTES | WELL | st.text(max_size=200))
def test_any_text_is_read_and_links_stand_in_order(text: str) -> None:
    source = Source(text)
    ends = [link.span.end for link in find_links(source)]
    assert ends == sorted(ends)
    for link in [*find_links(source), *find_property_links(source, Span(0, len(text)))]:
        assert link.span.start < link.target_span.start <= link.target_span.end < link.span.end


@given(NOTES | WELL)
def test_link_cut_out_of_its_note_is_the_same_link(text: str) -> None:
    source = Source(text)
    for link in find_links(source, 0):
        alone = Source(source.slice(link.span))
        assume("\n" not in alone.text and "\r" not in alone.text)  # a second line may begin a block of its own
        again = find_links(alone, 0)[-1]
        assert told(again) == told(link)
        assert alone.slice(again.target_span) == source.slice(link.target_span)


@given(PARTS, st.none() | PARTS, st.none() | PARTS, st.booleans())
def test_rendered_link_reads_back_or_is_refused(target: str, subpath: str, alias: str, embed: bool) -> None:
    try:
        written = render_link(target, subpath, alias, embed=embed)
    except EditRefused:
        return
    assume("`" not in written)
    (link,) = find_links(Source(written), 0)
    assert (link.subpath, link.alias, link.embed) == (subpath or None, alias or None, embed)
    assert link.target == parse_linktext(target).target


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20), st.booleans())
def test_encoded_address_reads_back_as_its_target(target: str, coded: bool) -> None:
    assume(target[-3:].lower() != ".md")
    encoded = encode_target(target, "%C3" if coded else "")
    links = find_links(Source(f"[x](./{encoded})"), 0)
    assume(not any(c.isspace() or c in "\x1c\x1d\x1e\x1f\x85" for c in encoded))
    assert [link.target for link in links] == [f"./{target}"]


def test_multibyte_text_around_a_link_does_not_move_its_spans() -> None:
    for mb, syntax, layout in product(MULTIBYTE["multibyte"], MULTIBYTE["syntax"], MULTIBYTE["layouts"]):
        source = Source(layout.format(pad=mb * 40, syn=syntax, mb=mb))
        links = find_links(source)
        for link in links:
            assert source.slice(link.span) in ("[[A Wikilink]]", "[[Target|alias]]")
            assert source.slice(link.target_span) == link.target
        assert bool(links) == ("[[" in syntax)


@pytest.mark.timed
@pytest.mark.parametrize(
    "text",
    [
        "[[a" * 5000,
        "![[" * 200000,
        "[" * 1000000,
        "[a](" * 5000,
        "](" * 100000,
        "[" * 5000 + "](a)" * 5000,
        "![" * 5000 + "[b](a)" * 5000,
        "[a](<b" * 5000,
        '[a](b "' * 5000,
        "[a](b (" * 5000,
        "[[" + "a" * 1000000,
        "[[a" + "[b" * 300000,
        "[[a`" * 5000 + "`",
        "[a](" + "(" * 500000,
        "\\" * 1000000,
        "\n" * 500000,
        "[[a]] " * 50000,
        "[a](b" + " " * 500000 + "x",
        "[[a]" * 200000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_links_take_linear_time(text: str) -> None:
    began = time.perf_counter()
    find_links(Source(text), 0)
    assert time.perf_counter() - began < 10  # well below one second; quadratic work takes minutes


@pytest.mark.timed
@pytest.mark.parametrize(
    "text",
    [
        "- " * 200000,
        '"' * 300000,
        '- "[[a]]"\n' * 20000,
        "a: |\n" * 50000,
        "[" * 300000,
        "' " * 200000,
        "a" * 1000000,
        "- a: [" + "'[[b', " * 50000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_hostile_properties_take_linear_time(text: str) -> None:
    began = time.perf_counter()
    find_property_links(Source(text), Span(0, len(text)))
    assert time.perf_counter() - began < 10
