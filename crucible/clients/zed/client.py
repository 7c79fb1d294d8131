"""Zed: its program and logs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from crucible.clients.client import ClientProfile, GivenContext


def _logs_folder(env: Mapping[str, str], home: Path) -> Path:
    """Return the logs folder."""
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "Zed"
    return Path(env.get("XDG_DATA_HOME") or home / ".local" / "share") / "zed"


def _give_context(_text: str, _file: str, _env: Mapping[str, str], more: Sequence[str]) -> GivenContext:
    return GivenContext((), {}, more)


CLIENT = ClientProfile(
    name="zed",
    title="Zed",
    program="zed",
    logs_folder=_logs_folder,
    logs_below=("threads",),
    log_files=("threads/threads.db", "threads/threads.db-wal"),
    give_context=_give_context,
    file_tools=frozenset({"read_file", "edit_file"}),
    asking_tools=frozenset(),
    prompted=True,
)
