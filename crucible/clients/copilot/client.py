"""GitHub Copilot CLI: its program and logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from crucible.clients.client import PROMPT, SESSION, ClientProfile, GivenContext


def _logs_folder(env: Mapping[str, str], home: Path) -> Path:
    """Return the logs folder; `COPILOT_HOME` replaces it."""
    return Path(env.get("COPILOT_HOME") or home / ".copilot")


def _give_context(text: str, _file: str, _env: Mapping[str, str], more: Sequence[str]) -> GivenContext:
    return GivenContext(("-i", text), {}, more)


CLIENT = ClientProfile(
    name="copilot",
    title="GitHub Copilot CLI",
    program="copilot",
    package="@github/copilot",
    logs_folder=_logs_folder,
    logs_below=("session-state",),
    log_files=("session-state/*/events.jsonl",),
    proven="1.0.102",
    give_context=_give_context,
    file_tools=frozenset({"view", "create", "edit"}),
    asking_tools=frozenset({"ask_user"}),
    prompted=True,
    native=("--resume", SESSION),
    asked=("-i", PROMPT),
)
