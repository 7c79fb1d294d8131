"""Cursor: its program and logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from crucible.clients.client import PROMPT, SESSION, ClientProfile, GivenContext


def _logs_folder(env: Mapping[str, str], home: Path) -> Path:
    """Return the logs folder."""
    return Path(env.get("CURSOR_CONFIG_DIR") or home / ".cursor")


def _give_context(text: str, _file: str, _env: Mapping[str, str], more: Sequence[str]) -> GivenContext:
    return GivenContext((text,), {}, more)


CLIENT = ClientProfile(
    name="cursor",
    title="Cursor",
    program="cursor-agent",
    logs_folder=_logs_folder,
    logs_below=("projects",),
    log_files=("projects/*/agent-transcripts/*.jsonl", "projects/*/agent-transcripts/*/*.jsonl"),
    give_context=_give_context,
    file_tools=frozenset({"Read", "Write", "StrReplace", "Delete"}),
    asking_tools=frozenset(),
    prompted=True,
    native=("--resume", SESSION),
    asked=(PROMPT,),
)
