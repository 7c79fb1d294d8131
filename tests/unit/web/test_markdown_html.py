"""Markdown of notes as HTML: what is rendered, and that no text can run, load or forge anything."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.web import markdown_html
from crucible.web.markdown_html import render_diff, render_document, render_markdown
from samples.hostile_texts import hostile_line, hostile_text


def links(target: str) -> str | None:
    return f"/note/{target}" if target == "known" else None


class Page(HTMLParser):
    """The elements and attributes of a fragment."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]


HARMLESS = frozenset(
    [
        "p",
        "em",
        "strong",
        "s",
        "code",
        "pre",
        "ul",
        "ol",
        "li",
        "blockquote",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "br",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "a",
        "span",
        "i",
        "b",
        "ins",
        "del",
        "details",
        "summary",
        "div",
        "label",
        "input",
        "sup",
        "section",
    ]
)
LEADS_NOWHERE = re.compile(r"(?:https?://|mailto:|/note/|#)")


def assert_harmless(html: str) -> None:
    page = Page(html)
    assert set(page.tags) <= HARMLESS
    assert not {name for name, _ in page.attributes} & {"src", "style", "srcset", "action"}
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert all(LEADS_NOWHERE.match(value) for name, value in page.attributes if name == "href")


@given(hostile_text())
def test_hostile_text_is_harmless(text: str) -> None:
    assert_harmless(render_markdown(text, links, "e1-1"))
    assert_harmless(render_document(text, links))


@pytest.mark.parametrize(
    "text",
    [
        "[a](javascript:alert(1))",
        "[a](JaVaScRiPt:alert(1))",
        "[a](data:text/html,x)",
        "[a](vbscript:x)",
        "[a](//other.example/x)",
        "[a](/quit)",
        "<javascript:alert(1)>",
        "![a](data:image/svg+xml,x)",
        "[a]: javascript:x\n\n[a]",
        '> [!x" onclick=1]\n> a',
        '![" onerror="alert(1)](https://x.example/a"b.png)',
        '```" onload=1\nx\n```',
        '[^"><script>]\n\n[^"><script>]: x',
    ],
)
def test_a_known_trick_is_harmless(text: str) -> None:
    assert_harmless(render_markdown(text, links, "e1-1"))
    assert "<script" not in render_document(text, links)


def test_an_image_is_a_link_and_never_loaded() -> None:
    html = render_markdown("![a cat](https://x.example/cat.png)")
    assert '<a href="https://x.example/cat.png" rel="noreferrer noopener">[image: a cat]</a>' in html


def test_only_links_to_known_notes_are_links() -> None:
    html = render_markdown("see [[known|this]], [[other]] and [that](known.md)", links)
    assert html.count('<a href="/note/known">') == 2
    assert "[[other]]" in html


def test_callouts_are_boxes_and_folded_ones_open_on_demand() -> None:
    html = render_markdown("> [!decision]\n> Use a *bucket*.\n> > [!error]- Broken\n> > It failed.")
    assert '<div class="c k-decision"><p><b>decision</b>' in html
    assert '<details class="c k-error"><summary><b>error</b> Broken</summary>' in html
    assert "<em>bucket</em>" in html


def test_a_note_loses_its_frontmatter_comments_and_first_title() -> None:
    html = render_document("---\na: b\n---\n\n# Title\n\ntext\n\n<!-- crucible\nsources:\n-->\n\n# Two\n")
    assert html.strip() == '<p>text</p>\n<h2 id="h-two">Two</h2>'


def test_a_table_aligns_its_cells_without_a_style() -> None:
    html = render_markdown("| a | b |\n|--:|---|\n| 1 | 2 |")
    assert '<td class="to-right">1</td>' in html
    assert "style" not in html


def test_a_diff_marks_additions_and_removals() -> None:
    assert render_diff("@@ -1 +1 @@\n-a <b>\n+c\n d") == (
        "<b>@@ -1 +1 @@\n</b><del>-a &lt;b&gt;\n</del><ins>+c\n</ins> d\n"
    )


@given(st.one_of(hostile_line(), st.text("ab `[]|.#-1:é\n \\"), st.lists(hostile_line()).map("\n\n".join)))
def test_simple_text_is_rendered_as_the_parser_would(text: str) -> None:
    slow = markdown_html._entry_parser().render(text, {"links": links, "docId": "e"})
    fast = render_markdown(text, links, "e")
    assert _loose(fast) == _loose(slow)


def _loose(html: str) -> str:
    return str(html).replace("</p>", "").replace("&quot;", '"')
