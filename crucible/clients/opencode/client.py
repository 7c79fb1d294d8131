"""OpenCode: its program, folders and settings files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from crucible.clients.client import PROMPT, SESSION, SYSTEM_PROMPT, ClientProfile, GivenContext, McpSettings
from crucible.core.errors import UsageError

_INLINE = "OPENCODE_CONFIG_CONTENT"
_AGENT = "cru-asked"
_CONFIG = {
    # A model that calls a tool it does not have needs a second step; in the last step it is told to stop.
    "agent": {_AGENT: {"mode": "primary", "prompt": SYSTEM_PROMPT, "permission": {"*": "deny"}, "steps": 2}},
    "share": "disabled",
    "snapshot": False,
}


def _logs_folder(env: Mapping[str, str], home: Path) -> Path:
    """The same on every system."""
    return Path(env.get("XDG_DATA_HOME") or home / ".local" / "share") / "opencode"


def _give_context(_text: str, file: str, env: Mapping[str, str], more: Sequence[str]) -> GivenContext:
    return GivenContext((), {_INLINE: _with_instructions(env.get(_INLINE, ""), file)}, more)


def _with_instructions(known: str, file: str) -> str:
    """The settings in the environment with one more file of instructions."""
    try:
        settings = json.loads(known) if known.strip() else {}
    except (ValueError, RecursionError):
        settings = None
    if not isinstance(settings, dict):  # what it allows and forbids must not be lost
        raise UsageError(f"{_INLINE}: no JSON object, so no briefing can be added", "mend it, or unset it")
    there = settings.get("instructions")
    return json.dumps({**settings, "instructions": [*(there if isinstance(there, list) else []), file]})


def _mcp_places(env: Mapping[str, str], home: Path, project: Path | None) -> tuple[Path, Path]:
    folder = project or Path(env.get("XDG_CONFIG_HOME") or home / ".config") / "opencode"
    found = (folder / name for name in ("opencode.jsonc", "opencode.json"))
    return next((path for path in found if path.exists()), folder / "opencode.json"), folder / "AGENTS.md"


CLIENT = ClientProfile(
    "opencode",
    "OpenCode",
    "opencode",
    "opencode-ai",
    _logs_folder,
    _give_context,
    frozenset({"write", "edit", "multiedit", "read", "patch", "apply_patch"}),
    McpSettings(
        _mcp_places,
        "`opencode mcp list` shows crucible as connected",
        "mcp",
        lambda program: {"type": "local", "command": [*program], "enabled": True},
    ),
    native=("--session", SESSION),
    asked=("--prompt", PROMPT),
    piped=("run",),
    piped_native=("run", "--session", SESSION),
    counted=("--format", "json"),
    # Without a title OpenCode asks its model for one.
    asked_once=("run", "--format", "json", "--pure", "--title", "asked", "--agent", _AGENT),
    asked_env={
        "OPENCODE_CONFIG_CONTENT": json.dumps(_CONFIG),
        "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
        "OPENCODE_DISABLE_CLAUDE_CODE": "1",
        "OPENCODE_DB": ":memory:",
    },
)
