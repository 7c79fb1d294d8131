r"""Text from logs put where it can only be read: fenced, indented, and without anything that looks like an order's frame.

Owns three rules, which hold together for every text whatsoever:

- A block is a fence longer than any run of backticks in it, so nothing in it closes it.
- In a fence our own labels begin a line (`[phase-3 user]`, `- phase-2: `) and every line of foreign text is indented, so nothing
  forges a label.  What is a line's end to any reader is one here, or a blank.
- `<` before a name, `/`, `!`, `?` or `|`, or at a text's end, is written `<\`, so there is no tag, no comment and no mark of ours or of a client's in it.
  Characters that nobody sees are dropped, since models read them.

What is quoted is for the callers.
"""

from __future__ import annotations

from collections.abc import Iterable

from crucible.note.contain import normal
from crucible.patterns import UNSEEN, late_pattern

__all__ = ["fence", "labelled", "plain", "quote_block", "quote_line"]

_LINE_ENDS = late_pattern("[\u2028\u2029]")
_TAG = late_pattern(r"<(?=\s*[/!?|]|[A-Za-z]|[^\x00-\x7f]|\s+[A-Za-z][\w:.-]*[\s/]*>|\s*\Z)")
_BLANKS = late_pattern(r"\s+")
_TICKS = late_pattern("`{3,}")


def plain(text: str) -> str:
    """The text in normal form, without what is not seen and without tags; lines end in LF alone."""
    text = normal(text)
    if not text.isascii():
        text = _LINE_ENDS.sub("\n", UNSEEN.sub("", text))
    return _TAG.sub(r"<\\", text) if "<" in text else text


def quote_line(text: str, limit: int) -> str:
    """Foreign text in one line of at most `limit` characters, the last one `…` when something was cut."""
    # A blank has at most a handful of characters to itself in real texts; what lies far behind the cut is not looked at.
    line = _BLANKS.sub(" ", plain(text[: 4 * limit + 200])).strip(" ")
    if len(line) > limit:
        return line[: limit - 1] + "…"
    return line + "…" if len(text) > 4 * limit + 200 and line else line


def quote_block(text: str, limit: int) -> str:
    """Foreign text as indented lines; of more than `limit` characters its middle is left out, and a line of ours says so."""
    if len(text) <= limit:
        return _indented(text)
    head, tail = text[: limit // 3], text[len(text) - (limit - limit // 3) :]
    missing = len(text) - len(head) - len(tail)
    return f"{_indented(head)}\n[… {missing:,} characters left out …]\n{_indented(tail)}"


def labelled(label: str, text: str, limit: int) -> str:
    """A label of ours over foreign text; the label alone when the text is blank."""
    block = quote_block(text, limit)
    return f"[{label}]\n{block}" if block else f"[{label}]"


def fence(blocks: Iterable[str]) -> str:
    """Quoted blocks and lines in one fence, "" when there are none."""
    inner = "\n".join(block for block in blocks if block)
    if not inner:
        return ""
    marks = "`" * max(3, *(len(run) + 1 for run in _TICKS.findall(inner)), 3)
    return f"{marks}text\n{inner}\n{marks}"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else "" for line in plain(text).strip("\n").split("\n")).rstrip(
        "\n "
    )
