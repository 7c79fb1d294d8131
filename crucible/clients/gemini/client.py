"""Gemini CLI: its program, logs and settings files.

`cru` cannot resume or ask it; context can only be passed in its first prompt.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from crucible.clients.client import ClientProfile, ContextOption, Folder, HookSettings, McpSettings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_RETENTION = "30d"
"""Gemini CLI's default for `general.sessionRetention.maxAge`."""
_LONGEST_NUMBER = 7
_HOURS = {"h": 1, "d": 24, "w": 24 * 7, "m": 24 * 30}

home_folder = Folder("", "GEMINI_CLI_HOME", ".gemini")


def _retention_days(env: Mapping[str, str], home: Path) -> int | None:
    """Return the age at which the client deletes sessions, by its settings of 2026; None if it keeps them."""
    try:
        settings = json.loads((home_folder(env, home) / "settings.json").read_bytes())
        given = settings.get("general", {}).get("sessionRetention", {})
        is_on, age = given.get("enabled", True), given.get("maxAge", _RETENTION)
    except (OSError, ValueError, AttributeError, RecursionError):
        is_on, age = True, _RETENTION
    number, unit = (age[:-1], _HOURS.get(age[-1:], 0)) if isinstance(age, str) else ("", 0)
    return int(number) * unit // 24 if is_on and unit and number.isdecimal() and len(number) < _LONGEST_NUMBER else None


CLIENT = ClientProfile(
    name="gemini",
    title="Gemini CLI",
    program="gemini",
    package="@google/gemini-cli",
    logs_folder=home_folder,
    logs_below=("tmp",),
    log_files=("tmp/*/chats/session-*.json*", "tmp/*/chats/*/*.json*"),
    tested="0.61.0",
    give_context=ContextOption("-i"),
    file_tools=frozenset({"write_file", "replace", "read_file"}),
    asking_tools=frozenset({"ask_user"}),
    prompted=True,
    retention_days=_retention_days,
    mcp=McpSettings(
        user=Folder("", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        project=".gemini/settings.json",
        instructions=Folder("", "GEMINI_CLI_HOME", ".gemini/GEMINI.md"),
        project_instructions="GEMINI.md",
        shown_by="gemini mcp list",
    ),
    hooks=HookSettings(
        user=Folder("", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        events={event: {"timeout": 10_000} for event in ("SessionStart", "AfterAgent", "SessionEnd")},
    ),
)
