"""Regular expressions that are compiled on first use.

Compiling all of them takes longer than reading dozens of notes, and most commands need only a few.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Late:
    """A pattern that is compiled on first use."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._given = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        compiled: re.Pattern[Any] = re.compile(*self._given)
        for offered in _OFFERED:
            setattr(self, offered, getattr(compiled, offered))
        self.__class__ = _Compiled  # type: ignore[assignment]  # lookups are faster without `__getattr__`
        return getattr(self, name)


class _Compiled:
    """A `_Late` pattern after its first use."""


_OFFERED = ("finditer", "findall", "flags", "fullmatch", "match", "pattern", "search", "split", "sub", "subn")


def late_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a stand-in for `re.compile(pattern, flags)`.  Use only its methods: functions of `re` do not accept it."""
    return cast("re.Pattern[AnyStr]", _Late(pattern, flags))


# Match complete sequences: removing only the escape character would leave `[31m` in the text.
ANSI = late_pattern(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)"
    r"|\x1b[PX^_][^\x1b\n]*\x1b\\"
    r"|\x1b[ -/]*[0-~]"
)
"""Terminal control sequences."""

# Zero-width and direction marks, annotations, invisible operators, variation selectors (except the two that switch
# between emoji and text) and the tag characters, which spell invisible ASCII.  Joiners are kept: emoji and several
# scripts need them.
UNSEEN = late_pattern(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0d\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that a model reads but a person cannot see."""
