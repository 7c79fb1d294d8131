"""Hypothesis strategies for text that tries to become structure of a note.

Owns the fragments; what must hold for them is said where they are used.  `hostile_line` draws one line (it may hold
anything but LF and CR), `hostile_text` draws several with every kind of line end.
"""

from __future__ import annotations

from functools import cache

from hypothesis import strategies as st

# fmt: off
BLOCKS = (
    "# One", "## Two @claude-code@2.1 #dev", "###### Six", "#", "##\t", "####### seven", "#tag", "===", "=", "---", "--",
    "-", "- - -", "***", "* * *", "*", "___", "_ _ _", "---|---", "|---|:-:|", ":-", "| a | b |", "a | `b | c` | d",
    "> [!error]", "> [!user]", "[!decision]", "> > [!subagent]-", ">[!x]", "> quote", ">",
    "```", "````", "``` ", "```py", "```tasks", "``` tasks", "```session-toon", "~~~dataview", "```\\tasks", "~~~", "~~~~",
    "```a`b", "```&#116;asks", "```session\\-toon", "- ```", "- ```tasks", "1. ```py", "1) ~~~", "2. ```", "*   ~~~", "- a",
    "+ b", "1. c", "2) d", "10. e", "- [ ] todo", "- [x] # done", "- # head", "1. ## head", "- > # head", "- ---", "- `Bash ls` → ok",
    "**Tool calls:**", "**Tool calls:** ", "- **Tool calls:**", "started:: x", "ended :: y", "tokens::1",
    "Rationale: x", "Resolution:", "Summary:", "Summary\\:", "Task:", "Alternatives: x", "By: user", "By\\:", "Cause: x",
    "Source: reply, 0.9", "Source: reply, 0.9, rows a b", "Details: x", "  Details: x", "Evidence: x", "- outcome: x (reply, 0.9)", "> [!findings]-", "> [!plan]-", "mode: link", "mode: inline",
    "due:: x", "x y :: z", "= this", "    = this", "    $= x", "```button", "```dataviewjs", "~~~ meta-bind", "* [?] x", "[a]: /url", "[a`b]: /url", "[a", "b]: /url 'c'", "[^1]: note", "[[x]]: /y", "<!--", "-->", "<!-- crucible", "<!-- crucible ", "sources:", "<script>", "</script>",
    "<div>", "<?php", "<![CDATA[", "<!DOCTYPE x>", "<pre", "%%", "$$", "^block-id", "title: x", "...",
)
"""Whole lines, or how a line begins."""

# fmt: on

FRAGMENTS = [
    "# h", "## Two", "## Two ##", "#x", "### a @b #c", "> q", "> [!user]", "> > x", ">", "```", "```py", "~~~", "````",
    "``` a`b", "---", "- - -", "***", "___", "===", "=", "-", "--", "- a", "- `x` → y", "* a", "+ b", "1. a", "  - n",
    "   # h", "  > q", "    code", "\tcode", " ```", "  ```", "**Tool calls:**", "**Tool calls:** ", "**Tool calls:**x",
    "<!-- -->", "<div>", "<!-- a", "-->", "<!-- crucible", "<!-- crucible ", "--> ", "sources:", "text", "[a]: /u", "[a]:", "| a |", "", "", "", "%%", "%% a %%", "`%%`", "a %%",
    "  ", "- ```", "- ```py", "- > q", "- # h", "- `a`", "\\## x", "a\x0c", "\u2028", "-   `y` → z", "- ", "*", "> %%",
    "  **Tool calls:**", "   ---", "  ===", "$$", "<b>", " <b>", "<?x", "10. # y", " 2) z", "- **Tool calls:**", "\x00",
]  # fmt: skip
"""Lines and pieces of lines for the outline of a note."""

# fmt: off
INLINE = (
    "[[", "[[x]]", "![[x]]", "[[a|b]]", "![i](u)", "[t](u)", "[t](u`v)", '[t](u "v', "](", "](<a b>)", 'w")', "x')", "]",
    "[", "(", ")", "!", "%%", "%", "$$", "$", "$x$", "<b>", "</b>", "<!--", "-->", "<script>", "<", ">", '<a href="`">',
    "<http://x.y>", "<1`@a.b>", "<x@y.z>", "http://x.y/", "https://x.y/`", "www.x.y/", "ftp://a\\", "://", ":", "::", "@agent",
    "@claude-code@2.1", "#tag", "#dev", "started:: x", "[ended:: y]", "(tokens:: 3)", "Rationale: x", "Summary:", '" - ',
    '" \\- ', '" -', '"', "'", "`", "``", "```", "`a`", "`<b>`", "`[[x]]`", "``a`b``", "`a|b`", "`a\\`", "\\`", "|", "\\|", "\\",
    "\\\\", "\\\\\\", "\\[", "\\<", "(reply, 0.9)", "(reply, 0.9\\)", "(last state, 1, row a)", ", 0.5, rows a b)", "outcome: x", "Details: x", "&lt;", "&#35;", "*", "**", "_", "~~", "==", "^id", "{{x}}", "→", "->", "❌", "⏎", "…",
    "<%", "<%*", "<%+", "%>", "< %", "`= x`", "` $= y`", "`INPUT[x]`", "`button-a`", "`dice: 1`", "&lt;", "&#58;", "[a:: b]", "(a::", "`(a::b[`",
    "obsidian://x", "[l](x.md)", "[l](https://x.y/#z)", "javascript:x", "file:///x", "📅 2026-01-01", ": :", "^[x]", "$y", "#t", "###t", "^b", "word", "a", "std::vector", "100%", "é", "😀", "1", "-", "#", "=", " ", "  ", "\t", "     ", "\xa0", "\u3000",
    "\u2028", "\u2029", "\x85", "\x0c", "\x0b", "\x00", "\x1c", "\x7f", "\ufeff", "\u202e", "\u2066", "\u200b", "\ufffe",
    "\x1b[31m", "\x1b]0;t\x07", "\x1b[", "\x1b", "\x9b1m", "\x1bPq", "\ud800", "\udfff", "\ufe0f",
)
"""What a line may hold anywhere."""

_INDENTS = ("", "", "", " ", "  ", "   ", "    ", "     ", "      ", "       ", "        ", "\t", " \t", "> ", "> > ", ">", "\\", "\\\\")
_LINE_ENDS = ("\n", "\n", "\n", "\n\n", "\r\n", "\r", "\n \t\n")
# fmt: on


def _pieces() -> st.SearchStrategy[str]:
    anything = st.text(st.characters(exclude_characters="\n\r"), max_size=3)
    return st.lists(st.one_of(st.sampled_from(INLINE), st.sampled_from(INLINE), anything), max_size=7).map("".join)


@cache
def hostile_line() -> st.SearchStrategy[str]:
    """One line: an indent, perhaps the start of a block, and pieces of anything."""
    start = st.one_of(st.just(""), st.sampled_from(BLOCKS), st.sampled_from(BLOCKS))
    return st.tuples(st.sampled_from(_INDENTS), start, st.one_of(st.just(""), _pieces())).map("".join)


@cache
def _fence() -> st.SearchStrategy[str]:
    """A fence that is whole, or nearly, so that both sides of that line are drawn often."""

    def build(opener: str, info: str, lines: list[str], indent: int, slip: int, closer: str) -> str:
        first = " " * indent + opener + info
        column = len(first) - len(first.lstrip(" -1.)*+")) if opener[0] not in "`~" else indent
        body = [" " * max(0, column + slip) + line for line in lines]
        return "\n".join([first, *body, " " * column + closer])

    return st.builds(
        build,
        st.sampled_from(("```", "~~~", "````", "- ```", "1. ```", "* ~~~", "2. ```", "-  ````")),
        st.sampled_from(("", "py", "tasks", " dataview", "\\tasks", "Mermaid", "[[x]]")),
        st.lists(hostile_line(), max_size=4),
        st.sampled_from((0, 0, 0, 1, 2, 3, 4, 5, 7)),
        st.sampled_from((0, 0, 0, 1, -1, -2)),
        st.sampled_from(("```", "~~~", "```", "~~~", "````", "``", "``` x")),
    )


@cache
def hostile_text(max_lines: int = 8) -> st.SearchStrategy[str]:
    """A block of such lines, fences among them."""
    line = st.one_of(hostile_line(), hostile_line(), hostile_line(), _fence())
    pairs = st.lists(st.tuples(line, st.sampled_from(_LINE_ENDS)), max_size=max_lines)
    return pairs.map(lambda parts: "".join(text + end for text, end in parts))
