"""Install, find and remove our status line in Claude Code's `settings.json`.  Nothing else in the file is changed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from crucible.clients.settings_files import (
    changed,
    find,
    has_text,
    load,
    named,
    new_file,
    parse,
    put_in,
    replaced,
    take_out,
)
from crucible.core.errors import UsageError

KEY = "statusLine"
_OURS = re.compile(r"""(?:(?:^|[/\\\s"'])cru(?:\.exe)?["']?|-m crucible) statusline\b""")


def install_status_line(path: Path, command: str, *, dry_run: bool = False) -> bool:
    """Add our status line; return whether anything changed.  `UsageError` if there is another one."""
    return changed(path, lambda text: with_status_line(text, command), dry_run=dry_run)


def uninstall_status_line(path: Path, *, dry_run: bool = False) -> bool:
    """Remove our status line; delete the file and its folder if nothing else is left."""
    return changed(
        path,
        lambda text: None if text is None else without_status_line(text),
        folders=int(path.parent.name == ".claude"),
        dry_run=dry_run,
    )


def has_status_line(path: Path) -> bool:
    """True if a settings file has our status line."""
    text = load(path) or ""
    with named(path):
        node = find(parse(text).root, KEY) if has_text(text) else None
    return node is not None and _is_ours(node.value)


def with_status_line(text: str | None, command: str) -> str:
    """Return the text of a settings file with our status line; `text` is None if the file is missing."""
    value = {"type": "command", "command": command}
    if new := new_file(text, {KEY: value}):
        return new
    parsed = parse(text or "")
    node = find(parsed.root, KEY)
    if node is None:
        return put_in(parsed, (KEY,), value, "the settings")
    if not _is_ours(node.value):
        raise UsageError("Claude Code already has another status line", f'remove "{KEY}" from its settings first')
    return parsed.text if node.value == value else replaced(parsed, node, json.dumps(value))


def without_status_line(text: str) -> str | None:
    """Return the text of a settings file without our status line; None if nothing else was in it."""
    if not has_text(text):
        return text
    parsed = parse(text)
    node = find(parsed.root, KEY)
    return text if node is None or not _is_ours(node.value) else take_out(parsed, node)


def _is_ours(value: Any) -> bool:
    command = value.get("command") if isinstance(value, dict) else None
    return isinstance(command, str) and _OURS.search(command) is not None
