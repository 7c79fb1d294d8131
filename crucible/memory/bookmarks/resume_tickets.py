"""Renames of sessions, and tickets, which prove that `cru` started a client's session to resume another one.

The first prompt has the ticket's token.  Imports look it up in `.crucible/memory/resumes.jsonl`, which machines share;
unknown tokens are ignored, so untrusted text cannot claim a note.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from crucible.core.file_stamps import Stamp, stamp_at
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import normal_line
from crucible.documents.session.session_id import check_session_id
from crucible.vault.logs.jsonl_store import (
    InvalidRecord,
    append_line,
    has_lines,
    read_lines,
    session_of,
    text_of,
    time_of,
    time_text,
    word_of,
)

RESUMES = "resumes.jsonl"

_TOKEN = late_pattern(r"[A-Za-z0-9][A-Za-z0-9-]{7,79}\Z")


@dataclass(frozen=True, slots=True)
class Ticket:
    """The record that `client` was started at `at` to continue `session`.

    `token` has letters, digits and `-`; it is stored as `id`, since `token` would look like a secret.  `native` is the
    id of the client's own session that is resumed, "" for a new one.  `phase` is the name of the phase to continue, or
    "".
    """

    token: str
    session: str
    client: str
    at: datetime
    native: str = ""
    phase: str = ""


def issue_ticket(
    root: Path,
    session_id: str,
    client: str,
    at: datetime,
    *,
    native: str = "",
    phase: str = "",
    fsync: bool = True,
) -> Ticket:
    """Issue a new ticket, and wait until it is on disk.

    Raises `BadSessionId`, `LockTimeout`, `OutsideVault` and `VaultError`; nothing is written then.
    """
    words = {"client": client, "native": native, "phase": phase}
    clean = {name: normal_line(text) for name, text in words.items()}
    ticket = Ticket(_new_token(), check_session_id(session_id), at=at, **clean)
    head = {"id": ticket.token, "session": ticket.session, "at": time_text(at)}
    append_line(root, RESUMES, head | {name: text for name, text in clean.items() if text}, fsync=fsync)
    return ticket


def find_ticket(root: Path, token: str) -> Ticket | None:
    """Return the ticket with this token, or None if it was never issued in this vault."""
    if not _TOKEN.match(token):
        return None
    found, _ = read_lines(root, RESUMES, _ticket, f'"{token}"'.encode())
    # Only the oldest line with a token is genuine: later ones are forged or come from a manual merge.
    return min((one for one in found if one.token == token), key=lambda one: one.at, default=None)


def has_tickets(root: Path) -> bool:
    """Return whether any ticket may have been issued.  Only checks the file's size."""
    return has_lines(root, RESUMES)


def ticket_stamps(root: Path) -> tuple[Stamp | None, Stamp | None]:
    """Return the stamps of the files that decide which session a ticket belongs to."""
    tickets, renames = (stamp_at(root / ".crucible" / "memory" / name) for name in (RESUMES, RENAMES))
    return tickets, renames


def sessions_with_tickets(root: Path) -> set[str]:
    """Return the ids (before renames) of all sessions that a client was started to continue."""
    return {one.session for one in read_lines(root, RESUMES, _ticket)[0]}


def _new_token() -> str:
    """Return a token of four short words: a long word would be redacted as a secret in the client's log."""
    word = secrets.token_hex(12)
    return "-".join(word[at : at + 6] for at in range(0, len(word), 6))


def _ticket(fields: Mapping[str, object]) -> Ticket:
    """Parse a line.  Raises `InvalidRecord`."""
    return Ticket(
        token=word_of(fields, "id"),
        session=session_of(fields),
        client=text_of(fields, "client"),
        at=time_of(fields, "at"),
        native=text_of(fields, "native"),
        phase=text_of(fields, "phase"),
    )


RENAMES = "renames.jsonl"
CAPTURES = "captures.jsonl"
"""Proposed captures, written by `commands.capture`.  A line has the session's id at that time."""


def keep_rename(root: Path, old_id: str, new_id: str, *, fsync: bool = True) -> None:
    """Record a rename if a ticket or proposal has an earlier id of the session.  Can be repeated."""
    known = _renames(root)
    if known.get(old_id) == new_id or not any(
        _end(known, session) == old_id for session in (*sessions_with_tickets(root), *_proposed_of(root, old_id))
    ):
        return
    append_line(root, RENAMES, {"session": check_session_id(new_id), "was": old_id}, fsync=fsync)


def current_session_id(root: Path, session_id: str) -> str:
    """Return the current id of a session, which is the same if it was never renamed."""
    return _end(_renames(root), session_id)


def earlier_session_ids(root: Path, session_id: str) -> list[str]:
    """Return the ids that a session had before it was renamed to this one."""
    known = _renames(root)
    return [name for name in known if name != session_id and _end(known, name) == session_id]


def _proposed_of(root: Path, session_id: str) -> list[str]:
    """Return the session's id if it has proposals, else nothing.  Earlier ids were recorded by its renames."""
    needle = f'"{session_id}"'.encode("utf-8", "surrogatepass")
    named, _ = read_lines(root, CAPTURES, session_of, needle)
    return [session_id] if session_id in named or earlier_session_ids(root, session_id) else []


def _end(renames: Mapping[str, str], session_id: str) -> str:
    seen = {session_id}
    while (then := renames.get(session_id, "")) and then not in seen:
        session_id = then
        seen.add(then)
    return session_id


def _renames(root: Path) -> dict[str, str]:
    return dict(read_lines(root, RENAMES, _rename)[0])


def _rename(fields: Mapping[str, object]) -> tuple[str, str]:
    """Parse a line.  Raises `InvalidRecord`."""
    was = fields.get("was")
    if not isinstance(was, str) or not was:
        raise InvalidRecord("`was` is not a session id")
    return was, session_of(fields)
