"""Which folder is a project's, seen from where somebody works: the files of a briefing lie there, and paths are seen from there.

No environment: working directory and the user's projects are handed in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["project_folder"]


def project_folder(cwd: Path, projects: Mapping[str, Sequence[str]], project: str) -> Path:
    """The user's own for that project, else the repository's, else `cwd` itself."""
    own = [Path(folder) for folder in projects.get(project, ()) if cwd.is_relative_to(folder)]
    if own:
        return max(own, key=lambda folder: len(folder.parts))
    return next((folder for folder in (cwd, *cwd.parents) if (folder / ".git").exists()), cwd)
