"""Qwen Code: its program and logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from crucible.clients.client import PROMPT, SESSION, ClientProfile, GivenContext


def _logs_folder(env: Mapping[str, str], home: Path) -> Path:
    """Return the logs folder; `QWEN_HOME` replaces it."""
    return Path(env.get("QWEN_HOME") or home / ".qwen")


def _give_context(text: str, _file: str, _env: Mapping[str, str], more: Sequence[str]) -> GivenContext:
    return GivenContext(("--append-system-prompt", text), {}, more)


CLIENT = ClientProfile(
    name="qwen-code",
    title="Qwen Code",
    program="qwen",
    package="@qwen-code/qwen-code",
    logs_folder=_logs_folder,
    logs_below=("projects",),
    log_files=("projects/*/chats/*.jsonl",),
    proven="0.15.10",
    give_context=_give_context,
    file_tools=frozenset({"read_file", "write_file", "edit"}),
    asking_tools=frozenset({"ask_user_question"}),
    native=("--resume", SESSION),
    asked=("-i", PROMPT),
)
