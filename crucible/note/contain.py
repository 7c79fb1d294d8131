r"""Foreign text made safe to write into a note, and read back the same.

Owns the normal form (what "the same" means), the cuts, whole fences, the escapes at the start of a line, and slugs.
Escapes inside a line and code spans are `contain_inline`'s; what our own lines around the text look like is the
session's.  `uncontain(contain(normal(t))) == normal(t)` for every `t`; both directions stand here.

Order: rules for lines first, then inline; reading goes the other way.  No rule needs to know which others were at
work, so texts that were contained one by one may be read back as one.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from crucible.note.contain_inline import (
    FIELDS,
    Pass,
    Rule,
    code_span,
    inline_passes,
    read_code_span,
    seal_inline,
    unseal_inline,
)
from crucible.patterns import ANSI, late_pattern

__all__ = [
    "ACTING",
    "FIELDS",
    "LABELS",
    "QUOTE_END",
    "Rule",
    "code_span",
    "contain",
    "contain_line",
    "cut",
    "normal",
    "normal_line",
    "read_code_span",
    "slug",
    "uncontain",
    "uncontain_line",
    "whole_fences",
]

LABELS = ("Rationale", "Resolution", "Summary", "Task")
"""The label words that a callout reads."""

ACTING = frozenset({"tasks", "session-toon", "dataview", "dataviewjs", "query", "base", "mermaid"})
"""Info words of fences that Obsidian, its plugins or we act upon."""

QUOTE_END = Rule("quote-end", r'"\ ', r"-(?=[ \t]|$)", '" ')
"""For a user's words: `" - ` ends them, so inside them it is written `" \\- `.  Works in code spans too."""

# --- the normal form -------------------------------------------------------------------------------------------

_UNWANTED = late_pattern(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_SURROGATE = late_pattern(r"[\ud800-\udfff]")
_CONTROL = late_pattern(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BLANK_LINE = late_pattern(r"^[ \t]+$", re.MULTILINE)
_BLANKS = late_pattern(r"[ \t\n]+")


def normal(text: str) -> str:
    """The form in which a block of text is kept: what is lost is lost here and nowhere else."""
    if _UNWANTED.search(text):
        text = _SURROGATE.sub("\ufffd", text).replace("\r\n", "\n").replace("\r", "\n")
        text = _CONTROL.sub("", ANSI.sub("", text))
    return _BLANK_LINE.sub("", text).strip("\n")


def normal_line(text: str) -> str:
    """The normal form of a value of one line: runs of blanks and line ends are one space."""
    if text.isprintable() and "  " not in text:  # no line end and no control among it, as in most
        return text.strip(" ")
    return _BLANKS.sub(" ", normal(text)).strip(" ")


def cut(text: str, limit: int) -> str:
    """At most `limit` code points, the last one `…` when something was cut.  Cut before containing."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


_NO_SLUG = late_pattern(r"[^\w.:/+-]+")


def slug(text: str, kind: Literal["agent", "version", "model", "channel"]) -> str:
    """A name that can stand in a heading's markers; empty when the text is.  Obsidian reads no tag of digits only."""
    name = re.sub("::+", ":", _NO_SLUG.sub("-", normal_line(text)))
    if kind == "channel" and name.isdecimal():
        return f"channel-{name}"
    return name


# --- the start of a line ---------------------------------------------------------------------------------------

# Quote marks and list markers before a mark: `- # x` is a heading too.  Any indent, because what stands at column 8
# may be at column 0 of a list item that another writer began.  A marker without text is left to `thematic`.
_PREFIX = r"\n(?>(?:[ \t]*+(?:>|(?:[-+*]|[0-9]{1,9}[.)])(?=[ \t]++[^ \t\n])))*)[ \t]*+"

LINE_RULES: tuple[Rule, ...] = (
    Rule("heading", _PREFIX, r"\#{1,6}(?=[ \t]|$)", "#"),
    Rule("setext", _PREFIX, r"=+[ \t]*$", "="),
    # One `-` or `*` is enough: a lone `-` underlines a heading, and the prefix has eaten the front of `* * *`.
    Rule("thematic", _PREFIX, r"-[- \t]*$|\*[* \t]*$|_[ \t]*_[ \t]*_[_ \t]*$"),
    Rule("tilde-fence", _PREFIX, "~~~", "~~~"),
    Rule("tool-calls", _PREFIX, r"\*\*Tool calls:\*\*[ \t]*$", "**Tool calls:**"),
    Rule("callout", _PREFIX, r"\[!", "[!"),
)


class _Passes(NamedTuple):
    line: tuple[Pass, ...]
    inline: tuple[Pass, ...]


@lru_cache(maxsize=64)
def _passes(labels: tuple[str, ...], fields: tuple[str, ...], extra: tuple[Rule, ...]) -> _Passes:
    rules = [*extra, *LINE_RULES]
    if labels:
        words = "|".join(map(re.escape, labels))
        rules.append(Rule("label", rf"\n[ \t>]*+(?:{words})", ":", ":"))
    return _Passes(tuple(rule.compiled() for rule in rules), inline_passes(fields))


def _seal(text: str, passes: _Passes) -> str:
    text = "\n" + text
    for seal, _ in passes.line:
        text = seal(text)
    return seal_inline(text[1:], passes.inline)


def _unseal(text: str, passes: _Passes) -> str:
    text = "\n" + unseal_inline(text, passes.inline)
    for _, unseal in reversed(passes.line):
        text = unseal(text)
    return text[1:]


def contain(
    text: str, *, labels: Sequence[str] = LABELS, fields: Sequence[str] = FIELDS, extra: Sequence[Rule] = ()
) -> str:
    """A normal block of text as Markdown that cannot become structure of the note.

    Put it at the start of a line: where a fence opens the text (`whole_fences`), our own words before it would break
    the fence.  `extra` are the caller's marks; they hold inside code spans too, and nowhere in whole fences.
    """
    passes = _passes(tuple(labels), tuple(fields), tuple(extra))
    return _convert(text, passes, writing=True)


def uncontain(
    text: str, *, labels: Sequence[str] = LABELS, fields: Sequence[str] = FIELDS, extra: Sequence[Rule] = ()
) -> str:
    """The text that was contained; with the same labels, fields and extra rules."""
    if "\\" not in text:
        return text
    return _convert(text, _passes(tuple(labels), tuple(fields), tuple(extra)), writing=False)


def contain_line(text: str, *, fields: Sequence[str] = FIELDS, extra: Sequence[Rule] = ()) -> str:
    """A normal text of one line, safe inside a line of ours.  Where it begins the line, use `contain`."""
    passes = _passes((), tuple(fields), tuple(extra))
    for seal, _ in passes.line[: len(extra)]:
        text = seal(text)
    return seal_inline(text, passes.inline)


def uncontain_line(text: str, *, fields: Sequence[str] = FIELDS, extra: Sequence[Rule] = ()) -> str:
    """The inverse of `contain_line`."""
    if "\\" not in text:
        return text
    passes = _passes((), tuple(fields), tuple(extra))
    text = unseal_inline(text, passes.inline)
    for _, unseal in reversed(passes.line[: len(extra)]):
        text = unseal(text)
    return text


def _convert(text: str, passes: _Passes, *, writing: bool) -> str:
    change, acting = (_seal, _seal_info) if writing else (_unseal, _unseal_info)
    fences = whole_fences(text)
    if not fences:
        return change(text, passes)
    lines, parts, at = text.split("\n"), list[str](), 0
    for first, end in fences:
        if at < first:
            parts.append(change("\n".join(lines[at:first]), passes))
        parts.append(acting(lines[first]))
        parts.extend(lines[first + 1 : end])
        at = end
    if at < len(lines):
        parts.append(change("\n".join(lines[at:]), passes))
    return "\n".join(parts)


# --- whole fences ----------------------------------------------------------------------------------------------

_OPENER = late_pattern(r"( *)((?:[-+*]|1[.)]) {1,4})?(`{3,}(?!.*`)|~{3,})(.*)")
_CLOSER = late_pattern(r"[ \t]*(`{3,}|~{3,})[ \t]*$")
_ITEM = late_pattern(r"([-+*]|[0-9]{1,9}[.)]) {1,4}(?=[^ \t])")
_DEEPEST = 4
_MIDDLE_OF_PARAGRAPH = frozenset({"-", "+", "*", "1.", "1)"})  # the list markers that may interrupt one
_INFO = late_pattern(r"(\s*)(\\*)(.*)", re.DOTALL)
_WORD = late_pattern(r"[\w-]+")
_ESCAPED = late_pattern(r"\\([!-/:-@\[-`{-~])")


def _acts(info: str) -> bool:
    """Readers of Markdown resolve entities and escapes in an info string before they look at it."""
    read = _ESCAPED.sub(r"\1", info)
    if "&" in read:
        import html  # noqa: PLC0415  its table of entities is large, and hardly any fence has one

        read = html.unescape(read)
    word = _WORD.match(read.lstrip())
    return word is not None and word[0].lower() in ACTING


def _seal_info(line: str) -> str:
    return _change_info(line, 1)


def _unseal_info(line: str) -> str:
    return _change_info(line, -1)


def _change_info(line: str, by: int) -> str:
    """One backslash more or less before the info word of a fence's first line, where that word acts."""
    opener = _OPENER.match(line)
    info = opener and _INFO.match(opener[4])
    if not opener or not info or not _acts(info[3]):
        return line
    return line[: opener.start(4)] + info[1] + "\\" * max(0, len(info[2]) + by) + info[3]


def whole_fences(text: str) -> list[tuple[int, int]]:
    """First line and end of every fence that is one wherever the text is put; everything else is prose.

    The opener stands at column n after spaces or one list marker; every line to the closer is blank or indented by n;
    the first line that looks like a closer is indented by n exactly.  From column 4 on the opener must stand in a list
    item of this text, else it may be the rest of a paragraph.
    """
    if "```" not in text and "~~~" not in text:
        return []
    lines = text.split("\n")
    candidates = _candidates(lines)
    deep = any(opener.end(1) > 3 for _, opener, _ in candidates)
    found, items, at = list[tuple[int, int]](), _Items(), 0
    shallow: dict[int, int] = {}
    for first, opener, closer in candidates:
        if first < at:
            continue
        if deep:
            items.enter(lines[at : first + 1])
            at = first + 1
        if items.fit(opener) and _whole(lines, first, opener.start(3), closer, shallow):
            found.append((first, closer + 1))
            at = closer + 1
    return found


def _candidates(lines: list[str]) -> list[tuple[int, re.Match[str], int]]:
    """Each line that may open a fence, and the first later one that looks like its closer.

    Found for all openers at once from the end: a search for each took seconds on thousands of unclosed ones.
    """
    after: dict[str, list[tuple[int, int]]] = {
        "`": [],
        "~": [],
    }  # (-length, line), the nearest and shortest last
    found: list[tuple[int, re.Match[str], int]] = []
    for at in range(len(lines) - 1, -1, -1):
        line = lines[at]
        if "```" not in line and "~~~" not in line:
            continue
        if opener := _OPENER.match(line):
            ahead = after[opener[3][0]]
            fitting = bisect_left(ahead, (1 - len(opener[3]),)) - 1
            if fitting >= 0:
                found.append((at, opener, ahead[fitting][1]))
        if closer := _CLOSER.match(line):
            ahead, length = after[closer[1][0]], len(closer[1])
            while ahead and -ahead[-1][0] <= length:
                ahead.pop()
            ahead.append((-length, at))
    found.reverse()
    return found


def _whole(lines: list[str], at: int, column: int, closer: int, shallow: dict[int, int]) -> bool:
    """Whether the lines to the closer hold the column; `shallow` remembers where one did not."""
    indent = " " * column
    if not lines[closer].startswith(indent) or lines[closer][column] not in "`~":
        return False
    if column == 0:
        return True
    if at < shallow.get(column, -1) < closer:
        return False
    for number in range(at + 1, closer):
        if lines[number].strip(" \t") and not lines[number].startswith(indent):
            shallow[column] = number
            return False
    return True


class _Items:
    """The columns of the list items that are open for certain, line by line."""

    __slots__ = ("_after_blank", "_columns", "_parent")

    def __init__(self) -> None:
        self._columns: list[int] = []
        self._parent = 0
        self._after_blank = True

    def enter(self, lines: Sequence[str]) -> None:
        """Go on over these lines, which stand outside fences."""
        for line in lines:
            self._enter(line)

    def _enter(self, line: str) -> None:
        text = line.lstrip(" ")
        if not text:
            self._after_blank = True
            return
        indent, left = len(line) - len(text), False
        if text[0] == "\t":
            self._columns.clear()
        while self._columns and self._columns[-1] > indent:
            self._columns.pop()
            left = True
        self._parent = self._columns[-1] if self._columns else 0
        item = _ITEM.match(text)
        certain = self._after_blank or left or (item is not None and item[1] in _MIDDLE_OF_PARAGRAPH)
        if item and certain and indent - self._parent <= 3:
            self._columns.append(indent + item.end())
        self._after_blank = False

    def fit(self, opener: re.Match[str]) -> bool:
        """Whether the line just entered is, at its column, no indented code and no rest of a paragraph."""
        indent = opener.end(1)
        return indent <= 3 or (indent - self._parent <= 3 and len(self._columns) <= _DEEPEST)
