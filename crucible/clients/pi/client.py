"""Pi: its program and logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from crucible.clients.client import PROMPT, SESSION, ClientProfile, GivenContext


def _logs_folder(env: Mapping[str, str], home: Path) -> Path:
    """Return the logs folder; `PI_CODING_AGENT_DIR` replaces it."""
    return Path(env.get("PI_CODING_AGENT_DIR") or home / ".pi" / "agent")


def _give_context(text: str, _file: str, _env: Mapping[str, str], more: Sequence[str]) -> GivenContext:
    return GivenContext(("--append-system-prompt", text), {}, more)


CLIENT = ClientProfile(
    name="pi",
    title="Pi",
    program="pi",
    package="@mariozechner/pi-coding-agent",
    logs_folder=_logs_folder,
    logs_below=("sessions",),
    log_files=("sessions/*/*.jsonl",),
    proven="0.73.1",
    give_context=_give_context,
    file_tools=frozenset({"read", "write", "edit"}),
    asking_tools=frozenset(),
    native=("--session", SESSION),
    asked=(PROMPT,),
)
