"""Register `cru mcp` in clients' settings, and add instructions for their agents on when to use it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from crucible.clients.registry import CLIENTS, MCP_SETTINGS
from crucible.clients.settings_files import (
    changed,
    find,
    has_text,
    is_written,
    load,
    named,
    new_file,
    parse,
    put_in,
    replaced,
    take_out,
    written,
)
from crucible.core.command_lines import install_command
from crucible.core.errors import CrucibleError, UsageError
from crucible.core.templates import render_template

_BOM = "\ufeff"


class Marks(NamedTuple):
    """The unique lines that begin and end a block."""

    opening: str
    closing: str


def with_block(text: str | None, body: str, marks: Marks) -> str:
    """Return the text with the block, in its old place or at the end.  A `text` of None means a missing file."""
    found = _place(text, marks) if text else None
    newline = _line_end(text[found[0] : found[1]] if text and found else text or "")
    block = newline.join([marks.opening, *body.rstrip("\n").split("\n"), marks.closing]) + newline
    if text is None:
        return block
    return text[: found[0]] + block + text[found[1] :] if found else text + newline + block


def without_block(text: str, marks: Marks) -> str | None:
    """Return the text without the block; None if nothing else is left."""
    found = _place(text, marks)
    if found is None:
        return text
    before, after = text[: found[0]], text[found[1] :]
    if not before and not after:
        return None
    return before.removesuffix(_line_end(text[found[0] : found[1]])) + after


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _place(text: str, marks: Marks) -> tuple[int, int] | None:
    """Return the start and end of the block with its marks; None if there is no block.

    Raises `UsageError` for an opening mark without a closing one.
    """
    at, start, end = 0, -1, -1
    for line in text.splitlines(keepends=True):
        bare = line.removeprefix(_BOM).rstrip("\r\n")
        if bare == marks.opening and start < 0:
            start = at + (len(line) - len(line.removeprefix(_BOM)))
        elif bare == marks.closing and start >= 0 and end < 0:
            end = at + len(line)
        at += len(line)
    if start >= 0 and end < 0:
        raise UsageError(
            f"{marks.opening!r} without {marks.closing!r}",
            "remove Crucible's lines by hand; nothing was changed",
        )
    return (start, end) if start >= 0 else None


_NAME = "crucible"
SKILL = "SKILL.md"
"""The file name of a skill."""
_TOML_MARKS = Marks("# >>> crucible: put in by `cru install codex --mcp`, taken out by --remove", "# <<< crucible")
_TEXT_MARKS = Marks("<!-- >>> crucible: put in by cru install, taken out by --remove -->", "<!-- <<< crucible -->")
_FORWARDED = ("CRUCIBLE_VAULT", "CRUCIBLE_CONFIG", "CRU_SESSION", "XDG_CONFIG_HOME")
"""Environment variables that Codex passes to a server only if they are listed."""

Edit: TypeAlias = "Callable[[str | None], str | None]"


@dataclass(frozen=True, slots=True)
class Part:
    """A file, and the edits that add and remove our part.  Removal also deletes up to `folders` empty parent folders.

    `entry` extracts the value under our server's name from the file's text, or None; only files of servers have it.
    """

    path: Path
    put_in: Edit
    take_out: Edit
    folders: int = 0
    entry: Callable[[str], Any] | None = None

    def install(self, *, dry_run: bool = False) -> bool:
        """Add our part; return whether the file changes.  Raises `VaultError` if it cannot be changed."""
        return changed(self.path, self.put_in, dry_run=dry_run)

    def uninstall(self, *, dry_run: bool = False) -> bool:
        """Remove our part; return whether the file changes."""
        return changed(self.path, self.take_out, self.folders, dry_run=dry_run)


@dataclass(frozen=True, slots=True)
class Registered:
    """The server with our name in a client's settings: its command line, empty if it starts another program."""

    path: Path
    words: tuple[str, ...]

    @property
    def vault(self) -> str:
        """The vault named on the command line, or ""."""
        named = [word for before, word in pairwise(self.words) if before == "--vault"]
        return named[-1] if named else ""


def missing_library() -> str:
    """Return the command that installs what `cru mcp` needs; "" if it is installed."""
    return "" if find_spec("mcp") else install_command("mcp")


def check_library() -> None:
    """Raise `CrucibleError` if what `cru mcp` needs is not installed."""
    if command := missing_library():
        raise CrucibleError('the MCP server needs the extra "mcp", which is not installed', f"Run: {command}")


def find_registered(part: Part) -> Registered | None:
    """Return the server with our name in a file, or None.  Raises `VaultError` if the file cannot be parsed."""
    text = load(part.path)
    if part.entry is None or text is None or not has_text(text):
        return None
    with named(part.path):
        value = part.entry(text)
    if value is None:
        return None
    return Registered(part.path, _words(value) if _is_ours(value) else ())


def is_used(client: str, env: Mapping[str, str], home: Path) -> bool:
    """Return whether the user seems to have a client, judging by whether its settings or sessions exist."""
    servers, instructions = parts_of(client, ("cru", "mcp"), env, home, None)
    folder = next(one for one in CLIENTS.values() if one.name == client).logs_folder(env, home)
    # A skill is two folders below the client's own folder.
    own = instructions.path.parents[2 if instructions.path.name == SKILL else 0]
    return servers.path.exists() or folder.is_dir() or own.is_dir()


def clients_with_servers(project: Path | None) -> list[str]:
    """Return the clients that have settings for servers of the user, or of a project."""
    return [name for name, mcp in MCP_SETTINGS.items() if mcp.project or not project]


def parts_of(
    client: str, program: Sequence[str], env: Mapping[str, str], home: Path, project: Path | None
) -> list[Part]:
    """Return the files to edit for a client: the user's, or those of the folder `project`.

    `program` is the command line of our server.
    """
    mcp = MCP_SETTINGS[client]
    settings, instructions = mcp.places(env, home, project)
    servers = _json(*settings, mcp.section, mcp.entry(program)) if mcp.section else _toml_part(*settings, program)
    return [servers, _instructions(*instructions)]


# --- servers ---------------------------------------------------------------------------------------------------------


def _json(path: Path, folders: int, section: str, value: Mapping[str, Any]) -> Part:
    def put(text: str | None) -> str:
        if new := new_file(text, {section: {_NAME: value}}):
            return new
        parsed = parse(text or "")
        existing = find(parsed.root, section, _NAME)
        if existing is None:
            return put_in(parsed, (section, _NAME), value, "the file")
        if not _is_ours(existing.value):
            raise UsageError(
                f"{section}.{_NAME}: already exists and was not added by cru", "rename or remove it by hand"
            )
        return parsed.text if existing.value == value else replaced(parsed, existing, json.dumps(value))

    def take(text: str | None) -> str | None:
        if text is None or not has_text(text):
            return text
        parsed = parse(text)
        into, existing = find(parsed.root, section), find(parsed.root, section, _NAME)
        return take_out(parsed, existing, into) if into and existing and _is_ours(existing.value) else text

    def entry(text: str) -> Any:
        existing = find(parse(text).root, section, _NAME)
        return existing and existing.value

    return Part(path, put, take, folders, entry)


def _is_ours(value: Any) -> bool:
    """Return whether an entry starts our server, as `cru` or `python -m crucible`."""
    words = _words(value)
    if not words or words[-1] != "mcp":
        return False
    return re.split(r"[/\\]", words[0])[-1] in ("cru", "cru.exe") or "crucible" in words


def _words(value: Any) -> tuple[str, ...]:
    """Return an entry's command line; empty if it has none."""
    if not isinstance(value, dict):
        return ()
    command, more = value.get("command"), value.get("args", [])
    words_given = [*command] if isinstance(command, list) else [command]
    words_given += more if isinstance(more, list) else []
    words = tuple(word for word in words_given if isinstance(word, str))
    return words if len(words) == len(words_given) else ()


def _toml_part(path: Path, folders: int, program: Sequence[str]) -> Part:
    return Part(
        path, partial(_with_toml, program), _without_toml, folders, entry=lambda text: _server_in(_read_toml(text))
    )


def _with_toml(program: Sequence[str], text: str | None) -> str:
    entry: dict[str, str | list[str]] = {
        "command": program[0],
        "args": [*program[1:]],
        "env_vars": [*_FORWARDED],
    }
    if text is not None and _place(text, _TOML_MARKS) is None and _server_in(_read_toml(text)) is not None:
        raise UsageError(f"mcp_servers.{_NAME}: already exists and was not added by cru", "remove it by hand")
    # A JSON string is also a TOML string, except for escapes that do not occur here.
    lines = [f"[mcp_servers.{_NAME}]", *(f"{key} = {_toml(value)}" for key, value in entry.items())]
    new = with_block(text, "\n".join(lines), _TOML_MARKS)
    if _server_in(_read_toml(new)) != entry:
        raise UsageError("mcp_servers: cannot be added to", "add it by hand; nothing was changed")
    return new


def _without_toml(text: str | None) -> str | None:
    return None if text is None else without_block(text, _TOML_MARKS)


def _server_in(found: Mapping[str, Any]) -> Any:
    servers = found.get("mcp_servers")
    return servers.get(_NAME) if isinstance(servers, dict) else None


def _read_toml(text: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"not TOML: {error}", "fix the file by hand; nothing was changed") from None


def _toml(value: str | Sequence[str]) -> str:
    if not isinstance(value, str):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


# --- instructions for agents ------------------------------------------------------------------------------------------


def _instructions(path: Path, folders: int) -> Part:
    if path.name == SKILL:
        return Part(path, _with_skill, _without_skill, folders)
    return Part(
        path,
        lambda text: with_block(text, render_template("agents-snippet.md.j2"), _TEXT_MARKS),
        lambda text: None if text is None else without_block(text, _TEXT_MARKS),
        folders,
    )


def _with_skill(text: str | None) -> str:
    if text is not None and not is_written(text):
        raise UsageError("already exists, and was written or edited by hand", "move it away; nothing was changed")
    return written(render_template("skill.md.j2"), "<!-- {} -->")


def _without_skill(text: str | None) -> str | None:
    """Return None to remove the skill, unless the user has edited it."""
    return None if text is None or is_written(text) else text
