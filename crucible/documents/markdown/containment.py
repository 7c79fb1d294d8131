r"""Make foreign text safe to write into a note or a prompt, and read it back unchanged.

`uncontain(contain(normal(t))) == normal(t)` for every `t`.  Rules for lines apply first, then those inside a line;
reading reverses the order.  No rule depends on another, so texts that were contained one by one may be read back as
one.

Text quoted for an agent or a model cannot pass for anything but data:

- A fence is longer than any run of backticks in it, so nothing in it closes it.
- Inside a fence our own labels begin a line (`[phase-3 user]`) and lines of foreign text are indented, so no label can
  be spoofed.
- In plain text, `<` before a name, `/`, `!`, `?` or `|` is written `<\`, so there is no tag, comment or mark of ours.
  Invisible characters are removed, since models read them.
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
"""The labels that callouts use."""

QUOTE_END = Rule("quote-end", r'"\ ', r"-(?=[ \t]|$)", '" ')
"""For a user's words: `" - ` ends them, so inside them it is written `" \\- `.  Works in code spans too."""

# --- the normal form -------------------------------------------------------------------------------------------

_UNWANTED = late_pattern(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_SURROGATE = late_pattern(r"[\ud800-\udfff]")
_CONTROL = late_pattern(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BLANK_LINE = late_pattern(r"^[ \t]+$", re.MULTILINE)
_BLANKS = late_pattern(r"[ \t\n]+")


def normal(text: str) -> str:
    """The normal form of a block of text.  Characters are lost only here."""
    if _UNWANTED.search(text):
        text = _SURROGATE.sub("\ufffd", text).replace("\r\n", "\n").replace("\r", "\n")
        text = _CONTROL.sub("", ANSI.sub("", text))
    return _BLANK_LINE.sub("", text).strip("\n")


def normal_line(text: str) -> str:
    """The normal form of a one-line value: each run of blanks and line ends becomes one space."""
    if text.isprintable() and "  " not in text:  # without line ends and control characters, as most
        return text.strip(" ")
    return _BLANKS.sub(" ", normal(text)).strip(" ")


def cut(text: str, limit: int) -> str:
    """Cut to at most `limit` code points, with `…` as the last one if something was cut.  Cut before containing."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


_NO_SLUG = late_pattern(r"[^\w.:/+-]+")
_ADDRESS = late_pattern(rf"({SCHEME}|(?=:/)):")


def slug(text: str, kind: Literal["agent", "version", "model", "channel"]) -> str:
    """A name that is valid in a heading's markers; "" for an empty text.  A tag of digits only is none in Obsidian."""
    name = _ADDRESS.sub(r"\1-", re.sub("::+", ":", _NO_SLUG.sub("-", normal_line(text))))
    if kind == "channel" and name.isdecimal():
        return f"channel-{name}"
    return name


# --- the start of a line ---------------------------------------------------------------------------------------

# Quote marks and list markers before a mark: `- # x` is a heading too.  Any indent, because column 8 may be column 0 of
# a list item that another writer began.  A marker without text is left to `thematic`.
_PREFIX = r"\n(?>(?:[ \t]*+(?:>|(?:[-+*]|[0-9]{1,9}[.)])(?=[ \t]++[^ \t\n])))*)[ \t]*+"

LINE_RULES: tuple[Rule, ...] = (
    Rule("heading", _PREFIX, r"\#{1,6}(?=[ \t]|$)", "#"),
    Rule("setext", _PREFIX, r"=+[ \t]*$", "="),
    # One `-` or `*` is enough: a lone `-` underlines a heading, and the prefix has consumed the front of `* * *`.
    Rule("thematic", _PREFIX, r"-[- \t]*$|\*[* \t]*$|_[ \t]*_[ \t]*_[_ \t]*$"),
    Rule("tilde-fence", _PREFIX, "~~~", "~~~"),
    Rule("tool-calls", _PREFIX, r"\*\*Tool calls:\*\*[ \t]*$", "**Tool calls:**"),
    Rule("callout", _PREFIX, r"\[!", "[!"),
)


MORE_LINE_RULES: tuple[Rule, ...] = (
    # Checkboxes in foreign text would become tasks of the user.  The text may follow a list marker of ours.
    Rule("task", r"\n(?>(?:[ \t>]*(?:[-+*]|[0-9]{1,9}[.)])[ \t]+)*)[ \t>]*", r"\[[^\n]\](?=[ \t]|$)", "["),
    # Dataview runs indented code that begins with `=` as a query.
    Rule("query", _PREFIX, r"=(?!=*[ \t]*$)", "="),
    # The plugin Buttons acts on indented code that begins like this.
    Rule("button", r"\n[ \t>]*(?: {4}|\t)[ \t]*+", "button", "button", when="button-"),
)
"""Additional escapes of format 2."""


@lru_cache(maxsize=16)
def _line_passes(form: int, extra: tuple[Rule, ...]) -> tuple[Pass, ...]:
    label = Rule("label", rf"\n[ \t>]*+(?:{'|'.join(LABELS)})", ":", ":")
    rules = [*extra, *LINE_RULES, *(MORE_LINE_RULES if form >= FORMAT else ()), label]
    return tuple(map(Rule.compiled, rules))


def format_of(properties: Mapping[str, object]) -> int:
    """The format of a note with these properties; 1 if they do not name one."""
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
    """Escape a block of text in normal form so that it cannot become structure; `form` is the note's `format`.

    Put the result at the start of a line: if a fence opens the text (`whole_fences`), other words before it would break
    the fence.  `extra` are the caller's marks; they apply in code spans too, but not in whole fences.  `before` and
    `after` are foreign texts in the same block of the note.
    """
    prose = partial(_seal, form=form, passes=_line_passes(form, tuple(extra)))
    parts = by_parts(text, prose, partial(seal_fence, form=form))
    return joined(parts) if form < FORMAT else seal_parts(parts, before, after)


def uncontain(text: str, *, extra: Sequence[Rule] = (), form: int = FORMAT) -> str:
    """The inverse of `contain`, for the same extra rules and format."""
    text = text if form < FORMAT else unseal_rendered(text)
    if "\\" not in text:
        return text
    prose = partial(_unseal, form=form, passes=_line_passes(form, tuple(extra)))
    return joined(by_parts(text, prose, partial(unseal_fence, form=form)))


def contain_line(
    text: str, *, extra: Sequence[Rule] = (), form: int = FORMAT, before: str = "", after: str = ""
) -> str:
    """Escape a one-line text in normal form for the inside of a line.  At the start of a line use `contain`.

    `before` and `after` are foreign texts before and after it on the same line or in the same block.
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

    Only backslashes and blanks change, so the number of lines stays the same.  A mark that format 1 would have escaped
    was typed by the user and stays active, for example a wikilink.
    """

    def prose(part: str) -> str:
        part = "\n" + part
        for rule in MORE_LINE_RULES:
            part = rule.compiled()[0](part)
        return convert_inline(part[1:])

    return seal_parts(by_parts(text, prose, convert_fence))


def convert_line(text: str, before: str = "") -> str:
    """Convert a text that is inside a line of ours."""
    return seal_rendered(convert_inline(text), before)


def convert_span(span: str, after: str = "") -> str:
    """Convert a whole code span from format 1 to format 2."""
    return seal_rendered(seal_code(span), after=after)


def is_inert(code: str) -> bool:
    """True if a text needs no escape in a code span."""
    return seal_rendered(seal_code(code)) == code


_LINE_ENDS = late_pattern("[\u2028\u2029]")
_ANY_LINE_END = late_pattern("\r\n?|[\n\u0085\u2028\u2029]")
_TAG = late_pattern(r"<(?=\s*[/!?|]|[A-Za-z]|[^\x00-\x7f]|\s+[A-Za-z][\w:.-]*[\s/]*>|\s*\Z)")
_WHITE_SPACE = late_pattern(r"\s+")
_TICKS = late_pattern("`{3,}")
_OUR_MARK = "<!-- cru:"


def plain_text(text: str) -> str:
    """The text in normal form, without invisible characters and tags; lines end in LF only."""
    text = normal(text)
    if not text.isascii():
        text = normal(_LINE_ENDS.sub("\n", UNSEEN.sub("", text)))  # a line may be blank now
    return _TAG.sub(r"<\\", text) if "<" in text else text


def without_marks(text: str) -> str:
    """The text in normal form with its tags, but without invisible characters and our own `cru:` marks."""
    return normal(UNSEEN.sub("", normal(text))).replace(_OUR_MARK, _OUR_MARK.replace("<", "<\\"))


# --- in a line -------------------------------------------------------------------------------------------------------


def quote_line(text: str, limit: int) -> str:
    """Foreign text as one line of at most `limit` characters, with `…` as the last one if something was cut."""
    # Runs of blanks are short in real texts, so text far after the cut need not be processed.
    line = _WHITE_SPACE.sub(" ", plain_text(text[: 4 * limit + 200])).strip(" ")
    if len(line) > limit:
        return line[: limit - 1] + "…"
    return line + "…" if len(text) > 4 * limit + 200 and line else line


def quote_span(text: str, limit: int = 300) -> str:
    """Like `quote_line`, but without backticks, for use in a code span."""
    return quote_line(text, limit).replace("`", "'")


def shorten(text: str, limit: int) -> str:
    """Keep two thirds of `limit` from the head of a longer text and one third from its tail; say how much is missing."""
    if len(text) <= limit:
        return text
    head, tail = text[: limit * 2 // 3], text[len(text) - limit // 3 :]
    return f"{head} […{len(text) - len(head) - len(tail)} characters left out…] {tail}"


# --- in lines --------------------------------------------------------------------------------------------------------


def hang(text: str) -> str:
    """Indent every line but the first."""
    return _ANY_LINE_END.sub("\n  ", text)


def quote_block(text: str, limit: int, head: int | None = None) -> str:
    """Foreign text as indented lines; a text above `limit` characters loses its middle, which a line reports.

    `head` is the number of characters kept before the middle, by default a third.
    """
    if len(text) <= limit:
        return _indented(text)
    before = limit // 3 if head is None else head
    first, last = text[:before], text[len(text) - (limit - before) :]
    missing = len(text) - len(first) - len(last)
    return f"{_indented(first)}\n[… {missing:,} characters left out …]\n{_indented(last)}"


def labelled(label: str, text: str, limit: int) -> str:
    """Our label above a block of foreign text; only the label if the text is blank."""
    block = quote_block(text, limit)
    return f"[{label}]\n{block}" if block else f"[{label}]"


def fence(blocks: Iterable[str]) -> str:
    """Put quoted blocks and lines into one fence; "" if there are none."""
    inner = "\n".join(block for block in blocks if block)
    return fenced(inner) if inner else ""


def fenced(inner: str, info: str = "text", least: int = 3) -> str:
    """Put text into a fence of at least `least` backticks that is longer than any run of backticks in the text."""
    marks = "`" * max(least, *(len(run) + 1 for run in _TICKS.findall(inner)), least)
    return f"{marks}{info}\n{inner}\n{marks}"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else "" for line in plain_text(text).strip("\n").split("\n")).rstrip("\n ")
