"""Claude Code: its program, folders and settings files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from crucible.clients.client import (
    PROMPT,
    SESSION,
    SYSTEM_PROMPT,
    ClientProfile,
    GivenContext,
    McpSettings,
    both,
    take_option,
)

NO_FILES: Mapping[str, str] = MappingProxyType({"CLAUDE_CODE_DISABLE_ATTACHMENTS": "1"})
"""Environment that keeps Claude Code from reading files named with `@` in the prompt, which it does even without tools."""

_CONTEXT_OPTION = "--append-system-prompt"


def home_folder(env: Mapping[str, str], home: Path) -> Path:
    """The client's own folder."""
    configured = env.get("CLAUDE_CONFIG_DIR")
    return Path(configured) if configured else home / ".claude"


def _logs_folder(env: Mapping[str, str], home: Path) -> Path:
    return home_folder(env, home) / "projects"


def _give_context(text: str, _file: str, _env: Mapping[str, str], more: Sequence[str]) -> GivenContext:
    own, rest = take_option(more, (_CONTEXT_OPTION,))
    return GivenContext((_CONTEXT_OPTION, both(text, own)), {}, rest)


def _mcp_places(env: Mapping[str, str], home: Path, project: Path | None) -> tuple[Path, Path]:
    own = home_folder(env, home)
    # The client's own file of servers lies beside its folder, in a configured folder inside.
    servers = project / ".mcp.json" if project else (own if env.get("CLAUDE_CONFIG_DIR") else home) / ".claude.json"
    return servers, (project / ".claude" if project else own) / "skills" / "crucible" / "SKILL.md"


CLIENT = ClientProfile(
    "claude-code",
    "Claude Code",
    "claude",
    "@anthropic-ai/claude-code",
    _logs_folder,
    _give_context,
    frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit", "Read"}),
    McpSettings(
        _mcp_places,
        "`claude mcp list`, or /mcp in the client, shows crucible as connected",
        "mcpServers",
        lambda program: {"type": "stdio", "command": program[0], "args": [*program[1:]]},
    ),
    native=("--resume", SESSION),
    asked=(PROMPT,),
    piped=("-p",),
    piped_native=("-p", "--resume", SESSION),
    counted=("--output-format", "json"),
    asked_once=(
        *("-p", "--output-format", "json", "--max-turns", "1", "--no-session-persistence"),
        *("--tools", "", "--strict-mcp-config", "--system-prompt", SYSTEM_PROMPT),
    ),
    # Like `--safe-mode`, but does not fail in versions without that option.
    asked_env={"CLAUDE_CODE_SAFE_MODE": "1", **NO_FILES},
)
