"""Shorten paths in lines that Crucible writes: relative to the session's folder, and the owner's home as `~`.

Words of people and agents are not changed.
"""

from __future__ import annotations

import re
from functools import lru_cache

from crucible.core.patterns import late_pattern

_HOME = late_pattern(r"(?:[A-Za-z]:)?[\\/](?:home|Users)[\\/][^\\/]+|/root(?=/|\Z)")
_BEGINS = r"(?:(?<![\w.~/\\-])|(?<=\s-[A-Z]))(?:file://)?"


def relative(text: str, folder: str) -> str:
    """Shorten the paths in a text; an unknown folder ("") shortens none."""
    if not folder or ("/" not in text and "\\" not in text):
        return text
    for start, path, told in _patterns(folder):
        if start in text:
            text = path.sub(told, text)
    return text


@lru_cache(maxsize=64)
def _patterns(folder: str) -> tuple[tuple[str, re.Pattern[str], str], ...]:
    """What a path begins with, the pattern of it, and what is written instead."""
    top = folder.rstrip("/\\")
    found: list[tuple[str, re.Pattern[str], str]] = []
    if re.search(r"[^\\/:]", top[2:]):
        inside = re.escape(top)
        found.append((top, re.compile(rf"{_BEGINS}{inside}[\\/]+(?=[^\s\\/\"'`,;:)\]}}<>|&])"), ""))
        found.append((top, re.compile(rf"{_BEGINS}{inside}(?:[\\/]+|(?![\w-]|\.\w|[\\/]))"), "."))
    home = _HOME.match(top)
    if home:
        found.append((home[0], re.compile(rf"{_BEGINS}{re.escape(home[0])}(?![\w-]|\.\w)"), "~"))
    return tuple(found)
