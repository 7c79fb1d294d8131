from __future__ import annotations

from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from crucible.documents.markdown import hidden_ranges as ranges
from crucible.documents.markdown import wikilinks
from crucible.documents.markdown.hidden_ranges import hidden_ranges
from crucible.documents.markdown.source import Source
from tests.counting import CountedText

NEAR = ["[[a]]", "[b](c)", "![[e]]", "[", "](", "]]", "[[", "`", "``", "`x`", "`[[q]]`", "\\"]
BLOCKS = [
    "text",
    "- ",
    "1. ",
    "2. ",
    "3) ",
    "> ",
    ">",
    " ",
    "  ",
    "   ",
    "# h",
    "---",
    "===",
    "***",
    "* ",
    "+ ",
]
FAR = ["%%", "$$", "<", "<!--", "\t", "\r\n", "~~~", "```", "    "]
BREAKS = ["\n", "\n\n", "\n \n", "\n>\n"]
PIECES = st.one_of(st.sampled_from(NEAR), st.sampled_from(BLOCKS), st.sampled_from(BREAKS))


@given(st.lists(st.one_of(PIECES, PIECES, PIECES, st.sampled_from(FAR)), max_size=30).map("".join))
def test_links_are_the_same_whether_all_of_the_note_is_looked_at_or_what_is_near(text: str) -> None:
    source = Source(text)
    with patch.object(ranges, "hidden_near", lambda text, start, _: hidden_ranges(text, start)):
        everywhere = wikilinks.find_links(source)
    assert wikilinks.find_links(source) == everywhere


def test_a_paragraph_goes_on_where_its_list_began_before_the_blank_line() -> None:
    """Below an open list `2.` begins an item; at the margin it is text, and the code span reaches over it."""
    in_list = "- a\n\n  para `x [[one]]\n2. b` [[two]]\n"
    at_margin = "para `x [[one]]\n2. b` [[two]]\n"
    assert [link.target for link in wikilinks.find_links(Source(in_list))] == ["one", "two"]
    assert [link.target for link in wikilinks.find_links(Source(at_margin))] == ["two"]


def test_twice_as_many_links_copy_twice_the_text() -> None:
    def copied(count: int) -> int:
        text = CountedText("".join(f"See [[note {at}]] and `code`.\n\n" for at in range(count)))
        assert len(wikilinks.find_links(Source(text), 0)) == count
        return text.read

    assert copied(200) <= 2.3 * copied(100)
