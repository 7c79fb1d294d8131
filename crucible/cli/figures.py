"""Figures on stdout: a table for readers, with bars on a terminal, JSON and TOON for programs."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click
import toons
from rich.cells import cell_len, set_cell_size

from crucible.cli.door import Door
from crucible.cli.output import clean_line, given_width, write_json, write_text
from crucible.cli.tables import in_color
from crucible.index.stats import Figures, Stats

__all__ = ["bar", "duration", "write_stats"]

_GAP = "  "
_BARS = ("sessions", "tokens_used")
"""The figures that get a bar."""

_BROADEST_BAR, _SHORTEST_BAR, _SHORTEST_NAME = 16, 3, 10
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def write_stats(stats: Stats, format_: str, door: Door) -> None:
    """As `table`, `json` or `toon`."""
    if format_ == "json":
        write_json(_plain(stats))
    elif format_ == "toon":
        write_text(toons.dumps(_plain(stats)))
    else:
        click.echo("\n".join(_table(stats, _room(door), color=in_color(door))))


def _plain(stats: Stats) -> dict[str, Any]:
    total = stats.total._asdict()
    del total["name"]
    return {"by": stats.by, "groups": [group._asdict() for group in stats.groups], "total": total}


def _room(door: Door) -> int | None:
    """Columns of the terminal; None for a pipe, which takes what there is and no bars."""
    return (given_width() or shutil.get_terminal_size().columns) if door.terminal else None


def _table(stats: Stats, room: int | None, *, color: bool) -> list[str]:
    """Heading, groups, total.  On a terminal names are cut to what it holds, and bars fill what is left."""
    lines = (*stats.groups, stats.total)
    names = [clean_line(group.name or "-") for group in stats.groups]
    columns = [_numbers(key, lines) for key in _COLUMNS]
    numbers = sum(cell_len(_GAP + column[0]) for column in columns)
    names = _named([stats.by or "", *names, "total"], None if room is None else room - numbers)
    left = 0 if room is None else room - numbers - cell_len(names[0])
    length = min(left // len(_BARS) - len(_GAP), _BROADEST_BAR)
    if length >= _SHORTEST_BAR and stats.groups and _can_draw():
        columns = [
            _with_bars(key, column, stats.groups, length, color=color)
            for key, column in zip(_COLUMNS, columns, strict=True)
        ]
    table = [_GAP.join(cells).rstrip() for cells in zip(names, *columns, strict=True)]
    ends = (0, len(table) - 1)
    return [click.style(line, bold=True) if color and at in ends else line for at, line in enumerate(table)]


def _named(names: Sequence[str], room: int | None) -> list[str]:
    """All of one width, by what a terminal makes of them: some characters take two columns."""
    longest = max(map(cell_len, names))
    width = longest if room is None else min(longest, max(room, _SHORTEST_NAME))
    return [
        set_cell_size(name, width) if cell_len(name) <= width else set_cell_size(name, width - 1) + "…"
        for name in names
    ]


def _numbers(key: str, lines: Sequence[Figures]) -> list[str]:
    head, show = _COLUMNS[key]
    values = [getattr(line, key) for line in lines]
    cells = [head, *("-" if value is None else show(value) for value in values)]
    width = max(map(len, cells))
    return [cell.rjust(width) for cell in cells]


def _with_bars(
    key: str, column: Sequence[str], groups: Sequence[Figures], length: int, *, color: bool
) -> list[str]:
    if key not in _BARS:
        return [*column]
    values = [getattr(group, key) for group in groups]
    bars = [bar(value, max(values), length).ljust(length) for value in values]
    styled = [click.style(text, fg="cyan") if color else text for text in bars]
    return [_GAP.join(cells) for cells in zip(column, [" " * length, *styled, " " * length], strict=True)]


def bar(value: int, largest: int, length: int) -> str:
    """A bar of blocks, `length` of them for the largest; what is not 0 shows."""
    if value <= 0:
        return ""
    eighths = max(1, round(8 * length * value / largest))
    return (_EIGHTHS[8] * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()


def _can_draw() -> bool:
    """Whether stdout's encoding has the blocks."""
    try:
        _EIGHTHS.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return False
    return True


def duration(seconds: float) -> str:
    """`45s`, `12m 5s`, `1h 23m`, `3d 4h`: two parts are as exact as anybody reads."""
    whole = round(seconds)
    for size, unit, part, smaller in ((86_400, "d", 3600, "h"), (3600, "h", 60, "m"), (60, "m", 1, "s")):
        if whole >= size:
            return f"{whole // size:,}{unit} {whole % size // part}{smaller}"
    return f"{whole}s"


def _count(value: float) -> str:
    return f"{round(value):,}"


def _rate(value: float) -> str:
    return f"{value * 100:.1f} %"


_COLUMNS: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "sessions": ("sessions", _count),
    "tokens_used": ("tokens", _count),
    "tokens_average": ("avg tokens", _count),
    "duration_average_s": ("avg time", duration),
    "duration_median_s": ("median", duration),
    "failure_rate": ("failed", _rate),
    "tool_failure_rate": ("tools", _rate),
    "decisions": ("decisions", _count),
    "errors": ("errors", _count),
    "users": ("users", _count),
}
"""Each figure's heading in the table, and how it reads."""
