"""A small vault with notes and event logs, and its export."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from pyarrow import parquet

from crucible.commands.lake.lake_export import ExportReport, export_lake
from crucible.commands.lake.lake_inputs import CaseFacts, ExportOptions, VaultSource
from crucible.commands.lake.lake_query import query_lake
from crucible.commands.lake.lake_store import LakeStore, open_store
from crucible.core.prices.price_list import PriceList, load_prices
from crucible.core.processes import Workers
from crucible.vault.events.archive_writer import NewLine, archive_new
from crucible.vault.events.event_files import EVENTS, TOOL_TYPES, TOOLS, dump_record
from crucible.vault.index.index import Index
from crucible.vault.notes.vault import Vault


@cache
def _prices() -> PriceList:
    return load_prices()


AT = datetime(2026, 11, 21, 9, tzinfo=UTC)
NOTE = """---
type: session
session_id: {name}
title: "Fix the {name}"
started: "{started}"
ended: "2026-11-21T10:00:00Z"
status: completed
project: {project}
participants:
  - claude-code@2.1
model: claude-opus-4-8
parent: {parent}
format: 2
---

# Fix the {name}

> [!findings]- 1 finding
> - correction: "Use tabs, not spaces." (reply, 0.88, rows d5925464)

<!-- crucible
sources:
  - claude-code:{native}
usage:
  - "2026-11-21 claude-opus-4-8: input 200, output 84, cache_read 1000"
-->
"""


def write_session(
    vault: Vault,
    name: str,
    records: Iterable[dict[str, Any]] = (),
    *,
    project: str = "shop",
    started: str = "2026-11-21T09:00:00Z",
    parent: str = "",
    native: str = "",
) -> None:
    """Write a session's note, and its archive if it has records."""
    sessions = vault.root / "sessions"
    sessions.mkdir(exist_ok=True)
    link = f'"[[{parent}]]"' if parent else ""
    text = NOTE.format(
        name=name, project=orjson.dumps(project).decode(), started=started, parent=link, native=native or f"id-{name}"
    )
    (sessions / f"{name}.md").write_text(text, encoding="utf-8")
    lines = []
    for at, record in enumerate(records, 1):
        full = {"seq": at, "key": f"{at:016x}", "time": AT.replace(second=at % 60), "phase": "phase-1", **record}
        file = TOOLS if record["type"] in TOOL_TYPES else EVENTS
        lines.append(NewLine(file, at.to_bytes(8, "big"), dump_record(full) + b"\n"))
    if lines:
        archive_new(vault.root, name, lines, AT, AT)


def call(
    tool: str, end: str = "ok", *, ident: str = "c1", text: str = "done", **arguments: Any
) -> list[dict[str, Any]]:
    """A call and its result."""
    return [
        {"type": "ToolUsed", "call": ident, "name": tool, "arguments": arguments},
        {"type": "ToolReturned", "call": ident, "text": text, "end": end, "details": {"exit_code": 1}},
    ]


SAID = [{"type": "Prompted", "text": "Fix the secret plan", "kind": "typed"}, *call("Bash", command="ls")]


def export(
    vault: Vault,
    lake: Path | LakeStore,
    options: ExportOptions | None = None,
    *,
    delete: Sequence[str] = (),
    cases: Sequence[CaseFacts] = (),
    **more: Any,
) -> ExportReport:
    """Export a vault in this process."""
    settings = vault.settings
    index = Index(str(vault.root), settings)
    source = VaultSource(str(vault.root), "a" * 32, settings, _prices(), cases)
    store = open_store(str(lake)) if isinstance(lake, Path) else lake
    more = {"workers": Workers(), "lock_seconds": 0.0, **more}
    ask = more.pop("ask", lambda question: index.ask(question)[0])
    return export_lake(source, ask, store, options or ExportOptions(), delete=delete, **more)


def rows(lake: Path, sql: str) -> list[Mapping[str, object]]:
    """The rows that a query of the lake gives."""
    return list(query_lake(open_store(str(lake)), sql).rows)


def files_with(lake: Path, *needles: str) -> list[str]:
    """The files whose bytes, or whose rows, have one of the texts."""
    found = []
    for path in sorted(lake.rglob("*")):
        if path.is_file():
            text = path.read_bytes().decode("utf-8", "replace")
            if path.suffix == ".parquet":
                text += repr(parquet.read_table(path).to_pylist())
            if any(needle in text for needle in needles):
                found.append(path.relative_to(lake).as_posix())
    return found


def secret_settings(vault: Vault, rule: str) -> Vault:
    """The vault with a rule of its own for secrets."""
    secrets = vault.settings.secrets._replace(rules=(("own", rule),))
    return Vault(vault.root, vault.settings._replace(secrets=secrets))
