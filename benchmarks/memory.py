"""Memory: one transcript of 200 MB, nine tenths of it tool results, imported by a process of its own."""

from __future__ import annotations

from pathlib import Path

from benchmarks.importing import import_command, new_vault
from benchmarks.measuring import Figure, good_run
from samples.transcripts import write_large

BAR = 500.0
SIZE = 200_000_000


def measure(scratch: Path) -> list[Figure]:
    path = write_large(scratch / "large" / "11111111-2222-4333-8444-555555555555.jsonl", SIZE)
    ran = good_run(import_command(new_vault(scratch / "large-vault"), path), scratch)
    note = next((scratch / "large-vault" / "sessions").rglob("*.md"))
    detail = f"{path.stat().st_size / 1e6:.0f} MB transcript, {note.stat().st_size / 1e3:.0f} kB note"
    return [
        Figure("peak memory of importing 200 MB", ran.peak / 1e6, BAR, "MB", detail=detail),
        Figure("time of importing 200 MB", ran.seconds, None, "s", detail=f"processor {ran.cpu:.2f} s"),
    ]
