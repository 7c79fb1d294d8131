"""Two of the vault's settings that a human may change where he is asked: whether he is, and from when on.

Owns the change of `.crucible/config.toml`, in which comments, order and all other keys stay.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from crucible.errors import VaultError
from crucible.vault import files

__all__ = ["set_preference"]

_CONFIG = ".crucible/config.toml"
_HEAD = re.compile(r"(?m)^[ \t]*\[[ \t]*capture[ \t]*\][^\n]*\n?")


def set_preference(root: Path, key: str, value: bool | float) -> bool:
    """Set `capture.KEY` of the vault at `root`; whether that changed anything.

    Raises `VaultError` for a file that is no TOML or cannot be written, and `NoteChanged` when somebody else saved it meanwhile.
    """
    path = files.inside(root, root / _CONFIG)
    with files.locked(root, path):
        there = path.exists()
        old = files.read_bytes(path)[0] if there else b""
        try:
            text = old.decode("utf-8")
            changed = _with(text, key, value)
        except (ValueError, RecursionError) as error:
            raise VaultError(f"{_CONFIG}: no TOML that can be changed: {error}", "mend it by hand") from error
        if changed == text:
            return False
        if there:
            files.write_atomic(path, changed.encode("utf-8"), expected=old)
        else:
            files.create_exclusive(path, changed.encode("utf-8"))
    return True


def _with(text: str, key: str, value: bool | float) -> str:
    """The text with the key set: in its place, else right below the table's head, where a table that somebody opens further down cannot take it."""
    import tomlkit  # noqa: PLC0415  slow, and only who changes a preference needs it

    before = tomllib.loads(text.removeprefix("\ufeff"))
    capture = before.get("capture", {})
    if not isinstance(capture, dict):
        raise ValueError("`capture` is no table")  # noqa: TRY004  as any other file that is not what it should be
    if capture.get(key) == value and type(capture.get(key)) is type(value):
        return text
    wanted = {**before, "capture": {**capture, key: value}}
    is_windows = "\r\n" in text and text.count("\n") == text.count("\r\n")
    ending = "\r\n" if is_windows else "\n"
    head = _HEAD.search(text)
    if key not in capture and head:
        line = f"{key} = {tomlkit.item(value).as_string()}{ending}"
        at = head.end()
        found = text[:at] + ("" if text[:at].endswith("\n") else ending) + line + text[at:]
        if _means(found, wanted):
            return found
    bom = text[:1] if text.startswith("\ufeff") else ""
    document = tomlkit.parse(text[len(bom) :])
    if "capture" not in document:
        document["capture"] = tomlkit.table()
    document["capture"][key] = value
    found = bom + tomlkit.dumps(document)
    if is_windows:
        found = found.replace("\r\n", "\n").replace("\n", ending)
    if not _means(found, wanted):
        raise ValueError(f"capture.{key} has no place in it")
    return found


def _means(text: str, wanted: dict[str, object]) -> bool:
    try:
        return tomllib.loads(text.removeprefix("\ufeff")) == wanted
    except ValueError:
        return False
