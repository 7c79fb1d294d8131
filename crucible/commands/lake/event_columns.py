"""Turn the event logs of sessions into rows of the tables `messages` and `calls`.  Runs in worker processes.

Each record becomes a row, or completes the row of its call.  Texts are exported only on request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
from crucible.vault.events.event_files import log_files
from crucible.vault.events.event_lines import type_word
from crucible.vault.events.event_reader import read_fields

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

    def __str__(self) -> str:
        ids = [session.id for session in self.sessions]
        return " … ".join(dict.fromkeys([*ids[:1], *ids[-1:]]))


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
        torn = _Torn()
        rows.begin(session.key)
        try:
            for fields in read_fields(Path(request.root), session.id, torn.add):
                rows.add(fields)
        except CrucibleError as error:
            problems.append(f"{session.id}: {error}")
        problems += [f"{session.id}: {torn}"] if torn.count else []
        events[session.id] = rows.count
    return LogRows(request.partition, rows.batches(), events, problems)


def reading_logs(_root: Path) -> Callable[[LogRequest], LogRows]:
    """Return `read_logs` for any root: a request names its own."""
    return read_logs


def files_of(request: LogRequest) -> Iterator[Path]:
    """Yield the files that a request reads."""
    for session in request.sessions:
        yield from log_files(Path(request.root), session.id)


class _Torn:
    """The lines of a log that are not records."""

    count = 0
    _first = ""

    def add(self, path: Path, at: int) -> None:
        """Count a line."""
        self.count += 1
        self._first = self._first or f"{path.name}:{at}"

    def __str__(self) -> str:
        more = f", and {self.count - 1} more" if self.count > 1 else ""
        return f"{self._first}: not a record{more}"


class Words:
    """Prepares texts for a lake: redacted again, and valid UTF-8.  Raises `VaultError` if the scan fails."""

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


def _time(value: object) -> datetime | None:
    """Parse a record's time; None if it has none or an invalid one."""
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return time.replace(tzinfo=UTC) if time and time.tzinfo is None else time


_Row = dict[str, Any]


class _Rows:
    """The rows of both tables.  A call's row is completed when its result comes."""

    def __init__(self, words: Words, *, contents: bool) -> None:
        self._words = words
        self._contents = contents
        self._rows: dict[str, list[_Row]] = {table: [] for table in LOG_TABLES}
        self._readers: Mapping[str, Callable[[_Row], None]] = {
            "ToolUsed": self._used,
            "tool": self._by_hand,
            "ToolReturned": self._returned,
            "SubagentReturned": self._returned,
            "UsageCounted": self._counted,
        }
        self._types: dict[str, str | None] = {}
        self.begin("")

    def begin(self, session: str) -> None:
        """Begin the next session."""
        self.count = 0
        self._session = session
        self._agents: dict[str, str | None] = {"": None}
        self._open: dict[tuple[str, str], tuple[_Row, object]] = {}
        self._usage: dict[str, _Row] = {}
        self._failed: dict[tuple[str | None, str], list[tuple[int, object]]] = {}

    def add(self, record: _Row) -> None:
        """Add a record."""
        self.count += 1
        self._readers.get(str(record.get("type")), self._message)(record)

    def batches(self) -> dict[str, pa.RecordBatch]:
        """Return the rows by table."""
        found = {}
        for table, rows in self._rows.items():
            schema = file_schema(table)
            arrays = [pa.array([row.get(field.name) for row in rows], field.type) for field in schema]
            found[table] = pa.record_batch(arrays, schema=schema)
        return found

    def _row(self, table: str, record: _Row, cells: _Row) -> _Row:
        """Add a row and return it."""
        row = {
            "session": self._session,
            "seq": number(record.get("seq")),
            "time": _time(record.get("time")),
            "phase": self._words.word(record.get("phase")),
            "subagent": self._agent(record),
            **cells,
        }
        self._rows[table].append(row)
        return row

    def _agent(self, record: _Row) -> str | None:
        agent = _agent_of(record)
        if agent not in self._agents:
            self._agents[agent] = key_of(self._session, agent)
        return self._agents[agent]

    def _message(self, record: _Row) -> None:
        word = self._words.word
        name = next((name for name in _TEXTS if isinstance(record.get(name), str)), "")
        kind = next((record[name] for name in _KINDS if record.get(name)), None)
        cells: _Row = {"type": self._type(record), "kind": word(kind), "model": word(record.get("model"))}
        if isinstance(text := record.get(name), str):
            cells["length"] = _size_of(record, name, text)
            cells["text"] = self._words.text(text) if self._contents else None
        self._row("messages", record, cells)

    def _type(self, record: _Row) -> str | None:
        name = str(record.get("type"))
        if name not in self._types:
            self._types[name] = self._words.word(type_word(name))
        return self._types[name]

    def _counted(self, record: _Row) -> None:
        """Add tokens.  A later count of the same message replaces the earlier one."""
        message = record.get("message")
        counts = {name: number(record.get(field)) for name, field in _COUNTS.items()}
        cells = {"type": "usage_counted", "model": self._words.word(record.get("model")), **counts}
        row = self._row("messages", record, cells)
        if isinstance(message, str) and message:
            if message in self._usage:
                self._usage[message] |= dict.fromkeys(_COUNTS)
            self._usage[message] = row

    def _used(self, record: _Row) -> None:
        row, arguments = self._call(record, record.get("name"), record.get("arguments"))
        if isinstance(call := record.get("call"), str) and call:
            self._open[_agent_of(record), call] = row, arguments

    def _by_hand(self, record: _Row) -> None:
        """Add a call that an agent recorded, with its result."""
        row, arguments = self._call(record, record.get("tool") or "tool", record.get("args") or record.get("command"))
        row["duration_ms"] = number(record.get("duration_ms"))
        self._close(row, arguments, record.get("outcome") or "ok", record.get("exit_code"))
        self._result(row, record.get("result"), {})

    def _call(self, record: _Row, tool: object, arguments: object) -> tuple[_Row, object]:
        name = self._words.word(tool) or "?"
        given = orjson.dumps(arguments)
        cells = {
            "tool": name,
            "deed": deed_of_tool(name).value,
            "model": self._words.word(record.get("model")),
            "arguments_size": len(given),
            "retry_of": self._retried((self._agent(record), name), arguments),
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

    def _returned(self, record: _Row) -> None:
        row, arguments = self._open.pop((_agent_of(record), str(record.get("call", ""))), (None, None))
        if row is None:
            self._message(record)
            return
        begun, ended = row["time"], _time(record.get("time"))
        if begun and ended:
            row["duration_ms"] = round((ended - begun).total_seconds() * 1000)
        details = record.get("details")
        self._close(row, arguments, record.get("end"), details.get("exit_code") if isinstance(details, dict) else None)
        self._result(row, record.get("text"), record)

    def _close(self, row: _Row, arguments: object, end: object, exit_code: object) -> None:
        row["outcome"] = self._words.word(end)
        row["exit_code"] = number(exit_code)
        if row["outcome"] == "failed":
            failed = self._failed.setdefault((row["subagent"], row["tool"]), [])
            failed.append((row["seq"], arguments))
            del failed[:-_RETRIES]

    def _result(self, row: _Row, result: object, record: _Row) -> None:
        if isinstance(result, str):
            row["result_size"] = _size_of(record, "text", result)
            row["result"] = self._words.text(result) if self._contents else None


_COUNTS = {"input": "fresh", "cached": "cached", "output": "said"}
"""The columns for tokens, and their names in a record."""


def _agent_of(record: _Row) -> str:
    agent = record.get("agent")
    return agent if isinstance(agent, str) else ""


def _size_of(record: _Row, name: str, text: str) -> int | None:
    """Return the length of a text, or its size in bytes before it was cut."""
    cut = record.get("cut")
    return number(cut[name]) if isinstance(cut, dict) and name in cut else len(text)
