"""Memory: one transcript of 200 MB, nine tenths of it tool results, imported by a process of its own."""

from __future__ import annotations

from pathlib import Path

from benchmarks.import_speed import cru_import
from benchmarks.measuring import Figure
from samples.transcripts import write_large

BAR = 500.0
SIZE = 200_000_000


def measure(scratch: Path) -> list[Figure]:
    path = write_large(scratch / "large" / "11111111-2222-4333-8444-555555555555.jsonl", SIZE)
    ran = cru_import(scratch / "large-vault", path, scratch / "large.log")
    assert ran.code == 0, ran
    assert "1 created, 0 updated, 0 unchanged, 0 unreadable" in ran.out, ran
    note = next((scratch / "large-vault" / "sessions").rglob("*.md"))
    detail = f"{path.stat().st_size / 1e6:.0f} MB transcript, {note.stat().st_size / 1e3:.0f} kB note"
    return [
        Figure("peak memory of importing 200 MB", ran.peak / 1e6, BAR, "MB", detail=detail),
        Figure("time of importing 200 MB", ran.seconds, None, "s", detail=f"processor {ran.cpu:.2f} s"),
    ]
