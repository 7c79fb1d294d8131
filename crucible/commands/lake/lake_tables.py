"""The tables of a lake: their columns and types, and the keys that stand for names."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import pyarrow as pa

from crucible.core.errors import VaultError
from crucible.core.quick_imports import blake2b

VERSION = 1
"""Increase when a column or its meaning changes.  A lake with another number is refused."""

VERSION_KEY = "crucible-lake"
"""The key of the version in each file's metadata."""


class Kind(StrEnum):
    """The type of a column.  A `NAME` and a `TEXT` are exported only on request."""

    KEY = "key"
    WORD = "word"
    NAME = "name"
    TEXT = "text"
    NUMBER = "number"
    FLAG = "flag"
    TIME = "time"
    DAY = "day"


_ARROW: Mapping[Kind, pa.DataType] = {
    **dict.fromkeys((Kind.KEY, Kind.WORD, Kind.NAME, Kind.TEXT), pa.string()),
    Kind.NUMBER: pa.int64(),
    Kind.FLAG: pa.bool_(),
    Kind.TIME: pa.timestamp("ms", tz="UTC"),
    Kind.DAY: pa.date32(),
}


def _columns(text: str) -> Mapping[str, Kind]:
    """Parse `name:kind`; a column without a kind is a number."""
    return {name: Kind(kind or "number") for name, _, kind in (one.partition(":") for one in text.split())}


TABLES: Mapping[str, Mapping[str, Kind]] = {
    "sessions": _columns(
        "session:key parent:key id:name project_name:name tags:name title:text branch:text started:time ended:time "
        "duration_s status:word agent:word channel:word model:word tokens tokens_cached phases tool_calls failures "
        "decisions errors interventions problems events archived:flag"
    ),
    "messages": _columns(
        "session:key seq time:time phase:word subagent:key type:word kind:word model:word length input cached output "
        "text:text"
    ),
    "calls": _columns(
        "session:key seq time:time phase:word subagent:key tool:word deed:word model:word outcome:word duration_ms "
        "exit_code arguments_size result_size retry_of arguments:text result:text"
    ),
    "findings": _columns(
        "session:key line phase:word kind:word source:word by:word confidence waits topic:key text:text why:text"
    ),
    "costs": _columns(
        "session:key day:day model:word tokens input output cache_write cache_write_1h cache_read web_search usd_micros"
    ),
    "cases": _columns(
        "session:key case:key type:word status:word difficulty:word fault:word category:word agent:word model:word "
        "tokens verified:flag topic:key about:text"
    ),
}
"""The columns of each table, in file order.  `month` and `project` are in each file's path."""

LOG_TABLES = ("messages", "calls")
"""The tables that come from the sessions' event logs."""

PARTITION = ("month", "project")
"""The columns in the path of a file."""


def file_schema(table: str) -> pa.Schema:
    """Return the schema of a table's files, with the version in its metadata."""
    fields = [pa.field(name, _ARROW[kind]) for name, kind in TABLES[table].items()]
    return pa.schema(fields, {VERSION_KEY: str(VERSION)})


def check_version(found: object, place: str) -> None:
    """Raise `VaultError` if a lake has another version."""
    if found == VERSION:
        return
    if isinstance(found, int) and found > VERSION:
        raise VaultError(f"{place}: written by a newer version of Crucible (lake version {found})", "upgrade Crucible")
    raise VaultError(
        f"{place}: lake version {found} cannot be read; this version of Crucible writes version {VERSION}",
        "export to a new folder, then remove the old one",
    )


def key_of(*parts: str) -> str:
    """Return a key of 16 hexadecimal digits that stands for names."""
    data = "\0".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=8).hexdigest()


def project_key(name: str) -> str:
    """Return the key of a project, which is the same in all vaults."""
    # The letter keeps other programs from reading it as a number.
    return f"p{key_of(name)}"


def session_key(vault: str, session: str) -> str:
    """Return the key of a session.  `vault` is the vault's id: ids are unique only within a vault."""
    return key_of(vault, session)
