"""Zed: its program and logs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from crucible.clients.client import ClientProfile


def _logs_folder(env: Mapping[str, str], home: Path) -> Path:
    """Return the logs folder."""
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "Zed"
    return Path(env.get("XDG_DATA_HOME") or home / ".local" / "share") / "zed"


CLIENT = ClientProfile(
    name="zed",
    title="Zed",
    program="zed",
    logs_folder=_logs_folder,
    logs_below=("threads",),
    log_files=("threads/threads.db", "threads/threads.db-wal"),
    file_tools=frozenset({"read_file", "edit_file"}),
    asking_tools=frozenset(),
)
