"""Write a command line that sh, cmd.exe and PowerShell split into the same words."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence

from crucible.core.errors import UsageError

_PLAIN = re.compile(r"[A-Za-z0-9_./:][A-Za-z0-9_./:-]*|--?[A-Za-z0-9_-]+")
"""Words that need no quotes.  PowerShell splits an option with a dot or colon in two, so such options are quoted."""

_PROGRAM = re.compile(r"[A-Za-z_./][A-Za-z0-9_./:-]*")
_QUOTABLE = re.compile(r'(?!.*%.*%)(?!.*\\(?:\\|\Z))[^\x00-\x1f"$`\x7f\u201c-\u201f]+')
"""Words that mean themselves in double quotes everywhere.

`$` and backticks expand in sh and PowerShell, and two percent signs may name a variable in cmd.exe.  sh joins two
backslashes.  PowerShell also ends a string at curly quotes.
"""


def command_line(words: Sequence[str]) -> str:
    """Return a command line for sh, cmd.exe and PowerShell.  Raises `UsageError` if no line means the same in all.

    PowerShell takes a program in quotes for a value and does not run it, so the first word must do without quotes.
    """
    program, *rest = words
    if not _PROGRAM.fullmatch(program):
        raise _refused(program)
    return " ".join([program, *map(_quoted, rest)])


def hook_command_line(words: Sequence[str]) -> str:
    """Return a command line for a hook on this system.

    Where no line works in every shell, it is one for sh; Windows may use another shell, so there it is an error.
    """
    try:
        return command_line(words)
    except UsageError:
        if os.name == "nt":
            raise
        return shlex.join(words)


def _quoted(word: str) -> str:
    if _PLAIN.fullmatch(word):
        return word
    if _QUOTABLE.fullmatch(word):
        return f'"{word}"'
    raise _refused(word)


def _refused(word: str) -> UsageError:
    what = f"{word!r} cannot be part of a command line that every shell reads alike"
    return UsageError(what, "Install cru in a folder without spaces or special characters, or put it on your PATH.")
