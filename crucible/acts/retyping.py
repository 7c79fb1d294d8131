"""A command that was taken apart, as one would type it again.

Owns which words need quotes.
"""

from __future__ import annotations

import shlex

from crucible.acts.shell import Part
from crucible.patterns import late_pattern

__all__ = ["command_text"]


def command_text(part: Part) -> str:
    """The command as one would type it, without redirections."""
    words = (word if _SAFE.fullmatch(word) else shlex.quote(word) for word in part.words)
    return " ".join([*map(_setting_text, part.settings), *words])


def _setting_text(setting: str) -> str:
    """Names of variables stay what they are, as they were before the quotes were taken off."""
    name, _, value = setting.partition("=")
    if value and not _SAFE.fullmatch(value.replace("$", "")):
        value = '"' + _QUOTED.sub(r"\\\g<0>", value) + '"' if "$" in value else shlex.quote(value)
    return f"{name}={value}"


_QUOTED = late_pattern(r'["\\`]')
_SAFE = late_pattern(r"[\w@%+=:,./*?~\[\]{}^!-]+")
