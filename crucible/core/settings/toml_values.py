"""Settings files: declarations of settings, the keys in a file, and readers for values.

Each setting is declared once, as a field of a `NamedTuple` with a type, a default and a `Key`.  The declaration is used
both to read a file and to write a new vault's commented file.  `tomllib` is slow to import, so simple files avoid it.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias, TypeVar

from crucible.core.errors import VaultError
from crucible.core.named_tuples import NamedTuple
from crucible.core.settings.toml_scan import read_tidy

_FOREVER = 1000 * 366 * 24 * 60  # in minutes; a date cannot be much further in the past
_LARGEST = 1024 * 1024
"""Maximum bytes in a settings file."""

StrPath: TypeAlias = str | os.PathLike[str]


def file_text(path: StrPath) -> str | None:
    """Return the text of a settings file; None if there is no file."""
    try:
        if os.path.realpath(path) == os.devnull:  # the usual way to disable settings
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


def _check_is_settings(path: StrPath, status: os.stat_result) -> None:
    # Reading a named pipe or a disk image might never end.
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        raise VaultError(f"{path}: not a regular file", "settings must be a TOML file")
    if status.st_size > _LARGEST:
        raise VaultError(f"{path}: larger than {_LARGEST // 1024} KB", "settings must be a small TOML file")


def no_toml(path: StrPath, error: Exception) -> VaultError:
    """Return the error for a file that is not valid TOML."""
    reason = "nested too deeply" if isinstance(error, RecursionError) else error
    return VaultError(f"{path}: not valid TOML: {reason}", "fix the file by hand")


_T = TypeVar("_T")
Reader = Callable[[object], _T]
"""A function that converts a value, or raises `WrongValueError` with what was expected."""


class WrongValueError(Exception):
    """What was expected, and what was found instead."""


class Table:
    """A parsed settings file whose keys are taken one by one; keys that remain are unknown."""

    def __init__(self, text: str, path: StrPath) -> None:
        self.text = text.removeprefix("\ufeff")
        self.path = path
        tidy = read_tidy(self.text)
        self.values = _parsed(self.text, path) if tidy is None else tidy

    def take(self, dotted: str, default: _T, read: Reader[_T], trust: str = "") -> _T:  # noqa: ARG002  for vaults
        """Take the value of `table.key`, converted by `read`, or `default`.  The key then counts as known."""
        value = self.pop(dotted)
        return default if value is None else self.read(dotted, value, read)

    def pop(self, dotted: str) -> object:
        """Take the parsed value of `table.key`, or None.  The key then counts as known."""
        *tables, key = dotted.split(".")
        at: object = self.values
        for name in tables:
            at = at.get(name, {}) if isinstance(at, dict) else {}
        if not isinstance(at, dict):
            raise self.fault(tables[0], "expected a table")
        return at.pop(key, None)

    def read(self, dotted: str, value: object, read: Reader[_T]) -> _T:
        """Convert the value of the key `dotted` with `read`."""
        try:
            return read(value)
        except WrongValueError as error:
            raise self.fault(dotted, str(error)) from None

    def fault(self, dotted: str, message: str) -> VaultError:
        """Return the error for a wrong value, with the file and line."""
        hint = 'fix or remove that line; without it the default applies. Run "cru doctor" to check all other settings'
        return VaultError(f"{self.place(dotted)}: {dotted}: {message}", hint)

    def place(self, dotted: str) -> str:
        """Return `path:line` for a key.

        Uses the table's line if the table is on one line, and the path alone if unknown.
        """
        lines = [self.line_of(name) for name in (dotted, dotted.partition(".")[0])]
        return ":".join([str(self.path), *[str(line) for line in lines if line][:1]])

    def line_of(self, dotted: str) -> int:
        """Return the line of a key, from 1; 0 if it is written in a form that this search does not cover."""
        table = ""
        for number, line in enumerate(self.text.split("\n"), 1):
            header = re.match(r"\s*\[\s*([^\[\]]+?)\s*\]", line)
            table = header[1] + "." if header else table
            key = re.match(r"\s*([\w.-]+)\s*=", line)
            if (key and table + key[1] == dotted) or (header and header[1] == dotted):
                return number
        return 0

    def rest(self) -> dict[str, object]:
        """Return the keys that were not taken, by dotted name."""
        return dict(_leaves(self.values))

    def warnings(self) -> tuple[str, ...]:
        """Return one line for each unknown key."""
        return tuple(f"{self.place(key)}: unknown setting {key!r}, ignored" for key in self.rest())


def _leaves(table: Mapping[str, object], above: str = "") -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{above}{name}.")
        else:
            yield above + name, value


# --- text to tables -----------------------------------------------------------------------------------------------


def _parsed(text: str, path: StrPath) -> dict[str, Any]:
    import tomllib  # noqa: PLC0415  slow, and most settings are tidy

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise no_toml(path, error) from error


# --- values -------------------------------------------------------------------------------------------------------


def boolean(value: object) -> bool:
    """Check that a value is a boolean."""
    if not isinstance(value, bool):
        raise WrongValueError(f"expected true or false, found {value!r}")
    return value


def recall_backend(value: object) -> str:
    """Check that a value is `embedded` or the URL of a team's server, without showing it: it may have a password."""
    schemes = ("postgresql://", "postgres://", "clickhouse://", "clickhouses://")
    if value == "embedded" or (isinstance(value, str) and value.startswith(schemes)):
        return str(value)
    raise WrongValueError('expected "embedded" or an address starting with postgresql:// or clickhouse://')


def text_value(value: object) -> str:
    """Check that a value is a string that is not empty."""
    if not isinstance(value, str) or not value or "\0" in value:
        raise WrongValueError(f"expected a string, found {value!r}")
    return value


def count(value: object) -> int:
    """Check that a value is an integer of at least 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise WrongValueError(f"expected a whole number, 0 or more, found {value!r}")
    return value


def minutes(value: object) -> int:
    """Check that a value is a number of minutes, and limit it to the range of dates."""
    return min(count(value), _FOREVER)


def positive(value: object) -> int:
    """Check that a value is an integer of at least 1."""
    if count(value) == 0:
        raise WrongValueError("expected a whole number, 1 or more, found 0")
    return count(value)


def seconds(value: object) -> float:
    """Check that a value is a number of seconds, possibly with a fraction."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
        raise WrongValueError(f"expected a number of seconds, found {value!r}")
    return float(value)


def factor(value: object) -> float:
    """Check that a value is a number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
        raise WrongValueError(f"expected a number, 0 or more, found {value!r}")
    return float(value)


def share(value: object) -> float:
    """Check that a value is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise WrongValueError(f"expected a number from 0 to 1, found {value!r}")
    return float(value)


def one_of(*names: str) -> Reader[str]:
    """Return a reader that accepts only one of these names."""

    def read(value: object) -> str:
        if value not in names:
            raise WrongValueError(f"expected one of {', '.join(names)}, found {value!r}")
        return str(value)

    return read


def folder(value: object) -> str:
    """Check that a value is a folder that Obsidian shows: relative, no `..`, no part with a leading dot."""
    folder = text_value(value)
    parts = [part for part in folder.split("/") if part not in ("", ".")]
    if folder.startswith("/") or "\\" in folder or any(part.startswith(".") for part in parts):
        raise WrongValueError(f"expected a folder inside the vault without a leading dot, found {value!r}")
    return "/".join(parts) or "."


def folder_of_ours(value: object) -> str:
    """Check that a value is a folder inside the vault's `.crucible`: relative, without `..`."""
    named = text_value(value)
    parts = [part for part in named.split("/") if part not in ("", ".")]
    if named.startswith("/") or "\\" in named or ".." in parts or parts[:1] != [".crucible"] or len(parts) < 2:
        raise WrongValueError(f"expected a folder inside the vault's .crucible folder, found {value!r}")
    return "/".join(parts)


def text_list(value: object) -> tuple[str, ...]:
    """Check that a value is a list of strings."""
    if not isinstance(value, list):
        raise WrongValueError(f"expected a list of strings, found {value!r}")
    return tuple(map(text_value, value))


def expressions(value: object) -> tuple[str, ...]:
    """Check that a value is a list of regular expressions, and return them as strings."""
    if not isinstance(value, list):
        raise WrongValueError(f"expected a list of regular expressions, found {value!r}")
    return tuple(map(_expression, value))


def expressions_by_name(value: object) -> tuple[tuple[str, str], ...]:
    """Check that a value is a table of names and regular expressions, and return them as strings."""
    if not isinstance(value, dict):
        raise WrongValueError("expected a table of names and regular expressions")
    wrong = next((name for name in value if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,63}", name)), None)
    if wrong is not None:
        raise WrongValueError(f"expected names of lower-case letters, digits and '-', found {wrong!r}")
    return tuple((name, _expression(text)) for name, text in value.items())


def _expression(value: object) -> str:
    text = text_value(value)
    try:
        found = re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise WrongValueError(f"expected a regular expression, found {text!r}: {error}") from None
    if found.match(""):
        raise WrongValueError(f"{text!r} matches the empty string, so it would match everywhere")
    return text


def folders_by_project(value: object) -> dict[str, list[str]]:
    """Check that a value is a table of names, each with one or more folders."""
    if not isinstance(value, dict):
        raise WrongValueError("expected a table of project names and folders")
    return {name: _folder_list(name, folders) for name, folders in value.items()}


def _folder_list(name: str, value: object) -> list[str]:
    folders = [value] if isinstance(value, str) else value
    if not isinstance(folders, list) or not all(isinstance(folder, str) and folder for folder in folders):
        raise WrongValueError(f"expected a folder or a list of folders for {name!r}, found {value!r}")
    return folders


# No `from __future__ import annotations` in modules that declare settings: their annotations are read at runtime.


_Settings = TypeVar("_Settings")
_WIDTH = 30


class Key(NamedTuple):
    """The declaration of a setting.  `read` converts its value or raises `WrongValueError`; `comment` explains it.

    `trust` is set if a value in a vault applies only after `cru trust` accepts it; it describes to the user what the
    setting does.  `name` is the dotted name if it differs from the field's name.  `shown` is the value in a new file if
    that is not the default; "" omits the key.
    """

    read: Callable[[object], Any]
    comment: str = ""
    trust: str = ""
    name: str = ""
    shown: str | None = None


class SettingsSection(NamedTuple):
    """A table of settings, itself a `NamedTuple`.  `head` and `foot` are lines for the new file."""

    name: str
    comment: str = ""
    head: str = ""
    foot: str = ""
    width: int = _WIDTH


def keys_of(settings: object, above: str = "") -> Iterator[tuple[str, Key]]:
    """Yield every declared key with its dotted name."""
    for field, about in _declared(settings):
        if isinstance(about, Key):
            yield f"{above}{about.name or field}", about
        else:
            yield from keys_of(getattr(settings, field), f"{above}{about.name}.")


def read_settings(table: Table, defaults: _Settings, above: str = "") -> _Settings:
    """Return the settings in a file, with `defaults` for missing keys."""
    values = {}
    for field, about in _declared(defaults):
        default = getattr(defaults, field)
        if isinstance(about, Key):
            values[field] = table.take(f"{above}{about.name or field}", default, about.read, about.trust)
        else:
            values[field] = read_settings(table, default, f"{above}{about.name}.")
    changed: _Settings = defaults._replace(**values)  # type: ignore[attr-defined]
    return changed


def config_lines(settings: object) -> Iterator[str]:
    """Yield the lines of a new settings file: each key as a comment, with its default and explanation."""
    table = ""
    for field, about in _declared(settings):
        name = about.name.partition(".")[0]
        if name != table:
            yield f"\n[{name}]"
            table = name
        if isinstance(about, SettingsSection):
            yield from _section_lines(getattr(settings, field), about, about.name, "")
        else:
            yield _key_line(about, about.name.partition(".")[2], getattr(settings, field), _WIDTH)


def _section_lines(settings: object, section: SettingsSection, table: str, header: str) -> Iterator[str]:
    if "." in table:
        header = f"# [{table}]"
        yield _commented(header, section.comment)
    if section.head:
        yield section.head
    for field, about in _declared(settings):
        value = getattr(settings, field)
        if isinstance(about, SettingsSection):
            yield from _section_lines(value, about, f"{table}.{about.name}", header)
        elif about.shown != "":
            inner, _, key = about.name.rpartition(".")
            if inner and header != f"# [{table}.{inner}]":
                header = f"# [{table}.{inner}]"
                yield header
            yield _key_line(about, key or field, value, _WIDTH - 2 if header else section.width)
    if section.foot:
        yield section.foot


def _key_line(about: Key, key: str, value: object, width: int) -> str:
    shown = about.shown or _toml(value)
    return _commented(f"# {key} = {shown}", about.comment, width)


def _toml(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def _commented(line: str, comment: str, width: int = _WIDTH - 2) -> str:
    return f"{line.ljust(width - 1)} # {comment}" if comment else line


def _declared(settings: object) -> Iterator[tuple[str, Key | SettingsSection]]:
    hints = type(settings).__annotations__.items()
    yield from ((field, about) for field, hint in hints for about in getattr(hint, "__metadata__", ()))
