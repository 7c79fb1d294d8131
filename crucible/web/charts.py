"""Small charts as SVG: a heat map of days and bars.  The policy forbids styles, so they use attributes and classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from markupsafe import Markup, escape

_CELL = 13
_WEEKS = 53
_LEFT, _TOP = 30, 18
_SHADES = 4


def heat_map(counts: Mapping[date, int], today: date) -> Markup:
    """Draw the sessions of each day of the last year, one column per week."""
    first = today - timedelta(days=today.weekday() + 7 * (_WEEKS - 1))
    days = [first + timedelta(days=at) for at in range((today - first).days + 1)]
    largest = max((counts.get(day, 0) for day in days), default=0)
    total = sum(counts.get(day, 0) for day in days)
    cells = (_cell(at, day, counts.get(day, 0), largest) for at, day in enumerate(days))
    width, height = _LEFT + _WEEKS * _CELL, _TOP + 7 * _CELL
    label = f"{total:,} sessions in the last year"
    return Markup(  # noqa: S704  every text is escaped
        f'<svg class=heat viewBox="0 0 {width} {height}" preserveAspectRatio="xMaxYMid slice" role=img aria-label="{label}">{_names(days)}{"".join(cells)}</svg>'
    )


def _cell(at: int, day: date, count: int, largest: int) -> str:
    x, y = _LEFT + at // 7 * _CELL, _TOP + at % 7 * _CELL
    shade = 0 if not count else 1 + min(_SHADES - 1, _SHADES * (count - 1) // max(largest, 1))
    title = f"<title>{day.isoformat()}: {count}</title>" if count else ""
    return f"<rect class=h{shade} x={x} y={y} width=11 height=11 rx=2>{title}</rect>"


def _names(days: Sequence[date]) -> str:
    months = [
        f"<text x={_LEFT + at // 7 * _CELL} y=11>{day:%b}</text>"
        for at, day in enumerate(days)
        if at % 7 == 0 and day.day <= 7
    ]
    rows = [f"<text x=0 y={_TOP + at * _CELL + 10}>{name}</text>" for at, name in ((0, "Mon"), (2, "Wed"), (4, "Fri"))]
    return "".join((*months, *rows))


class Bar(NamedTuple):
    """A bar: its name, value, the value as text, a text beside it, and the address that it leads to."""

    name: str
    value: int
    text: str
    more: str = ""
    href: str = ""


def column_chart(values: Sequence[tuple[str, int]], label: str) -> Markup:
    """Draw a column for each value; names are shown on hover, the first and the last below."""
    largest = max((value for _, value in values), default=0)
    if not largest:
        return Markup()
    step = 600 / len(values)
    bars = []
    for at, (name, value) in enumerate(values):
        tall = max(1, round(100 * value / largest)) if value else 0
        title = f"<title>{escape(name)}: {value:,}</title>"
        bars.append(
            f"<rect x={at * step:.1f} y={100 - tall} width={max(1.0, step - 2):.1f} height={tall} rx=1>{title}</rect>"
        )
    return Markup(  # noqa: S704  every text is escaped
        f'<svg class=columns viewBox="0 0 600 102" preserveAspectRatio=none role=img aria-label="{escape(label)}">'
        f"{''.join(bars)}</svg>"
    )


def shares(bars: Iterable[Bar]) -> list[tuple[Bar, int]]:
    """Return bars with their lengths in percent of the largest."""
    found = list(bars)
    largest = max((bar.value for bar in found), default=0) or 1
    return [(bar, max(1, round(100 * bar.value / largest)) if bar.value else 0) for bar in found]
