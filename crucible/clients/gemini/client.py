"""Gemini CLI: its program.  It cannot be resumed or asked from here, and has no instructions but its first prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from crucible.clients.client import ClientProfile, GivenContext


def _logs_folder(env: Mapping[str, str], home: Path) -> Path:
    """`GEMINI_CLI_HOME` stands for the home that it is in."""
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
    prompted=True,
)
