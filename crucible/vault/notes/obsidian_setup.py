"""Place the files for Obsidian in a vault: bases, the start note, and the CSS snippet with the callouts' colors.

An existing file is never changed: the user may have edited it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from crucible.core import files
from crucible.core.errors import NoteExists
from crucible.core.settings.settings import VaultSettings

SESSIONS_BASE, CASES_BASE, KNOWLEDGE_BASE = "Sessions.base", "Cases.base", "Knowledge.base"
START_NOTE = "Start here.md"
SNIPPET = ".obsidian/snippets/crucible.css"
APPEARANCE = ".obsidian/appearance.json"

_TEMPLATES = Path(__file__).with_name("obsidian_files")

_ENABLED = '{\n  "enabledCssSnippets": [\n    "crucible"\n  ]\n}\n'
"""Obsidian's list of enabled snippets.  It has other settings too, so only a new file is written."""

_IN_SESSIONS = "    - 'file.inFolder(\"{sessions}\")'\n"

OBSIDIAN_FILES = (SESSIONS_BASE, CASES_BASE, KNOWLEDGE_BASE, START_NOTE, SNIPPET, APPEARANCE)
"""The files in a vault's root, as paths relative to it."""


def missing_obsidian_files(root: Path) -> list[str]:
    """Return the names of the files that the vault at `root` lacks."""
    return [name for name in OBSIDIAN_FILES if not os.path.lexists(root / name)]


def place_obsidian_files(root: Path, settings: VaultSettings) -> list[Path]:
    """Create the missing files; returns their paths."""
    missing = missing_obsidian_files(root)
    return [root / name for name in missing if place_obsidian_file(root, name, settings)]


def place_obsidian_file(root: Path, name: str, settings: VaultSettings) -> bool:
    """Create one file with the values of the vault's settings, unless it exists; returns whether it was created."""
    path = root / name
    if os.path.lexists(path):
        return False
    files.make_folders(root, path.parent)
    with suppress(NoteExists):
        files.create_exclusive(path, obsidian_text(name, settings).encode(), fsync=settings.fsync)
        return True
    return False


def obsidian_text(name: str, settings: VaultSettings) -> str:
    """Return the text of a file of `OBSIDIAN_FILES`."""
    if name == APPEARANCE:
        return _ENABLED
    text = (_TEMPLATES / Path(name).name).read_text(encoding="utf-8")
    if settings.sessions == ".":
        text = text.replace(_IN_SESSIONS, "")
    # The folder is in a string of the filter, which is in a single-quoted string of YAML.
    folder = settings.sessions.replace("\\", "\\\\").replace('"', '\\"').replace("'", "''")
    return text.replace("{sessions}", folder).replace("{days}", str(settings.knowledge.verify_after_days))
