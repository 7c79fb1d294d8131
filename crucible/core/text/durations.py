"""Durations and ages in words."""

from __future__ import annotations

from datetime import datetime, timedelta

_UNITS = ((86_400, "d"), (3600, "h"), (60, "min"))
_PAIRS = ((86_400, "d", 3600, "h"), (3600, "h", 60, "m"), (60, "m", 1, "s"))


def age_words(age: timedelta) -> str:
    """`2 h ago`; `just now` for less than a minute and for the future, which another machine's clock can show."""
    seconds = int(age.total_seconds())
    return next((f"{seconds // size} {unit} ago" for size, unit in _UNITS if seconds >= size), "just now")


def day_words(time: datetime, now: datetime) -> str:
    """`today`, `yesterday` or `3 days ago`."""
    days = (now.date() - time.date()).days
    if days <= 0:
        return "today"
    return "yesterday" if days == 1 else f"{days} days ago"


def short_duration(seconds: float) -> str:
    """`45s`, `12m 5s`, `1h 23m`, `3d 4h`: for a column of a table."""
    whole = round(seconds)
    for size, unit, part, smaller in _PAIRS:
        if whole >= size:
            return f"{whole // size:,}{unit} {whole % size // part}{smaller}"
    return f"{whole}s"


def elapsed_words(ms: int | None) -> str:
    """`3.2 s`, `4 min 10 s`; "" if unknown."""
    if ms is None:
        return ""
    seconds = ms / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s"
