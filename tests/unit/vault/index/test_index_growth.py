"""Building the index is linear in the notes: counted in what is written, not in seconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from crucible.core.settings.settings import VaultSettings
from crucible.vault.index import index as indexing
from crucible.vault.index.index import Index
from crucible.vault.index.index_files import IndexFolder, ShardFile
from samples import vaults


def _written(root: Path, count: int, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Build the index in small batches; return the lines of tables and the bytes of the table of files."""
    written: Counter[str] = Counter()
    write_shard, write_files = IndexFolder.write_shard, IndexFolder.write_files

    def shard(self: IndexFolder, shard: str, table: str, lines: Iterable[bytes], rows: int, token: str) -> ShardFile:
        written["lines"] += rows
        return write_shard(self, shard, table, lines, rows, token)

    def files(self: IndexFolder, head: bytes, blocks: Iterable[bytes], token: str) -> str:
        kept = list(blocks)
        written["files"] += sum(map(len, kept))
        return write_files(self, head, kept, token)

    with monkeypatch.context() as patched:
        patched.setattr(vaults, "_SPAN", timedelta(days=count))
        vaults.generated_vault(root, count)
        patched.setattr(indexing, "_BATCH", 10)
        patched.setattr(IndexFolder, "write_shard", shard)
        patched.setattr(IndexFolder, "write_files", files)
        Index(root, VaultSettings()).refresh()
    return written


def test_twice_the_notes_and_months_write_twice_as_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (_written(tmp_path / str(count), count, monkeypatch) for count in (150, 600))
    assert {what: many[what] / few[what] for what in many if many[what] > 4 * few[what] * 1.5} == {}


def test_statistics_by_agent_read_no_phases_of_sessions_with_one_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from crucible.vault.index.query import SessionQuery
    from crucible.vault.index.stats import aggregate

    index = Index(vaults.generated_vault(tmp_path, 30), VaultSettings())
    index.refresh()
    read: Counter[str] = Counter()
    read_shard: Any = IndexFolder.read_shard

    def counted(self: IndexFolder, found: ShardFile) -> bytes:
        read[found.table] += 1
        return bytes(read_shard(self, found))

    monkeypatch.setattr(IndexFolder, "read_shard", counted)
    _, refreshed = index.ask(lambda view: aggregate(view, SessionQuery(), "agent"))
    assert read == {"sessions": len(refreshed.view.shards), "participants": len(refreshed.view.shards)}
