"""How each client names its tools, words its results, and refuses.

Owns the shapes in which the dialects of `crucible.transcript` hand events on; the sentences are those of the clients.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["CLIENTS", "Client"]


@dataclass(frozen=True)
class Client:
    """`shell`, `reader` … are pairs of a tool's name and the argument that it is given."""

    name: str
    versions: tuple[str, ...]
    models: tuple[str, ...]
    shell: tuple[str, str]
    reader: tuple[str, str] | None
    writer: tuple[str, str] | None
    editor: tuple[str, str, str, str] | None
    searcher: tuple[str, str]
    delegator: str
    kinds: tuple[str, ...]
    says_exit: bool = False
    unknown_tool: str = "unsupported call: {tool}"
    no_match: str = "String to replace not found in file.\nString: {old}"
    rejects: str = ""
    described: bool = False
    shown: Mapping[str, str] = field(default_factory=dict)


CLIENTS = (
    Client(
        "claude-code",
        ("2.1.197", "2.1.180", "2.0.61"),
        ("claude-opus-4-8", "claude-sonnet-4-6", "claude-haiku-4-5"),
        ("Bash", "command"),
        ("Read", "file_path"),
        ("Write", "file_path"),
        ("Edit", "file_path", "old_string", "new_string"),
        ("Grep", "pattern"),
        "Agent",
        ("general-purpose", "explore", "code-reviewer"),
        says_exit=True,
        unknown_tool="<tool_use_error>Error: No such tool available: {tool}</tool_use_error>",
        no_match="<tool_use_error>String to replace not found in file.\nString: {old}</tool_use_error>",
        rejects="The user doesn't want to proceed with this tool use. The tool use was rejected.",
        described=True,
    ),
    Client(
        "codex",
        ("0.169.0", "0.151.0"),
        ("gpt-5.2-codex", "gpt-5.1-codex-max"),
        ("exec_command", "cmd"),
        None,
        None,
        None,
        ("exec_command", "cmd"),
        "spawn_agent",
        ("agent", "explorer", "worker"),
        no_match="apply_patch verification failed: Failed to find expected lines in {path}:\n{old}",
        rejects="exec command rejected by user",
    ),
    Client(
        "opencode",
        ("1.18.33", "1.16.2"),
        ("claude-sonnet-4-6", "kimi-k2", "glm-5"),
        ("bash", "command"),
        ("read", "filePath"),
        ("write", "filePath"),
        ("edit", "filePath", "oldString", "newString"),
        ("grep", "pattern"),
        "task",
        ("general", "explore"),
        unknown_tool="The arguments provided to the tool are invalid: Model tried to call unavailable tool '{tool}'. "
        "Available tools: bash, read, glob, grep, edit, write, task, webfetch, todowrite.",
        no_match="Could not find oldString in the file. It must match exactly, including whitespace, indentation, and "
        "line endings.",
        rejects="The user rejected permission to use this specific tool call.",
        described=True,
    ),
    Client(
        "gemini",
        ("0.31.0", "0.28.2"),
        ("gemini-3-pro", "gemini-3-flash"),
        ("run_shell_command", "command"),
        ("read_file", "file_path"),
        ("write_file", "file_path"),
        ("replace", "file_path", "old_string", "new_string"),
        ("grep_search", "pattern"),
        "invoke_agent",
        ("codebase_investigator", "generalist"),
        says_exit=True,
        unknown_tool='Tool "{tool}" not found. Did you mean one of: "read_file", "replace", "write_file"?',
        no_match="Failed to edit, 0 occurrences found for old_string in {path}. Original old_string was "
        "({old}) in {path}. No edits made.",
        rejects="User denied execution.",
        described=True,
    ),
)
