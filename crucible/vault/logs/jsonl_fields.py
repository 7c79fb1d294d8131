"""Fields of a remembered record, read from JSON that anybody may have written: a memory file is merged from everywhere.

Owns what is believed.  Each function gives a value of the type it names, or raises `Unfit` with what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from crucible.core.errors import BadSessionId
from crucible.core.git import is_commit
from crucible.core.patterns import late_pattern
from crucible.documents.session.session_id import check_session_id
from crucible.vault.logs.jsonl_store import Unfit

Fields = Mapping[str, object]

_WORD = late_pattern(r"[A-Za-z0-9][A-Za-z0-9-]{0,79}\Z")
_DRIVE = late_pattern(r"[A-Za-z]:")


def text_of(fields: Fields, name: str) -> str:
    """A text, "" where there is none."""
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise Unfit(f"`{name}` is no text")
    return value


def word_of(fields: Fields, name: str) -> str:
    """An id: letters, digits and `-`."""
    value = text_of(fields, name)
    if not _WORD.match(value):
        raise Unfit(f"`{name}` is no id")
    return value


def session_of(fields: Fields) -> str:
    """A session's id."""
    try:
        return check_session_id(text_of(fields, "session"))
    except BadSessionId:
        raise Unfit("`session` is no session's id") from None


def time_of(fields: Fields, name: str) -> datetime:
    """An aware time, in UTC."""
    try:
        found = datetime.fromisoformat(text_of(fields, name))
        if found.tzinfo is not None:
            return found.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise Unfit(f"`{name}` is no time with a zone")


def time_text(time: datetime) -> str:
    """`2026-11-21T20:26:47Z`, with the parts of a second that are known."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")


def number_of(fields: Fields, name: str) -> int:
    """A number from 0 on."""
    value = fields.get(name, 0)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Unfit(f"`{name}` is no number")
    return value


def commit_of(fields: Fields, name: str) -> str:
    """A commit's whole id, "" for none."""
    value = text_of(fields, name)
    if value and not is_commit(value):
        raise Unfit(f"`{name}` is no commit")
    return value


def is_inner_path(path: str) -> bool:
    """Whether a path, with `/`, leads to something below the folder that it is seen from, on every system."""
    parts = path.replace("\\", "/").split("/")
    return bool(path) and not _DRIVE.match(path) and "\0" not in path and not {"", ".", ".."} & {*parts}
