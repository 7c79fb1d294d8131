"""OpenCode's tables: `session`, `message` and `part` since 1.2, `session_v2` and `session_message` in 2.0.

Owns which table and which columns are read; columns came and went, so a missing one counts as empty.  A database that was
carried over to 2.0 may hold a session in both shapes: the newer one counts as soon as it has messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crucible.clients.log_values import Row, as_dict, as_list, as_str
from crucible.clients.opencode.database import Database
from crucible.clients.opencode.messages_v2 import message_of_row
from crucible.clients.opencode.stored import Head, Message, Part
from crucible.clients.opencode.values import millis, parse

_HEADS = ("session_v2", "session")
_HEAD = (
    *("id", "parent_id", "title", "directory", "version", "agent"),
    *("time_created", "time_updated", "permission", "revert"),
)
_ROW = ("id", "time_created", "time_updated", "data")


def has_sessions(database: Database) -> bool:
    """Whether these are OpenCode's tables."""
    heads = any({"id", "directory"} <= set(database.columns(table)) for table in _HEADS)
    first = all("data" in database.columns(table) for table in ("message", "part"))
    return heads and (first or "data" in database.columns("session_message"))


class Tables:
    """The sessions of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def heads(self) -> list[Head]:
        """All sessions, the oldest first."""
        found: dict[str, Head] = {}
        for table in _HEADS:
            for row in self._select(table, _HEAD):
                head = _head(row)
                if head.id:
                    found.setdefault(head.id, head)
        return sorted(found.values(), key=lambda head: (head.created, head.id))

    def head(self, session: str) -> Head | None:
        """One session, None when it is not here."""
        found = (_head(row) for table in _HEADS for row in self._select(table, _HEAD, "id", session))
        return next(found, None)

    def messages(self, session: str) -> Iterator[Message]:
        """The messages of a session in their order."""
        if self._is_second(session):
            for row in self._select("session_message", (*_ROW, "type"), "session_id", session, order="seq, id"):
                yield _second(row)
            return
        for row in self._select("message", _ROW, "session_id", session, order="time_created, id"):
            yield self._first(row)

    def message(self, session: str, ident: str) -> Message | None:
        """One message again."""
        if self._is_second(session):
            rows = self._select("session_message", (*_ROW, "type"), "id", ident)
            return next((_second(row) for row in rows), None)
        return next((self._first(row) for row in self._select("message", _ROW, "id", ident)), None)

    def size(self, session: str) -> tuple[int, int, str]:
        """The last time that anything was written, the number of messages, and the first one's id."""
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
        """Whether the newer tables hold this session's messages."""
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
            f"message {ident}: no JSON object",
        )

    def _select(
        self, table: str, wanted: tuple[str, ...], key: str = "", value: object = None, order: str = "id"
    ) -> Iterator[dict[str, Any]]:
        """The wanted columns by name, None for those that this version lacks; nothing without the table or the key."""
        there = self._database.columns(table)
        if "id" not in there or (key and key not in there):
            return
        names = [name if name in there else "NULL" for name in wanted]
        where = f' WHERE "{key}" = ?' if key else ""
        order = ", ".join(part for part in order.split(", ") if part.split(" ")[0] in there)
        sql = f'SELECT {", ".join(names)} FROM "{table}"{where} ORDER BY {order}'  # noqa: S608  names of our own
        for row in self._database.rows(sql, *((value,) if key else ())):
            yield dict(zip(wanted, row, strict=True))


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
    """Whether the rules of a session, JSON or as a value, are those of `opencode run`: nobody is there to be asked."""
    rules = as_list(permission) if not isinstance(permission, str) else _rules(permission)
    denied = {as_str(as_dict(rule).get("permission")) for rule in rules if as_dict(rule).get("action") == "deny"}
    return {"question", "plan_enter"} <= denied


def _rules(text: str) -> list[Any]:
    return as_list((parse(f'{{"rules":{text}}}') or {}).get("rules"))


def _part(row: Row, message: str, number: int) -> Part:
    ident = as_str(row["id"]) or f"{message}.{number}"
    created, updated = millis(row["time_created"]), millis(row["time_updated"])
    return Part(ident, created, updated, parse(row["data"]), f"part {ident}: no JSON object")


def _second(row: Row) -> Message:
    ident = as_str(row["id"])
    created, updated = millis(row["time_created"]), millis(row["time_updated"])
    data = parse(row["data"])
    if data is None:
        return Message(ident, created, updated, None, (), f"session_message {ident}: no JSON object")
    return message_of_row(ident, as_str(row["type"]), created, updated, data)
