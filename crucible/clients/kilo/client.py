"""Kilo CLI: its program and logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from crucible.clients.client import PROMPT, SESSION, ClientProfile, GivenContext


def _logs_folder(env: Mapping[str, str], home: Path) -> Path:
    """Return the logs folder; it has the same path on every system."""
    return Path(env.get("XDG_DATA_HOME") or home / ".local" / "share") / "kilo"


def _give_context(text: str, _file: str, _env: Mapping[str, str], more: Sequence[str]) -> GivenContext:
    return GivenContext(("--prompt", text), {}, more)


CLIENT = ClientProfile(
    name="kilo",
    title="Kilo CLI",
    program="kilo",
    package="@kilocode/cli",
    logs_folder=_logs_folder,
    log_files=("kilo*.db", "kilo*.db-wal"),
    give_context=_give_context,
    file_tools=frozenset({"write", "edit", "multiedit", "read", "patch", "apply_patch"}),
    asking_tools=frozenset({"question"}),
    prompted=True,
    native=("--session", SESSION),
    asked=("--prompt", PROMPT),
)
