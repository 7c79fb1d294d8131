"""Gemini CLI: its program and logs.

`cru` cannot resume or ask Gemini CLI; context can only be passed in its first prompt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from crucible.clients.client import ClientProfile, GivenContext


def _logs_folder(env: Mapping[str, str], home: Path) -> Path:
    """Return the logs folder; `GEMINI_CLI_HOME` replaces the home folder."""
    return Path(env.get("GEMINI_CLI_HOME") or home) / ".gemini"


def _give_context(text: str, _file: str, _env: Mapping[str, str], more: Sequence[str]) -> GivenContext:
    return GivenContext(("-i", text), {}, more)


CLIENT = ClientProfile(
    name="gemini",
    title="Gemini CLI",
    program="gemini",
    package="@google/gemini-cli",
    logs_folder=_logs_folder,
    logs_below=("tmp",),
    log_files=("tmp/*/chats/session-*.json*", "tmp/*/chats/*/*.json*"),
    proven="0.61.0",
    give_context=_give_context,
    file_tools=frozenset({"write_file", "replace", "read_file"}),
    asking_tools=frozenset({"ask_user"}),
    prompted=True,
)
