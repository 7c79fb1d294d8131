"""The blocks of a note with their lines: headings, quotes, fences, tool-call lists, rules, and text.

Owns where a block begins and ends.  What a quote or a list says is for `callouts` and for the session room.

Two readers give the same answer.  `scan_lines` looks at the first characters of every line and gives up on anything
untidy (indented structure, HTML, comments, lazy lines); `parse_blocks` lets markdown-it decide and is its only caller.
A property test holds them equal.

Only level-0 blocks count: a callout inside a list, or a heading inside a quote, is text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from crucible.note.hidden import scan
from crucible.note.source import Problem, Source

if TYPE_CHECKING:
    from markdown_it.token import Token

__all__ = [
    "SEPARATOR",
    "TOOLS_LINE",
    "Block",
    "Kind",
    "Outline",
    "find_blocks",
    "mask_comments",
    "parse_blocks",
    "scan_lines",
]

TOOLS_LINE = "**Tool calls:**"
"""The paragraph that makes the list after it a list of tool calls."""

SEPARATOR = "<!-- -->"
"""Stands between a list of ours and foreign prose that would continue it."""

TOO_LARGE = 16_000_000
"""Code points above which an untidy note is not parsed any more: it would take half a minute."""


class Kind(IntEnum):
    """What a block is.  `TEXT` is all that means nothing to a session: paragraphs, lists, tables, HTML."""

    TEXT = 0
    HEADING = 1
    QUOTE = 2
    FENCE = 3
    TOOLS = 4
    LIST = 5
    RULE = 6


@dataclass(slots=True)
class Block:
    """Lines `first` up to `end`, trailing blank lines not included; adjacent text is one block.

    `level` and `text` are a heading's; `text` of a fence is its info string; `closed` is false for a fence that runs
    to the end of the note.  A `LIST` is a bullet list directly under a `TOOLS` line; any other list is `TEXT`.
    """

    kind: Kind
    first: int
    end: int
    level: int = 0
    text: str = ""
    closed: bool = True


@dataclass(frozen=True, slots=True)
class Outline:
    """The blocks in order, and what was wrong."""

    blocks: list[Block]
    problems: tuple[Problem, ...] = ()


def find_blocks(source: Source, first: int = 0) -> Outline:
    """The outline of `source` from line `first` on (after the frontmatter).  Never raises."""
    lines = source.lines
    blocks = scan_lines(lines, first)
    if blocks is not None:
        return Outline(blocks, _unclosed(blocks))
    if len(source.text) > TOO_LARGE:
        message = f"{len(source.text)} characters of untidy Markdown are too many to outline; kept as text"
        return Outline([Block(Kind.TEXT, first, len(lines))], (Problem("too-large", first + 1, message),))
    masked, problems = mask_comments(source, first)
    blocks = parse_blocks(masked, first)
    return Outline(blocks, (*problems, *_unclosed(blocks), *_unclosed_html(masked, first)))


def _unclosed(blocks: list[Block]) -> tuple[Problem, ...]:
    """Only the last block can run to the end of the note."""
    if blocks and not blocks[-1].closed:
        return (Problem("unclosed-fence", blocks[-1].first + 1, "this fence is never closed"),)
    return ()


def mask_comments(source: Source, first: int = 0) -> tuple[list[str], list[Problem]]:
    """The lines with what a `%%` comment hides replaced by `x`, blank lines kept, and unclosed comments as problems.

    Obsidian hides comments, markdown-it does not know them.  Within one line a comment changes no structure.
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


def _add_text(blocks: list[Block], first: int, end: int) -> None:
    if blocks and blocks[-1].kind is Kind.TEXT:
        blocks[-1].end = end
    else:
        blocks.append(Block(Kind.TEXT, first, end))


# --- by the first characters of each line ----------------------------------------------------------------------------

_HEADING = re.compile(r"(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$", re.DOTALL)
_FENCE = re.compile(r"(`{3,})([^`]*)$|(~{3,})(.*)$", re.DOTALL)
_RULE = re.compile(r"([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_DASHES = re.compile(r"-+[ \t]*$")
# One to three blanks and then what may be structure at the top level or may belong to a list item.
_UNTIDY_INDENT = re.compile(
    r" {1,3}(?:#{1,6}(?:[ \t]|$)|>|`{3}|~{3}|<|([-*_])[ \t]*(?:\1[ \t]*){2,}$|-+[ \t]*$|\*\*Tool calls:\*\*[ \t]*$)"
)
_BULLET = re.compile(r"[-*+] +[^ \t]")
_GIVE_UP = -1

_LineReader = Callable[[Sequence[str], int, list[Block]], int]


def scan_lines(lines: Sequence[str], first: int = 0) -> list[Block] | None:
    """The blocks by the first characters of each line, or None when only markdown-it can tell."""
    blocks: list[Block] = []
    at, end = first, len(lines)
    while at < end:
        line = lines[at]
        if line:
            read = _READERS.get(line[0])
            if read is None:
                if "%%" in line:
                    return None
                _add_text(blocks, at, at + 1)
                at += 1
            else:
                at = read(lines, at, blocks)
                if at < 0:
                    return None
        else:
            at += 1
    return blocks


def _take_text(lines: Sequence[str], at: int, blocks: list[Block]) -> int:
    if "%%" in lines[at]:
        return _GIVE_UP
    _add_text(blocks, at, at + 1)
    return at + 1


def _after_text(at: int, blocks: list[Block]) -> bool:
    """Whether the line above belongs to a text block, which this line may continue."""
    return bool(blocks) and blocks[-1].kind is Kind.TEXT and blocks[-1].end == at


def _take_heading(lines: Sequence[str], at: int, blocks: list[Block]) -> int:
    found = _HEADING.match(lines[at])
    if not found or "%%" in lines[at]:
        return _take_text(lines, at, blocks)
    blocks.append(Block(Kind.HEADING, at, at + 1, len(found[1]), found[2] or ""))
    return at + 1


def _take_quote(lines: Sequence[str], at: int, blocks: list[Block]) -> int:
    first, end = at, len(lines)
    while at < end and lines[at][:1] == ">":
        if "%%" in lines[at]:
            return _GIVE_UP
        at += 1
    if at < end and lines[at].strip(" \t") and not _HEADING.match(lines[at]):
        return _GIVE_UP  # a lazy line may belong to the quote
    blocks.append(Block(Kind.QUOTE, first, at))
    return at


def _take_fence(lines: Sequence[str], at: int, blocks: list[Block]) -> int:
    found = _FENCE.match(lines[at])
    if not found:
        return _take_text(lines, at, blocks)
    first, end = at, len(lines)
    closes = re.compile(rf" {{0,3}}{lines[at][0]}{{{len(found[1] or found[3])},}}[ \t]*$").match
    at += 1
    while at < end and not closes(lines[at]):
        at += 1
    info = (found[2] if found[1] else found[4]).strip(" \t")
    closed = at < end
    after = at + 1 if closed else end
    blocks.append(
        Block(Kind.FENCE, first, after if closed else _without_blanks(lines, first, end), 0, info, closed)
    )
    return after


def _take_dash(lines: Sequence[str], at: int, blocks: list[Block]) -> int:
    if not _RULE.match(lines[at]):
        return _take_text(lines, at, blocks)
    if _after_text(at, blocks):
        return _GIVE_UP  # dashes under a paragraph make a setext heading, under a list a rule
    blocks.append(Block(Kind.RULE, at, at + 1))
    return at + 1


def _take_rule(lines: Sequence[str], at: int, blocks: list[Block]) -> int:
    if not _RULE.match(lines[at]):
        return _take_text(lines, at, blocks)
    blocks.append(Block(Kind.RULE, at, at + 1))
    return at + 1


def _take_star(lines: Sequence[str], at: int, blocks: list[Block]) -> int:
    if lines[at].rstrip(" \t") != TOOLS_LINE:
        return _take_rule(lines, at, blocks)
    following = at + 1
    if _after_text(at, blocks) or (following < len(lines) and not _ends_tools_line(lines[following])):
        return _GIVE_UP
    blocks.append(Block(Kind.TOOLS, at, following))
    while following < len(lines) and not lines[following]:
        following += 1
    if following < len(lines) and lines[following][0] in "-*+ \t":
        return _take_list(lines, following, blocks)
    return following


def _ends_tools_line(line: str) -> bool:
    return not line or bool(_BULLET.match(line)) or bool(_HEADING.match(line)) or line[0] == ">"


def _take_list(lines: Sequence[str], at: int, blocks: list[Block]) -> int:
    """A list of one-line items with one kind of bullet; blank lines may part them."""
    bullet, first, end = lines[at][0], at, len(lines)
    after = at
    while at < end:
        line = lines[at]
        if line:
            if line[0] != bullet:
                break
            if not _BULLET.match(line) or "%%" in line or _RULE.match(line):
                return _GIVE_UP
            after = at + 1
        at += 1
    if at < end and not _ends_list(lines[at], at == after):
        return _GIVE_UP
    blocks.append(Block(Kind.LIST, first, after))
    return at


def _ends_list(line: str, adjacent: bool) -> bool:
    """Whether a line can neither continue the last item nor the list."""
    if line[0] in " \t":
        return False
    return not adjacent or line[0] == ">" or line == SEPARATOR or bool(_HEADING.match(line))


def _take_indented(lines: Sequence[str], at: int, blocks: list[Block]) -> int:
    if not lines[at].strip(" \t"):
        return at + 1
    if _UNTIDY_INDENT.match(lines[at]):
        return _GIVE_UP
    return _take_text(lines, at, blocks)


def _take_html(lines: Sequence[str], at: int, blocks: list[Block]) -> int:
    return _take_text(lines, at, blocks) if lines[at] == SEPARATOR else _GIVE_UP


_READERS: dict[str, _LineReader] = {
    "#": _take_heading,
    ">": _take_quote,
    "`": _take_fence,
    "~": _take_fence,
    "-": _take_dash,
    "_": _take_rule,
    "*": _take_star,
    " ": _take_indented,
    "\t": _take_indented,
    "<": _take_html,
}


def _without_blanks(lines: Sequence[str], first: int, end: int) -> int:
    """`end` without the blank lines before it."""
    while end > first + 1 and not lines[end - 1].strip(" \t"):
        end -= 1
    return end


# --- by markdown-it --------------------------------------------------------------------------------------------------


@cache
def _parser() -> MarkdownIt:
    """Block rules only: inline tokens carry no offsets, so they are of no use here."""
    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


@lru_cache(maxsize=1)
def _tokens(text: str) -> list[Token]:
    """The level-0 blocks; kept for the second question about the same note."""
    return [t for t in _parser().parse(text) if t.level == 0 and t.map and t.nesting >= 0]


_HTML_ENDS = (
    (
        re.compile(r"<(?:script|pre|style|textarea)(?:[ \t>]|$)", re.IGNORECASE),
        re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE),
    ),
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(r"<![A-Za-z]"), re.compile(r">")),
)
"""The HTML blocks of CommonMark that blank lines do not end: how they begin and end."""


def _unclosed_html(lines: Sequence[str], first: int) -> tuple[Problem, ...]:
    """An HTML block of this kind that runs to the end of the note would hide whatever is added below it."""
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
    """The blocks as markdown-it sees them; lines that it gives no token (link definitions) are text."""
    blocks: list[Block] = []
    at = first
    for token in _tokens("\n".join(lines[first:])):
        start, end = (first + line for line in token.map or (0, 0))
        _add_uncovered(lines, at, start, blocks)
        _add_token(lines, token, start, _without_blanks(lines, start, end), blocks)
        at = max(at, end)
    _add_uncovered(lines, at, len(lines), blocks)
    return blocks


def _add_uncovered(lines: Sequence[str], first: int, end: int, blocks: list[Block]) -> None:
    for at in range(first, end):
        if lines[at].strip(" \t"):
            _add_text(blocks, at, at + 1)


def _add_token(lines: Sequence[str], token: Token, first: int, end: int, blocks: list[Block]) -> None:
    kind = _kind_of(lines, token, first, end, blocks)
    if kind is Kind.TEXT:
        _add_text(blocks, first, end)
    elif kind is Kind.HEADING:
        found = _HEADING.match(lines[first].lstrip(" "))
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
    return _KINDS.get(token.type, Kind.TEXT)


_KINDS = {"blockquote_open": Kind.QUOTE, "fence": Kind.FENCE, "hr": Kind.RULE}
