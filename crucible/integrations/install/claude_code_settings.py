"""Our hooks in Claude Code's `settings.json`: put in, looked for, and taken out again.

Owns which events we hook, what an entry looks like, and that nothing else in the file changes: others' entries, comments,
order and blanks are the user's.  Reading and writing the file safely is `writing`'s.
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

from crucible.core.errors import UsageError
from crucible.integrations.install.jsonc import Node, Parsed, insert, member, parse, remove, replaced, unit_of
from crucible.integrations.install.settings_files import changed, load, named

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
"""What is hooked, and how.  With `async` the client does not wait: nobody's tool call does for us."""

_OURS = re.compile(r"""(?:(?:^|[/\\\s"'])cru(?:\.exe)?["']?|-m crucible) hook claude-code\b""")


@dataclass(frozen=True, slots=True)
class Installed:
    """What of ours a settings file has: the events that are hooked, and those that are missing or not as they should be."""

    path: Path
    events: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    """What our entries call, each once."""


def settings_path(env: Mapping[str, str], home: Path, project: Path | None) -> Path:
    """The user's settings file, or a project's."""
    if project is not None:
        return project / ".claude" / "settings.json"
    configured = env.get("CLAUDE_CONFIG_DIR")
    return (Path(configured) if configured else home / ".claude") / "settings.json"


def install_hooks(path: Path, command: str) -> bool:
    """Put our hooks into a settings file, which need not be there; whether anything changed."""
    return changed(path, lambda text: with_hooks(text, command))


def uninstall_hooks(path: Path) -> bool:
    """Take our hooks out; a file, or a folder, that held nothing else goes too.  Whether anything changed."""
    return changed(
        path,
        lambda text: None if text is None else without_hooks(text),
        folders=int(path.parent.name == ".claude"),
    )


def find_installed(path: Path, command: str = "") -> Installed:
    """What is there; with a command, an entry that calls another one is lacking."""
    text = load(path)
    text = (text or "").removeprefix("\ufeff")
    with named(path):
        found = {place.event.key: place.handler.value for place in _ours(parse(text))} if text.strip() else {}
    good = [e for e, how in EVENTS.items() if e in found and (not command or found[e] == _handler(command, how))]
    called = dict.fromkeys(str(handler.get("command")) for handler in found.values())
    return Installed(path, tuple(found), tuple(e for e in EVENTS if e not in good), tuple(called))


def missing_program(command: str, search: str | None) -> str:
    """The program that a command of ours calls, when it cannot be run; "" when it can.  `search` is a `PATH`.

    Our commands hide their faults from the client, so nobody else says that a program is gone.
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
    # A script outlives the Python that it names, when that is upgraded or its environment moved.
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


# --- texts -----------------------------------------------------------------------------------------------------------


def with_hooks(text: str | None, command: str) -> str:
    """A settings file's text with our hooks; None is a file that is not there."""
    if text is None or not text.strip("\ufeff \t\r\n"):
        whole = json.dumps({"hooks": {event: [_group(command, how)] for event, how in EVENTS.items()}}, indent=2)
        return text + whole if text is not None else whole + "\n"
    bom, text = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    for event, how in EVENTS.items():
        text = _with_event(text, event, command, how)
    return bom + text


def without_hooks(text: str) -> str | None:
    """The text without our hooks; None when the whole file came with us."""
    bom, text = ("\ufeff", text[1:]) if text.startswith("\ufeff") else ("", text)
    while text.strip():
        parsed = parse(text)
        ours = next(_ours(parsed), None)
        if ours is None:
            break
        after = _without(parsed, ours)
        if not after:
            around = text[: parsed.root.start], text[parsed.root.end :]
            return None if (bom, *around) == ("", "", "\n") else bom + "".join(around)
        text = after
    return bom + text


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a handler of ours stands."""

    hooks: Node
    event: Node
    group: Node
    handlers: Node
    handler: Node


def _ours(parsed: Parsed) -> Iterator[_Place]:
    hooks = member(parsed.root, "hooks")
    for event in hooks.items if hooks and isinstance(hooks.value, dict) else ():
        for group in event.items if isinstance(event.value, list) else ():
            handlers = member(group, "hooks") if isinstance(group.value, dict) else None
            for handler in handlers.items if handlers and isinstance(handlers.value, list) else ():
                command = handler.value.get("command") if isinstance(handler.value, dict) else None
                if hooks and handlers and isinstance(command, str) and _OURS.search(command):
                    yield _Place(hooks, event, group, handlers, handler)


def _without(parsed: Parsed, ours: _Place) -> str:
    """Take a handler out, and with it every bracket that came with it; "" when nothing is left."""
    if len(ours.handlers.items) > 1:
        return remove(parsed, ours.handlers, ours.handler)
    for outer, inner in ((ours.event, ours.group), (ours.hooks, ours.event), (parsed.root, ours.hooks)):
        glued = inner.first == outer.start + 1
        if glued or len(outer.items) > 1:
            return remove(parsed, outer, inner)
    return ""


def _with_event(text: str, event: str, command: str, how: Mapping[str, Any]) -> str:
    parsed = parse(text)
    there = next((place for place in _ours(parsed) if place.event.key == event), None)
    if there:
        good = there.handler.value == _handler(command, how)
        return text if good else replaced(parsed, there.handler, json.dumps(_handler(command, how)))
    hooks = member(_checked(parsed.root, dict, "the settings"), "hooks")
    if hooks is None:
        return _inserted(parsed, parsed.root, "hooks", {event: [_group(command, how)]})
    groups = member(_checked(hooks, dict, "hooks"), event)
    if groups is None:
        return _inserted(parsed, hooks, event, [_group(command, how)])
    return _inserted(parsed, _checked(groups, list, f"hooks.{event}"), "", _group(command, how))


def _inserted(parsed: Parsed, into: Node, key: str, value: object) -> str:
    unit = unit_of(parsed.text)

    def render(indent: str) -> str:
        # In a file of one line, blanks instead of line breaks: a bracket of ours is never glued to what it holds.
        broken = "\n" in indent
        text = json.dumps(value, indent=unit if broken else "").replace("\n", indent if broken else " ")
        return f"{json.dumps(key)}: {text}" if key else text

    return insert(parsed, into, render)


def _checked(node: Node, kind: type, what: str) -> Node:
    if not isinstance(node.value, kind):
        expected = "an object" if kind is dict else "a list"
        raise UsageError(f"{what}: expected {expected}", "mend the file by hand; nothing was changed")
    return node


def _handler(command: str, how: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "command", "command": command, **how}


def _group(command: str, how: Mapping[str, Any]) -> dict[str, Any]:
    return {"hooks": [_handler(command, how)]}
