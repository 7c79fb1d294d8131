"""Install, find and remove our hooks in Claude Code's `settings.json`.  Nothing else in the file is changed."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crucible.clients.claude_code.client import home_folder
from crucible.clients.settings_files import (
    Node,
    changed,
    find,
    has_text,
    load,
    named,
    new_file,
    parse,
    put_in,
    remove,
    replaced,
    take_out,
)

EVENTS: Mapping[str, Mapping[str, Any]] = {
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
}
"""The hooked events and their options.  With `async`, hooks never block tool calls."""

_OURS = re.compile(r"""(?:(?:^|[/\\\s"'])cru(?:\.exe)?["']?|-m crucible) hook claude-code\b""")


@dataclass(frozen=True, slots=True)
class Installed:
    """Our hooks in a settings file: the hooked events, and those that are missing or changed."""

    path: Path
    events: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    """The commands in our entries, without duplicates."""


def settings_path(env: Mapping[str, str], home: Path, project: Path | None) -> Path:
    """Return the path of the user's settings file, or of a project's."""
    if project is not None:
        return project / ".claude" / "settings.json"
    return home_folder(env, home) / "settings.json"


def install_hooks(path: Path, command: str, *, dry_run: bool = False) -> bool:
    """Add our hooks to a settings file, creating it if it is missing; return whether anything changed."""
    return changed(path, lambda text: with_hooks(text, command), dry_run=dry_run)


def uninstall_hooks(path: Path, *, dry_run: bool = False) -> bool:
    """Remove our hooks; delete the file and its folder if nothing else is left.  Return whether anything changed."""
    return changed(
        path,
        lambda text: None if text is None else without_hooks(text),
        folders=int(path.parent.name == ".claude"),
        dry_run=dry_run,
    )


def find_installed(path: Path, command: str = "") -> Installed:
    """Find our hooks.  If `command` is given, an entry with another command counts as missing."""
    text = load(path) or ""
    with named(path):
        ours = _ours(parse(text).root) if has_text(text) else ()
        found = {event.key: handler.value for handler, _, _, event, _ in ours}
    good = [e for e, how in EVENTS.items() if e in found and (not command or found[e] == _handler(command, how))]
    called = dict.fromkeys(str(handler.get("command")) for handler in found.values())
    return Installed(path, tuple(found), tuple(e for e in EVENTS if e not in good), tuple(called))


def missing_program(command: str, search: str | None) -> str:
    """Return the program of one of our hook commands if it cannot be run, else "".  `search` is a `PATH`.

    Our hook commands hide their errors from the client, so a missing program is reported only here.
    """
    try:
        words = shlex.split(command.partition(" hook claude-code")[0])
    except ValueError:
        return command
    if not words:
        return command
    found = shutil.which(words[0], path=search)
    if found is None:
        return words[0]
    # The script's Python may be gone after an upgrade or after its environment was moved.
    interpreter = _interpreter_of(Path(found))
    return "" if interpreter is None or os.access(interpreter, os.X_OK) else f"{found} (made for {interpreter})"


def _interpreter_of(program: Path) -> str | None:
    try:
        with program.open("rb") as file:
            line = file.readline(4096)
    except OSError:
        return None
    words = line[2:].split() if line.startswith(b"#!/") else []
    return os.fsdecode(words[0]) if words else None


# --- file contents ---------------------------------------------------------------------------------------------------


def with_hooks(text: str | None, command: str) -> str:
    """Return the text of a settings file with our hooks added; `text` is None if the file is missing."""
    if new := new_file(text, {"hooks": {event: [_group(command, how)] for event, how in EVENTS.items()}}):
        return new
    for event, how in EVENTS.items():
        text = _with_event(text or "", event, command, how)
    return text or ""


def without_hooks(text: str) -> str | None:
    """Return the text of a settings file without our hooks; None if nothing else was in it."""
    while has_text(text):
        parsed = parse(text)
        ours = next(_ours(parsed.root), None)
        if ours is None:
            break
        handler, handlers, *outer = ours
        if len(handlers.items) > 1:
            text = remove(parsed, handlers, handler)
            continue
        rest = take_out(parsed, *outer)
        if rest is None or not has_text(rest):
            return rest
        text = rest
    return text


def _ours(root: Node) -> Iterator[tuple[Node, Node, Node, Node, Node]]:
    """Yield each of our handlers with its parents: the handler list, the group, the event and the hooks object."""
    hooks = find(root, "hooks")
    for event in hooks.items if hooks and isinstance(hooks.value, dict) else ():
        for group in event.items if isinstance(event.value, list) else ():
            handlers = find(group, "hooks")
            for handler in handlers.items if handlers and isinstance(handlers.value, list) else ():
                command = handler.value.get("command") if isinstance(handler.value, dict) else None
                if hooks and handlers and isinstance(command, str) and _OURS.search(command):
                    yield handler, handlers, group, event, hooks


def _with_event(text: str, event: str, command: str, how: Mapping[str, Any]) -> str:
    parsed = parse(text)
    existing = next((handler for handler, _, _, place, _ in _ours(parsed.root) if place.key == event), None)
    if existing is None:
        return put_in(parsed, ("hooks", event), [_group(command, how)], "the settings")
    handler = _handler(command, how)
    return text if existing.value == handler else replaced(parsed, existing, json.dumps(handler))


def _handler(command: str, how: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "command", "command": command, **how}


def _group(command: str, how: Mapping[str, Any]) -> dict[str, Any]:
    return {"hooks": [_handler(command, how)]}
