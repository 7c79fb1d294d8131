"""Build OpenCode's databases, trees and documents, by hand or from real ones, and read their events."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from crucible.clients.events import Event
from crucible.clients.opencode import logs as opencode
from crucible.clients.registry import DIALECTS
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.import_result import ImportReport
from crucible.commands.imports.imports import import_transcripts
from crucible.vault.notes.vault import Vault
from tests.unit.clients.building import DATA

Row = dict[str, Any]
REAL = DATA / "opencode"
NAMES = ("killed", "limiter", "many", "resumed", "retry", "stopped")
LATER = datetime(2027, 1, 1, tzinfo=UTC)
SESSION = "ses_0000000000000000000000000a"
START = 1_795_300_000_000

FIRST = """
CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, slug text, directory text, title text,
  version text, permission text, revert text, time_created integer, time_updated integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer,
  data text);
"""
"""The tables of 1.2, with fewer columns than today's."""
SECOND = """
CREATE TABLE session_v2 (id text PRIMARY KEY, project_id text, parent_id text, directory text, title text,
  version text, agent text, time_created integer, time_updated integer);
CREATE TABLE session_message (id text PRIMARY KEY, session_id text, type text, seq integer, time_created integer,
  time_updated integer, data text);
"""


def real(name: str, to: Path) -> Path:
    """A copy of a real database, in a folder as the client has it."""
    to.mkdir(parents=True, exist_ok=True)
    return shutil.copyfile(REAL / name / "opencode.db", to / "opencode.db")


def make(path: Path, *scripts: str) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous=off")
    for script in scripts:
        connection.executescript(script)
    return connection


def insert(connection: sqlite3.Connection, table: str, **values: object) -> None:
    told = {key: json.dumps(value) if isinstance(value, dict) else value for key, value in values.items()}
    names = ", ".join(told)
    marks = ", ".join("?" * len(told))
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(told.values()))


def add_session(connection: sqlite3.Connection, ident: str = SESSION, **values: object) -> None:
    given = {"directory": "/home/dev/project", "version": "1.2.0", "title": "A title", "time_created": START}
    insert(connection, "session", id=ident, **{**given, "time_updated": START + 9000, **values})


class Talk:
    """A session of the first generation, written message by message, a tenth of a second between rows."""

    def __init__(self, connection: sqlite3.Connection, session: str = SESSION) -> None:
        self.connection = connection
        self.session = session
        self.now = START
        self.count = 0
        self.asked = ""

    def user(self, *parts: Row) -> str:
        ident = self.message({"role": "user", "time": {"created": self.now}}, *parts)
        self.asked = ident
        return ident

    def agent(self, *parts: Row, finish: str = "stop", **data: object) -> str:
        row = {
            "role": "assistant",
            "parentID": self.asked,
            "modelID": "m",
            "time": {"created": self.now, "completed": self.now + 100 * (len(parts) + 1)},
            "finish": finish,
        }
        return self.message({**row, **data}, *parts)

    def message(self, data: object, *parts: object) -> str:
        self.now += 100
        self.count += 1
        ident = f"msg_{self.count:026d}"
        self._insert("message", id=ident, data=data)
        for number, part in enumerate(parts):
            self.now += 100
            self._insert("part", id=f"prt_{self.count:020d}{number:06d}", message_id=ident, data=part)
        return ident

    def _insert(self, table: str, **values: object) -> None:
        times = {"session_id": self.session, "time_created": self.now, "time_updated": self.now}
        insert(self.connection, table, **values, **times)


def text(words: str, **more: object) -> Row:
    return {"type": "text", "text": words, **more}


def tool(name: str, call: str = "call-1", status: str = "completed", **state: object) -> Row:
    given = {"status": status, "input": {}, "output": "", "metadata": {}, **state}
    return {"type": "tool", "tool": name, "callID": call, "state": given}


def talk(folder: Path, **session: Any) -> Talk:
    connection = make(folder / "opencode.db", FIRST)
    add_session(connection, **session)
    return Talk(connection)


def told(path: Path) -> dict[str, list[Event]]:
    """The events of every session at a path, the trunk's first."""
    found: dict[str, list[Event]] = {}
    for transcript in opencode.find(path):
        found[transcript.native_id] = list(opencode.read(transcript))
        for file in transcript.subagents:
            found[file.agent] = list(opencode.read(transcript, file.agent))
    return found


def events(path: Path) -> list[Event]:
    """The events of the only session at a path."""
    (found,) = told(path).values()
    return found


def run_import(vault: Vault, *paths: Path) -> ImportReport:
    return import_transcripts(vault, DIALECTS["opencode"], paths, options=ImportOptions(LATER))


# --- real databases in other shapes ----------------------------------------------------------------------------------


def rows(database: Path, table: str) -> list[Row]:
    with closing(sqlite3.connect(database)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(f"SELECT * FROM {table} ORDER BY id")]


def write_tree(database: Path, storage: Path) -> Path:
    """The sessions of a database as the JSON tree of the time before 1.2."""
    for row in rows(database, "session"):
        data = {
            **{key: row[key] for key in ("id", "title", "version", "directory")},
            "parentID": row["parent_id"],
            "time": {"created": row["time_created"], "updated": row["time_updated"]},
            "permission": json.loads(row["permission"] or "null"),
            "agent": row["agent"],
        }
        _write(storage / "session" / str(row["project_id"]) / f"{row['id']}.json", data)
    for row in rows(database, "message"):
        _write(storage / "message" / row["session_id"] / f"{row['id']}.json", json.loads(row["data"]))
    for row in rows(database, "part"):
        _write(storage / "part" / row["message_id"] / f"{row['id']}.json", json.loads(row["data"]))
    return storage


def _write(path: Path, data: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data), encoding="utf-8")


def moments_of(database: Path) -> list[int]:
    """Every time at which a row of a database was written first or last."""
    found = [
        row[key] for t in ("message", "part") for row in rows(database, t) for key in ("time_created", "time_updated")
    ]
    return sorted(set(found))


def as_of(database: Path, time: int, to: Path) -> Path:
    """The database as it was at a time: later rows are gone, rows that were rewritten later are as they began."""
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(database, to)
    with closing(sqlite3.connect(to, isolation_level=None)) as connection:
        connection.executescript("PRAGMA journal_mode=delete; PRAGMA synchronous=off; BEGIN")
        for table in ("part", "message", "session"):
            connection.execute(f"DELETE FROM {table} WHERE time_created > ?", (time,))
        for table, before in (("part", _part_before), ("message", _message_before)):
            for ident, data in connection.execute(f"SELECT id, data FROM {table}").fetchall():
                earlier = before(json.loads(data), time)
                connection.execute(f"UPDATE {table} SET data = ? WHERE id = ?", (json.dumps(earlier), ident))
            connection.execute(f"UPDATE {table} SET time_updated = min(time_updated, ?)", (time,))
        connection.execute("COMMIT")
    return to


def _part_before(data: Row, time: int) -> Row:
    if data["type"] in ("text", "reasoning") and data.get("time", {}).get("end", 0) > time:
        return {**data, "text": "", "time": {"start": data["time"]["start"]}}
    state = data.get("state", {})
    if state and state["time"]["start"] > time:
        return {**data, "state": {"status": "pending", "input": {}, "raw": ""}}
    if state and state["time"].get("end", 0) > time:
        kept = {key: value for key, value in state.get("metadata", {}).items() if "ession" in key}
        start = {"start": state["time"]["start"]}
        return {
            **data,
            "state": {"status": "running", "input": state["input"], "metadata": kept, "time": start},
        }
    return data


def _message_before(data: Row, time: int) -> Row:
    if data["time"].get("completed", 0) <= time:
        return data
    kept = {key: value for key, value in data.items() if key not in ("finish", "error")}
    return {**kept, "tokens": {"input": 0, "output": 0}, "time": {"created": data["time"]["created"]}}
