"""Which text may be a session's id: it is a file's name, a folder's name in the event log and a link's target at once."""

from __future__ import annotations

from crucible.core.errors import BadSessionId
from crucible.core.patterns import late_pattern

LONGEST_ID = 128

# `\Z`, since `$` would let a last newline pass.
_ALLOWED = late_pattern(rf"[A-Za-z0-9_-][A-Za-z0-9._-]{{0,{LONGEST_ID - 1}}}\Z")


def check_session_id(text: str) -> str:
    """The id as it was given, or `BadSessionId`."""
    if _ALLOWED.match(text):
        return text
    shown = repr(text if len(text) <= 60 else text[:59] + "…")
    raise BadSessionId(
        f"{shown} is no session id",
        f"an id has letters, digits, '.', '_' and '-', does not begin with '.', and has at most {LONGEST_ID} characters",
    )
