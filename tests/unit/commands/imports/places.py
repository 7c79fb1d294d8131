"""Vaults and transcripts on disk for import tests: the real ones, and rows made by hand."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from crucible.clients.registry import DIALECTS
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.import_result import ImportReport
from crucible.commands.imports.imports import import_transcripts
from crucible.core.settings.settings import VaultSettings
from crucible.vault.notes.vault import Note, Vault
from tests.paths import TESTS
from tests.unit.clients.building import SESSION, Row

DATA = TESTS / "data"
REAL = DATA / "transcripts" / "claude-code"
CLAUDE = DIALECTS["claude-code"]
LATER = datetime(2026, 11, 23, tzinfo=UTC)
"""Long after every transcript went quiet."""


def make_vault(root: Path, settings: VaultSettings | None = None) -> Vault:
    """A vault that does not wait for the disk."""
    (root / ".crucible").mkdir(parents=True)
    (root / "sessions").mkdir()
    return Vault(root, settings or VaultSettings(fsync=False))


def copy_real(name: str, to: Path) -> Path:
    """A real session's project folder, to be changed at will."""
    (project,) = (REAL / name / "projects").iterdir()
    shutil.copytree(project, to, dirs_exist_ok=True)
    return to


def trunk_of(project: Path) -> Path:
    (trunk,) = project.glob("*.jsonl")
    return trunk


def write_rows(path: Path, rows: Iterable[Row]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def session_file(folder: Path, name: str = SESSION) -> Path:
    return folder / f"{name}.jsonl"


def run_import(vault: Vault, *paths: Path, now: datetime = LATER, **options: object) -> ImportReport:
    return import_transcripts(vault, CLAUDE, paths, options=ImportOptions(now, **options))  # type: ignore[arg-type]


def notes_of(vault: Vault) -> dict[str, Note]:
    return {path.stem: vault.read(path) for path in vault.session_paths()}


def bytes_of(vault: Vault) -> dict[str, bytes]:
    """Every file of the vault but locks, which come and go."""
    return {
        path.relative_to(vault.root).as_posix(): path.read_bytes()
        for path in sorted(vault.root.rglob("*"))
        if path.is_file() and "locks" not in path.parts
    }
