"""Cline CLI: its program, logs and settings files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from crucible.clients.client import PROMPT, SESSION, ClientProfile, Folder, GivenContext, McpSettings

_RULES = "Documents/Cline/Rules/briefing.md"
_SYNCED = ("OneDriveCommercial", "OneDriveConsumer", "OneDrive")
"""Variables that name a folder whose `Documents/Cline/Rules` has rules, also outside Windows.  Cline has no option for
instructions, and ignores a prompt when it continues a session."""


def _give_context(_text: str, file: str, env: Mapping[str, str], more: Sequence[str]) -> GivenContext:
    # `OneDrive` repeats one of the other two.
    free = next((name for name in _SYNCED if not env.get(name)), _SYNCED[-1])
    return GivenContext((), {free: str(Path(file).parents[_RULES.count("/")])}, more)


CLIENT = ClientProfile(
    name="cline",
    title="Cline CLI",
    program="cline",
    package="cline",
    logs_folder=Folder(".cline/data", "CLINE_DATA_DIR"),
    logs_below=("sessions",),
    log_files=("sessions/*/*.messages.json",),
    tested="3.0.65",
    give_context=_give_context,
    context_file=_RULES,
    file_tools=frozenset({"read_files", "editor"}),
    asking_tools=frozenset({"ask_question"}),
    mcp=McpSettings(
        user=Folder(".cline/data", "CLINE_DATA_DIR", "settings/cline_mcp_settings.json"),
        project="",
        instructions=Folder(".cline", below="rules/crucible.md"),
        shown_by="cline config mcp",
        # Without a time limit in seconds, it waits 3 s for a server to start.
        entry=lambda program: {"command": program[0], "args": [*program[1:]], "timeout": 60},
    ),
    native=("--id", SESSION),
    native_prompt=False,
    asked=("-i", PROMPT),
    piped=(PROMPT,),
)
