"""The path of the user's settings, and a reader for simple TOML.  Used by hooks.

It imports nothing, not even types: loading `settings` and `tomllib` takes ten times as long as this code takes to run.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def user_settings_path(env: Mapping[str, str], home: str | os.PathLike[str]) -> str:
    """Return `CRUCIBLE_CONFIG`, else `crucible/config.toml` in the user's configuration folder (XDG)."""
    if env.get("CRUCIBLE_CONFIG"):
        return env["CRUCIBLE_CONFIG"]
    xdg = env.get("XDG_CONFIG_HOME", "")
    # The XDG specification says to ignore relative paths.
    folder = xdg if os.path.isabs(xdg) else os.path.join(home, ".config")
    return os.path.join(folder, "crucible", "config.toml")


def vault_named(named: str, path: str | os.PathLike[str], home: str | os.PathLike[str]) -> str:
    """Return the default vault named in the user's settings at `path`, as an absolute path."""
    return os.path.join(os.path.dirname(path), expand(named, home))


def expand(folder: str, home: str | os.PathLike[str]) -> str:
    """Replace a leading `~` with the home folder."""
    return str(home) + folder[1:] if folder == "~" or folder.startswith(("~/", "~\\")) else folder


def read_tidy(text: str) -> dict[str, Any] | None:
    """Parse TOML that has only comments, table headers and simple values, one per line; None for anything else."""
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
        if not equals:
            if (inner := _new_table(tables, name)) is None:
                return None
            at = inner
        elif not _is_bare(name) or name in at or (value := _tidy_value(text_of_value.lstrip(" \t"))) is None:
            return None
        else:
            at[name] = value
    return tables


def _new_table(tables: dict[str, Any], head: str) -> dict[str, Any] | None:
    """Create the table `a.b` in `a`, which may exist.  None if `a.b` already exists or its name is not simple."""
    at: Any = tables
    *above, last = head.split(".")
    for name in above:
        at = at.setdefault(name, {}) if _is_bare(name) and isinstance(at, dict) else None
    if not isinstance(at, dict) or not _is_bare(last) or last in at:
        return None
    inner: dict[str, Any] = {}
    at[last] = inner
    return inner


def _is_bare(key: str) -> bool:
    return key.isascii() and key.replace("-", "_").isidentifier()


def _tidy_value(text: str) -> object:
    """Parse a boolean, a short integer, a string without escapes, or a one-line list of strings; otherwise None."""
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
