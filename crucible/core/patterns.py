"""Regular expressions that are compiled when they are first used.

Compiling all of them takes longer than reading some dozen notes, and most commands need few.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Late:
    """Stands in for a pattern."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._given = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        compiled: re.Pattern[Any] = re.compile(*self._given)
        for offered in _OFFERED:
            setattr(self, offered, getattr(compiled, offered))
        self.__class__ = _Compiled  # type: ignore[assignment]  # what has no `__getattr__` is looked up faster
        return getattr(self, name)


class _Compiled:
    """A `_Late` after its first use."""


_OFFERED = ("finditer", "findall", "flags", "fullmatch", "match", "pattern", "search", "split", "sub", "subn")


def late_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """The pattern `re.compile` would give, for its methods alone: `re`'s own functions do not take it."""
    return cast("re.Pattern[AnyStr]", _Late(pattern, flags))


# Whole sequences, since dropping the escape alone would leave `[31m` in a text.
ANSI = late_pattern(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)"
    r"|\x1b[PX^_][^\x1b\n]*\x1b\\"
    r"|\x1b[ -/]*[0-~]"
)
"""A terminal's control sequences."""

# Zero-width and direction marks, annotations, invisible operators, variation selectors (but those two that make an emoji one or a
# letter again) and the tag characters, which spell ASCII that no human sees.  The joiners of emoji and of several scripts stay.
UNSEEN = late_pattern(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0d\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that a model reads and no human sees."""
