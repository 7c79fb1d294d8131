"""Cline CLI: its program, logs and settings files."""

from __future__ import annotations

from crucible.clients.client import PROMPT, ClientProfile, ContextOption, Folder, McpSettings

CLIENT = ClientProfile(
    name="cline",
    title="Cline CLI",
    program="cline",
    package="cline",
    logs_folder=Folder(".cline/data", "CLINE_DATA_DIR"),
    logs_below=("sessions",),
    log_files=("sessions/*/*.messages.json",),
    proven="3.0.65",
    give_context=ContextOption("-i"),
    file_tools=frozenset({"read_files", "editor"}),
    asking_tools=frozenset({"ask_question"}),
    prompted=True,
    mcp=McpSettings(
        user=Folder(".cline/data", "CLINE_DATA_DIR", "settings/cline_mcp_settings.json"),
        project="",
        instructions=Folder(".cline", below="rules/crucible.md"),
        shown_by="cline config mcp",
        # Without a time limit in seconds, it waits 3 s for a server to start.
        entry=lambda program: {"command": program[0], "args": [*program[1:]], "timeout": 60},
    ),
    asked=("-i", PROMPT),
    piped=(PROMPT,),
)
