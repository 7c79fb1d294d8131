r"""What other steps answered and what the user gave, put where it can only be read.

Owns the fence: longer than any run of backticks in the text, every line of which is indented, so that nothing in it ends the fence or
looks like a line of ours; `<` before what could be a tag or a comment is `<\`, and what nobody sees is dropped.
"""

from __future__ import annotations

from crucible.note.contain import normal, normal_line
from crucible.patterns import UNSEEN, late_pattern

__all__ = ["quote", "quote_line", "unmarked"]

_TICKS = late_pattern("`{3,}")
_LINE_ENDS = late_pattern("[\u0085\u2028\u2029]")
_TAG = late_pattern(r"<(?=\s*[/!?|]|[A-Za-z]|[^\x00-\x7f])")


def quote(text: str, limit: int) -> str:
    """Foreign text in a fence of its own; of more than `limit` characters the middle is left out, and a line says so."""
    if len(text) > limit:
        head, tail = text[: limit * 2 // 3], text[len(text) - limit // 3 :]
        left = len(text) - len(head) - len(tail)
        inner = f"{_indented(head)}\n[… {left:,} characters left out …]\n{_indented(tail)}"
    else:
        inner = _indented(text)
    marks = "`" * max(3, *(len(run) + 1 for run in _TICKS.findall(inner)), 3)
    return f"{marks}text\n{inner}\n{marks}"


def quote_line(text: str, limit: int = 300) -> str:
    """Foreign text in one line, without a backtick that could end a code span around it."""
    line = normal_line(_plain(text[: 4 * limit])).replace("`", "'")
    return line if len(line) <= limit else line[: limit - 1] + "…"


def unmarked(text: str) -> str:
    """Text of the workflow, which is meant to be followed, without the marks by which we know what we started."""
    return UNSEEN.sub("", normal(text)).replace("<!-- cru:", "<\\!-- cru:")


def _plain(text: str) -> str:
    return _TAG.sub(r"<\\", UNSEEN.sub("", _LINE_ENDS.sub("\n", normal(text))))


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" if line else "" for line in _plain(text).strip("\n").split("\n"))
