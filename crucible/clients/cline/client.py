"""Cline CLI: its program and logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from crucible.clients.client import PROMPT, SESSION, ClientProfile, GivenContext


def _logs_folder(env: Mapping[str, str], home: Path) -> Path:
    """Return the logs folder; `CLINE_DATA_DIR` replaces it."""
    return Path(env.get("CLINE_DATA_DIR") or home / ".cline" / "data")


def _give_context(text: str, _file: str, _env: Mapping[str, str], more: Sequence[str]) -> GivenContext:
    return GivenContext(("-i", text), {}, more)


CLIENT = ClientProfile(
    name="cline",
    title="Cline CLI",
    program="cline",
    package="cline",
    logs_folder=_logs_folder,
    logs_below=("sessions",),
    log_files=("sessions/*/*.messages.json",),
    proven="3.0.65",
    give_context=_give_context,
    file_tools=frozenset({"read_files", "editor"}),
    asking_tools=frozenset({"ask_question"}),
    prompted=True,
    native=("--id", SESSION),
    asked=("-i", PROMPT),
)
