"""Which id a session has now that had another one when a client was started to go on with it.

A ticket stands in a client's log for ever, with the id of that day.  Kept in `.crucible/memory/renames.jsonl`, a line for
each rename of a session that has tickets or captures.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from crucible.documents.session.session_id import check_session_id
from crucible.memory.bookmarks.resume_tickets import sessions_with_tickets
from crucible.vault.logs.jsonl_fields import session_of
from crucible.vault.logs.jsonl_store import Unfit, append_line, read_lines

__all__ = ["CAPTURES", "RENAMES", "keep_rename", "name_now", "names_before"]

RENAMES = "renames.jsonl"
CAPTURES = "captures.jsonl"
"""What was proposed of sessions, which `capture.records` writes: a line names its session by the id of that day."""


def keep_rename(root: Path, old_id: str, new_id: str, *, fsync: bool = True) -> None:
    """Keep it when a ticket, or what was proposed of the session, names it by this id or an earlier one.  Twice is as good as once."""
    known = _renames(root)
    if known.get(old_id) == new_id or not any(
        _end(known, session) == old_id for session in (*sessions_with_tickets(root), *_proposed_of(root, old_id))
    ):
        return
    append_line(root, RENAMES, {"session": check_session_id(new_id), "was": old_id}, fsync=fsync)


def name_now(root: Path, session_id: str) -> str:
    """The id that a session has now; the same where it was never renamed."""
    return _end(_renames(root), session_id)


def names_before(root: Path, session_id: str) -> list[str]:
    """The ids that a session had before it was renamed to this one."""
    known = _renames(root)
    return [name for name in known if name != session_id and _end(known, name) == session_id]


def _proposed_of(root: Path, session_id: str) -> list[str]:
    """The session itself, or nothing: ids it had before were kept when it lost them."""
    held = f'"{session_id}"'.encode("utf-8", "surrogatepass")
    named, _ = read_lines(root, CAPTURES, session_of, held)
    return [session_id] if session_id in named or names_before(root, session_id) else []


def _end(renames: Mapping[str, str], session_id: str) -> str:
    seen = {session_id}
    while (then := renames.get(session_id, "")) and then not in seen:
        session_id = then
        seen.add(then)
    return session_id


def _renames(root: Path) -> dict[str, str]:
    return dict(read_lines(root, RENAMES, _rename)[0])


def _rename(fields: Mapping[str, object]) -> tuple[str, str]:
    """Raises `Unfit`."""
    was = fields.get("was")
    if not isinstance(was, str) or not was:
        raise Unfit("`was` is no session")
    return was, session_of(fields)
