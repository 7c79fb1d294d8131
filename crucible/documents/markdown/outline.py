"""Find the blocks of a note with their lines: headings, quotes, fences, tool-call lists, rules, and text.

`line_scan` reads tidy notes, markdown-it all others; a property test checks that both agree.  Only top-level blocks
count: a callout within a list, or a heading within a quote, is text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.hidden_ranges import scan
from crucible.documents.markdown.line_scan import (
    COMMENT_END,
    COMMENT_START,
    HEADING,
    TOOLS_LINE,
    Block,
    Kind,
    add_text,
    scan_lines,
    without_blanks,
)
from crucible.documents.markdown.source import Problem, Source

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


TOO_LARGE = 16_000_000
"""Maximum code points of a note to parse with markdown-it.  Larger notes would take half a minute."""


class Outline(NamedTuple):
    """The blocks in order, and the problems."""

    blocks: list[Block]
    problems: tuple[Problem, ...] = ()


def find_blocks(source: Source, first: int = 0) -> Outline:
    """Return the outline of `source` from line `first`, the first one below the frontmatter.  Never raises."""
    lines = source.lines
    blocks = scan_lines(lines, first)
    if blocks is not None:
        return Outline(blocks, _unclosed(blocks))
    if len(source.text) > TOO_LARGE:
        message = f"{len(source.text)} characters of irregular Markdown are too many to parse; kept as text"
        return Outline([Block(Kind.TEXT, first, len(lines))], (Problem("too-large", first + 1, message),))
    masked, problems = mask_comments(source, first)
    blocks = parse_blocks(masked, first)
    return Outline(blocks, (*problems, *_unclosed(blocks), *_unclosed_html(masked, first)))


def _unclosed(blocks: list[Block]) -> tuple[Problem, ...]:
    """The problem of an unclosed fence.  Only the last block can extend to the end of the note."""
    if blocks and not blocks[-1].closed:
        return (Problem("unclosed-fence", blocks[-1].first + 1, "this fence is never closed"),)
    return ()


def mask_comments(source: Source, first: int = 0) -> tuple[list[str], list[Problem]]:
    """Replace `%%` comments with `x`, keeping blank lines; return the lines, and unclosed comments as problems.

    Obsidian hides comments, but markdown-it does not support them.  A comment within one line changes no structure.
    """
    if "%%" not in source.text:
        return source.lines, []
    found = scan(source.text, source.starts[first])
    lines = list(source.lines)
    for hidden in found.hidden:
        if hidden.kind == "comment":
            last = source.line_of(hidden.span.end - 1)
            for at in range(source.line_of(hidden.span.start) + 1, last + 1):
                end = hidden.span.end - source.starts[at] if at == last else len(lines[at])
                lines[at] = "x" * end + lines[at][end:]
    message = "this `%%` is never closed; it hides nothing"
    opened = [source.line_of(one.span.start) for one in found.unclosed if one.kind == "comment"]
    return lines, [Problem("unclosed-comment", at + 1, message) for at in opened]


@cache
def _parser() -> MarkdownIt:
    """A parser with block rules only, since inline tokens have no offsets."""
    # Imported late: tidy notes do not need it, and it takes as long to load as click.
    from markdown_it import MarkdownIt  # noqa: PLC0415

    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


@cache
def _text_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415  as above

    return MarkdownIt("commonmark").enable("strikethrough").enable("table")


def text_tokens(text: str) -> list[Token]:
    """Return all tokens of a text, with tables and strikethrough, to render it."""
    return _text_parser().parse(text)


@lru_cache(maxsize=1)
def _tokens(text: str) -> list[Token]:
    """The top-level tokens, cached for a second call on the same note."""
    return [t for t in _parser().parse(text) if t.level == 0 and t.map and t.nesting >= 0]


_HTML_ENDS = (
    (
        late_pattern(r"<(?:script|pre|style|textarea)(?:[ \t>]|$)", re.IGNORECASE),
        late_pattern(r"</(?:script|pre|style|textarea)>", re.IGNORECASE),
    ),
    (late_pattern(r"<!--"), late_pattern(r"-->")),
    (late_pattern(r"<\?"), late_pattern(r"\?>")),
    (late_pattern(r"<!\[CDATA\["), late_pattern(r"\]\]>")),
    (late_pattern(r"<![A-Za-z]"), late_pattern(r">")),
)
"""The openers and closers of CommonMark's HTML blocks that do not end at blank lines."""


def _unclosed_html(lines: Sequence[str], first: int) -> tuple[Problem, ...]:
    """The problem of an HTML block that extends to the end of the note, since it would hide lines added below it."""
    tokens = _tokens("\n".join(lines[first:]))
    if not tokens or tokens[-1].type != "html_block" or not tokens[-1].map:
        return ()
    start = first + tokens[-1].map[0]
    opening = lines[start].lstrip(" ")
    ends = next((ends for begins, ends in _HTML_ENDS if begins.match(opening)), None)
    if ends is None or any(ends.search(line) for line in lines[start:]):
        return ()
    return (Problem("unclosed-html", start + 1, "this HTML is never closed; it hides what is below it"),)


def parse_blocks(lines: Sequence[str], first: int = 0) -> list[Block]:
    """Return the blocks that markdown-it finds.  Lines without a token (link definitions) are text."""
    blocks: list[Block] = []
    at = first
    for token in _tokens("\n".join(lines[first:])):
        start, end = (first + line for line in token.map or (0, 0))
        _add_uncovered(lines, at, start, blocks)
        _add_token(lines, token, start, without_blanks(lines, start, end), blocks)
        at = max(at, end)
    _add_uncovered(lines, at, len(lines), blocks)
    return blocks


def _add_uncovered(lines: Sequence[str], first: int, end: int, blocks: list[Block]) -> None:
    for at in range(first, end):
        if lines[at].strip(" \t"):
            add_text(blocks, at, at + 1)


def _add_token(lines: Sequence[str], token: Token, first: int, end: int, blocks: list[Block]) -> None:
    kind = _kind_of(lines, token, first, end, blocks)
    if kind is Kind.TEXT:
        add_text(blocks, first, end)
    elif kind is Kind.HEADING:
        found = HEADING.match(lines[first].lstrip(" "))
        blocks.append(Block(kind, first, end, len(token.markup), (found and found[2]) or ""))
    elif kind is Kind.FENCE:
        closes = re.compile(rf" {{0,3}}{token.markup[0]}{{{len(token.markup)},}}[ \t]*$")
        closed = end > first + 1 and closes.match(lines[end - 1]) is not None
        blocks.append(Block(kind, first, end, 0, token.info.strip(" \t"), closed))
    else:
        blocks.append(Block(kind, first, end))


def _kind_of(lines: Sequence[str], token: Token, first: int, end: int, blocks: list[Block]) -> Kind:
    if token.type == "heading_open":
        return Kind.HEADING if token.markup[0] == "#" else Kind.TEXT
    if token.type == "paragraph_open" and end == first + 1 and lines[first].rstrip(" \t") == TOOLS_LINE:
        return Kind.TOOLS
    if token.type == "bullet_list_open" and blocks and blocks[-1].kind is Kind.TOOLS:
        return Kind.LIST
    if token.type == "html_block" and lines[first].rstrip(" \t") == COMMENT_START:
        return Kind.COMMENT if lines[end - 1].rstrip(" \t") == COMMENT_END else Kind.TEXT
    return _KINDS.get(token.type, Kind.TEXT)


_KINDS = {"blockquote_open": Kind.QUOTE, "fence": Kind.FENCE, "hr": Kind.RULE}


_NOT_TEXT = late_pattern("[\ud800-\udfff]")


def text_problems(source: Source) -> list[Problem]:
    """Report bytes that are not UTF-8."""
    if source.text.isascii():
        return []
    bad = _NOT_TEXT.search(source.text)
    return [Problem("not-utf8", source.line_of(bad.start()) + 1, "bytes that are not UTF-8")] if bad else []
