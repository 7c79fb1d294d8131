"""Cursor: its program and logs."""

from __future__ import annotations

from crucible.clients.client import ClientProfile, Folder

CLIENT = ClientProfile(
    name="cursor",
    title="Cursor",
    program="cursor-agent",
    logs_folder=Folder(".cursor", "CURSOR_CONFIG_DIR"),
    logs_below=("projects",),
    log_files=("projects/*/agent-transcripts/*.jsonl", "projects/*/agent-transcripts/*/*.jsonl"),
    file_tools=frozenset({"Read", "Write", "StrReplace", "Delete"}),
    asking_tools=frozenset(),
)
