"""Turn the event logs of sessions into rows of the tables `messages` and `calls`.  Runs in worker processes.

Each record becomes a row, or completes the row of its call.  Texts are exported only on request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pyarrow as pa

from crucible.analysis.tools.tool_calls import deed_of_tool
from crucible.commands.lake.lake_tables import LOG_TABLES, file_schema, key_of
from crucible.core.errors import CrucibleError
from crucible.core.patterns import late_pattern
from crucible.core.secrets.redaction import caching_redact, redact_of, unscanned
from crucible.core.secrets.scanner import Redact
from crucible.core.settings.settings import SecretSettings
from crucible.vault.events.event_lines import type_word
from crucible.vault.events.event_reader import EventRecord, read_records

_LONGEST_WORD = 120
_MOST = 2**63
_SURROGATE = late_pattern("[\ud800-\udfff]")
_TEXTS = ("text", "content", "task", "summary", "reason", "feedback", "title")
_KINDS = ("kind", "end", "trigger", "status", "entrypoint")
_RETRIES = 8
"""Maximum failed calls of a tool that a later call is compared with."""


class LogSession(NamedTuple):
    """A session whose event log to read: its id and its key."""

    id: str
    key: str


class LogRequest(NamedTuple):
    """Sessions of the partition with this number, and how to export them."""

    partition: int
    root: str
    sessions: Sequence[LogSession]
    secrets: SecretSettings
    contents: bool


class LogRows(NamedTuple):
    """The rows of some event logs by table, the number of records of each session, and what could not be read."""

    partition: int
    tables: Mapping[str, pa.RecordBatch]
    events: Mapping[str, int]
    problems: Sequence[str]


def read_logs(request: LogRequest) -> LogRows:
    """Read event logs.  An unreadable log is a problem, and its readable records are kept."""
    rows = _Rows(Words(request.secrets), contents=request.contents)
    events: dict[str, int] = {}
    problems: list[str] = []
    for session in request.sessions:
        torn: list[str] = []
        rows.begin(session.key)
        try:
            for record in read_records(Path(request.root), session.id, lambda path, at: torn.append(f"{path}:{at}")):  # noqa: B023  used at once
                rows.add(record)
        except CrucibleError as error:
            problems.append(f"{session.id}: {error}")
        if torn:
            problems.append(
                f"{session.id}: {torn[0]}: not a record" + (f", and {len(torn) - 1} more" if torn[1:] else "")
            )
        events[session.id] = rows.count
    return LogRows(request.partition, rows.batches(), events, problems)


class Words:
    """Texts made fit for a lake: redacted once more, and valid UTF-8.  Raises `VaultError` if the scan fails."""

    def __init__(self, secrets: SecretSettings) -> None:
        self._redact = _redact_of(secrets)
        self._known: dict[str, str | None] = {}

    def word(self, value: object) -> str | None:
        """Return a short word, such as a tool's name; None for "" and for values of another type."""
        if not isinstance(value, str):
            return None
        if value not in self._known:
            self._known[value] = (self.text(value) or "")[:_LONGEST_WORD] or None
        return self._known[value]

    def text(self, value: object) -> str | None:
        """Return a text; None for values of another type."""
        if not isinstance(value, str):
            return None
        try:
            return self._redact(_SURROGATE.sub("\ufffd", value))[0]
        except Exception as error:
            raise unscanned(error) from error


@lru_cache(1)
def _redact_of(secrets: SecretSettings) -> Redact:
    return caching_redact(redact_of(secrets))


def number(value: object) -> int | None:
    """Return an integer of 64 bits; None for other values."""
    return value if isinstance(value, int) and not isinstance(value, bool) and -_MOST <= value < _MOST else None


def _utc(time: datetime | None) -> datetime | None:
    return time.replace(tzinfo=UTC) if time and time.tzinfo is None else time


_Row = dict[str, Any]


class _Rows:
    """The rows of both tables.  A call's row is completed when its result comes."""

    def __init__(self, words: Words, *, contents: bool) -> None:
        self._words = words
        self._contents = contents
        self._rows: dict[str, list[_Row]] = {table: [] for table in LOG_TABLES}
        self._readers: Mapping[str, Callable[[EventRecord], None]] = {
            "ToolUsed": self._used,
            "tool": self._by_hand,
            "ToolReturned": self._returned,
            "SubagentReturned": self._returned,
            "UsageCounted": self._counted,
        }
        self.begin("")

    def begin(self, session: str) -> None:
        """Begin the next session."""
        self.count = 0
        self._session = session
        self._agents: dict[str, str | None] = {"": None}
        self._open: dict[tuple[str, str], tuple[_Row, object]] = {}
        self._usage: dict[str, _Row] = {}
        self._failed: dict[tuple[str | None, str], list[tuple[int, object]]] = {}

    def add(self, record: EventRecord) -> None:
        """Add a record."""
        self.count += 1
        self._readers.get(record.type, self._message)(record)

    def batches(self) -> dict[str, pa.RecordBatch]:
        """Return the rows by table."""
        found = {}
        for table, rows in self._rows.items():
            schema = file_schema(table)
            arrays = [pa.array([row.get(field.name) for row in rows], field.type) for field in schema]
            found[table] = pa.record_batch(arrays, schema=schema)
        return found

    def _row(self, table: str, record: EventRecord, cells: _Row) -> _Row:
        """Add a row and return it."""
        row = {
            "session": self._session,
            "seq": number(record.seq),
            "time": _utc(record.time),
            "phase": self._words.word(record.phase),
            "subagent": self._agent(record.agent),
            **cells,
        }
        self._rows[table].append(row)
        return row

    def _agent(self, agent: str) -> str | None:
        if agent not in self._agents:
            self._agents[agent] = key_of(self._session, agent)
        return self._agents[agent]

    def _message(self, record: EventRecord) -> None:
        values, word = record.values, self._words.word
        name = next((name for name in _TEXTS if isinstance(values.get(name), str)), "")
        kind = next((values[name] for name in _KINDS if values.get(name)), None)
        cells: _Row = {"type": word(type_word(record.type)), "kind": word(kind), "model": word(values.get("model"))}
        if isinstance(text := values.get(name), str):
            cells["length"] = number(record.cut.get(name, len(text)))
            cells["text"] = self._words.text(text) if self._contents else None
        self._row("messages", record, cells)

    def _counted(self, record: EventRecord) -> None:
        """Add tokens.  A later count of the same message replaces the earlier one."""
        values, message = record.values, record.values.get("message")
        counts = {name: number(values.get(field)) for name, field in _COUNTS.items()}
        cells = {"type": "usage_counted", "model": self._words.word(values.get("model")), **counts}
        row = self._row("messages", record, cells)
        if isinstance(message, str) and message:
            if message in self._usage:
                self._usage[message] |= dict.fromkeys(_COUNTS)
            self._usage[message] = row

    def _used(self, record: EventRecord) -> None:
        values = record.values
        row, arguments = self._call(record, values.get("name"), values.get("arguments"))
        if isinstance(call := values.get("call"), str) and call:
            self._open[record.agent, call] = row, arguments

    def _by_hand(self, record: EventRecord) -> None:
        """Add a call that an agent recorded, with its result."""
        values = record.values
        row, arguments = self._call(record, values.get("tool") or "tool", values.get("args") or values.get("command"))
        row["duration_ms"] = number(values.get("duration_ms"))
        self._close(row, arguments, values.get("outcome") or "ok", values.get("exit_code"))
        self._result(row, values.get("result"))

    def _call(self, record: EventRecord, tool: object, arguments: object) -> tuple[_Row, object]:
        name = self._words.word(tool) or "?"
        given = orjson.dumps(arguments)
        cells = {
            "tool": name,
            "deed": deed_of_tool(name).value,
            "model": self._words.word(record.values.get("model")),
            "arguments_size": len(given),
            "retry_of": self._retried((self._agent(record.agent), name), arguments),
            "arguments": self._words.text(given.decode()) if self._contents else None,
        }
        return self._row("calls", record, cells), arguments

    def _retried(self, tool: tuple[str | None, str], arguments: object) -> int | None:
        """Return the number of the last failed call with the same arguments."""
        failed = self._failed.get(tool, [])
        for at in reversed(range(len(failed))):
            if failed[at][1] == arguments:
                return failed.pop(at)[0]
        return None

    def _returned(self, record: EventRecord) -> None:
        values = record.values
        row, arguments = self._open.pop((record.agent, str(values.get("call", ""))), (None, None))
        if row is None:
            self._message(record)
            return
        begun, ended = row["time"], _utc(record.time)
        if begun and ended:
            row["duration_ms"] = round((ended - begun).total_seconds() * 1000)
        details = values.get("details")
        self._close(row, arguments, values.get("end"), details.get("exit_code") if isinstance(details, dict) else None)
        self._result(row, values.get("text"), record.cut.get("text"))

    def _close(self, row: _Row, arguments: object, end: object, exit_code: object) -> None:
        row["outcome"] = self._words.word(end)
        row["exit_code"] = number(exit_code)
        if row["outcome"] == "failed":
            failed = self._failed.setdefault((row["subagent"], row["tool"]), [])
            failed.append((row["seq"], arguments))
            del failed[:-_RETRIES]

    def _result(self, row: _Row, result: object, size: int | None = None) -> None:
        if isinstance(result, str):
            row["result_size"] = number(len(result) if size is None else size)
            row["result"] = self._words.text(result) if self._contents else None


_COUNTS = {"input": "fresh", "cached": "cached", "output": "said"}
"""The columns for tokens, and their names in a record."""
