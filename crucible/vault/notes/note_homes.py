"""Find out what the properties of a new note say about its vault: folders for links, the project's note."""

from __future__ import annotations

import hashlib
import os
from datetime import tzinfo
from pathlib import Path

from crucible.core import files
from crucible.core.errors import OutsideVault
from crucible.core.patterns import late_pattern
from crucible.documents.session.session import NoteHome
from crucible.documents.session.session_id import slugify
from crucible.vault.notes.vault import Vault

PROJECTS = "projects"
"""The vault folder that contains the notes about projects."""

_PLAIN = late_pattern(r"[\w-](?:[\w .-]{0,78}[\w-])?\Z")
_DEVICE = late_pattern(r"(?i)(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?\Z")


def profile_path(root: Path, project: str) -> Path:
    """Return the path of a project's note. A name that cannot be a file name becomes a slug with a hash.

    Raises `OutsideVault` for a symlink that leads out of the vault.
    """
    top = Path(os.path.realpath(root))
    name = project
    if not _PLAIN.match(name) or _DEVICE.match(name) or len(name.encode("utf-8", "replace")) > 200:
        digest = hashlib.sha256(project.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        name = f"{slugify(project, 40)}-{digest}"
    return files.inside(top, top / PROJECTS / f"{name}.md")


def project_target(vault: Vault, project: str | None) -> str:
    """Return the link target of a project's note, "" if there is none."""
    if not project:
        return ""
    try:
        path = profile_path(vault.root, project)
    except OutsideVault:
        return ""
    return f"{PROJECTS}/{path.name.removesuffix('.md')}" if path.is_file() else ""


def folder_of(vault: Vault, path: Path) -> str:
    """Return the folder of a note as part of a link, "" for the vault's root."""
    folder = vault.relative(path.parent)
    return "" if folder == "." else folder


def folder_of_session(vault: Vault, session_id: str) -> str:
    """Return the folder of a session's note as part of a link; that of new notes if it does not exist yet."""
    path = vault.path_of(session_id)
    return folder_of(vault, path or vault.sessions / session_id)


def note_home(vault: Vault, project: str | None, zone: tzinfo | None) -> NoteHome:
    """Return what the properties of a session's note say about its vault."""
    folder = folder_of(vault, vault.sessions / "x.md")
    return NoteHome(folder, zone, project_target(vault, project), vault.settings.task_form == "json")
