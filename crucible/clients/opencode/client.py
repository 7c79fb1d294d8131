"""OpenCode: its program, folders and settings files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from crucible.clients.client import (
    PROMPT,
    SESSION,
    SYSTEM_PROMPT,
    Answer,
    ClientProfile,
    Folder,
    GivenContext,
    HookSettings,
    McpSettings,
    answer_failed,
    dollars_in,
    sum_counts,
)
from crucible.core.errors import UsageError

_INLINE = "OPENCODE_CONFIG_CONTENT"
_AGENT = "cru-asked"
_CONFIG = {
    # The second step is for a model that calls a missing tool; in the last step the client tells the model to stop.
    "agent": {_AGENT: {"mode": "primary", "prompt": SYSTEM_PROMPT, "permission": {"*": "deny"}, "steps": 2}},
    "share": "disabled",
    "snapshot": False,
}


def _give_context(_text: str, file: str, env: Mapping[str, str], more: Sequence[str]) -> GivenContext:
    return GivenContext((), {_INLINE: _with_instructions(env.get(_INLINE, ""), file)}, more)


def _with_instructions(known: str, file: str) -> str:
    """Add an instructions file to the settings in the environment."""
    try:
        settings = json.loads(known) if known.strip() else {}
    except (ValueError, RecursionError):
        settings = None
    if not isinstance(settings, dict):  # permissions in these settings must not be lost
        raise UsageError(f"{_INLINE}: not a JSON object, so no briefing can be added", "fix it, or unset it")
    there = settings.get("instructions")
    return json.dumps({**settings, "instructions": [*(there if isinstance(there, list) else []), file]})


def _read_answer(rows: list[dict[str, Any]], model: str) -> Answer | None:
    """Read the text of the last message of `opencode run --format json`, and the usage of all its steps."""
    if not any("sessionID" in row and ("part" in row or "error" in row) for row in rows):
        return None
    parts = [(row.get("type"), part) for row in rows if isinstance(part := row.get("part"), dict)]
    texts = [part for kind, part in parts if kind == "text" and isinstance(part.get("text"), str)]
    errors = [row for row in rows if row.get("type") == "error"]
    if errors and (not texts or errors[-1] is rows[-1]):
        raise answer_failed(model, errors[-1].get("error"))
    last = [part["text"] for part in texts if part.get("messageID") == texts[-1].get("messageID")]
    ends = [part for kind, part in parts if kind == "step_finish"]
    usages = [tokens for part in ends if isinstance(tokens := part.get("tokens"), dict)]
    caches = [cache for tokens in usages if isinstance(cache := tokens.get("cache"), dict)]
    fresh, read, written = sum_counts(usages, "input"), sum_counts(caches, "read"), sum_counts(caches, "write")
    total = None if fresh is None else fresh + (read or 0) + (written or 0)
    # OpenCode reports a cost of 0 for models without known prices.
    cost = sum(dollars for part in ends if (dollars := dollars_in(part.get("cost")))) or None
    return Answer("\n\n".join(last), model, cost, total, sum_counts(usages, "output", "reasoning"), read)


CLIENT = ClientProfile(
    name="opencode",
    title="OpenCode",
    program="opencode",
    package="opencode-ai",
    logs_folder=Folder(".local/share", "XDG_DATA_HOME", "opencode"),
    log_files=("opencode*.db", "opencode*.db-wal"),
    tested="1.18.33",
    give_context=_give_context,
    file_tools=frozenset({"write", "edit", "multiedit", "read", "patch", "apply_patch"}),
    asking_tools=frozenset({"question"}),
    mcp=McpSettings(
        user=Folder(".config", "XDG_CONFIG_HOME", "opencode/opencode.json"),
        project="opencode.json",
        has_jsonc=True,
        instructions=Folder(".config", "XDG_CONFIG_HOME", "opencode/AGENTS.md"),
        shown_by="opencode mcp list",
        section="mcp",
        entry=lambda program: {"type": "local", "command": [*program], "enabled": True},
    ),
    hooks=HookSettings(
        user=Folder(".config", "XDG_CONFIG_HOME", "opencode/plugins/crucible.js"), plugin="opencode-plugin.js.j2"
    ),
    native=("--session", SESSION),
    asked=("--prompt", PROMPT),
    piped=("run",),
    piped_native=("run", "--session", SESSION),
    counted=("--format", "json"),
    read_answer=_read_answer,
    # Without a title, OpenCode asks the model to write one.
    asked_once=("run", "--format", "json", "--pure", "--title", "asked", "--agent", _AGENT),
    asked_env={
        "OPENCODE_CONFIG_CONTENT": json.dumps(_CONFIG),
        "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
        "OPENCODE_DISABLE_CLAUDE_CODE": "1",
        "OPENCODE_DB": ":memory:",
    },
)
