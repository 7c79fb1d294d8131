"""Append an entry reported by an agent to a session's event log.

Separate from `event_recorder`, since `cru record` runs once per entry and does not need the clients' event types.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from crucible.vault.events.event_archive import next_number
from crucible.vault.events.event_files import (
    EVENTS,
    LOCK_SECONDS,
    OWN_FIELDS,
    TOOL_TYPES,
    TOOLS,
    cut_values,
    dump_record,
    flight_folder,
    hold_events,
)
from crucible.vault.events.event_summary import AGENT_SWITCH, Facts, facts_of, keep_meta

_RECORDER = "recorder"
"""The source of these records."""


def append_entry(
    vault_root: Path,
    session_id: str,
    kind: str,
    values: Mapping[str, object],
    *,
    now: datetime,
    phase: str = "",
    max_value_bytes: int = 65536,
    lock_seconds: float = LOCK_SECONDS,
) -> int:
    """Append an entry to a session's event log and return its sequence number.

    The kind `tool` is written to `tools.jsonl`; all others (`decision`, `error`, `milestone`, `agent_switch`,
    `observation`, `checkpoint`, `user` …) are written to `events.jsonl`.  `values` become fields of the record
    (`content`, `rationale`; `tool`, `command`, `exit_code`, …), and long strings are cut.  A value whose name is a
    standard field gets a `_` appended.  `phase` is a phase's id.

    Once this returns, the record survives kill -9, but not a power failure.  Raises `BadSessionId`, `OutsideVault`,
    `LockTimeout`, and `VaultError` for system errors; nothing is written then.
    """
    name = TOOLS if kind in TOOL_TYPES else EVENTS
    folder = flight_folder(vault_root, session_id)
    record = _record(kind, values, now, phase, max_value_bytes)
    with hold_events(folder, lock_seconds) as files:
        before = dict(files.sizes)
        number = next_number(files, vault_root, session_id)
        # The number is part of the key, since an agent may report the same entry twice within a second.
        key = hashlib.blake2b(b"%d %s" % (number, record), digest_size=8).hexdigest()
        files.append([(name, b'{"seq":%d,"key":"%s",%s\n' % (number, key.encode(), record[1:]))])
        facts = facts_of(values, now) if kind == AGENT_SWITCH else Facts(started=now)
        keep_meta(files, session_id, before, {name: 1}, facts)
    return number


def _record(kind: str, values: Mapping[str, object], now: datetime, phase: str, limit: int) -> bytes:
    """Return the record without number and key.  It has the field `cut` if a string was cut."""
    cut: dict[str, int] = {}
    given = {f"{name}_" if name in OWN_FIELDS else name: value for name, value in values.items()}
    kept = {name: cut_values(value, name, limit, cut) for name, value in given.items()}
    head = {"time": now.astimezone(UTC), "phase": phase, "type": kind, "source": _RECORDER}
    return dump_record({**head, **kept, **({"cut": cut} if cut else {})})
