"""Set a preference under `[capture]` in `.crucible/config.toml`; comments, order and other keys stay."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from crucible.core import files
from crucible.core.errors import VaultError
from crucible.core.files import locked
from crucible.core.settings.toml_values import Table, file_text

_CONFIG = ".crucible/config.toml"
_HEAD = re.compile(r"(?m)^\ufeff?[ \t]*\[[ \t]*capture[ \t]*\][^\n]*(?:\n|\Z)")
_END = re.compile(r"\Z")
_DOTTED = re.compile(r"(?m)^capture\.[^\n]*(?:\n|\Z)")


def set_preference(root: Path, key: str, value: bool | float) -> bool:
    """Set `capture.KEY` of the vault at `root`; whether that changed anything.

    Raises `VaultError` for a file that is no TOML or cannot be written, and `NoteChanged` when somebody else saved it meanwhile.
    """
    path = files.inside(root, root / _CONFIG)
    with locked(root, path):
        there, text = path.exists(), file_text(path) or ""
        changed = _with(text, path, key, value)
        if changed == text:
            return False
        if there:
            files.write_atomic(path, changed.encode(), expected=text.encode())
        else:
            files.create_exclusive(path, changed.encode())
    return True


def _with(text: str, path: Path, key: str, value: bool | float) -> str:
    """Set the key in the text; `VaultError` if it is not TOML, or there is no line for it."""
    before = Table(text, path).values
    capture = before.get("capture", {})
    if isinstance(capture, dict):
        if capture.get(key) == value:
            return text
        for changed in _ways(text, key, json.dumps(value)):
            with suppress(VaultError):
                if Table(changed, path).values == {**before, "capture": {**capture, key: value}}:
                    return changed
    raise VaultError(f"{_CONFIG}: capture.{key} cannot be set in it", "edit it by hand")


def _ways(text: str, key: str, value: str) -> Iterator[str]:
    """In its place; right below the table's head, where a table that somebody opens further down cannot take it; beside dotted keys; at the end."""
    end = "\r\n" if "\r\n" in text else "\n"
    for found in re.finditer(rf"(?m)^([ \t]*(?:capture\.)?{key}[ \t]*=[ \t]*)[^\s#]+", text):
        yield text[: found.start()] + found[1] + value + text[found.end() :]
    line = f"{key} = {value}{end}"
    heads = ((_HEAD, ""), (_DOTTED, "capture."), (_END, f"[capture]{end}"))
    for at, more in ((found.end(), more) for head, more in heads for found in head.finditer(text)):
        yield text[:at] + ("" if at == 0 or text[at - 1] == "\n" else end) + more + line + text[at:]
