"""Find the blocks of a tidy note by the first characters of each line, and read and write callouts.

Indented structure, HTML, comments or lazy continuation lines need markdown-it.  Callouts are read from source lines,
since markdown-it reads `> [!decision]: /url` as a link definition.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern

TOOLS_LINE = "**Tool calls:**"
"""The paragraph above a list of tool calls."""

SEPARATOR = "<!-- -->"
"""Separates one of our lists from untrusted prose that would continue it."""


COMMENT_START, COMMENT_END = "<!-- crucible", "-->"
"""The first and the last line of the comment with a session's bookkeeping."""


class Kind(IntEnum):
    """The kind of a block.  `TEXT` is everything without a special meaning: paragraphs, lists, tables, HTML."""

    TEXT = 0
    HEADING = 1
    QUOTE = 2
    FENCE = 3
    TOOLS = 4
    LIST = 5
    RULE = 6
    COMMENT = 7


@dataclass(slots=True)
class Block:
    """Lines `first` up to `end`, without trailing blank lines.  Adjacent text is one block.

    `level` is a heading's level; `text` is a heading's text or a fence's info string; `closed` is false for a fence
    that extends to the end of the note.  A `COMMENT` is our bookkeeping.  A `LIST` is a bullet list directly under a `TOOLS` line; other lists are
    `TEXT`.
    """

    kind: Kind
    first: int
    end: int
    level: int = 0
    text: str = ""
    closed: bool = True


def add_text(blocks: list[Block], first: int, end: int) -> None:
    """Add text from line `first` to `end`, joined with text directly above it."""
    if blocks and blocks[-1].kind is Kind.TEXT:
        blocks[-1].end = end
    else:
        blocks.append(Block(Kind.TEXT, first, end))


# Words and the blanks between them, since `.*?` before blanks takes quadratic time for a line of many blanks.
_WORDS = r"[^ \t]++(?:[ \t]++[^ \t]++)"
HEADING = late_pattern(rf"(#{{1,6}})(?:[ \t]++({_WORDS}*?))??(?:[ \t]++#++)?[ \t]*+$")
"""An ATX heading: its hashes, and its text without the closing hashes."""

_FENCE = late_pattern(r"(`{3,})([^`]*)$|(~{3,})(.*)$", re.DOTALL)
_RULE = late_pattern(r"([-*_])[ \t]*(?:\1[ \t]*){2,}$")
# One to three blanks, then a mark that may be structure at the top level or belong to a list item.
_UNTIDY_INDENT = late_pattern(
    r" {1,3}(?:#{1,6}(?:[ \t]|$)|>|`{3}|~{3}|<|([-*_])[ \t]*(?:\1[ \t]*){2,}$|-+[ \t]*$|\*\*Tool calls:\*\*[ \t]*$)"
)
_BULLET = late_pattern(r"[-*+] +[^ \t]")
_GIVE_UP = -1

_LineReader = Callable[[Sequence[str], int, list[Block]], int]


def scan_lines(lines: Sequence[str], first: int = 0) -> list[Block] | None:
    """Find the blocks of tidy lines; None if they need markdown-it."""
    blocks: list[Block] = []
    at, end = first, len(lines)
    while at < end:
        line = lines[at]
        if line:
            read = _READERS.get(line[0])
            if read is None:
                if "%%" in line:
                    return None
                add_text(blocks, at, at + 1)
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
    add_text(blocks, at, at + 1)
    return at + 1


def _after_text(at: int, blocks: list[Block]) -> bool:
    """True if the line above belongs to a text block, which this line may continue."""
    return bool(blocks) and blocks[-1].kind is Kind.TEXT and blocks[-1].end == at


def _take_heading(lines: Sequence[str], at: int, blocks: list[Block]) -> int:
    found = HEADING.match(lines[at])
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
    if at < end and lines[at].strip(" \t") and not HEADING.match(lines[at]):
        return _GIVE_UP  # the line may be a lazy continuation of the quote
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
    blocks.append(Block(Kind.FENCE, first, after if closed else without_blanks(lines, first, end), 0, info, closed))
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
    return not line or bool(_BULLET.match(line)) or bool(HEADING.match(line)) or line[0] == ">"


def _take_list(lines: Sequence[str], at: int, blocks: list[Block]) -> int:
    """Read a list of one-line items with the same bullet.  Blank lines may separate them."""
    bullet, first, end = lines[at][0], at, len(lines)
    after = at
    while at < end:
        line = lines[at]
        if line:
            if line[0] != bullet or (at > after and _RULE.match(line)):
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
    """True if a line continues neither the last item nor the list."""
    if line[0] in " \t":
        return False
    return not adjacent or line[0] == ">" or line == SEPARATOR or bool(HEADING.match(line))


def _take_indented(lines: Sequence[str], at: int, blocks: list[Block]) -> int:
    if not lines[at].strip(" \t"):
        return at + 1
    if _UNTIDY_INDENT.match(lines[at]):
        end = _end_of_item_fence(lines, at)
        if end < 0:
            return _GIVE_UP
        add_text(blocks, at, end)
        return end
    return _take_text(lines, at, blocks)


_ITEM = late_pattern(r"([-+*]|[0-9]{1,9}[.)]) {1,4}(?=[^ \t`~<>])")
_INTERRUPTS = frozenset({"-", "+", "*", "1.", "1)"})
"""The list markers that begin an item directly below a paragraph."""
_ABOVE = 200
"""Maximum lines above a fence to search for the list item around it."""


def _end_of_item_fence(lines: Sequence[str], at: int) -> int:
    """Return the line after a fence that a list item at the margin contains whole; -1 for any other line."""
    bare = lines[at].lstrip(" ")
    column = len(lines[at]) - len(bare)
    found = _FENCE.match(bare)
    if not found or not _is_in_item(lines, at, column):
        return _GIVE_UP
    closes = re.compile(rf" {{{column},{column + 3}}}{bare[0]}{{{len(found[1] or found[3])},}}[ \t]*$").match
    for below in range(at, len(lines)):
        line = lines[below]
        if "%%" in line or (line.strip(" \t") and not line.startswith(" " * column)):
            break
        if below > at and closes(line):
            return below + 1
    return _GIVE_UP


def _is_in_item(lines: Sequence[str], at: int, column: int) -> bool:
    """True if the text of a list item at the margin begins at a column, and all lines from there to `at` belong to it."""
    for above in range(at - 1, max(-1, at - _ABOVE), -1):
        line = lines[above]
        if not line.strip(" \t") or line.startswith(" " * column):
            continue
        item = _ITEM.match(line)
        if not item or item.end() != column or _RULE.match(line):
            return False
        if item[1] in _INTERRUPTS or above == 0 or not lines[above - 1].strip(" \t"):
            return True
    return False


def _take_html(lines: Sequence[str], at: int, blocks: list[Block]) -> int:
    if lines[at] == SEPARATOR:
        return _take_text(lines, at, blocks)
    if lines[at].rstrip(" \t") != COMMENT_START:
        return _GIVE_UP
    end = next((after for after in range(at + 1, len(lines)) if COMMENT_END in lines[after]), -1)
    if end < 0 or lines[end].rstrip(" \t") != COMMENT_END or any("%%" in line for line in lines[at:end]):
        return _GIVE_UP
    blocks.append(Block(Kind.COMMENT, at, end + 1))
    return end + 1


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


def without_blanks(lines: Sequence[str], first: int, end: int) -> int:
    """Move `end` up past the blank lines above it."""
    while end > first + 1 and not lines[end - 1].strip(" \t"):
        end -= 1
    return end


_HEAD = late_pattern(rf" {{0,3}}>[ \t]?\[!([^\]|\s][^\]|]*)(?:\|([^\]]*))?\]([+-]?)(?:[ \t]++({_WORDS}*))?[ \t]*+$")


class RawCallout(NamedTuple):
    """A callout `> [!kind|metadata]- Title`: `kind` in lower case, `fold` is `+`, `-` or "", `title` may be "".

    `body` has the lines below the head, with one level of `>` removed.
    """

    kind: str
    title: str
    body: list[str]
    fold: str = ""
    metadata: str = ""


def read_callout(lines: Sequence[str]) -> RawCallout | None:
    """The callout in a quote's lines, or None for an ordinary quote."""
    head = _HEAD.match(lines[0])
    if not head:
        return None
    # Obsidian compares kinds in lower case, so "[!Note]" is "[!note]".
    return RawCallout(head[1].lower(), head[4] or "", unquote_lines(lines[1:]), head[3], head[2] or "")


def unquote_lines(lines: Iterable[str]) -> list[str]:
    """Remove one level of `>` and one blank after it.  Lazy continuation lines are kept as they are."""
    return [_unquoted(line) for line in lines]


def _unquoted(line: str) -> str:
    if line[:2] == "> ":
        return line[2:]
    if line == ">":
        return ""
    bare = line.lstrip(" ")
    if bare[:1] != ">" or len(line) - len(bare) > 3:
        return line
    return bare[2:] if bare[1:2] == " " else bare[1:]


def quote_lines(lines: Iterable[str]) -> list[str]:
    """Add one level of `>`.  Blank lines become `>` without a trailing blank, which editors would strip."""
    return [f"> {line}" if line else ">" for line in lines]
