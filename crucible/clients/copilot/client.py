"""GitHub Copilot CLI: its program, logs and settings files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from crucible.clients.client import PROMPT, SESSION, ClientProfile, Folder, GivenContext, HookSettings, McpSettings

_FOLDERS = "COPILOT_CUSTOM_INSTRUCTIONS_DIRS"


def _give_context(_text: str, file: str, env: Mapping[str, str], more: Sequence[str]) -> GivenContext:
    """Name the folder of the file, whose name must end in `.instructions.md`, after the user's own folders."""
    folders = ",".join(filter(None, (env.get(_FOLDERS), str(Path(file).parent))))
    return GivenContext((), {_FOLDERS: folders}, more)


CLIENT = ClientProfile(
    name="copilot",
    title="GitHub Copilot CLI",
    program="copilot",
    package="@github/copilot",
    logs_folder=Folder(".copilot", "COPILOT_HOME"),
    logs_below=("session-state",),
    log_files=("session-state/*/events.jsonl",),
    tested="1.0.102",
    give_context=_give_context,
    file_tools=frozenset({"view", "create", "edit"}),
    asking_tools=frozenset({"ask_user"}),
    mcp=McpSettings(
        user=Folder(".copilot", "COPILOT_HOME", "mcp-config.json"),
        project=".github/mcp.json",
        instructions=Folder(".copilot", "COPILOT_HOME", "copilot-instructions.md"),
        shown_by="copilot mcp list",
        entry=lambda program: {"type": "local", "command": program[0], "args": [*program[1:]], "tools": ["*"]},
    ),
    hooks=HookSettings(
        user=Folder(".copilot", "COPILOT_HOME", "settings.json"),
        events={event: {"timeout": 10} for event in ("SessionStart", "Stop", "SessionEnd")},
    ),
    tools_option="--available-tools",
    session_option="--session-id",
    continuing=("--continue", "--resume", "-r", "--connect"),
    native=("--session-id", SESSION),
    asked=("-i", PROMPT),
    piped=("--silent",),
    piped_native=("--silent", "--session-id", SESSION),
)
