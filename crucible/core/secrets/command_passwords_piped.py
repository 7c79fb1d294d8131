"""Passwords that `echo`, `printf` or `<<<` gives to a command that reads one.

Owns the commands that do, and how a password is piped into them.
"""

from __future__ import annotations

import re

from crucible.core.patterns import late_pattern
from crucible.core.secrets.command_passwords import is_password_there
from crucible.core.secrets.rule import SecretForm

_READERS = (
    "password-stdin", "with-token", "sudo -s", "chpasswd", "secret put", "passphrase-fd", "cryptsetup", "passwd --stdin", "kinit",
    "smbpasswd", "vercel env add", "gh secret set", "secret create", "pass insert", "secrets create", "versions add",
    "pass stdin", "-pass-stdin", "passin stdin", "pass file:-", "login -", "htpasswd -i",
)  # fmt: skip
_ECHO = late_pattern(
    r"(?:echo|printf)[ \t]+(?:-[neE]{1,3}[ \t]+)*(?:[\"']?%s(?:\\+n)?[\"']?[ \t]+)?\\*[\"']?(?:[\w.-]{1,32}:)?(?P<s>[^\s\"'|\\]{4,256})(?:\\+n)?\\*[\"']?[ \t]*\|"
)
_HERE = late_pattern(r"<<<[ \t]*\\*[\"']?(?:[\w.-]{1,32}:)?(?P<s>[^\s\"'|\\]{4,256})")
_READER = late_pattern("|".join(re.escape(reader) for reader in _READERS))


def piped_forms() -> list[SecretForm]:
    """The forms of what is piped."""
    return [
        SecretForm("piped-password", _READERS, _find_piped),
        SecretForm("piped-password", ("<<<",), _find_here),
    ]


def _find_piped(text: str, start: int, passed: int) -> tuple[int, list[tuple[int, int]]]:
    """What `echo` gives to a command that reads a password."""
    low = max(passed, start - 300, text.rfind("\n", 0, start))
    at = max(text.rfind("echo ", low, start), text.rfind("printf ", low, start))
    match = _ECHO.match(text, at, start) if at >= 0 else None
    return start + 1, [match.span("s")] if match and is_password_there(match["s"]) else []


def _find_here(text: str, start: int, passed: int) -> tuple[int, list[tuple[int, int]]]:
    """What `<<<` gives to a command that reads a password."""
    low = max(passed, start - 200, text.rfind("\n", 0, start))
    match = _HERE.match(text, start)
    if match is None or not _READER.search(text[low:start].lower()):
        return start + 1, []
    return match.end(), [match.span("s")] if is_password_there(match["s"]) else []
