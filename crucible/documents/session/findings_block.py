"""Read and write the findings block `[!findings]`: an item for each finding that has no callout of its own.

It is above the first phase.  Each item is one line that ends with its grounds (`(reply, 0.9, phase-2)`), then a line
for each detail and point, which keeps diffs small.  Reading is lenient, since users edit items.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.core.text import counted
from crucible.documents.markdown.code_spans import FORMAT
from crucible.documents.markdown.containment import contain, contain_line, normal_line, uncontain, uncontain_line
from crucible.documents.markdown.containment_inline import Rule
from crucible.documents.markdown.fences import fenced_lines
from crucible.documents.markdown.line_scan import RawCallout, quote_lines
from crucible.documents.markdown.source import NOWHERE, Lines
from crucible.documents.session.findings import Kind
from crucible.documents.session.session import FindingItem, Grounds

_NAME = r"[A-Za-z](?:[A-Za-z0-9. -]*[A-Za-z0-9])?"
_CONFIDENCE = r"0(?:\.[0-9]{1,4})?|1(?:\.0{1,4})?"
_PHASE_ID = r"phase-[0-9]{1,6}(?:\.[0-9]{1,6})?"
_GROUNDS = rf"(?:{_NAME}), (?:{_CONFIDENCE})(?:, {_PHASE_ID})?(?:, rows?(?: [A-Za-z0-9_-]+)+)?"

GROUNDS_END = Rule("grounds", rf"\({_GROUNDS}", r"\)$", "")
r"""Escapes the end of an item's text that would be read as grounds: `(reply, 0.9\)`."""

SOURCE_LINE = late_pattern(rf"Source: *({_GROUNDS})[ \t]*$")
"""The source label of a callout.  A line that does not match is text."""

_AT_END = late_pattern(rf"[ \t]?\(({_GROUNDS})\)[ \t]*$")
_NO_NAME = late_pattern(r"[^A-Za-z0-9.-]+")
_A_PHASE = late_pattern(_PHASE_ID)
_NO_ROW = late_pattern(r"[^A-Za-z0-9_-]+")
_LEADING = late_pattern(r"\A[^A-Za-z]+")
_LONGEST = 60


def normal_grounds(grounds: Grounds | None) -> Grounds | None:
    """The grounds, rounded and cleaned so that they read back equal; None if there are none."""
    name = _LEADING.sub("", _NO_NAME.sub(" ", normal_line(grounds.source))) if grounds else ""
    name = name[:_LONGEST].rstrip(" -.")
    if not grounds or not name:
        return None
    rows = (_NO_ROW.sub("", row) for row in grounds.rows)
    phase = grounds.phase if _A_PHASE.fullmatch(grounds.phase) else ""
    sure = round(min(1.0, max(0.0, grounds.confidence)), 2)
    return Grounds(name, sure, tuple(row for row in rows if row), phase)


def render_grounds(grounds: Grounds | None) -> str:
    """The grounds as one line; "" if there are none."""
    normal = normal_grounds(grounds)
    if normal is None:
        return ""
    sure = f"{normal.confidence:.2f}".rstrip("0").rstrip(".")
    rows = f", row{'s' if len(normal.rows) > 1 else ''} {' '.join(normal.rows)}" if normal.rows else ""
    return f"{normal.source}, {sure}{f', {normal.phase}' if normal.phase else ''}{rows}"


def grounds_in(line: str) -> Grounds:
    """Parse grounds from a line that `SOURCE_LINE` or the end of an item matched."""
    name, confidence, *more = line.split(", ")
    phase = next((one for one in more if _A_PHASE.fullmatch(one)), "")
    rows = next((one.split(" ")[1:] for one in more if one != phase), [])
    return Grounds(name, float(confidence), tuple(rows), phase)


def split_grounds(text: str) -> tuple[str, Grounds | None]:
    """Split an item into its text and the grounds at its end."""
    found = _AT_END.search(text)
    return (text[: found.start()], grounds_in(found[1])) if found else (text, None)


FINDINGS = "findings"
"""The callout's kind."""

_DETAILS, _EVIDENCE = "Details:", "Evidence:"
_ITEM = late_pattern(r" {0,3}[-*+][ \t]+(?=[^ \t])(.*)$")
_POINT = late_pattern(r"[-*+][ \t]+(?=[^ \t])(.*)$")
_KIND = late_pattern(r"([A-Za-z][A-Za-z_ -]{0,30}):[ \t]+(.*)$")
_KINDS = frozenset(Kind)
_AND = "_and_"
"""Joins two kinds, as in `correction and decision`, with blanks already replaced by `_`."""


def read_findings(raw: RawCallout, first: int, form: int) -> tuple[FindingItem, ...]:
    """Read the items of the callout that begins on line `first`.  Lines outside items are a user's remarks."""
    return _read_items(tuple(raw.body), first, form)


# While a note is edited, it is read several times.
@lru_cache(maxsize=2)
def _read_items(body: tuple[str, ...], first: int, form: int) -> tuple[FindingItem, ...]:
    fenced = fenced_lines(body)
    found: list[tuple[list[str], int]] = []
    is_open = False
    indent = 0
    for at, line in enumerate(body):
        item = None if at in fenced or (is_open and _indent(line) > indent + 1) else _ITEM.match(line)
        if item:
            found.append(([item[1]], at))
            indent = _indent(line)
        is_open = bool(item) or (is_open and at not in fenced and bool(line.strip(" \t")))
        if is_open and not item:
            found[-1][0].append(line.strip(" \t"))
    return tuple(_read_item(lines, Lines(first + 1 + at, first + 1 + at + len(lines)), form) for lines, at in found)


def read_item_lines(lines: Sequence[str], form: int = FORMAT) -> FindingItem | None:
    """Parse the lines written by `render_item`; None if they are not an item."""
    body = [line.removeprefix(">").removeprefix(" ") for line in lines]
    head = _ITEM.match(body[0]) if body else None
    return _read_item([head[1], *(line.strip(" \t") for line in body[1:])], NOWHERE, form) if head else None


def _indent(line: str) -> int:
    """The columns before a line's text."""
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip(" "))


class _Parts(NamedTuple):
    """The lines of an item's text, details, evidence and points."""

    text: list[str]
    details: list[str]
    evidence: list[str]
    points: list[list[str]]


def _parts(lines: Sequence[str]) -> _Parts:
    parts = _Parts([lines[0]], [], [], [])
    points = parts.points
    part = parts.text
    labels = {_DETAILS: parts.details, _EVIDENCE: parts.evidence}
    for line in lines[1:]:
        if label := next(filter(line.startswith, labels), ""):
            part = labels[label]
            line = line.removeprefix(label)  # noqa: PLW2901 -- drop the label
        elif point := _POINT.match(line):
            part = []
            points.append(part)
            line = point[1]  # noqa: PLW2901
        part.append(line)
    return parts


def _read_item(lines: Sequence[str], where: Lines, form: int) -> FindingItem:
    """Parse one item.  An item without a kind is an environment fact that a user wrote."""
    text_lines, details, evidence, points = _parts(lines)
    text, grounds = split_grounds(" ".join(text_lines))
    if grounds is None:  # a user may have added words below
        head, grounds = split_grounds(text_lines[0])
        text = " ".join([head, *text_lines[1:]])
    named = _KIND.match(text)
    kind = named[1].lower().replace(" ", "_").replace("-", "_") if named else ""
    kind, _, also = kind.partition(_AND)
    is_known = kind in _KINDS and (not also or also in _KINDS)
    text, kind = (named[2], kind) if named and is_known else (text, Kind.ENVIRONMENT.value)
    return FindingItem(
        kind,
        uncontain_line(text.strip(" \t"), extra=(GROUNDS_END,), form=form),
        uncontain_line(" ".join(details).strip(" \t"), form=form) or None,
        grounds,
        tuple(point_text for point in points if (point_text := uncontain(" ".join(point), form=form))),
        where,
        also if is_known and also != kind else "",
        uncontain_line(" ".join(evidence).strip(" \t"), form=form) or None,
    )


def normal_item(item: FindingItem) -> FindingItem:
    """Normalize an item so that it reads back equal: each of its strings is one line."""
    kind = item.kind if item.kind in _KINDS else Kind.ENVIRONMENT.value
    details = normal_line(item.details or "") or None
    points = tuple(point_text for point in item.points if (point_text := normal_line(point)))
    also = item.also if item.also in _KINDS and item.also != kind else ""
    evidence = normal_line(item.evidence or "") or None
    grounds = normal_grounds(item.grounds)
    return FindingItem(str(kind), normal_line(item.text), details, grounds, points, also=str(also), evidence=evidence)


def render_item(item: FindingItem, form: int = FORMAT) -> list[str]:
    """The lines of one item in the callout; none if its text is empty."""
    normal = normal_item(item)
    if not normal.text:
        return []
    labelled = [(_DETAILS, normal.details or ""), (_EVIDENCE, normal.evidence or "")]
    below = "\n".join(filter(None, (words for _, words in labelled)))
    text = contain_line(normal.text, extra=(GROUNDS_END,), form=form, after=below)
    grounds = render_grounds(normal.grounds)
    kinds = " and ".join(filter(None, (normal.kind, normal.also)))
    lines = [f"- {kinds}: {text}" + (f" ({grounds})" if grounds else "")]
    above = normal.text
    for label, words in labelled:
        if words:
            lines.append(f"  {label} {contain_line(words, form=form, before=above)}")
            above = f"{above}\n{words}"
    lines += [f"  - {contain(point, form=form)}" for point in normal.points]
    return quote_lines(lines)


def findings_title(count: int) -> str:
    """The callout's title."""
    return counted(count, "finding")


def render_findings(items: Sequence[FindingItem], form: int = FORMAT) -> list[str]:
    """The lines of the callout; none if there are no items."""
    rendered = [lines for item in items if (lines := render_item(item, form))]
    if not rendered:
        return []
    return [f"> [!{FINDINGS}]- {findings_title(len(rendered))}", *(line for lines in rendered for line in lines)]
