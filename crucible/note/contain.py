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
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from crucible.note.contain_inline import (
    FIELDS,
    FORMAT,
    Pass,
    Rule,
    code_span,
    convert_inline,
    read_code,
    read_code_span,
    seal_code,
    seal_inline,
    seal_shown,
    unseal_inline,
    unseal_shown,
)
from crucible.note.openings import FENCE_START, LANGUAGES, SCHEME
from crucible.patterns import ANSI, late_pattern

__all__ = [
    "FIELDS",
    "FORMAT",
    "LABELS",
    "QUOTE_END",
    "Rule",
    "code_span",
    "contain",
    "contain_code",
    "contain_line",
    "convert",
    "convert_line",
    "convert_span",
    "cut",
    "format_of",
    "is_inert",
    "normal",
    "normal_line",
    "read_code",
    "read_code_span",
    "slug",
    "uncontain",
    "uncontain_code",
    "uncontain_line",
    "whole_fences",
]

LABELS = ("Rationale", "Resolution", "Summary", "Task")
"""The label words that a callout reads."""

_OLD_FENCE_WORDS = frozenset({"tasks", "session-toon", "dataview", "dataviewjs", "query", "base", "mermaid"})
"""What the first format took for words that act."""

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
_ADDRESS = late_pattern(rf"({SCHEME}|(?=:/)):")


def slug(text: str, kind: Literal["agent", "version", "model", "channel"]) -> str:
    """A name that can stand in a heading's markers; empty when the text is.  Obsidian reads no tag of digits only."""
    name = _ADDRESS.sub(r"\1-", re.sub("::+", ":", _NO_SLUG.sub("-", normal_line(text))))
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


MORE_LINE_RULES: tuple[Rule, ...] = (
    # Boxes of somebody else's text would fill the lists of what a human has to do.  One that begins a line of ours may stand in a list.
    Rule("task", r"\n(?>(?:[ \t>]*(?:[-+*]|[0-9]{1,9}[.)])[ \t]+)*)[ \t>]*", r"\[[^\n]\](?=[ \t]|$)", "["),
    # Dataview asks its index what indented code says that begins so.
    Rule("query", _PREFIX, r"=(?!=*[ \t]*$)", "="),
)
"""What the second format escapes besides."""


@lru_cache(maxsize=16)
def _line_passes(form: int, extra: tuple[Rule, ...]) -> tuple[Pass, ...]:
    label = Rule("label", rf"\n[ \t>]*+(?:{'|'.join(LABELS)})", ":", ":")
    rules = [*extra, *LINE_RULES, *(MORE_LINE_RULES if form >= FORMAT else ()), label]
    return tuple(rule.compiled() for rule in rules)


def format_of(properties: Mapping[str, object]) -> int:
    """By which rules a note with these properties is written: 2, or 1 where it does not say."""
    found = properties.get("format")
    return FORMAT if isinstance(found, int) and found >= FORMAT else 1


def _seal(text: str, form: int, extra: tuple[Rule, ...]) -> str:
    text = "\n" + text
    for seal, _ in _line_passes(form, extra):
        text = seal(text)
    return seal_inline(text[1:], form)


def _unseal(text: str, form: int, extra: tuple[Rule, ...]) -> str:
    text = "\n" + unseal_inline(text, form)
    for _, unseal in reversed(_line_passes(form, extra)):
        text = unseal(text)
    return text[1:]


def contain(text: str, *, extra: Sequence[Rule] = (), form: int = FORMAT) -> str:
    """A normal block of text as Markdown that cannot become structure of a note of that `format`.

    Put it at the start of a line: where a fence opens the text (`whole_fences`), our own words before it would break
    the fence.  `extra` are the caller's marks; they hold inside code spans too, and nowhere in whole fences.
    """
    if form < FORMAT:
        return _by_parts(text, lambda part: _seal(part, form, tuple(extra)), _seal_old_fence)
    return _by_parts(text, lambda part: seal_shown(_seal(part, form, tuple(extra))), _seal_fence)


def uncontain(text: str, *, extra: Sequence[Rule] = (), form: int = FORMAT) -> str:
    """The text that was contained; with the same extra rules, and the `format` of its note."""
    text = text if form < FORMAT else unseal_shown(text)
    if "\\" not in text:
        return text
    unseal_fence = _unseal_old_fence if form < FORMAT else _unseal_fence
    return _by_parts(text, lambda part: _unseal(part, form, tuple(extra)), unseal_fence)


def contain_line(text: str, *, extra: Sequence[Rule] = (), form: int = FORMAT, before: str = "") -> str:
    """A normal text of one line, safe inside a line of ours.  Where it begins the line, use `contain`.

    `before` is foreign text that is shown before it in the same line.
    """
    for rule in extra:
        text = rule.compiled()[0](text)
    text = seal_inline(text, form)
    return text if form < FORMAT else seal_shown(text, before)


def uncontain_line(text: str, *, extra: Sequence[Rule] = (), form: int = FORMAT) -> str:
    """The inverse of `contain_line`."""
    text = unseal_inline(text if form < FORMAT else unseal_shown(text), form)
    for rule in reversed(extra):
        text = rule.compiled()[1](text)
    return text


def convert(text: str) -> str:
    """A text as a note of the first format holds it, as one of the second does.

    Only backslashes come and go, so lines stay lines.  What a human wrote and the first format would have escaped stays
    live: a wikilink among them.
    """

    def prose(part: str) -> str:
        part = "\n" + part
        for rule in MORE_LINE_RULES:
            part = rule.compiled()[0](part)
        return seal_shown(convert_inline(part[1:]))

    def fence(lines: list[str]) -> list[str]:
        opener, *inner = lines
        return _sealed_inside(opener if _acts(opener, _is_old) else _change_info(opener, 1, _is_new), inner)

    return _by_parts(text, prose, fence)


def convert_line(text: str) -> str:
    """The same for a text inside a line of ours."""
    return seal_shown(convert_inline(text))


def convert_span(span: str, after: str = "") -> str:
    """A whole code span of the first format as one of the second."""
    return seal_shown(seal_code(span), after=after)


def _by_parts(text: str, prose: Callable[[str], str], fence: Callable[[list[str]], list[str]]) -> str:
    """Prose changed by one function, the lines of each whole fence by the other."""
    fences = whole_fences(text)
    if not fences:
        return prose(text)
    lines, parts, at = text.split("\n"), list[str](), 0
    for first, end in fences:
        if at < first:
            parts.append(prose("\n".join(lines[at:first])))
        parts += fence(lines[first:end])
        at = end
    if at < len(lines):
        parts.append(prose("\n".join(lines[at:])))
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


def _is_new(word: str, rest: str) -> bool:
    """Whether a fence with that first word may be more than code to look at: any plugin may take any word."""
    return word.lower() not in LANGUAGES or "{" in rest or "quickadd" in rest


def _is_old(word: str, rest: str) -> bool:  # noqa: ARG001  the first format looked at the word alone
    found = _WORD.match(word)
    return found is not None and found[0].lower() in _OLD_FENCE_WORDS


_Acts = Callable[[str, str], bool]


def _reads(info: str) -> str:
    """Readers of Markdown resolve entities and escapes in an info string before they look at it."""
    read = _ESCAPED.sub(r"\1", info)
    if "&" in read:
        import html  # noqa: PLC0415  its table of entities is large, and hardly any fence has one

        read = html.unescape(read)
    return read.strip()


def _acts(line: str, acts: _Acts) -> bool:
    """Whether the info of a fence's first line begins something."""
    opener = _OPENER.match(line)
    read = _reads(opener[4].lstrip().lstrip("\\")) if opener else ""
    word, *rest = read.split(None, 1) or [""]
    return bool(word) and acts(word, "".join(rest))


def _change_info(line: str, by: int, acts: _Acts) -> str:
    """One backslash more or less before the info of a fence's first line, where that acts."""
    opener = _OPENER.match(line)
    info = opener and _INFO.match(opener[4])
    if not opener or not info or not _acts(line, acts):
        return line
    return line[: opener.start(4)] + info[1] + "\\" * max(0, len(info[2]) + by) + info[3]


def _seal_old_fence(lines: list[str]) -> list[str]:
    return [_change_info(lines[0], 1, _is_old), *lines[1:]]


def _unseal_old_fence(lines: list[str]) -> list[str]:
    return [_change_info(lines[0], -1, _is_old), *lines[1:]]


def contain_code(text: str) -> str:
    """Foreign text for the inside of a fence of ours."""
    return "\n".join(_sealed_inside("", text.split("\n"))[1:])


def uncontain_code(text: str, form: int = FORMAT) -> str:
    """The inverse of `contain_code`, by the `format` of the note."""
    return text if form < FORMAT else "\n".join(_unseal_fence(["", *unseal_shown(text).split("\n")])[1:])


def is_inert(code: str) -> bool:
    """Whether text means nothing to anybody in a code span as it is."""
    return seal_shown(seal_code(code)) == code


_FENCE_START = late_pattern(rf"\s*(?=\\*{FENCE_START})")
_SEALED_FENCE_START = late_pattern(rf"(\s*)\\(?=\\*{FENCE_START})")


def _seal_fence(lines: list[str]) -> list[str]:
    return _sealed_inside(_change_info(lines[0], 1, _is_new), lines[1:])


def _sealed_inside(opener: str, lines: list[str]) -> list[str]:
    """What is in a fence is code to Markdown, and to some plugins a query or a field."""
    inner = "\n".join(lines)
    found = _FENCE_START.match(inner)
    if found and (inner[found.end() : found.end() + 1] != "b" or "button-" in inner):
        inner = f"{found[0]}\\{inner[found.end() :]}"
    # Only in a list's item is a fence read with what stands around it.
    in_list = opener[:1] in " -+*1"
    inner = seal_shown(inner, "(" if in_list else "", "`= x`)" if in_list else "")
    return [seal_shown(opener), *inner.split("\n")]


def _unseal_fence(lines: list[str]) -> list[str]:
    inner = "\n".join(lines[1:])
    if found := _SEALED_FENCE_START.match(inner):
        inner = f"{found[1]}{inner[found.end() :]}"
    return [_change_info(lines[0], -1, _is_new), *inner.split("\n")]


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
