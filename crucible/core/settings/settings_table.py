"""How a setting is declared: once, as a field of a `NamedTuple` with its type, default and `Key`.

The same declaration reads a settings file and writes the commented one of a new vault.
"""

# No `from __future__ import annotations` in modules that declare settings: their annotations are read.
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

from crucible.core.settings.toml_values import Table

_Settings = TypeVar("_Settings")
_WIDTH = 30


class Key(NamedTuple):
    """What one setting is: `read` gives its value, or raises `WrongValueError`; `comment` explains it in a new file.

    `trust` tells the user what it does in a vault whose value counts only once `cru trust` accepts it.  `name` is its
    dotted name where that differs from the field's, `shown` its value in a new file where that is not the default;
    what is shown as "" is not in the file.
    """

    read: Callable[[object], Any]
    comment: str = ""
    trust: str = ""
    name: str = ""
    shown: str | None = None


class SettingsSection(NamedTuple):
    """A table of settings, which is a `NamedTuple` itself; `head` and `foot` are lines of the new file."""

    name: str
    comment: str = ""
    head: str = ""
    foot: str = ""
    width: int = _WIDTH


def keys_of(settings: object, above: str = "") -> Iterator[tuple[str, Key]]:
    """Every declared key by its dotted name."""
    for field, about in _declared(settings):
        if isinstance(about, Key):
            yield f"{above}{about.name or field}", about
        else:
            yield from keys_of(getattr(settings, field), f"{above}{about.name}.")


def read_settings(table: Table, defaults: _Settings, above: str = "") -> _Settings:
    """What a file says, `defaults` where it says nothing."""
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
    """The lines of a new settings file: every key as a comment, with its default and explanation."""
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
    for field, hint in type(settings).__annotations__.items():
        for about in getattr(hint, "__metadata__", ()):
            yield field, about
