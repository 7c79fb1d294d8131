"""`meta.json`, the summary of a session's event log.

It stores the file sizes that its counts cover, so the next writer counts what a killed process missed.  A missing or
broken summary is rebuilt from the records; facts that were only passed to `save_meta` are lost.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import orjson

from crucible.core.named_tuples import NamedTuple
from crucible.vault.events.event_files import (
    EVENTS,
    LOCK_SECONDS,
    META,
    TOOLS,
    EventFiles,
    flight_folder,
    hold_events,
    last_lines,
    number_of,
)

AGENT_SWITCH = "agent_switch"
"""The type of records whose `from_agent` and `to_agent` are copied to the summary."""

_VERSION = 1
COUNTS = {EVENTS: "events_count", TOOLS: "tools_count"}
"""The summary's key for each file's number of records."""
_NEW = f"{META}.tmp"
META_FILES = (META, _NEW)
"""The files in which a summary may be stored."""
_MOST_SEARCHED = 200
"""Maximum records to search from the end of a file for one with a time."""


class Facts(NamedTuple):
    """Facts about a session that its records do not contain; None keeps the summary's value.

    `agent_switches` lists all agents in order, including the first.  Times are aware.
    """

    started: datetime | None = None
    ended: datetime | None = None
    initial_agent: str | None = None
    agent_switches: tuple[str, ...] | None = None
    project: str | None = None
    ended_cleanly: bool | None = None


def save_meta(
    vault_root: Path,
    session_id: str,
    facts: Facts,
    *,
    make: bool = True,
    lock_seconds: float = LOCK_SECONDS,
) -> None:
    """Store `facts` in the summary and update its counts.  Without `make`, a session without a folder is skipped.

    Raises `LockTimeout`, `OutsideVault`, and `VaultError` for system errors.
    """
    folder = flight_folder(vault_root, session_id)
    if not make and not folder.is_dir():
        return
    with hold_events(folder, lock_seconds) as files:
        before = load_own_meta(folder)
        after = complete_meta({**with_counts(before, folder), **known_facts(facts), "session_id": session_id})
        if after != before:
            _write(files.folder, after)


def with_counts(meta: Mapping[str, object], folder: Path) -> dict[str, object]:
    """Return the summary with counts that match the files in `folder`."""
    sizes = {name: _size(folder / name) for name in COUNTS}
    known = _sizes(meta)
    if known == sizes:
        return dict(meta)
    if known is None or any(known[name] > size for name, size in sizes.items()):
        known = dict.fromkeys(COUNTS, 0)
        meta = {**meta, **dict.fromkeys(COUNTS.values(), 0)}
    return complete_meta({**_counted_on(meta, folder, known), "sizes": sizes})


def keep_meta(
    files: EventFiles, session_id: str, before: Mapping[str, int], added: Mapping[str, int], facts: Facts
) -> None:
    """Update the summary after `added` records were appended to files whose sizes were `before`.

    A failure to write the summary is not an error: the next writer corrects it.
    """
    with suppress(OSError):
        _keep(files, session_id, before, added, facts)


def rename_in_meta(folder: Path, session_id: str) -> None:
    """Set the session's new id in the summary, if there is one."""
    meta = load_own_meta(folder)
    if meta:
        _write(folder, {**meta, "session_id": session_id})


def _keep(
    files: EventFiles, session_id: str, before: Mapping[str, int], added: Mapping[str, int], facts: Facts
) -> None:
    meta = load_own_meta(files.folder)
    if _sizes(meta) == before or not (meta or any(before.values())):
        counts = {key: _count(meta, key) + added.get(name, 0) for name, key in COUNTS.items()}
        meta = {**meta, **counts, **_switched(meta, facts), "sizes": dict(files.sizes)}
    else:
        meta = with_counts(meta, files.folder)
    started = {} if meta.get("started") else {"started": facts.started}
    _write(files.folder, {**meta, **started, "session_id": session_id})


def last_time(folder: Path) -> datetime | None:
    """Return the time of the last record, else of the last write.

    None if there is no file.
    """
    found = [time for name in (EVENTS, TOOLS) for time in _last_of(folder / name)]
    if found:
        return max(found)
    stats = [path.stat() for path in (folder / EVENTS, folder / TOOLS) if path.is_file()]
    return max((datetime.fromtimestamp(one.st_mtime, UTC) for one in stats), default=None)


def facts_of(values: Mapping[str, object], time: datetime | None) -> Facts:
    """Return the facts of an `agent_switch` record."""
    agents = (values.get("from_agent"), values.get("to_agent"))
    return Facts(started=time, agent_switches=tuple(a for a in agents if isinstance(a, str) and a))


def _switched(meta: Mapping[str, object], facts: Facts) -> dict[str, object]:
    """Return the agents after one more switch."""
    if not facts.agent_switches:
        return {}
    known, first = meta.get("agent_switches"), meta.get("initial_agent")
    agents = [*known] if isinstance(known, list) else []
    if not agents and first and len(facts.agent_switches) == 1:
        agents = [first]  # the record does not name the previous agent
    for agent in facts.agent_switches:
        if agents[-1:] != [agent]:
            agents.append(agent)
    return {"agent_switches": agents, "initial_agent": first or agents[0]}


def known_facts(facts: Facts) -> dict[str, object]:
    """Return the facts that are known, as they will be read back."""
    known = {name: value for name, value in facts._asdict().items() if value is not None}
    # Normalised as it will be read back, so that an unchanged summary is not written again.
    normalised: dict[str, object] = orjson.loads(orjson.dumps(known, option=orjson.OPT_UTC_Z))
    return normalised


def _counted_on(meta: Mapping[str, object], folder: Path, known: Mapping[str, int]) -> dict[str, object]:
    """Count the records after the `known` bytes in each file.  If there is no start, use the earliest record's time."""
    found = dict(meta)
    has_start = bool(meta.get("started"))
    for name, key in COUNTS.items():
        for line in _lines(folder / name, known[name]):
            if number_of(line):
                found[key] = _count(found, key) + 1
                if not has_start or _SWITCH in line:
                    with suppress(ValueError, AttributeError):  # the line only begins like a record
                        found |= _facts_in(orjson.loads(line), found, has_start=has_start)
    return found


_SWITCH = b'"type":"agent_switch"'


def _facts_in(record: Mapping[str, object], found: Mapping[str, object], *, has_start: bool) -> dict[str, object]:
    time, first = record.get("time"), found.get("started")
    changed: dict[str, object] = {}
    if not has_start and isinstance(time, str) and (not isinstance(first, str) or time < first):
        changed["started"] = time
    if record.get("type") == AGENT_SWITCH:
        changed |= _switched(found, facts_of(record, None))
    return changed


def complete_meta(meta: Mapping[str, object]) -> dict[str, object]:
    """Return the summary with all keys, in the order for reading."""
    empty: dict[str, object] = dict.fromkeys(("session_id", *Facts._fields, *COUNTS.values()))
    total = sum(_count(meta, key) for key in COUNTS.values())
    return {"version": _VERSION, **empty, "agent_switches": [], "records": 0, **meta} | {"records": total}


def load_own_meta(folder: Path) -> dict[str, object]:
    """Return the content of `meta.json` as stored; empty if it is missing or broken."""
    try:
        meta = orjson.loads((folder / META).read_bytes())
    except (OSError, ValueError):
        return {}
    return meta if isinstance(meta, dict) else {}


def _write(folder: Path, meta: Mapping[str, object]) -> None:
    """Replace the file in one step.  All writers use the same temporary name, since they hold the lock."""
    data = orjson.dumps(complete_meta(meta), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z)
    new = folder / _NEW
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(new, flags, 0o666), "wb") as file:
        file.write(data)
    new.replace(folder / META)


def _sizes(meta: Mapping[str, object]) -> dict[str, int] | None:
    """Return the file sizes that the counts cover; None if not stored."""
    sizes = meta.get("sizes")
    return {name: _count(sizes, name) for name in COUNTS} if isinstance(sizes, dict) else None


def _count(meta: Mapping[str, object], key: str) -> int:
    value = meta.get(key)
    return value if isinstance(value, int) and value >= 0 else 0


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _lines(path: Path, start: int) -> Iterator[bytes]:
    """Yield the complete lines of a file from an offset, without line ends."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        file.seek(start)
        yield from (line[:-1] for line in file if line.endswith(b"\n"))


def _last_of(path: Path) -> Iterator[datetime]:
    """Yield the time of the last record that has one."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        for number, line in enumerate(last_lines(file.fileno())):
            if time := _time_of(line):
                yield time
                return
            if number >= _MOST_SEARCHED:
                return


def _time_of(line: bytes) -> datetime | None:
    try:
        time = datetime.fromisoformat(orjson.loads(line)["time"])
    except (ValueError, KeyError, TypeError):
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
