"""Times that a question names: a month, a day, a weekday of a month.

Owns what of a text is a time.  `may` and `march` are words, too: they are months where a number stands beside them, or a word such as *in*.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from crucible.core.patterns import late_pattern

_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {name: number for number, month in enumerate(_MONTHS, 1) for name in (month, month[:3])} | {"sept": 9}
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_MONTH = late_pattern(
    rf"\b(?:{_DAY} (?:of )?)?({'|'.join(sorted(_NUMBERS, key=len, reverse=True))})\b\.?(?: {_DAY}\b)?(?:,? (\d{{4}})\b)?",
    re.IGNORECASE,
)
_DATE = late_pattern(r"\b(20\d\d)-(\d\d)(?:-(\d\d))?\b(?!-|[T ]\d\d:)")
"""With a time behind it, it stands in a log that somebody pasted: that was now."""
_WEEKDAY = late_pattern(rf"\b({'|'.join(_WEEKDAYS)})\b", re.IGNORECASE)
_LEADS = late_pattern(
    r"\b(?:in|of|from|since|last|this|early|late|mid|during|until|by|on|before|after) $", re.IGNORECASE
)
_LOOKED_AT = 2_000
"""Code points: in a longer text somebody pasted what others said."""
_LEADING = 12


class Moment(NamedTuple):
    """A month, a day in it, or each of its Mondays (0); None stands for any."""

    month: int
    year: int | None = None
    day: int | None = None
    weekday: int | None = None


def moments_in(text: str) -> tuple[Moment, ...]:
    """The times that a question names."""
    return tuple(dict.fromkeys(_told(" ".join(text[:_LOOKED_AT].split()))))


def _told(text: str) -> Iterator[Moment]:
    for found in _DATE.finditer(text):
        year, month, day = found.groups()
        yield Moment(int(month), int(year), int(day) if day else None)
    weekday = next((_WEEKDAYS.index(found[1].lower()) for found in _WEEKDAY.finditer(text)), None)
    for found in _MONTH.finditer(text):
        before, name, after, year = found.groups()
        day = before or after
        if day or year or _is_month(name.lower(), text[max(found.start() - _LEADING, 0) : found.start()]):
            yield Moment(
                _NUMBERS[name.lower()],
                int(year) if year else None,
                int(day) if day else None,
                None if day else weekday,
            )


def _is_month(name: str, before: str) -> bool:
    if name in ("may", "march"):
        return bool(_LEADS.search(before))
    return name in _MONTHS


def is_then(moments: Sequence[Moment], first: int) -> bool:
    """Whether something of this second since 1970 was at one of the times; what is not dated was at none."""
    if not moments or not first:
        return False
    try:
        at = datetime.fromtimestamp(first, UTC)
    except (ValueError, OverflowError, OSError):
        return False
    told = (at.month, at.year, at.day, at.weekday())
    return any(all(wanted in (None, is_so) for wanted, is_so in zip(one, told, strict=True)) for one in moments)
