"""Codex: its program, folders and settings files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
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
    both,
    sum_counts,
    take_option,
)

_DEVELOPER = "developer_instructions="
_OFF = (
    *("shell_tool", "unified_exec", "view_image", "image_generation", "browser_use", "computer_use", "code_mode_host"),
    *("multi_agent", "goals", "memories", "hooks", "apps", "plugins", "skill_search", "tool_suggest"),
)
_CONFIG = (
    *(f"features.{name}=false" for name in _OFF),
    'web_search="disabled"',
    "agents.enabled=false",
    "tools.experimental_request_user_input.enabled=false",
    "tools.update_plan.enabled=false",
    "skills.include_instructions=false",
    "include_permissions_instructions=false",
    "include_environment_context=false",
    "include_apps_instructions=false",
    "project_doc_max_bytes=0",
    "notify=[]",
    f"instructions={json.dumps(SYSTEM_PROMPT)}",
)
"""Codex only warns about keys that its version does not support."""

home_folder = Folder(".codex", "CODEX_HOME")
"""Codex's configuration folder."""


def _give_context(text: str, _file: str, _env: Mapping[str, str], more: Sequence[str]) -> GivenContext:
    own, rest = take_option(more, ("-c", "--config"), _DEVELOPER)
    # A JSON string is also a TOML string, except for one character.
    value = json.dumps(both(text, _text_of(own)), ensure_ascii=False).replace("\x7f", "\\u007f")
    return GivenContext(("-c", f"{_DEVELOPER}{value}"), {}, rest)


def _text_of(value: str) -> str:
    """Return a value as Codex reads it: parsed as TOML or, if that fails, as plain text."""
    try:
        found = _parse_toml(f"x = {value.strip()}")["x"]
    except ValueError:
        return value
    return found if isinstance(found, str) else value


def _parse_toml(text: str) -> Mapping[str, object]:
    import tomllib  # noqa: PLC0415  slow, and only Codex's settings need it

    return tomllib.loads(text)


def _servers_off(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return options that disable the user's MCP servers.  If the settings cannot be read, Codex itself reports it."""
    folder = home_folder(env, Path(env.get("HOME") or os.path.expanduser("~")))
    try:
        servers = _parse_toml((folder / "config.toml").read_text(encoding="utf-8")).get("mcp_servers")
    except (OSError, ValueError, RecursionError):
        return ()
    if not isinstance(servers, dict) or not servers:
        return ()
    # Codex merges tables, so an empty table would leave all servers enabled.
    off = ", ".join(f"{json.dumps(name)} = {{enabled = false}}" for name in servers)
    return ("-c", f"mcp_servers={{{off}}}")


def _read_answer(rows: list[dict[str, Any]], model: str) -> Answer | None:
    """Read the last message of `codex exec --json`, and the usage of its turn."""
    if not any(str(row.get("type")).startswith(("thread.", "turn.", "item.")) for row in rows):
        return None
    messages = [text for row in rows if (text := _message_of(row))]
    failed = [row for row in rows if row.get("type") in ("turn.failed", "error")]
    if any(row.get("type") == "turn.failed" for row in rows) or (failed and not messages):
        raise answer_failed(model, failed[-1].get("error", failed[-1].get("message")))
    usage: dict[str, Any] = next((row["usage"] for row in reversed(rows) if isinstance(row.get("usage"), dict)), {})
    counts = (sum_counts([usage], name) for name in ("input_tokens", "output_tokens", "cached_input_tokens"))
    return Answer(messages[-1] if messages else "", model, None, *counts)


def _message_of(row: Mapping[str, Any]) -> str:
    item = row.get("item")
    if row.get("type") != "item.completed" or not isinstance(item, dict):
        return ""
    text = item.get("text")
    return text if item.get("type") == "agent_message" and isinstance(text, str) else ""


CLIENT = ClientProfile(
    name="codex",
    title="Codex",
    program="codex",
    package="@openai/codex",
    logs_folder=home_folder,
    logs_below=("sessions", "archived_sessions"),
    log_files=("sessions/*/*/*/rollout-*.jsonl*",),
    tested="0.169.0",
    give_context=_give_context,
    context_logged=True,
    file_tools=frozenset({"apply_patch", "view_image"}),
    asking_tools=frozenset({"request_user_input"}),
    mcp=McpSettings(
        user=Folder(".codex", "CODEX_HOME", "config.toml"),
        project=".codex/config.toml",
        instructions=Folder(".codex", "CODEX_HOME", "AGENTS.md"),
        shown_by="codex mcp list",
        section="",
    ),
    hooks=HookSettings(
        user=Folder(".codex", "CODEX_HOME", "hooks.json"),
        events={event: {"timeout": 10} for event in ("SessionStart", "Stop", "SessionEnd")},
        review="Codex asks you to review these hooks when it starts, and runs them after you trust them.",
    ),
    native=("resume", SESSION),
    asked=(PROMPT,),
    piped=("exec", "-"),
    piped_native=("exec", "resume", SESSION, "-"),
    counted=("--json",),
    read_answer=_read_answer,
    asked_once=(
        # Codex runs in an empty folder, but by default refuses to start outside a repository.
        *("exec", "-", "--json", "--skip-git-repo-check", "--ephemeral", "--sandbox", "read-only"),
        *(word for each in _CONFIG for word in ("-c", each)),
    ),
    asked_more=_servers_off,
)
