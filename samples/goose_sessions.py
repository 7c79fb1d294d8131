"""Goose's database, as its source code describes it, with as many sessions as wanted."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

_TABLES = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, user_set_name BOOLEAN, working_dir TEXT, created_at TIMESTAMP,
  updated_at TIMESTAMP, accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content_json TEXT,
  created_timestamp INTEGER, tokens INTEGER, metadata_json TEXT);
CREATE INDEX idx_messages_session ON messages(session_id);
"""
_BEGAN = datetime(2026, 6, 1, tzinfo=UTC)


def new_database(path: Path) -> sqlite3.Connection:
    """Create the database, in place of an older one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    database = sqlite3.connect(path)
    database.executescript(_TABLES)
    return database


def add_session(database: sqlite3.Connection, ident: str, began: datetime, title: str = "A bug") -> None:
    """Add a session without messages."""
    times = [f"{time:%Y-%m-%d %H:%M:%S}" for time in (began, began + timedelta(minutes=1))]
    row = (ident, title, 0, "/home/dev/project", *times, 700, 50)
    database.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)


def add_messages(
    database: sqlite3.Connection, session: str, messages: Iterable[Mapping[str, object]], time: datetime
) -> None:
    """Add messages, each with a role and content, a second apart."""
    seconds = int(time.timestamp())
    rows = [
        (session, str(message.get("role")), json.dumps(message.get("content")), seconds + number)
        for number, message in enumerate(messages)
    ]
    sql = "INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES (?, ?, ?, ?)"
    database.executemany(sql, rows)


def add_turn(database: sqlite3.Connection, session: str, said: str, time: datetime) -> None:
    """Add a prompt and an answer, as the client does, and commit."""
    texts = (("user", "And now?"), ("assistant", said))
    messages = [{"role": role, "content": [{"type": "text", "text": text}]} for role, text in texts]
    add_messages(database, session, messages, time)
    changed = f"{time:%Y-%m-%d %H:%M:%S}"
    database.execute("UPDATE sessions SET updated_at = ? WHERE id = ?", (changed, session))
    database.commit()


def write_sessions(path: Path, number: int, messages: Iterable[Mapping[str, object]]) -> sqlite3.Connection:
    """Write that many sessions with these messages, `s0`, `s1` …, one each half an hour; the log is written ahead."""
    database, messages = new_database(path), [*messages]
    database.execute("PRAGMA journal_mode=wal")
    for each in range(number):
        began = _BEGAN + each * timedelta(minutes=30)
        add_session(database, f"s{each}", began)
        add_messages(database, f"s{each}", messages, began)
    database.commit()
    return database
