"""All that was kept of a session, at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from crucible.core import zstd
from crucible.vault.events.event_files import archive_path
from crucible.vault.events.event_reader import EventRecord, load_meta, read_records


@dataclass(frozen=True, slots=True)
class Flight:
    """All of a session's records; `torn` counts the lines that were none, `archived` says that some were put away."""

    records: tuple[EventRecord, ...] = ()
    torn: int = 0
    meta: Mapping[str, object] = field(default_factory=dict)
    archived: bool = False


def load_flight(vault_root: Path, session_id: str) -> Flight:
    """Everything at once; use `read_records` for what may be large."""
    torn: list[int] = []
    records = tuple(read_records(vault_root, session_id, lambda _, line: torn.append(line)))
    archived = archive_path(vault_root, session_id).is_file()
    return Flight(records, len(torn), load_meta(vault_root, session_id), archived)


def stored_lines(vault_root: Path) -> dict[str, list[str]]:
    """The lines of records on disk by session, of folders and archives, as they are: copies are not left out."""
    found: dict[str, list[str]] = {}
    for path in sorted((vault_root / ".crucible" / "flight").glob("*/*.jsonl")):
        found.setdefault(path.parent.name, []).extend(path.read_text(encoding="utf-8").splitlines())
    for path in sorted((vault_root / ".crucible" / "archive").glob("*.jsonl.zst")):
        lines = zstd.decompress(path.read_bytes()).decode().splitlines()
        found.setdefault(path.name.removesuffix(".jsonl.zst"), []).extend(lines[1:])
    return found
