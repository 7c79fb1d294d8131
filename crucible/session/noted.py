"""The findings block: one callout `[!findings]` before the first phase, with an item for each finding that has no callout of its own.

Reading is lenient, since people may add and edit items.  An item is written as one or two lines, so that one changed finding
is one changed line in a diff.
"""

from __future__ import annotations

from collections.abc import Sequence

from crucible.note.callouts import RawCallout, quote_lines
from crucible.note.contain import FORMAT, contain_line, normal_line, uncontain_line
from crucible.note.source import Lines
from crucible.patterns import late_pattern
from crucible.session.entries import fenced_lines
from crucible.session.findings import Kind
from crucible.session.grounds import GROUNDS_END, normal_grounds, render_grounds, split_grounds
from crucible.session.model import Noted

__all__ = ["FINDINGS", "findings_title", "normal_noted", "read_findings", "render_findings", "render_noted"]

FINDINGS = "findings"
"""The callout's kind."""

_DETAILS = "Details:"
_ITEM = late_pattern(r" {0,3}[-*+][ \t]+(?=[^ \t])(.*)$")
_KIND = late_pattern(r"([A-Za-z][A-Za-z_ -]{0,30}):[ \t]+(.*)$")
_KINDS = frozenset(Kind)


def read_findings(raw: RawCallout, first: int, form: int) -> tuple[Noted, ...]:
    """The items of the callout that begins on line `first`.  Lines that belong to no item are a human's remarks."""
    fenced = fenced_lines(raw.body)
    found: list[tuple[list[str], int]] = []
    is_open = False
    for at, line in enumerate(raw.body):
        item = None if at in fenced else _ITEM.match(line)
        if item:
            found.append(([item[1]], at))
        is_open = bool(item) or (is_open and at not in fenced and bool(line.strip(" \t")))
        if is_open and not item:
            found[-1][0].append(line.strip(" \t"))
    return tuple(
        _read_item(lines, Lines(first + 1 + at, first + 1 + at + len(lines)), form) for lines, at in found
    )


def _read_item(lines: Sequence[str], where: Lines, form: int) -> Noted:
    """Parse one item; without a kind it is an environment fact that a human wrote."""
    at = next((at for at, line in enumerate(lines) if at and line.startswith(_DETAILS)), len(lines))
    text, grounds = split_grounds(" ".join(lines[:at]))
    if grounds is None:  # a human may have added words below
        head, grounds = split_grounds(lines[0])
        text = " ".join([head, *lines[1:at]])
    details = " ".join([line.removeprefix(_DETAILS) for line in lines[at:]]).strip(" \t")
    named = _KIND.match(text)
    kind = named[1].lower().replace(" ", "_").replace("-", "_") if named else ""
    text, kind = (named[2], kind) if named and kind in _KINDS else (text, Kind.ENVIRONMENT.value)
    return Noted(
        kind,
        uncontain_line(text.strip(" \t"), extra=(GROUNDS_END,), form=form),
        uncontain_line(details, form=form) or None,
        grounds,
        lines=where,
    )


def normal_noted(item: Noted) -> Noted:
    """An item in the form that a note can hold: each text is one line."""
    kind = item.kind if item.kind in _KINDS else Kind.ENVIRONMENT.value
    details = normal_line(item.details or "") or None
    return Noted(str(kind), normal_line(item.text), details, normal_grounds(item.grounds))


def render_noted(item: Noted, form: int = FORMAT) -> list[str]:
    """The lines of one item in the callout; none if its text is empty."""
    told = normal_noted(item)
    if not told.text:
        return []
    details = told.details or ""
    text = contain_line(told.text, extra=(GROUNDS_END,), form=form, after=details)
    grounds = render_grounds(told.grounds)
    lines = [f"- {told.kind}: {text}" + (f" ({grounds})" if grounds else "")]
    if details:
        lines.append(f"  {_DETAILS} {contain_line(details, form=form, before=told.text)}")
    return quote_lines(lines)


def findings_title(count: int) -> str:
    """The callout's title."""
    return f"{count} finding{'' if count == 1 else 's'}"


def render_findings(items: Sequence[Noted], form: int = FORMAT) -> list[str]:
    """The lines of the whole callout; none without items."""
    told = [lines for item in items if (lines := render_noted(item, form))]
    if not told:
        return []
    return [f"> [!{FINDINGS}]- {findings_title(len(told))}", *(line for lines in told for line in lines)]
