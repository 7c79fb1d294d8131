"""What a finding stands on, as a note says it: `answered question, 0.97, rows 3a77d35a 6f76c352`.

Owns that line: the last label of a `[!decision]` or `[!error]`, and the parentheses that end an item of the findings block.
"""

from __future__ import annotations

from crucible.note.contain import Rule, normal_line
from crucible.patterns import late_pattern
from crucible.session.model import Grounds

__all__ = ["GROUNDS_END", "SOURCE_LINE", "grounds_in", "normal_grounds", "render_grounds", "split_grounds"]

_NAME = r"[A-Za-z](?:[A-Za-z0-9 -]*[A-Za-z0-9])?"
_CONFIDENCE = r"0(?:\.[0-9]{1,4})?|1(?:\.0{1,4})?"
_GROUNDS = rf"(?:{_NAME}), (?:{_CONFIDENCE})(?:, rows?(?: [A-Za-z0-9_-]+)+)?"

GROUNDS_END = Rule("grounds", rf"\({_GROUNDS}", r"\)$", "")
r"""For the text of an item: what it ends in would be read as its grounds, so it is written `(reply, 0.9\)`."""

SOURCE_LINE = late_pattern(rf"Source: *({_GROUNDS})[ \t]*$")
"""The label of a callout.  A line that says anything else is text."""

_AT_END = late_pattern(rf"[ \t]?\(({_GROUNDS})\)[ \t]*$")
_NO_NAME = late_pattern(r"[^A-Za-z0-9-]+")
_NO_ROW = late_pattern(r"[^A-Za-z0-9_-]+")
_LEADING = late_pattern(r"\A[^A-Za-z]+")
_LONGEST = 60


def normal_grounds(grounds: Grounds | None) -> Grounds | None:
    """The form in which a note keeps them; None where there is nothing to say."""
    name = _LEADING.sub("", _NO_NAME.sub(" ", normal_line(grounds.source))) if grounds else ""
    name = name[:_LONGEST].rstrip(" -")
    if not grounds or not name:
        return None
    rows = (_NO_ROW.sub("", row) for row in grounds.rows)
    return Grounds(name, round(min(1.0, max(0.0, grounds.confidence)), 2), tuple(row for row in rows if row))


def render_grounds(grounds: Grounds | None) -> str:
    """One line; "" for none."""
    told = normal_grounds(grounds)
    if told is None:
        return ""
    sure = f"{told.confidence:.2f}".rstrip("0").rstrip(".")
    rows = f", row{'s' if len(told.rows) > 1 else ''} {' '.join(told.rows)}" if told.rows else ""
    return f"{told.source}, {sure}{rows}"


def grounds_in(line: str) -> Grounds:
    """Read what `render_grounds` wrote, or a human in its place; the patterns here match no other line."""
    name, confidence, *rows = line.split(", ")
    return Grounds(name, float(confidence), tuple(rows[0].split(" ")[1:]) if rows else ())


def split_grounds(text: str) -> tuple[str, Grounds | None]:
    """An item's text, and the grounds that its end says."""
    found = _AT_END.search(text)
    return (text[: found.start()], grounds_in(found[1])) if found else (text, None)
