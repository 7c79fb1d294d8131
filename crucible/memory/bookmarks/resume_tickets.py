"""Tickets that prove that `cru` started a client's session to resume another one.

The ticket is in the first prompt, and an import looks it up here; a token that was never issued is plain text, so no
foreign text can adopt a note. Kept in `.crucible/memory/resumes.jsonl`, since another machine may import the session.
The token's key is `id`: as `token` it would look like a secret.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

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
    """`client` was started at `at` to go on with `session`.

    `token` is of letters, digits and `-`. `native` is the id of the client's own session where that is taken up
    again, "" for a new one. `phase` is the name of the phase that it goes on from, "" when there was none.
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
    """A new ticket, on disk when this returns.

    Raises `BadSessionId`, `LockTimeout`, `OutsideVault` and `VaultError`; nothing is written then.
    """
    words = {"client": client, "native": native, "phase": phase}
    clean = {name: normal_line(text) for name, text in words.items()}
    ticket = Ticket(_new_token(), check_session_id(session_id), at=at, **clean)
    head = {"id": ticket.token, "session": ticket.session, "at": time_text(at)}
    append_line(root, RESUMES, head | {name: text for name, text in clean.items() if text}, fsync=fsync)
    return ticket


def find_ticket(root: Path, token: str) -> Ticket | None:
    """The ticket with this token; None when it was never issued in this vault."""
    if not _TOKEN.match(token):
        return None
    found, _ = read_lines(root, RESUMES, _ticket, f'"{token}"'.encode())
    # A token that stands twice was issued once: what came later is a forgery, or a merge by hand.
    return min((one for one in found if one.token == token), key=lambda one: one.at, default=None)


def has_tickets(root: Path) -> bool:
    """Whether any may have been issued; costs one look at a file's size."""
    return has_lines(root, RESUMES)


def sessions_with_tickets(root: Path) -> set[str]:
    """The ids, as they were then, of all sessions that a client was started to go on with."""
    return {one.session for one in read_lines(root, RESUMES, _ticket)[0]}


def _new_token() -> str:
    """Four short words: one long one would look like a secret, and be taken out of the client's log."""
    word = secrets.token_hex(12)
    return "-".join(word[at : at + 6] for at in range(0, len(word), 6))


def _ticket(fields: Mapping[str, object]) -> Ticket:
    """Raises `InvalidRecord`."""
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
"""What was proposed of sessions, which `capture.records` writes: a line names its session by the id of that day."""


def keep_rename(root: Path, old_id: str, new_id: str, *, fsync: bool = True) -> None:
    """Record a rename if a ticket or proposal names the session by an earlier id.  Can be repeated."""
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
    """Raises `InvalidRecord`."""
    was = fields.get("was")
    if not isinstance(was, str) or not was:
        raise InvalidRecord("`was` is no session")
    return was, session_of(fields)
