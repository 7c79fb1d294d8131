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
    "gemini",
    "Gemini CLI",
    "gemini",
    "@google/gemini-cli",
    _logs_folder,
    _give_context,
    frozenset({"write_file", "replace", "read_file"}),
    frozenset({"ask_user"}),
    prompted=True,
)
