"""Goose: its program and logs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from crucible.clients.client import ClientProfile


def _logs_folder(env: Mapping[str, str], home: Path) -> Path:
    """Return the logs folder; `GOOSE_PATH_ROOT` replaces the folders of its data."""
    root = env.get("GOOSE_PATH_ROOT")
    if root:
        return Path(root) / "data"
    return Path(env.get("XDG_DATA_HOME") or home / ".local" / "share") / "goose"


CLIENT = ClientProfile(
    name="goose",
    title="Goose",
    program="goose",
    logs_folder=_logs_folder,
    logs_below=("sessions",),
    log_files=("sessions/sessions.db", "sessions/sessions.db-wal"),
    file_tools=frozenset({"developer__text_editor", "text_editor"}),
    asking_tools=frozenset(),
)
