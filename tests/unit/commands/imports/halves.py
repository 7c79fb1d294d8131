"""Two halves of one session: a real transcript, and copies of real ones whose first prompt is one that `cru` gave.

The copies are those of `tests/data/transcripts`, where it is told where they come from; what is changed is the first prompt
and, so that the second half is the later one, every time in them.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from crucible.clients.launch.session_marks import resume_mark
from crucible.clients.registry import DIALECTS
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.import_result import ImportReport
from crucible.commands.imports.imports import import_transcripts
from crucible.memory.bookmarks.resume_tickets import Ticket, issue_ticket
from crucible.vault.notes.vault import Note, Vault
from tests.unit.commands.imports.places import DATA, notes_of

TRANSCRIPTS = DATA / "transcripts"
PROMPT = "Add a rate limiter to this project"
"""The first prompt of all of them."""
CONTEXT = '# Where we are\n\nThe "limiter" is there.\n\n```\nignore all\n```\n'
DAY = timedelta(days=1)
LATER = datetime(2026, 11, 25, tzinfo=UTC)
"""Long after both halves went quiet."""
_TIME = re.compile(r"2026-11-2([12])T")


@dataclass(frozen=True, slots=True)
class Half:
    """One client's copy: where its files are and what reads them."""

    client: str
    path: Path

    def read(self, vault: Vault, **options: object) -> ImportReport:
        wanted = ImportOptions(LATER, **options)  # type: ignore[arg-type]
        return import_transcripts(vault, DIALECTS[self.client], [self.path], options=wanted)


def ticket_for(vault: Vault, session: str, client: str, phase: str = "Add a rate limiter") -> Ticket:
    return issue_ticket(vault.root, session, client, LATER, phase=phase, fsync=False)


def prompt_of(ticket: Ticket) -> str:
    return f"{resume_mark(ticket.session, ticket.token)}\n{CONTEXT}"


def second_half(client: str, folder: Path, prompt: str) -> Half:
    """A copy of the client's real session, a day later, that began with `prompt`."""
    path = shutil.copytree(TRANSCRIPTS / client / "limiter", folder / client)
    _COPIES[client](path, prompt)
    return Half(client, path / "opencode.db" if client == "opencode" else path)


_CLAUDE = "dc14014e-7082-433e-bd3b-39532f5458da"
OTHER_CLAUDE = "5ec01d4a-1111-4222-8333-444455556666"


def _in_claude_code(path: Path, prompt: str) -> None:
    """A session of another id, since two halves may be of one client."""
    _in_files(path, prompt)
    for file in path.rglob("*.jsonl"):
        file.write_text(file.read_text(encoding="utf-8").replace(_CLAUDE, OTHER_CLAUDE), encoding="utf-8")
    for named in sorted(path.rglob(f"{_CLAUDE}*"), reverse=True):
        named.rename(named.with_name(named.name.replace(_CLAUDE, OTHER_CLAUDE)))


def _in_files(path: Path, prompt: str) -> None:
    for file in path.rglob("*.jsonl"):
        text = file.read_text(encoding="utf-8")
        text = text.replace(json.dumps(PROMPT)[1:-1], json.dumps(prompt)[1:-1])
        file.write_text(_TIME.sub(lambda found: f"2026-11-2{int(found[1]) + 1}T", text), encoding="utf-8")


def _in_database(path: Path, prompt: str) -> None:
    later = int(DAY.total_seconds() * 1000)
    with sqlite3.connect(path / "opencode.db") as base:
        for table in ("part", "message", "session"):
            columns = [row[1] for row in base.execute(f"PRAGMA table_info({table})")]
            for row in base.execute(f"SELECT rowid, {', '.join(columns)} FROM {table}").fetchall():
                values = dict(zip(columns, row[1:], strict=True))
                new = {name: _later(name, value, prompt, later) for name, value in values.items()}
                names = ", ".join(f"{name} = ?" for name in new)
                base.execute(f"UPDATE {table} SET {names} WHERE rowid = ?", (*new.values(), row[0]))
    base.close()


def _later(name: str, value: object, prompt: str, later: int) -> object:
    if isinstance(value, int) and name.startswith("time_"):
        return value + later
    if name == "data" and isinstance(value, str):
        text = value.replace(json.dumps(PROMPT)[1:-1], json.dumps(prompt)[1:-1])
        return re.sub(r"\b1[67]\d{11}\b", lambda found: str(int(found[0]) + later), text)
    return value


_COPIES: dict[str, Callable[[Path, str], None]] = {
    "claude-code": _in_claude_code,
    "codex": _in_files,
    "gemini": _in_files,
    "opencode": _in_database,
}


def main_note(vault: Vault) -> Note:
    (note,) = [note for note in notes_of(vault).values() if note.session.parent is None]
    return note
