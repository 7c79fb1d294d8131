"""Qwen Code: its program, logs and settings files."""

from __future__ import annotations

from crucible.clients.client import PROMPT, SESSION, ClientProfile, ContextOption, Folder, HookSettings, McpSettings

CLIENT = ClientProfile(
    name="qwen-code",
    title="Qwen Code",
    program="qwen",
    package="@qwen-code/qwen-code",
    logs_folder=Folder(".qwen", "QWEN_HOME"),
    logs_below=("projects",),
    log_files=("projects/*/chats/*.jsonl",),
    tested="0.15.10",
    give_context=ContextOption("--append-system-prompt"),
    file_tools=frozenset({"read_file", "write_file", "edit"}),
    asking_tools=frozenset({"ask_user_question"}),
    mcp=McpSettings(
        user=Folder(".qwen", "QWEN_HOME", "settings.json"),
        project=".qwen/settings.json",
        instructions=Folder(".qwen", "QWEN_HOME", "QWEN.md"),
        shown_by="qwen mcp list",
    ),
    hooks=HookSettings(
        user=Folder(".qwen", "QWEN_HOME", "settings.json"),
        events={event: {"timeout": 10_000} for event in ("SessionStart", "Stop", "SessionEnd")},
    ),
    tools_option="--core-tools",
    session_option="--session-id",
    continuing=("--continue", "-c", "--resume", "-r"),
    native=("--resume", SESSION),
    asked=("-i", PROMPT),
    piped_native=("--resume", SESSION),
)
