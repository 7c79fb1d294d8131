"""Bars of block characters and short numbers for tables on a terminal."""

from __future__ import annotations

import sys

_EIGHTHS = " ▏▎▍▌▋▊▉█"


def bar(value: int, largest: int, length: int) -> str:
    """Draw a bar of blocks, `length` of them for the largest value; values above 0 are always visible."""
    if value <= 0:
        return ""
    eighths = max(1, round(8 * length * value / largest))
    return (_EIGHTHS[8] * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip()


def can_draw() -> bool:
    """True if stdout's encoding can represent the block characters."""
    try:
        _EIGHTHS.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return False
    return True


def shortened(value: float) -> str:
    """Shorten a number for narrow tables, such as `999`, `3.4k`, `120k` or `1.2M`."""
    number, unit = float(round(value)), ""
    for larger in "kMGT":
        if number < 999.5:
            break
        number, unit = number / 1000, larger
    return f"{number:,.0f}{unit}" if not unit or number >= 99.95 else f"{number:.1f}{unit}"
