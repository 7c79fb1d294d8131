"""What a vault and its user have chosen, each as one frozen value.

Owns the TOML files `.crucible/config.toml` (travels with the vault) and the user's own `config.toml` (what is true on
this machine only: the default vault, which folders belong to which project): their keys, types, defaults, and the
text of a new one.  Writing files safely is for `vault`.

An unknown key is kept and warned about, since a newer Crucible may know it; a value of the wrong type is an error that
names the file, the line and the key.

Every command reads both files before it does anything, so this module imports little: paths are texts here, and the
TOML library is for files that hold more than simple lines.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias, TypeVar

from crucible.errors import VaultError

__all__ = [
    "DEFAULT_CONFIG",
    "FlightSettings",
    "UserSettings",
    "VaultSettings",
    "load_user_settings",
    "load_vault_settings",
    "read_user_settings",
    "read_vault_settings",
    "user_settings_path",
    "with_default_vault",
]

DEFAULT_CONFIG = """\
# Crucible's settings for this vault.  Every line is optional; the values shown are the defaults.
# What is true on one machine only (default vault, folders of projects) stands in the user's own settings:
# ~/.config/crucible/config.toml

[sessions]
# folder = "sessions"         # where session notes live, seen from the vault; any depth of subfolders
# subagents = "link"          # how a subagent's work is kept: link, embed or inline
# idle_minutes = 60           # a transcript quiet for longer is no active session any more

[writing]
# fsync = true                # wait for the disk on every write
# lock_seconds = 10           # how long to wait for another process that holds a note

[flight]
# track = false               # keep whole events in git; after a change run `cru init` again
# max_value_bytes = 65536     # a longer argument or result is cut
"""


_LARGEST = 1024 * 1024
"""Bytes of a settings file."""

_StrPath: TypeAlias = "str | os.PathLike[str]"

_NONE: Mapping[str, object] = {}
_NO_PROJECTS: Mapping[str, tuple[str, ...]] = {}


class FlightSettings(NamedTuple):
    """How whole events are kept."""

    track: bool = False
    max_value_bytes: int = 65536


class VaultSettings(NamedTuple):
    """What `.crucible/config.toml` says.  `sessions` is a folder relative to the vault, with `/`."""

    sessions: str = "sessions"
    subagents: str = "link"
    idle_minutes: int = 60
    fsync: bool = True
    lock_seconds: float = 10.0
    flight: FlightSettings = FlightSettings()
    unknown: Mapping[str, object] = _NONE
    warnings: tuple[str, ...] = ()


class UserSettings(NamedTuple):
    """What the user's own settings say.  `projects` maps a name to the folders that belong to it."""

    path: str | None = None
    default_vault: str | None = None
    projects: Mapping[str, tuple[str, ...]] = _NO_PROJECTS
    unknown: Mapping[str, object] = _NONE
    warnings: tuple[str, ...] = ()


def user_settings_path(env: Mapping[str, str], home: _StrPath) -> str:
    """`CRUCIBLE_CONFIG`, else `crucible/config.toml` in the user's configuration folder (XDG)."""
    if env.get("CRUCIBLE_CONFIG"):
        return env["CRUCIBLE_CONFIG"]
    xdg = env.get("XDG_CONFIG_HOME", "")
    # The XDG rules say to ignore a relative path there.
    folder = xdg if os.path.isabs(xdg) else os.path.join(home, ".config")
    return os.path.join(folder, "crucible", "config.toml")


def load_vault_settings(root: _StrPath) -> VaultSettings:
    """The settings of the vault at `root`; all defaults when it has no file."""
    path = os.path.join(root, ".crucible", "config.toml")
    text = _file_text(path)
    return VaultSettings() if text is None else read_vault_settings(text, path)


def load_user_settings(path: _StrPath, home: _StrPath) -> UserSettings:
    """The user's settings; all defaults when there is no such file."""
    text = _file_text(path)
    return UserSettings(str(path)) if text is None else read_user_settings(text, path, home)


def read_vault_settings(text: str, path: _StrPath) -> VaultSettings:
    """Read `text`; `path` is for messages."""
    table = _Table(text, path)
    flight = FlightSettings(
        track=table.take("flight.track", False, _boolean),
        max_value_bytes=table.take("flight.max_value_bytes", 65536, _positive),
    )
    return VaultSettings(
        sessions=table.take("sessions.folder", "sessions", _folder),
        subagents=table.take("sessions.subagents", "link", _one_of("link", "embed", "inline")),
        idle_minutes=table.take("sessions.idle_minutes", 60, _count),
        fsync=table.take("writing.fsync", True, _boolean),
        lock_seconds=table.take("writing.lock_seconds", 10.0, _seconds),
        flight=flight,
        unknown=table.rest(),
        warnings=table.warnings(),
    )


def read_user_settings(text: str, path: _StrPath, home: _StrPath) -> UserSettings:
    """Read `text`; a leading `~` becomes `home`, other relative paths start at the file's folder."""
    table = _Table(text, path)
    named = table.take("default_vault", None, _text)
    nothing: dict[str, list[str]] = {}
    projects = table.take("projects", nothing, _folders_by_project)
    return UserSettings(
        path=str(path),
        default_vault=None if named is None else os.path.join(os.path.dirname(path), _expand(named, home)),
        projects={name: tuple(_expand(f, home) for f in folders) for name, folders in projects.items()},
        unknown=table.rest(),
        warnings=table.warnings(),
    )


def with_default_vault(text: str, path: _StrPath, vault: _StrPath) -> str:
    """The text of the user's settings with the default vault set; comments, order and other keys stay."""
    import tomlkit  # noqa: PLC0415  slow, and only `cru init --default` needs it

    _Table(text, path)  # a file that does not parse is an error here, never overwritten
    bom = text[:1] if text.startswith("\ufeff") else ""
    try:
        document = tomlkit.parse(text[len(bom) :])
        document["default_vault"] = str(vault)
        return bom + tomlkit.dumps(document)
    except (ValueError, RecursionError) as error:  # it reads what `tomllib` reads, but not as deeply nested
        raise _no_toml(path, error) from error


def _file_text(path: _StrPath) -> str | None:
    try:
        if os.path.realpath(path) == os.devnull:  # a usual way to say: no settings at all
            return None
        _check_is_settings(path, os.stat(path))
        with open(path, "rb") as file:
            return file.read().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise VaultError(f"{path}: not UTF-8 at byte {error.start}", "save the file as UTF-8") from error
    except OSError as error:
        raise VaultError(f"{path}: {error.strerror or error}") from error


def _check_is_settings(path: _StrPath, status: os.stat_result) -> None:
    # A named pipe would keep us waiting for ever, and so would reading a disk image.
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        raise VaultError(f"{path}: no regular file", "settings are a file of TOML")
    if status.st_size > _LARGEST:
        raise VaultError(f"{path}: larger than {_LARGEST // 1024} KB", "settings are a small file of TOML")


def _expand(folder: str, home: _StrPath) -> str:
    return str(home) + folder[1:] if folder == "~" or folder.startswith(("~/", "~\\")) else folder


def _no_toml(path: _StrPath, error: Exception) -> VaultError:
    reason = "nested too deeply" if isinstance(error, RecursionError) else error
    return VaultError(f"{path}: no valid TOML: {reason}", "mend the file by hand")


_T = TypeVar("_T")
_Reader = Callable[[object], _T]
"""Gives the value, or raises `_WrongValueError` saying what was expected."""


class _WrongValueError(Exception):
    """What was expected, and what was found."""


class _Table:
    """A parsed file of which keys are taken one by one; what is left is unknown to us."""

    def __init__(self, text: str, path: _StrPath) -> None:
        self.text = text.removeprefix("\ufeff")
        self.path = path
        tidy = _read_tidy(self.text)
        self.values = _parsed(self.text, path) if tidy is None else tidy

    def take(self, dotted: str, default: _T, read: _Reader[_T]) -> _T:
        *tables, key = dotted.split(".")
        at: object = self.values
        for name in tables:
            at = at.get(name, {}) if isinstance(at, dict) else {}
        if not isinstance(at, dict):
            raise self.fault(tables[0], "expected a table")
        if key not in at:
            return default
        try:
            return read(at.pop(key))
        except _WrongValueError as error:
            raise self.fault(dotted, str(error)) from None

    def fault(self, dotted: str, message: str) -> VaultError:
        return VaultError(f"{self.place(dotted)}: {dotted}: {message}")

    def place(self, dotted: str) -> str:
        """`path:line` of a key, or of its table when that is written in one line, or the path alone."""
        lines = [self.line_of(name) for name in (dotted, dotted.partition(".")[0])]
        return ":".join([str(self.path), *[str(line) for line in lines if line][:1]])

    def line_of(self, dotted: str) -> int:
        """The line, from 1, where the key stands; 0 when it is written in a way that we do not look for."""
        table = ""
        for number, line in enumerate(self.text.split("\n"), 1):
            header = re.match(r"\s*\[\s*([^\[\]]+?)\s*\]", line)
            table = header[1] + "." if header else table
            key = re.match(r"\s*([\w.-]+)\s*=", line)
            if (key and table + key[1] == dotted) or (header and header[1] == dotted):
                return number
        return 0

    def rest(self) -> dict[str, object]:
        """What nobody took, by dotted key."""
        left: dict[str, object] = {}
        for name, value in self.values.items():
            inner = value if isinstance(value, dict) else None
            left |= {name: value} if inner is None else {f"{name}.{key}": v for key, v in inner.items()}
        return left

    def warnings(self) -> tuple[str, ...]:
        """One line for each unknown key."""
        return tuple(f"{self.place(key)}: unknown setting {key!r}, left as it is" for key in self.rest())


# --- text to tables -----------------------------------------------------------------------------------------------


def _parsed(text: str, path: _StrPath) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415  slow, and most settings are tidy

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise _no_toml(path, error) from error


def _read_tidy(text: str) -> dict[str, Any] | None:
    """What `tomllib` reads, for comments, table heads and simple values, a line each; None for anything else."""
    tables: dict[str, Any] = {}
    at = tables
    for full in text.replace("\r\n", "\n").split("\n"):
        line = full.strip(" \t")
        if not line.replace("\t", " ").isprintable():
            return None
        if not line or line[0] == "#":
            continue
        key, equals, text_of_value = line.partition("=")
        name = key.rstrip(" \t") if equals else line[1:-1] if line[0] + line[-1] == "[]" else ""
        if not _is_bare(name) or name in (at if equals else tables):
            return None
        if not equals:
            tables[name] = at = {}
        elif (value := _tidy_value(text_of_value.lstrip(" \t"))) is None:
            return None
        else:
            at[name] = value
    return tables


def _is_bare(key: str) -> bool:
    return key.isascii() and key.replace("-", "_").isidentifier()


def _tidy_value(text: str) -> object:
    """A boolean, a short whole number, a text without escapes, a list of such texts in one line; else None."""
    if text in ("true", "false"):
        return text == "true"
    if text.isascii() and text.isdecimal() and len(text) < 16 and (text[0] != "0" or text == "0"):
        return int(text)
    if text[:1] + text[-1:] == "[]":
        items = [_tidy_text(item.strip(" \t")) for item in text[1:-1].split(",")]
        return None if None in items else items
    return _tidy_text(text)


def _tidy_text(text: str) -> str | None:
    inner, quote = text[1:-1], text[:1]
    whole = len(text) >= 2 and quote in ('"', "'") and quote == text[-1]
    return inner if whole and quote not in inner and "\\" not in inner else None


# --- values -------------------------------------------------------------------------------------------------------


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise _WrongValueError(f"expected true or false, found {value!r}")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or not value or "\0" in value:
        raise _WrongValueError(f"expected a text, found {value!r}")
    return value


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise _WrongValueError(f"expected a whole number, 0 or more, found {value!r}")
    return value


def _positive(value: object) -> int:
    if _count(value) == 0:
        raise _WrongValueError("expected a whole number, 1 or more, found 0")
    return _count(value)


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
        raise _WrongValueError(f"expected a number of seconds, found {value!r}")
    return float(value)


def _one_of(*names: str) -> _Reader[str]:
    def read(value: object) -> str:
        if value not in names:
            raise _WrongValueError(f"expected one of {', '.join(names)}, found {value!r}")
        return str(value)

    return read


def _folder(value: object) -> str:
    """A folder inside the vault that Obsidian sees: relative, no `..`, no part with a leading dot."""
    folder = _text(value)
    parts = [part for part in folder.split("/") if part not in ("", ".")]
    if folder.startswith("/") or "\\" in folder or any(part.startswith(".") for part in parts):
        raise _WrongValueError(f"expected a folder inside the vault without a leading dot, found {value!r}")
    return "/".join(parts) or "."


def _folders_by_project(value: object) -> dict[str, list[str]]:
    if not isinstance(value, dict):
        raise _WrongValueError("expected a table of project names and folders")
    return {name: _folder_list(name, folders) for name, folders in value.items()}


def _folder_list(name: str, value: object) -> list[str]:
    folders = [value] if isinstance(value, str) else value
    if not isinstance(folders, list) or not all(isinstance(folder, str) and folder for folder in folders):
        raise _WrongValueError(f"expected a folder or a list of folders for {name!r}, found {value!r}")
    return folders
