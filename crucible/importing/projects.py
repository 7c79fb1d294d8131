"""The name of the project that a session's folder belongs to.

Owns the order: the user's own settings, the repository's name, the folder's.  A name, never a path of this machine.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath

__all__ = ["project_of"]

_ORIGIN = re.compile(r'^\[remote "origin"\][^\[]*?^\s*url\s*=\s*(\S+)', re.MULTILINE)


def project_of(cwd: str, projects: Mapping[str, tuple[str, ...]]) -> str | None:
    """`projects` maps a name to folders; the longest one that holds `cwd` wins.  None when there is no name."""
    if not cwd:
        return None
    named = [
        (len(folder), name) for name, folders in projects.items() for folder in folders if _holds(folder, cwd)
    ]
    if named:
        return max(named)[1]
    return _repository(Path(cwd)) or _last_part(cwd)


def _holds(folder: str, cwd: str) -> bool:
    base = folder.rstrip("/\\")
    return cwd == base or cwd.startswith((base + "/", base + "\\"))


def _last_part(path: str) -> str | None:
    # A transcript may come from another machine.
    pure = PureWindowsPath(path) if re.match(r"[A-Za-z]:[\\/]|\\\\", path) else PurePosixPath(path)
    return pure.name or None


def _repository(cwd: Path) -> str | None:
    """What the origin of a repository that is still there is called, else its main folder."""
    try:
        for folder in (cwd, *cwd.parents):
            git = folder / ".git"
            if git.exists():
                return _name_of(git, folder)
    except OSError:
        pass
    return None


def _name_of(git: Path, folder: Path) -> str | None:
    if git.is_file():
        # A worktree's `.git` names a folder in the `.git` of the main one.
        main = re.match(r"gitdir:\s*(.+?)[/\\]worktrees[/\\]", git.read_text("utf-8", "replace"))
        git = Path(main[1]) if main else git
        folder = git.parent if main else folder
    config = git / "config"
    origin = _ORIGIN.search(config.read_text("utf-8", "replace")) if config.is_file() else None
    name = re.split(r"[/\\:]", origin[1].rstrip("/"))[-1].removesuffix(".git") if origin else ""
    return name or folder.name or None
