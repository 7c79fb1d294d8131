"""The grounds of a finding as a note writes them: `answered question, 0.97, rows 3a77d35a 6f76c352`, `reply, 0.9, phase-2`.

They are the last label of a `[!decision]` or `[!error]`, and in parentheses at the end of an item of the findings block.
"""

from __future__ import annotations

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import normal_line
from crucible.documents.markdown.containment_inline import Rule
from crucible.documents.session.session import Grounds

_NAME = r"[A-Za-z](?:[A-Za-z0-9. -]*[A-Za-z0-9])?"
_CONFIDENCE = r"0(?:\.[0-9]{1,4})?|1(?:\.0{1,4})?"
_PHASE = r"phase-[0-9]{1,6}(?:\.[0-9]{1,6})?"
_GROUNDS = rf"(?:{_NAME}), (?:{_CONFIDENCE})(?:, {_PHASE})?(?:, rows?(?: [A-Za-z0-9_-]+)+)?"

GROUNDS_END = Rule("grounds", rf"\({_GROUNDS}", r"\)$", "")
r"""For the text of an item: an ending that would be read as its grounds is written `(reply, 0.9\)`."""

SOURCE_LINE = late_pattern(rf"Source: *({_GROUNDS})[ \t]*$")
"""The label of a callout.  Any other line is text."""

_AT_END = late_pattern(rf"[ \t]?\(({_GROUNDS})\)[ \t]*$")
_NO_NAME = late_pattern(r"[^A-Za-z0-9.-]+")
_A_PHASE = late_pattern(_PHASE)
_NO_ROW = late_pattern(r"[^A-Za-z0-9_-]+")
_LEADING = late_pattern(r"\A[^A-Za-z]+")
_LONGEST = 60


def normal_grounds(grounds: Grounds | None) -> Grounds | None:
    """The grounds in the form that a note can hold; None if there are none."""
    name = _LEADING.sub("", _NO_NAME.sub(" ", normal_line(grounds.source))) if grounds else ""
    name = name[:_LONGEST].rstrip(" -.")
    if not grounds or not name:
        return None
    rows = (_NO_ROW.sub("", row) for row in grounds.rows)
    phase = grounds.phase if _A_PHASE.fullmatch(grounds.phase) else ""
    sure = round(min(1.0, max(0.0, grounds.confidence)), 2)
    return Grounds(name, sure, tuple(row for row in rows if row), phase)


def render_grounds(grounds: Grounds | None) -> str:
    """One line; "" for none."""
    told = normal_grounds(grounds)
    if told is None:
        return ""
    sure = f"{told.confidence:.2f}".rstrip("0").rstrip(".")
    rows = f", row{'s' if len(told.rows) > 1 else ''} {' '.join(told.rows)}" if told.rows else ""
    return f"{told.source}, {sure}{f', {told.phase}' if told.phase else ''}{rows}"


def grounds_in(line: str) -> Grounds:
    """Parse a line that the patterns here matched: written by `render_grounds` or by a human."""
    name, confidence, *more = line.split(", ")
    phase = next((one for one in more if _A_PHASE.fullmatch(one)), "")
    rows = next((one.split(" ")[1:] for one in more if one != phase), [])
    return Grounds(name, float(confidence), tuple(rows), phase)


def split_grounds(text: str) -> tuple[str, Grounds | None]:
    """Split an item into its text and the grounds at its end."""
    found = _AT_END.search(text)
    return (text[: found.start()], grounds_in(found[1])) if found else (text, None)
