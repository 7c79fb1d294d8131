"""Claude Code: its program, folders and settings files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from crucible.clients.client import (
    PROMPT,
    SESSION,
    SYSTEM_PROMPT,
    Answer,
    ClientProfile,
    ContextOption,
    Folder,
    HookSettings,
    McpSettings,
    answer_failed,
    dollars_in,
    printable,
    sum_counts,
)

NO_FILES: Mapping[str, str] = MappingProxyType({"CLAUDE_CODE_DISABLE_ATTACHMENTS": "1"})
"""Environment variables that stop Claude Code from reading files named with `@` in the prompt, which it does even
without tools."""

_RETENTION_DAYS = 30
"""Claude Code's default for `cleanupPeriodDays`."""

home_folder = Folder(".claude", "CLAUDE_CONFIG_DIR")
"""Claude Code's configuration folder."""


def _retention_days(env: Mapping[str, str], home: Path) -> int:
    try:
        days = json.loads((home_folder(env, home) / "settings.json").read_bytes()).get("cleanupPeriodDays")
    except (OSError, ValueError, AttributeError, RecursionError):
        days = None
    return days if isinstance(days, int) and not isinstance(days, bool) else _RETENTION_DAYS


def _read_answer(rows: list[dict[str, Any]], model: str) -> Answer | None:
    """Parse the output of `claude -p --output-format json`; `launch.llm_model` prints the same format.

    A failed answer has no `result`; its `subtype` is the reason.
    """
    row = rows[-1]
    if "result" not in row and row.get("type") != "result":
        return None
    text = row.get("result")
    if row.get("is_error") or not isinstance(text, str):
        raise answer_failed(model, text if isinstance(text, str) else row.get("subtype"))
    usage = row["usage"] if isinstance(row.get("usage"), dict) else {}
    return Answer(
        text,
        _model_of(row) or model,
        dollars_in(row.get("total_cost_usd")),
        sum_counts([usage], "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
        sum_counts([usage], "output_tokens"),
        sum_counts([usage], "cache_read_input_tokens"),
    )


def _model_of(row: Mapping[str, Any]) -> str:
    """Return the model with the most output tokens: the client may also use a small model."""
    by_model = row.get("modelUsage")
    if not isinstance(by_model, dict):
        name = row.get("model")
    else:
        output = {
            n: sum_counts([usage], "outputTokens") or 0 for n, usage in by_model.items() if isinstance(usage, dict)
        }
        name = max(output, key=lambda name: output[name], default=next(iter(by_model), ""))
    return printable(name) if isinstance(name, str) else ""


CLIENT = ClientProfile(
    name="claude-code",
    title="Claude Code",
    program="claude",
    package="@anthropic-ai/claude-code",
    logs_folder=Folder(".claude", "CLAUDE_CONFIG_DIR", "projects"),
    logs_below=("projects",),
    log_files=("*/*.jsonl", "*/*/subagents/*.jsonl", "*/*/subagents/*/*/*.jsonl"),
    tested="2.1.197",
    give_context=ContextOption("--append-system-prompt"),
    file_tools=frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit", "Read"}),
    asking_tools=frozenset({"AskUserQuestion"}),
    mcp=McpSettings(
        # This file is next to the default folder, but inside a configured one.
        user=Folder("", "CLAUDE_CONFIG_DIR", ".claude.json"),
        project=".mcp.json",
        instructions=Folder(".claude", "CLAUDE_CONFIG_DIR", "skills/crucible/SKILL.md"),
        project_instructions=".claude/skills/crucible/SKILL.md",
        shown_by="claude mcp list",
        entry=lambda program: {"type": "stdio", "command": program[0], "args": [*program[1:]]},
    ),
    hooks=HookSettings(
        user=Folder(".claude", "CLAUDE_CONFIG_DIR", "settings.json"),
        project=".claude/settings.json",
        # With `async`, hooks never block tool calls.
        events={
            "SessionStart": {"timeout": 10},
            "UserPromptSubmit": {"timeout": 10, "async": True},
            "PostToolUse": {"timeout": 10, "async": True},
            "PostToolUseFailure": {"timeout": 10, "async": True},
            "SubagentStart": {"timeout": 10, "async": True},
            "SubagentStop": {"timeout": 10, "async": True},
            "Stop": {"timeout": 10},
            "StopFailure": {"timeout": 10},
            "PreCompact": {"timeout": 30},
            "SessionEnd": {"timeout": 10},
        },
    ),
    retention_days=_retention_days,
    tools_option="--tools",
    session_option="--session-id",
    continuing=("--continue", "-c", "--resume", "-r", "--fork-session", "--from-pr"),
    native=("--resume", SESSION),
    asked=(PROMPT,),
    piped=("-p",),
    piped_native=("-p", "--resume", SESSION),
    counted=("--output-format", "json"),
    read_answer=_read_answer,
    asked_once=(
        *("-p", "--output-format", "json", "--max-turns", "1", "--no-session-persistence"),
        *("--tools", "", "--strict-mcp-config", "--system-prompt", SYSTEM_PROMPT),
    ),
    # Like `--safe-mode`, but also works in versions without that option.
    asked_env={"CLAUDE_CODE_SAFE_MODE": "1", **NO_FILES},
)
