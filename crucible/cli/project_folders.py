"""Where a project's folders are on this machine, for what is told of its sessions without their paths."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crucible.cli.surroundings import whence
from crucible.vault.notes.projects import folder_in_project


def folders_of(project: str) -> tuple[Path | None, Sequence[str]]:
    """The project's folder around the working directory, None for none, and all of its folders here, that one first."""
    cwd, projects = whence()
    folder = folder_in_project(cwd, projects, project)
    return folder, [*([str(folder)] if folder else []), *projects.get(project, ())]
