"""Gemini CLI: its program, logs and settings files.

`cru` cannot resume or ask it; context can only be passed in its first prompt.
"""

from __future__ import annotations

from crucible.clients.client import ClientProfile, ContextOption, Folder, McpSettings

CLIENT = ClientProfile(
    name="gemini",
    title="Gemini CLI",
    program="gemini",
    package="@google/gemini-cli",
    logs_folder=Folder("", "GEMINI_CLI_HOME", ".gemini"),
    logs_below=("tmp",),
    log_files=("tmp/*/chats/session-*.json*", "tmp/*/chats/*/*.json*"),
    proven="0.61.0",
    give_context=ContextOption("-i"),
    file_tools=frozenset({"write_file", "replace", "read_file"}),
    asking_tools=frozenset({"ask_user"}),
    prompted=True,
    mcp=McpSettings(
        user=Folder("", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        project=".gemini/settings.json",
        instructions=Folder("", "GEMINI_CLI_HOME", ".gemini/GEMINI.md"),
        project_instructions="GEMINI.md",
        shown_by="gemini mcp list",
    ),
)
