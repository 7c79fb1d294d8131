"""Kilo CLI: its program and logs."""

from __future__ import annotations

from crucible.clients.client import ClientProfile, Folder

CLIENT = ClientProfile(
    name="kilo",
    title="Kilo CLI",
    program="kilo",
    package="@kilocode/cli",
    logs_folder=Folder(".local/share", "XDG_DATA_HOME", "kilo"),
    log_files=("kilo*.db", "kilo*.db-wal"),
    file_tools=frozenset({"write", "edit", "multiedit", "read", "patch", "apply_patch"}),
    asking_tools=frozenset({"question"}),
)
