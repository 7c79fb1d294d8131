"""Install, find and remove our hooks in a client's settings.  Nothing else in the file is changed.

All clients use the same form of settings.  `HookSettings` has each client's files and events.
"""

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

from crucible.clients.client import HookSettings
from crucible.clients.settings_files import (
    Node,
    changed,
    find,
    has_text,
    is_written,
    load,
    named,
    new_file,
    parse,
    put_in,
    remove,
    replaced,
    take_out,
    written,
)
from crucible.core.errors import UsageError
from crucible.core.templates import render_template

_OURS = re.compile(r"""(?:(?:^|[/\\\s"'])cru(?:\.exe)?["']?|-m crucible) hook [a-z][a-z-]*""")
_HOOK = re.compile(r" hook [a-z][a-z-]*( .*)?\Z")
_COMMAND = re.compile(r"^const COMMAND = (\".*\")$", re.MULTILINE)
"""The line of a plugin with its command."""


@dataclass(frozen=True, slots=True)
class Installed:
    """Our hooks in a settings file: the hooked events, and those that are missing or changed."""

    path: Path
    events: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    """The commands in our entries, without duplicates."""


def hooks_path(hooks: HookSettings, env: Mapping[str, str], home: Path, project: Path | None) -> Path:
    """Return the path of the user's settings file, or of a project's."""
    return project / hooks.project if project is not None else hooks.user(env, home)


def install_hooks(hooks: HookSettings, path: Path, command: str, *, dry_run: bool = False) -> bool:
    """Add our hooks to a settings file, creating it if it is missing; return whether anything changed."""
    if hooks.plugin:
        return changed(path, lambda text: _with_plugin(text, hooks.plugin, command), dry_run=dry_run)
    return changed(path, lambda text: with_hooks(text, command, hooks.events), dry_run=dry_run)


def uninstall_hooks(hooks: HookSettings, path: Path, *, dry_run: bool = False) -> bool:
    """Remove our hooks; delete the file and its folder if nothing else is left.  Return whether anything changed."""
    if hooks.plugin:
        return changed(path, _without_plugin, hooks.user.below.count("/"), dry_run=dry_run)
    return changed(
        path,
        lambda text: None if text is None else without_hooks(text),
        folders=int(path.parent.name.startswith(".")),
        dry_run=dry_run,
    )


def find_installed(hooks: HookSettings, path: Path, command: str = "") -> Installed:
    """Find our hooks.  If `command` is given, an entry with another command counts as missing."""
    text = load(path) or ""
    if hooks.plugin:
        found = tuple(map(json.loads, _COMMAND.findall(text))) if is_written(text) else ()
        return Installed(path, found and ("plugin",), () if found and command in ("", *found) else ("plugin",), found)
    return _installed(path, text, command, hooks.events)


def _installed(path: Path, text: str, command: str, events: Mapping[str, Mapping[str, Any]]) -> Installed:
    with named(path):
        ours = _ours(parse(text).root) if has_text(text) else ()
        found = {event.key: handler.value for handler, _, _, event, _ in ours}
    good = [e for e, how in events.items() if e in found and (not command or found[e] == _handler(command, how))]
    called = dict.fromkeys(str(handler.get("command")) for handler in found.values())
    return Installed(path, tuple(found), tuple(e for e in events if e not in good), tuple(called))


def missing_program(command: str, search: str | None) -> str:
    """Return the program of one of our hook commands if it cannot be run, else "".  `search` is a `PATH`.

    Our hook commands hide their errors from the client, so a missing program is reported only here.
    """
    try:
        words = shlex.split(_HOOK.sub("", command))
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


def with_hooks(text: str | None, command: str, events: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the text of a settings file with our hooks added; `text` is None if the file is missing."""
    if new := new_file(text, {"hooks": {event: [_group(command, how)] for event, how in events.items()}}):
        return new
    for event, how in events.items():
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


def _with_plugin(text: str | None, template: str, command: str) -> str:
    if text is not None and not is_written(text):
        raise UsageError("already exists, and was written or edited by hand", "move it away; nothing was changed")
    return written(render_template(template, command=json.dumps(command)), "// {}")


def _without_plugin(text: str | None) -> str | None:
    """Return None to remove the plugin, unless the user has edited it."""
    return None if text is None or is_written(text) else text
