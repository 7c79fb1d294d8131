r"""Quote foreign text for an agent or a model, so that it cannot pass for anything but data.

- A fence is longer than any run of backticks in it, so nothing in it closes it.
- Inside a fence our own labels begin a line (`[phase-3 user]`) and lines of foreign text are indented, so no label can be spoofed.
- In `plain` text, `<` before a name, `/`, `!`, `?` or `|` is written `<\`, so there is no tag, comment or mark of ours.
  Invisible characters are dropped, since models read them.
"""

from __future__ import annotations

from collections.abc import Iterable

from crucible.core.patterns import UNSEEN, late_pattern
from crucible.documents.markdown.containment import normal

_LINE_ENDS = late_pattern("[\u2028\u2029]")
_ANY_LINE_END = late_pattern("\r\n?|[\n\u0085\u2028\u2029]")
_TAG = late_pattern(r"<(?=\s*[/!?|]|[A-Za-z]|[^\x00-\x7f]|\s+[A-Za-z][\w:.-]*[\s/]*>|\s*\Z)")
_BLANKS = late_pattern(r"\s+")
_TICKS = late_pattern("`{3,}")
_OUR_MARK = "<!-- cru:"


def plain(text: str) -> str:
    """The text in normal form, without what is not seen and without tags; lines end in LF alone."""
    text = normal(text)
    if not text.isascii():
        text = _LINE_ENDS.sub("\n", UNSEEN.sub("", text))
    return _TAG.sub(r"<\\", text) if "<" in text else text


def unmarked(text: str) -> str:
    """The text in normal form, whose tags may stay, without what is not seen and without the marks by which we know what we started."""
    return UNSEEN.sub("", normal(text)).replace(_OUR_MARK, _OUR_MARK.replace("<", "<\\"))


# --- in a line -------------------------------------------------------------------------------------------------------


def quote_line(text: str, limit: int) -> str:
    """Foreign text in one line of at most `limit` characters, the last one `…` when something was cut."""
    # A blank has at most a handful of characters to itself in real texts; what lies far behind the cut is not looked at.
    line = _BLANKS.sub(" ", plain(text[: 4 * limit + 200])).strip(" ")
    if len(line) > limit:
        return line[: limit - 1] + "…"
    return line + "…" if len(text) > 4 * limit + 200 and line else line


def quote_span(text: str, limit: int = 300) -> str:
    """The same without a backtick, so that a code span around it ends where it should."""
    return quote_line(text, limit).replace("`", "'")


def shorten(text: str, limit: int) -> str:
    """Two thirds of `limit` code points from the head of a longer text and one from its tail, and how much is left out, in its line."""
    if len(text) <= limit:
        return text
    head, tail = text[: limit * 2 // 3], text[len(text) - limit // 3 :]
    return f"{head} […{len(text) - len(head) - len(tail)} characters left out…] {tail}"


# --- in lines --------------------------------------------------------------------------------------------------------


def hang(text: str) -> str:
    """Every line but the first indented; otherwise the text as it is."""
    return _ANY_LINE_END.sub("\n  ", text)


def quote_block(text: str, limit: int, head: int | None = None) -> str:
    """Foreign text as indented lines; of more than `limit` characters its middle is left out, and a line of ours says so.

    `head` are the characters kept before the middle, by default a third.
    """
    if len(text) <= limit:
        return _indented(text)
    before = limit // 3 if head is None else head
    first, last = text[:before], text[len(text) - (limit - before) :]
    missing = len(text) - len(first) - len(last)
    return f"{_indented(first)}\n[… {missing:,} characters left out …]\n{_indented(last)}"


def labelled(label: str, text: str, limit: int) -> str:
    """A label of ours over foreign text; the label alone when the text is blank."""
    block = quote_block(text, limit)
    return f"[{label}]\n{block}" if block else f"[{label}]"


def fence(blocks: Iterable[str]) -> str:
    """Quoted blocks and lines in one fence, "" when there are none."""
    inner = "\n".join(block for block in blocks if block)
    return fenced(inner) if inner else ""


def fenced(inner: str, info: str = "text", least: int = 3) -> str:
    """What was made for a fence, in one of at least so many backticks, that nothing in it closes."""
    marks = "`" * max(least, *(len(run) + 1 for run in _TICKS.findall(inner)), least)
    return f"{marks}{info}\n{inner}\n{marks}"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else "" for line in plain(text).strip("\n").split("\n")).rstrip("\n ")
