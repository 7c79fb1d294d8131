"""Where on this machine a session's work lies.

A note never says so: it travels, and names a project.  Owns the order of the answers; the working directory, the user's
settings and what a transcript tells are handed in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from crucible.session.model import Session
from crucible.vault.projects import project_of

__all__ = ["folder_of"]


def folder_of(
    session: Session,
    *,
    cwd: Path | None,
    projects: Mapping[str, Sequence[str]],
    native_cwd: Path | None = None,
) -> Path | None:
    """The folder to go on in, None when nothing tells.

    `cwd` when it belongs to the session's project: whoever stands in another worktree of it means that one.  Else
    `native_cwd`, where the client began, when it is still there; else a folder that the user's settings give the project.
    A session without a project has only where its client began.
    """
    if session.project and cwd and project_of(str(cwd), projects) == session.project:
        return cwd
    if native_cwd and native_cwd.is_dir():
        return native_cwd
    named = projects.get(session.project or "", ())
    return next((folder for folder in map(Path, named) if folder.is_dir()), None)
