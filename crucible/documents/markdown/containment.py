r"""Make untrusted text safe to write into a note or a prompt, and read it back unchanged.

`uncontain(contain(normal(t))) == normal(t)` for every `t`, also for text that was contained in parts.  In a prompt,
text cannot close its fence, is indented below our labels, and has `<\` for the `<` of a tag, so it remains data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Literal

from crucible.core.patterns import ANSI, UNSEEN, late_pattern
from crucible.documents.markdown.code_spans import (
    FORMAT,
    seal_code,
    seal_rendered,
    unseal_rendered,
)
from crucible.documents.markdown.containment_inline import (
    SCHEME,
    Pass,
    Rule,
    convert_inline,
    seal_inline,
    unseal_inline,
)
from crucible.documents.markdown.fences import (
    by_parts,
    convert_fence,
    joined,
    seal_fence,
    seal_parts,
    unseal_fence,
)

LABELS = ("Rationale", "Resolution", "Summary", "Task")
"""The labels used in callouts."""

QUOTE_END = Rule("quote-end", r'"\ ', r"-(?=[ \t]|$)", '" ')
"""Escapes `" - `, which ends a quotation of the user, as `" \\- `.  Also applies in code spans."""

# --- the normal form -------------------------------------------------------------------------------------------

_UNWANTED = late_pattern(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_SURROGATE = late_pattern(r"[\ud800-\udfff]")
_CONTROL = late_pattern(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BLANK_LINE = late_pattern(r"^[ \t]+$", re.MULTILINE)
_BLANKS = late_pattern(r"[ \t\n]+")


def normal(text: str) -> str:
    """Normalize a block of text.  No other function here drops characters."""
    if not text.isprintable() and _UNWANTED.search(text):
        text = _SURROGATE.sub("\ufffd", text).replace("\r\n", "\n").replace("\r", "\n")
        text = _CONTROL.sub("", ANSI.sub("", text))
    if " \n" in text or "\t\n" in text or text.endswith((" ", "\t")):
        text = _BLANK_LINE.sub("", text)
    return text.strip("\n")


def normal_line(text: str) -> str:
    """Normalize text to one line: each run of blanks and line endings becomes one space."""
    if text.isprintable() and "  " not in text:  # usually true: no line endings or control characters
        return text.strip(" ")
    return _BLANKS.sub(" ", normal(text)).strip(" ")


def cut(text: str, limit: int) -> str:
    """Cut to at most `limit` code points, the last of which is `…` if anything was cut.  Cut before containing."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


_NO_SLUG = late_pattern(r"[^\w.:/+-]+")
_ADDRESS = late_pattern(rf"({SCHEME}|(?=:/)):")


def slug(text: str, kind: Literal["agent", "version", "model", "channel"]) -> str:
    """Make a name valid in a heading's markers; "" for empty text.

    In Obsidian, a tag of only digits is not a tag.
    """
    name = _ADDRESS.sub(r"\1-", re.sub("::+", ":", _NO_SLUG.sub("-", normal_line(text))))
    if kind == "channel" and name.isdecimal():
        return f"channel-{name}"
    return name


# --- the start of a line ---------------------------------------------------------------------------------------

# Quote and list markers above a mark, since `- # x` is also a heading.  Any indent is allowed, because column 8 may be
# column 0 of another writer's list item.  A list marker without text is left to `thematic`.
_PREFIX = r"\n(?>(?:[ \t]*+(?:>|(?:[-+*]|[0-9]{1,9}[.)])(?=[ \t]++[^ \t\n])))*)[ \t]*+"

LINE_RULES: tuple[Rule, ...] = (
    Rule("heading", _PREFIX, r"\#{1,6}(?=[ \t]|$)", "#"),
    Rule("setext", _PREFIX, r"=+[ \t]*$", "="),
    # One `-` or `*` is enough: a lone `-` underlines a heading, and the prefix has consumed the start of `* * *`.
    Rule("thematic", _PREFIX, r"-[- \t]*$|\*[* \t]*$|_[ \t]*_[ \t]*_[_ \t]*$", sign=r"[-*_][ \t]*$"),
    Rule("tilde-fence", _PREFIX, "~~~", "~~~"),
    Rule("tool-calls", _PREFIX, r"\*\*Tool calls:\*\*[ \t]*$", "**Tool calls:**"),
    Rule("callout", _PREFIX, r"\[!", "[!"),
)


MORE_LINE_RULES: tuple[Rule, ...] = (
    # A checkbox in untrusted text would become a task of the user.  It may follow one of our list markers.
    Rule("task", r"\n(?>(?:[ \t>]*(?:[-+*]|[0-9]{1,9}[.)])[ \t]+)*)[ \t>]*", r"\[[^\n]\](?=[ \t]|$)", "["),
    # Dataview evaluates indented code that begins with `=` as a query.
    Rule("query", _PREFIX, r"=(?!=*[ \t]*$)", "="),
    # The Buttons plugin acts on indented code that begins with `button`.
    Rule("button", r"\n[ \t>]*(?: {4}|\t)[ \t]*+", "button", "button", when="button-"),
)
"""Additional escapes in format 2."""


@lru_cache(maxsize=16)
def _line_passes(form: int, extra: tuple[Rule, ...]) -> tuple[Pass, ...]:
    label = Rule("label", rf"\n[ \t>]*+(?:{'|'.join(LABELS)})", ":", ":")
    rules = [*extra, *LINE_RULES, *(MORE_LINE_RULES if form >= FORMAT else ()), label]
    return tuple(map(Rule.compiled, rules))


def format_of(properties: Mapping[str, object]) -> int:
    """The format of a note with these properties; 1 if they have no format."""
    found = properties.get("format")
    return FORMAT if isinstance(found, int) and found >= FORMAT else 1


def _seal(text: str, form: int, passes: tuple[Pass, ...]) -> str:
    text = "\n" + text
    for seal, _ in passes:
        text = seal(text)
    return seal_inline(text[1:], form)


def _unseal(text: str, form: int, passes: tuple[Pass, ...]) -> str:
    text = "\n" + unseal_inline(text, form)
    for _, unseal in reversed(passes):
        text = unseal(text)
    return text[1:]


def contain(text: str, *, extra: Sequence[Rule] = (), form: int = FORMAT, before: str = "", after: str = "") -> str:
    """Escape normalized text so that it cannot become structure.  `form` is the note's `format`.

    Put the result at the start of a line: if it begins with a fence (see `whole_fences`), text on the same line would
    break the fence.  `extra` has the caller's own marks, which are also escaped in code spans but not in complete
    fences.  `before` and `after` are untrusted text in the same block of the note.
    """
    prose = partial(_seal, form=form, passes=_line_passes(form, tuple(extra)))
    parts = by_parts(text, prose, partial(seal_fence, form=form))
    return joined(parts) if form < FORMAT else seal_parts(parts, before, after)


def uncontain(text: str, *, extra: Sequence[Rule] = (), form: int = FORMAT) -> str:
    """The inverse of `contain`, given the same extra rules and format."""
    text = text if form < FORMAT else unseal_rendered(text)
    if "\\" not in text:
        return text
    prose = partial(_unseal, form=form, passes=_line_passes(form, tuple(extra)))
    return joined(by_parts(text, prose, partial(unseal_fence, form=form)))


def contain_line(
    text: str, *, extra: Sequence[Rule] = (), form: int = FORMAT, before: str = "", after: str = ""
) -> str:
    """Escape normalized one-line text for use within a line.  At the start of a line, use `contain`.

    `before` and `after` are untrusted text on the same line or in the same block.
    """
    for rule in extra:
        text = rule.compiled()[0](text)
    text = seal_inline(text, form)
    return text if form < FORMAT else seal_rendered(text, before, after)


def uncontain_line(text: str, *, extra: Sequence[Rule] = (), form: int = FORMAT) -> str:
    """The inverse of `contain_line`."""
    text = unseal_inline(text if form < FORMAT else unseal_rendered(text), form)
    for rule in reversed(extra):
        text = rule.compiled()[1](text)
    return text


def convert(text: str) -> str:
    """Convert contained text from format 1 to format 2.

    Only backslashes and blanks change, so the number of lines stays the same.  An unescaped mark that format 1 would
    have escaped, such as a wikilink, was typed by the user and is kept.
    """

    def prose(part: str) -> str:
        part = "\n" + part
        for rule in MORE_LINE_RULES:
            part = rule.compiled()[0](part)
        return convert_inline(part[1:])

    return seal_parts(by_parts(text, prose, convert_fence))


def convert_line(text: str, before: str = "") -> str:
    """Convert text within one of our lines."""
    return seal_rendered(convert_inline(text), before)


def convert_span(span: str, after: str = "") -> str:
    """Convert a complete code span from format 1 to format 2."""
    return seal_rendered(seal_code(span), after=after)


def is_inert(code: str) -> bool:
    """True if a text needs no escape within a code span."""
    return seal_rendered(seal_code(code)) == code


_LINE_ENDS = late_pattern("[\u2028\u2029]")
_ANY_LINE_END = late_pattern("\r\n?|[\n\u0085\u2028\u2029]")
_TAG = late_pattern(r"<(?=\s*[/!?|]|[A-Za-z]|[^\x00-\x7f]|\s+[A-Za-z][\w:.-]*[\s/]*>|\s*\Z)")
_WHITE_SPACE = late_pattern(r"\s+")
_TICKS = late_pattern("`{3,}")
_OUR_MARK = "<!-- cru:"


def plain_text(text: str) -> str:
    """Normalize text, and drop invisible characters and tags.  Lines end in LF."""
    text = normal(text)
    if not text.isascii():
        text = normal(_LINE_ENDS.sub("\n", UNSEEN.sub("", text)))  # a line may be blank now
    return _TAG.sub(r"<\\", text) if "<" in text else text


def without_marks(text: str) -> str:
    """Normalize text, and drop invisible characters and our own `cru:` marks, but keep tags."""
    return normal(UNSEEN.sub("", normal(text))).replace(_OUR_MARK, _OUR_MARK.replace("<", "<\\"))


# --- in a line -------------------------------------------------------------------------------------------------------


def quote_line(text: str, limit: int) -> str:
    """Quote untrusted text on one line of at most `limit` characters, the last of which is `…` if anything was cut."""
    # Real text has only short runs of blanks, so text far beyond the cut need not be processed.
    line = _WHITE_SPACE.sub(" ", plain_text(text[: 4 * limit + 200])).strip(" ")
    if len(line) > limit:
        return line[: limit - 1] + "…"
    return line + "…" if len(text) > 4 * limit + 200 and line else line


def quote_span(text: str, limit: int = 300) -> str:
    """Like `quote_line`, but without backticks, for use within a code span."""
    return quote_line(text, limit).replace("`", "'")


def shorten(text: str, limit: int) -> str:
    """Shorten text to two thirds of `limit` from the start and one third from the end.

    A note in between says how much is missing.
    """
    if len(text) <= limit:
        return text
    head, tail = text[: limit * 2 // 3], text[len(text) - limit // 3 :]
    return f"{head} […{len(text) - len(head) - len(tail)} characters left out…] {tail}"


# --- in lines --------------------------------------------------------------------------------------------------------


def hang(text: str) -> str:
    """Indent all lines except the first."""
    return _ANY_LINE_END.sub("\n  ", text)


def quote_block(text: str, limit: int, head: int | None = None) -> str:
    """Quote untrusted text as indented lines.  Text longer than `limit` loses its middle, with a line that says so.

    `head` is the number of characters to keep from the start, by default a third.
    """
    if len(text) <= limit:
        return _indented(text)
    before = limit // 3 if head is None else head
    first, last = text[:before], text[len(text) - (limit - before) :]
    missing = len(text) - len(first) - len(last)
    return f"{_indented(first)}\n[… {missing:,} characters left out …]\n{_indented(last)}"


def labelled(label: str, text: str, limit: int) -> str:
    """A label above a block of untrusted text; only the label if the text is blank."""
    block = quote_block(text, limit)
    return f"[{label}]\n{block}" if block else f"[{label}]"


def fence(blocks: Iterable[str]) -> str:
    """Put quoted blocks and lines into one fence; "" if there are none."""
    inner = "\n".join(block for block in blocks if block)
    return fenced(inner) if inner else ""


def fenced(inner: str, info: str = "text", least: int = 3) -> str:
    """Put text into a fence of at least `least` backticks, longer than any run of backticks in the text."""
    marks = "`" * max(least, *(len(run) + 1 for run in _TICKS.findall(inner)), least)
    return f"{marks}{info}\n{inner}\n{marks}"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else "" for line in plain_text(text).strip("\n").split("\n")).rstrip("\n ")
