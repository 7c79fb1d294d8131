"""Whole events of a session, one JSON object a line, in `.crucible/flight/<session_id>/`.

Owns the three files and how a record is written: `tools.jsonl` has the calls and what came back, `events.jsonl` all
other events, `meta.json` a summary.  Sequence numbers run over both files, so that merging by `seq` gives the order
of events.  Reading back is `reading`'s; redaction happened before an event comes here.

One process writes a session at a time.  Every write is whole lines in append mode; a line torn by a crash is cut off
at the next opening, and an event that stands in the files already is not written again, so an import that died
half-way can simply be repeated.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self, get_args

import orjson

from crucible.errors import OutsideVault, VaultError, reason_of
from crucible.session.identity import check_session_id
from crucible.transcript.events import Event, SubagentReturned, SubagentStarted, ToolReturned, ToolUsed

__all__ = ["EVENTS", "META", "TOOLS", "FlightWriter", "flight_folder"]

EVENTS, TOOLS, META = "events.jsonl", "tools.jsonl", "meta.json"
_OF_TOOLS = ToolUsed | ToolReturned | SubagentStarted | SubagentReturned
_RENAMED = {"agent": "subagent", "type": "row_type"}
"""Fields of events that would hide one of the record's own: the file's agent, the event's class."""

_BUFFER = 1 << 20
_DEEPEST = 100
"""Lists in lists beyond this are left out: a hostile log must not exhaust the stack."""
_SURROGATE = re.compile("[\ud800-\udfff]")


def flight_folder(vault_root: Path, session_id: str) -> Path:
    """Where a session's records lie; never outside the vault, whatever the id or a symlink says."""
    folder = vault_root / ".crucible" / "flight" / check_session_id(session_id)
    real, root = os.path.realpath(folder), os.path.realpath(vault_root)
    if not real.startswith(root.rstrip(os.sep) + os.sep):
        raise OutsideVault(f"{folder}: leads out of the vault, to {real}", f"the vault is {root}")
    return Path(real)


class FlightWriter:
    """Appends the events of one session.  Use it in a `with`, or call `close`."""

    def __init__(self, vault_root: Path, session_id: str, max_value_bytes: int = 65536) -> None:
        self.folder = flight_folder(vault_root, session_id)
        self.session_id = session_id
        self.max_value_bytes = max_value_bytes
        self.written = 0
        with _Refusals(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._files = {name: _Lines(self.folder / name) for name in (EVENTS, TOOLS)}
            self._seen, self._next = _what_is_there(self.folder)

    def write(self, event: Event, phase: str = "", source: str = "") -> bool:
        """Append an event of a phase (`phase-2.1`) and a native session (`client:id`); False when it is there already."""
        body = _body(event, source, self.max_value_bytes)
        key = hashlib.blake2b(body, digest_size=8).hexdigest()
        if key in self._seen:
            return False
        self._seen.add(key)
        time = orjson.dumps(event.at.time, option=orjson.OPT_UTC_Z)
        # The body is what takes time to dump, so it is dumped once, for the key and for the line.
        line = b'{"seq":%d,"key":"%s","time":%s,"phase":%s,%s' % (
            self._next,
            key.encode(),
            time,
            orjson.dumps(phase),
            body[1:],
        )
        with _Refusals(self.folder):
            self._files[TOOLS if isinstance(event, _OF_TOOLS) else EVENTS].append(line)
        self._next += 1
        self.written += 1
        return True

    def close(self) -> None:
        """Write out what is buffered, and the summary."""
        with _Refusals(self.folder):
            for file in self._files.values():
                file.close()
            if self.written:
                _write_meta(
                    self.folder, {"version": 1, "session_id": self.session_id, "records": self._next - 1}
                )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()


class _Lines:
    """A file to which whole lines are appended."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.waiting = bytearray()
        self.descriptor = -1
        _heal(path)

    def append(self, line: bytes) -> None:
        self.waiting += line + b"\n"
        if len(self.waiting) >= _BUFFER:
            self.flush()

    def flush(self) -> None:
        if self.waiting and self.descriptor < 0:
            flags = (
                os.O_WRONLY
                | os.O_CREAT
                | os.O_APPEND
                | getattr(os, "O_NOFOLLOW", 0)
                | getattr(os, "O_BINARY", 0)
            )
            self.descriptor = os.open(self.path, flags, 0o666)
        while self.waiting:
            del self.waiting[: os.write(self.descriptor, self.waiting)]

    def close(self) -> None:
        try:
            self.flush()
        finally:
            self.waiting.clear()
            if self.descriptor >= 0:
                os.close(self.descriptor)
            self.descriptor = -1


class _Refusals:
    """What the system refuses, said in one line."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if isinstance(error, OSError):
            raise VaultError(f"{self.folder}: cannot be written: {reason_of(error)}") from error


def _heal(path: Path) -> None:
    """Cut off a last line that a crash left without its end."""
    if path.is_symlink():
        raise OutsideVault(f"{path}: a symlink, where records are written", "remove it")
    if not path.exists() or not (size := path.stat().st_size):
        return
    with path.open("r+b") as file:
        end = size
        while end:
            start = max(0, end - _BUFFER)
            file.seek(start)
            at = file.read(end - start).rfind(b"\n")
            if at >= 0:
                end = start + at + 1
                break
            end = start
        if end < size:
            file.truncate(end)


def _what_is_there(folder: Path) -> tuple[set[str], int]:
    """The keys of the records written so far, and the next sequence number."""
    seen: set[str] = set()
    last = 0
    for path in (folder / EVENTS, folder / TOOLS):
        if path.exists():
            with path.open("rb") as file:
                for line in file:
                    seq, key = _seq_and_key(line)
                    seen.add(key)
                    last = max(last, seq)
    return seen, last + 1


def _seq_and_key(line: bytes) -> tuple[int, str]:
    try:
        record = orjson.loads(line)
        return int(record["seq"]), str(record["key"])
    except (ValueError, KeyError, TypeError):
        return 0, ""


_NAMES = {
    kind.__name__: tuple(
        (f.name, _RENAMED.get(f.name, f.name)) for f in dataclasses.fields(kind) if f.name != "at"
    )
    for kind in get_args(Event)
}
"""The fields of each kind of event, and what they are called in a record."""


def _body(event: Event, source: str, limit: int) -> bytes:
    """The record without its number, key and time, as JSON; too long texts cut.

    `cut` tells the bytes that each cut text had (0: nested too deep).
    """
    at = event.at
    body: dict[str, object] = {
        "type": type(event).__name__,
        "source": source,
        "line": at.line,
        "row": at.row,
        "agent": at.agent,
    }
    values = {name: getattr(event, field) for field, name in _NAMES[type(event).__name__]}
    with contextlib.suppress(TypeError):  # what orjson does not take, or is nested too deep
        whole = orjson.dumps(body | values, option=orjson.OPT_UTC_Z)
        if len(whole) <= limit:
            return whole
    cut: dict[str, int] = {}
    body |= {name: _cut(value, name, limit, cut) for name, value in values.items()}
    return _dump(body | {"cut": cut} if cut else body)


def _cut(value: object, path: str, limit: int, cut: dict[str, int], depth: int = 0) -> object:
    if isinstance(value, str):
        return _cut_text(value, path, limit, cut)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping | list | tuple) and depth >= _DEEPEST:
        cut[path] = 0
        return "…"
    if isinstance(value, Mapping):
        return {str(k): _cut(inner, f"{path}.{k}", limit, cut, depth + 1) for k, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_cut(inner, f"{path}.{at}", limit, cut, depth + 1) for at, inner in enumerate(value)]
    return value


def _cut_text(text: str, path: str, limit: int, cut: dict[str, int]) -> str:
    if len(text) * 4 <= limit or len(data := text.encode("utf-8", "surrogatepass")) <= limit:
        return text
    cut[path] = len(data)
    return data[:limit].decode("utf-8", "ignore")


def _dump(record: Mapping[str, object]) -> bytes:
    try:
        return orjson.dumps(record, option=orjson.OPT_UTC_Z)
    except TypeError:  # a lone surrogate, an integer beyond 64 bits, a type that JSON has not
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"), default=_plain)
        return _SURROGATE.sub("\ufffd", text).encode("utf-8")


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _write_meta(folder: Path, facts: Mapping[str, object]) -> None:
    temporary = folder / f"{META}.{os.getpid()}.tmp"
    try:
        temporary.write_bytes(orjson.dumps(facts, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        temporary.replace(folder / META)
    finally:
        temporary.unlink(missing_ok=True)
