"""Pi: its program and logs.  It has no MCP servers."""

from __future__ import annotations

from crucible.clients.client import PROMPT, SESSION, ClientProfile, ContextOption, Folder

CLIENT = ClientProfile(
    name="pi",
    title="Pi",
    program="pi",
    package="@mariozechner/pi-coding-agent",
    logs_folder=Folder(".pi/agent", "PI_CODING_AGENT_DIR"),
    logs_below=("sessions",),
    log_files=("sessions/*/*.jsonl",),
    tested="0.73.1",
    give_context=ContextOption("--append-system-prompt"),
    file_tools=frozenset({"read", "write", "edit"}),
    asking_tools=frozenset(),
    tools_option="--tools",
    native=("--session", SESSION),
    asked=(PROMPT,),
    piped=("-p",),
    piped_native=("-p", "--session", SESSION),
)
