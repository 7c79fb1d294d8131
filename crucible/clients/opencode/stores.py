"""Read OpenCode's sessions from SQLite tables (1.2 and 2.0), the older tree of JSON files, and exported documents.

Columns differ between versions; a missing column is read as empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson

from crucible.clients.log_files import Wanted
from crucible.clients.log_values import Row, as_dict, as_list, as_str
from crucible.clients.opencode.database import Database
from crucible.clients.opencode.stored import Head, Message, Part, message_of_row, millis, parse

_HEADS = ("session_v2", "session")
_HEAD = (
    *("id", "parent_id", "title", "directory", "version", "agent"),
    *("time_created", "time_updated", "permission", "revert"),
)
_ROW = ("id", "time_created", "time_updated", "data")


def has_sessions(database: Database) -> bool:
    """Return whether a database has OpenCode's tables."""
    heads = any({"id", "directory"} <= set(database.columns(table)) for table in _HEADS)
    first = all("data" in database.columns(table) for table in ("message", "part"))
    return heads and (first or "data" in database.columns("session_message"))


class Tables:
    """The sessions in a database.

    A database migrated to 2.0 may contain a session in both shapes: the newer one counts if it has messages.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def families(self, wanted: Wanted) -> list[str] | None:
        """Return the ids of the wanted sessions, and of all that they started or were started by; None for all."""
        found = [self._family(table, wanted) for table in _HEADS if "id" in self._database.columns(table)]
        return None if None in found else [ident for each in found for ident in each or ()]

    def _family(self, table: str, wanted: Wanted) -> list[str] | None:
        columns = self._database.columns(table)
        value: str | int = wanted.session
        if wanted.session:
            condition = "id = ?1"
        elif wanted.since and "time_updated" in columns:
            # A turn that has begun a day ago may still run: a session's own time is not that of its last message.
            condition = "ifnull(time_updated >= ?1, 1)"
            value = int((wanted.since - timedelta(days=1)).timestamp() * 1000)
        else:
            return None
        parent = "parent_id" if "parent_id" in columns else "NULL"
        sql = (
            f'WITH RECURSIVE one AS (SELECT id, {parent} AS above FROM "{table}"),'  # noqa: S608  names of our own
            f' up(id) AS (SELECT id FROM "{table}" WHERE {condition}'
            " UNION SELECT above FROM one JOIN up USING (id) WHERE above <> ''),"
            " down(id) AS (SELECT id FROM up UNION SELECT one.id FROM one JOIN down ON one.above = down.id)"
            " SELECT id FROM down"
        )
        return [as_str(row[0]) for row in self._database.rows(sql, value)]

    def heads(self, sessions: Sequence[str] | None = None) -> list[Head]:
        """Return these sessions, by default all, oldest first."""
        found: dict[str, Head] = {}
        for table in _HEADS:
            for row in self._select(table, _HEAD, "id", sessions):
                head = _head(row)
                if head.id:
                    found.setdefault(head.id, head)
        return sorted(found.values(), key=lambda head: (head.created, head.id))

    def changes(self, sessions: Sequence[str] | None = None) -> dict[str, tuple[int, int]]:
        """Return when each session's messages last changed, and their number."""
        found: dict[str, tuple[int, int]] = {}
        where, *values = _condition("session_id", sessions)
        for table in ("message", "session_message"):
            if {"session_id", "time_updated"} <= {*self._database.columns(table)}:
                sql = f'SELECT session_id, max(time_updated), count(*) FROM "{table}"{where} GROUP BY session_id'  # noqa: S608  names of our own
                for session, last, number in self._database.rows(sql, *values):
                    before = found.get(as_str(session), (0, 0))
                    found[as_str(session)] = max(before[0], millis(last)), before[1] + number
        return found

    def head(self, session: str) -> Head | None:
        """Return one session, or None if it is not in this store."""
        found = (_head(row) for table in _HEADS for row in self._select(table, _HEAD, "id", session))
        return next(found, None)

    def messages(self, session: str) -> Iterator[Message]:
        """Yield the messages of a session in order."""
        if self._is_second(session):
            for row in self._select("session_message", (*_ROW, "type"), "session_id", session, order="seq, id"):
                yield _second(row)
            return
        for row in self._select("message", _ROW, "session_id", session, order="time_created, id"):
            yield self._first(row)

    def message(self, session: str, ident: str) -> Message | None:
        """Read one message."""
        if self._is_second(session):
            rows = self._select("session_message", (*_ROW, "type"), "id", ident)
            return next((_second(row) for row in rows), None)
        return next((self._first(row) for row in self._select("message", _ROW, "id", ident)), None)

    def size(self, session: str) -> tuple[int, int, str]:
        """Return the time of the last change, the number of messages, and the id of the first one."""
        table, order = ("session_message", "seq, id") if self._is_second(session) else ("message", "time_created, id")
        head = self.head(session)
        last, number, first = (head.updated if head else 0), 0, ""
        for row in self._select(table, ("id", "time_updated"), "session_id", session, order=order):
            last, number, first = (
                max(last, millis(row["time_updated"])),
                number + 1,
                first or as_str(row["id"]),
            )
        return last, number, first

    def _is_second(self, session: str) -> bool:
        """Return whether the newer tables have this session's messages."""
        rows = self._select("session_message", ("id",), "session_id", session, order="id LIMIT 1")
        return any(True for _ in rows)

    def _first(self, row: Row) -> Message:
        parts = self._select("part", _ROW, "message_id", row["id"], order="id")
        ident = as_str(row["id"])
        return Message(
            ident,
            millis(row["time_created"]),
            millis(row["time_updated"]),
            parse(row["data"]),
            tuple(_part(part, ident, number) for number, part in enumerate(parts)),
            f"message {ident}: not a JSON object",
        )

    def _select(
        self, table: str, columns: tuple[str, ...], key: str = "", value: object = None, order: str = "id"
    ) -> Iterator[dict[str, Any]]:
        """Yield rows with these columns, None for missing ones; nothing if the table or the key column is missing."""
        existing = self._database.columns(table)
        if "id" not in existing or key not in (*existing, ""):
            return
        names = [name if name in existing else "NULL" for name in columns]
        where, *values = _condition(key, value)
        order = ", ".join(part for part in order.split(", ") if part.split(" ")[0] in existing)
        sql = f'SELECT {", ".join(names)} FROM "{table}"{where} ORDER BY {order}'  # noqa: S608  names of our own
        for row in self._database.rows(sql, *values):
            yield dict(zip(columns, row, strict=True))


def _condition(key: str, value: object) -> tuple[str, ...]:
    """Return the condition that a column has a value, or one of a list, and the value for it; none for None."""
    if value is None:
        return ("",)
    if isinstance(value, list):
        condition = f' WHERE "{key}" IN (SELECT value FROM json_each(?))'  # noqa: S608  names of our own
        return condition, orjson.dumps(value).decode()
    return f' WHERE "{key}" = ?', str(value)


def _head(row: Row) -> Head:
    return Head(
        as_str(row["id"]),
        as_str(row["parent_id"]),
        as_str(row["title"]),
        as_str(row["directory"]),
        as_str(row["version"]),
        as_str(row["agent"]),
        millis(row["time_created"]),
        millis(row["time_updated"]),
        began_by_command(row["permission"]),
        as_str((parse(row["revert"]) or {}).get("messageID")),
    )


def began_by_command(permission: object) -> bool:
    """Return whether a session has the permission rules of `opencode run`, which has no user to ask.

    `permission` is JSON text or a parsed list.
    """
    rules = as_list(permission) if not isinstance(permission, str) else _rules(permission)
    denied = {as_str(as_dict(rule).get("permission")) for rule in rules if as_dict(rule).get("action") == "deny"}
    return {"question", "plan_enter"} <= denied


def _rules(text: str) -> list[Any]:
    return as_list((parse(f'{{"rules":{text}}}') or {}).get("rules"))


def _part(row: Row, message: str, number: int) -> Part:
    ident = as_str(row["id"]) or f"{message}.{number}"
    created, updated = millis(row["time_created"]), millis(row["time_updated"])
    return Part(ident, created, updated, parse(row["data"]), f"part {ident}: not a JSON object")


def _second(row: Row) -> Message:
    ident = as_str(row["id"])
    created, updated = millis(row["time_created"]), millis(row["time_updated"])
    data = parse(row["data"])
    if data is None:
        return Message(ident, created, updated, None, (), f"session_message {ident}: not a JSON object")
    return message_of_row(ident, as_str(row["type"]), created, updated, data)


_LOOK = 1 << 16
_ROLES = frozenset({"user", "assistant"})


def session_files(storage: Path) -> list[Path]:
    """Return the files of all sessions in a `storage` folder."""
    return sorted(path for path in (storage / "session").glob("*/*.json") if path.is_file())


def read_head(path: Path) -> Head | None:
    """Read the session in a file of the tree; None if the file has none."""
    data = _read(path)
    if path.parent.parent.name != "session" or data is None or "messages" in data:
        return None
    # The client finds files by name, so the file name is the id.
    return _head_tree({**data, "id": path.stem}) if as_str(data.get("id")) or "time" in data else None


def read_export(path: Path) -> Export | None:
    """Read an exported session; None if the file has none."""
    try:
        with path.open("rb") as file:
            look = file.read(_LOOK)
            begin = look.find(b"{")
            if begin < 0 or b'"info"' not in look:
                return None
            # Messages from the client may precede the document.
            data = parse(look[begin:] + file.read())
    except OSError:
        return None
    if data is None or not isinstance(data.get("messages"), list) or not as_str(as_dict(data.get("info")).get("id")):
        return None
    return Export(data)


def _read(path: Path) -> Row | None:
    try:
        return parse(path.read_bytes())
    except OSError:
        return None


def _head_tree(data: Row) -> Head:
    times = as_dict(data.get("time"))
    return Head(
        as_str(data.get("id")),
        as_str(data.get("parentID")),
        as_str(data.get("title")),
        as_str(data.get("directory")) or as_str(as_dict(data.get("location")).get("directory")),
        as_str(data.get("version")),
        as_str(data.get("agent")),
        millis(times.get("created")),
        millis(times.get("updated")),
        began_by_command(data.get("permission")),
        as_str(as_dict(data.get("revert")).get("messageID")),
    )


def _time(data: Row | None) -> int:
    return millis(as_dict((data or {}).get("time")).get("created"))


def _part_tree(data: Row | None, ident: str, reason: str) -> Part:
    times = as_dict((data or {}).get("time"))
    return Part(ident, millis(times.get("start")), 0, data, reason)


# --- the tree --------------------------------------------------------------------------------------------------------


class Tree:
    """The sessions in a `storage` folder.

    The tree is `storage/session/<project>/<session>.json`, `storage/message/<session>/<message>.json` and
    `storage/part/<message>/<part>.json`.
    """

    def __init__(self, storage: Path) -> None:
        self._storage = storage

    def heads(self) -> list[Head]:
        """Return all sessions, oldest first.  If a file cannot be read, its name is used as the id."""
        found = [read_head(path) or Head(path.stem) for path in session_files(self._storage)]
        return sorted(found, key=lambda head: (head.created, head.id))

    def head(self, session: str) -> Head | None:
        """Return one session, or None if it is not in this store."""
        paths = (path for path in session_files(self._storage) if path.stem == session)
        return next((read_head(path) or Head(session) for path in paths), None)

    def messages(self, session: str) -> Iterator[Message]:
        """Yield the messages of a session in order."""
        for _, path in self._ordered(session):
            yield self._message(session, path)

    def message(self, session: str, ident: str) -> Message | None:
        """Read one message."""
        paths = (folder / f"{ident}.json" for folder in self._folders(session))
        return next((self._message(session, path) for path in paths if path.is_file()), None)

    def size(self, session: str) -> tuple[int, int, str]:
        """Return the time of the last change, the number of messages, and the id of the first one."""
        head = self.head(session)
        names = sorted(path.stem for path in self._files(session))
        return (head.updated if head else 0), len(names), names[0] if names else ""

    def _folders(self, session: str) -> tuple[Path, ...]:
        return tuple(self._storage.joinpath(*way, session) for way in (("message",), ("session", "message")))

    def _files(self, session: str) -> Iterator[Path]:
        for folder in self._folders(session):
            yield from folder.glob("*.json")

    def _ordered(self, session: str) -> list[tuple[tuple[int, str], Path]]:
        return sorted(((_time(_read(path)), path.stem), path) for path in self._files(session))

    def _message(self, session: str, path: Path) -> Message:
        data, ident = _read(path), path.stem
        inner = as_list((data or {}).get("parts"))
        parts = _inner(ident, inner) if inner else self._parts(session, ident)
        return Message(ident, _time(data), 0, data, tuple(parts), f"message {ident}.json: not a JSON object")

    def _parts(self, session: str, message: str) -> Iterator[Part]:
        for way in (("part", message), ("session", "part", session, message)):
            for path in sorted(self._storage.joinpath(*way).glob("*.json")):
                yield _part_tree(_read(path), path.stem, f"part {path.stem}.json: not a JSON object")


def _inner(message: str, parts: list[object]) -> Iterator[Part]:
    for number, raw in enumerate(parts):
        data = raw if isinstance(raw, dict) else None
        ident = as_str(as_dict(raw).get("id")) or f"{message}.{number}"
        yield _part_tree(data, ident, f"part {ident}: not a JSON object")


# --- an export -------------------------------------------------------------------------------------------------------


class Export:
    """One session in a document, in the older or the newer shape."""

    def __init__(self, data: Row) -> None:
        self._head = _head_tree(as_dict(data["info"]))
        found = [_exported(raw, number) for number, raw in enumerate(as_list(data["messages"]))]
        self._messages = {message.id: message for message in found}

    def heads(self) -> list[Head]:
        """Return the session."""
        return [self._head]

    def head(self, session: str) -> Head | None:
        """Return the session, or None for any other id."""
        return self._head if session == self._head.id else None

    def messages(self, _session: str) -> Iterator[Message]:
        """Yield the messages, in the order of the document."""
        yield from self._messages.values()

    def message(self, _session: str, ident: str) -> Message | None:
        """Read one message."""
        return self._messages.get(ident)

    def size(self, _session: str) -> tuple[int, int, str]:
        """Return the time of the last change, the number of messages, and the id of the first one."""
        return self._head.updated, len(self._messages), next(iter(self._messages), "")


def _exported(raw: object, number: int) -> Message:
    data = as_dict(raw)
    info = as_dict(data.get("info")) or data
    ident = as_str(info.get("id")) or f"message-{number}"
    if not info:
        return Message(ident, 0, 0, None, (), f"message {number} of the export: not an object")
    if as_str(info.get("role")) not in _ROLES and isinstance(info.get("type"), str):
        return message_of_row(ident, as_str(info.get("type")), _time(info), 0, info)
    parts = tuple(_inner(ident, as_list(data.get("parts"))))
    return Message(ident, _time(info), 0, info, parts)
