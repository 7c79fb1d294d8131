"""Memory does not grow with a transcript beyond what its note needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.paths import ROOT
from tests.unit.clients.building import Row, assistant, text, use, user
from tests.unit.commands.imports.places import make_vault, notes_of

SIZE = 40_000_000
RESULT = 200_000

_SCRIPT = """
import resource, sys
from pathlib import Path
from datetime import UTC, datetime
from crucible.commands.imports.imports import ImportOptions, import_transcripts
from crucible.core.settings.settings import VaultSettings
from crucible.clients.registry import DIALECTS
from crucible.vault.notes.vault import Vault
vault = Vault(Path(sys.argv[1]), VaultSettings(fsync=False))
report = import_transcripts(vault, DIALECTS["claude-code"], [Path(sys.argv[2])],
                            options=ImportOptions(datetime(2026, 11, 23, tzinfo=UTC)))
assert len(report.created) == 1, report
# ru_maxrss survives fork and exec: it would tell this process's parent's peak.
status = Path("/proc/self/status")
if status.exists():
    print(next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM")))
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def large_rows(size: int) -> Iterator[Row]:
    """Nine tenths of it are tool results."""
    yield user("Read everything")
    for number in range(size // RESULT):
        yield assistant(text(f"Reading part {number}. " * 40), use("Read", f"c{number}", file_path=f"/x/{number}.txt"))
        content = ("line of text\n" * (RESULT // 26))[: RESULT // 2]
        block = {"type": "tool_result", "tool_use_id": f"c{number}", "content": content}
        file = {"filePath": "x", "content": content, "numLines": 9, "totalLines": 9}
        yield user([block], toolUseResult={"type": "text", "file": file})
    yield assistant(text("Done."), stop="end_turn")


def write_large(path: Path, size: int) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for row in large_rows(size):
            file.write(json.dumps(row) + "\n")
    return path


def peak_of_import(vault: Path, transcript: Path) -> int:
    """Bytes of the largest resident size of a process that imports."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(vault), str(transcript)],
        env=env,
        capture_output=True,
        check=True,
        timeout=120,
    )
    return int(run.stdout) * 1024


def test_a_large_transcript_needs_little_more_memory_than_a_small_one(tmp_path: Path) -> None:
    name = "11111111-2222-3333-4444-555555555555.jsonl"
    sizes = {}
    for size in (RESULT, SIZE):
        (tmp_path / str(size)).mkdir()
        transcript = write_large(tmp_path / str(size) / name, size)
        vault = make_vault(tmp_path / f"vault-{size}")
        sizes[size] = peak_of_import(vault.root, transcript)
        (note,) = notes_of(vault).values()
        assert len(list(note.session.calls())) == size // RESULT
    assert sizes[SIZE] < 150_000_000
    assert sizes[SIZE] - sizes[RESULT] < 40_000_000
