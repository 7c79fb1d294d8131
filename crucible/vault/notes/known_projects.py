"""The projects that a vault knows by repository and folder: a clone, a worktree or a gone folder keeps its name.

The keys are hashes, so the file, which git tracks, tells nobody a path or an address.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from crucible.core.errors import VaultError
from crucible.vault.logs.jsonl_store import InvalidRecord, append_line, has_lines, read_lines, text_of
from crucible.vault.notes.projects import KnownProjects, project_keys

PROJECTS = "projects.jsonl"


def with_known(folders: Mapping[str, Sequence[str]], root: Path) -> KnownProjects:
    """Add what the vault knows to the user's projects; an unreadable file adds nothing."""
    names: dict[str, str] = {}
    with suppress(VaultError):
        if has_lines(root, PROJECTS):
            for key, name in read_lines(root, PROJECTS, _read)[0]:
                names.setdefault(key, name)
    return KnownProjects(folders, names)


def remember_project(root: Path, projects: KnownProjects, cwd: str, name: str, *, fsync: bool = True) -> None:
    """Record the name of the repository around a folder, unless the vault or the user's settings name it."""
    for key in project_keys(cwd, projects):
        if key not in projects.names:
            append_line(root, PROJECTS, {"key": key, "project": name}, fsync=fsync)
            projects.names[key] = name


def _read(fields: Mapping[str, object]) -> tuple[str, str]:
    key, name = text_of(fields, "key"), text_of(fields, "project")
    if not (key and name) or "/" in name:
        raise InvalidRecord("a project needs a key and a name")
    return key, name
