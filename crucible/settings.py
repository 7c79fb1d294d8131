"""What a vault and its user have chosen, each as one frozen value.

Owns the TOML files `.crucible/config.toml` (travels with the vault) and the user's own `config.toml` (what is true on
this machine only: the default vault, which folders belong to which project): their keys, types, defaults, and the
text of a new one.  Writing files safely is for `vault`.

An unknown key is kept and warned about, since a newer Crucible may know it; a value of the wrong type is an error that
names the file, the line and the key.
"""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TypeVar

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


@dataclass(frozen=True, slots=True)
class FlightSettings:
    """How whole events are kept."""

    track: bool = False
    max_value_bytes: int = 65536


@dataclass(frozen=True, slots=True)
class VaultSettings:
    """What `.crucible/config.toml` says.  `sessions` is a folder relative to the vault, with `/`."""

    sessions: str = "sessions"
    subagents: str = "link"
    idle_minutes: int = 60
    fsync: bool = True
    lock_seconds: float = 10.0
    flight: FlightSettings = FlightSettings()
    unknown: Mapping[str, object] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UserSettings:
    """What the user's own settings say.  `projects` maps a name to the folders that belong to it."""

    path: Path | None = None
    default_vault: Path | None = None
    projects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unknown: Mapping[str, object] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def user_settings_path(env: Mapping[str, str], home: Path) -> Path:
    """`CRUCIBLE_CONFIG`, else `crucible/config.toml` in the user's configuration folder (XDG)."""
    if env.get("CRUCIBLE_CONFIG"):
        return Path(env["CRUCIBLE_CONFIG"])
    xdg = Path(env.get("XDG_CONFIG_HOME", ""))
    # The XDG rules say to ignore a relative path there.
    return (xdg if xdg.is_absolute() else home / ".config") / "crucible" / "config.toml"


def load_vault_settings(root: Path) -> VaultSettings:
    """The settings of the vault at `root`; all defaults when it has no file."""
    path = root / ".crucible" / "config.toml"
    text = _file_text(path)
    return VaultSettings() if text is None else read_vault_settings(text, path)


def load_user_settings(path: Path, home: Path) -> UserSettings:
    """The user's settings; all defaults when there is no such file."""
    text = _file_text(path)
    return UserSettings(path) if text is None else read_user_settings(text, path, home)


def read_vault_settings(text: str, path: Path) -> VaultSettings:
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


def read_user_settings(text: str, path: Path, home: Path) -> UserSettings:
    """Read `text`; a leading `~` becomes `home`, other relative paths start at the file's folder."""
    table = _Table(text, path)
    named = table.take("default_vault", None, _text)
    nothing: dict[str, list[str]] = {}
    projects = table.take("projects", nothing, _folders_by_project)
    return UserSettings(
        path=path,
        default_vault=None if named is None else path.parent / _expand(named, home),
        projects={name: tuple(_expand(f, home) for f in folders) for name, folders in projects.items()},
        unknown=table.rest(),
        warnings=table.warnings(),
    )


def with_default_vault(text: str, path: Path, vault: Path) -> str:
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


def _file_text(path: Path) -> str | None:
    try:
        if os.path.realpath(path) == os.devnull:  # a usual way to say: no settings at all
            return None
        _check_is_settings(path, path.stat())
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise VaultError(f"{path}: not UTF-8 at byte {error.start}", "save the file as UTF-8") from error
    except OSError as error:
        raise VaultError(f"{path}: {error.strerror or error}") from error


def _check_is_settings(path: Path, status: os.stat_result) -> None:
    # A named pipe would keep us waiting for ever, and so would reading a disk image.
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        raise VaultError(f"{path}: no regular file", "settings are a file of TOML")
    if status.st_size > _LARGEST:
        raise VaultError(f"{path}: larger than {_LARGEST // 1024} KB", "settings are a small file of TOML")


def _expand(folder: str, home: Path) -> str:
    return str(home) + folder[1:] if folder == "~" or folder.startswith(("~/", "~\\")) else folder


def _no_toml(path: Path, error: Exception) -> VaultError:
    reason = "nested too deeply" if isinstance(error, RecursionError) else error
    return VaultError(f"{path}: no valid TOML: {reason}", "mend the file by hand")


_T = TypeVar("_T")
_Reader = Callable[[object], _T]
"""Gives the value, or raises `_WrongValueError` saying what was expected."""


class _WrongValueError(Exception):
    """What was expected, and what was found."""


class _Table:
    """A parsed file of which keys are taken one by one; what is left is unknown to us."""

    def __init__(self, text: str, path: Path) -> None:
        self.text = text.removeprefix("\ufeff")
        self.path = path
        try:
            self.values = tomllib.loads(self.text)
        except (ValueError, RecursionError) as error:
            raise _no_toml(path, error) from error

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
    folder = PurePosixPath(_text(value))
    if folder.is_absolute() or "\\" in str(value) or any(part.startswith(".") for part in folder.parts):
        raise _WrongValueError(f"expected a folder inside the vault without a leading dot, found {value!r}")
    return folder.as_posix()


def _folders_by_project(value: object) -> dict[str, list[str]]:
    if not isinstance(value, dict):
        raise _WrongValueError("expected a table of project names and folders")
    return {name: _folder_list(name, folders) for name, folders in value.items()}


def _folder_list(name: str, value: object) -> list[str]:
    folders = [value] if isinstance(value, str) else value
    if not isinstance(folders, list) or not all(isinstance(folder, str) and folder for folder in folders):
        raise _WrongValueError(f"expected a folder or a list of folders for {name!r}, found {value!r}")
    return folders
