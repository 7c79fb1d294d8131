"""Determine the project to which a folder belongs."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath


def project_of(cwd: str, projects: Mapping[str, Sequence[str]]) -> str:
    """Return the project's name: from the user's settings (the deepest folder wins), the git repository, or the folder.

    `projects` maps names to folders.  A repository is named after its origin, else after its folder.  `cwd` may be from
    another machine or no longer exist; then only its text is used.  Returns "" if there is no name.
    """
    return (_named(cwd, projects) or _folder_name(_pure(cwd))) if cwd else ""


def named_project_of(cwd: str, projects: Mapping[str, Sequence[str]], vault: str = "") -> str:
    """Return the project's name, or "" if it could only be guessed from the folder's name.

    A `vault` contains notes of all projects, so its folder belongs to a project only if the user's settings say so; git
    is ignored.
    """
    return _named(cwd, projects, vault) if cwd else ""


def _named(cwd: str, projects: Mapping[str, Sequence[str]], vault: str = "") -> str:
    named = _configured(_pure(cwd), projects)
    if named:
        return named
    here = Path(cwd)
    if not here.is_absolute() or "\0" in cwd or not here.is_dir():
        return ""
    inside = vault and Path(os.path.realpath(here)).is_relative_to(os.path.realpath(vault))
    return "" if inside else _repository(here)


def folder_in_project(cwd: str, projects: Mapping[str, Sequence[str]], project: str) -> Path | None:
    """Return the folder if it exists on this machine and belongs to the project."""
    folder = Path(cwd)
    if not cwd or "\0" in cwd or not folder.is_absolute() or not folder.is_dir():
        return None
    return folder if project_of(cwd, projects) == project else None


def project_folder(cwd: Path, projects: Mapping[str, Sequence[str]], project: str) -> Path:
    """Return the project's folder: from the user's settings, else the repository's root, else `cwd` itself."""
    own = [Path(folder) for folder in projects.get(project, ()) if cwd.is_relative_to(folder)]
    if own:
        return max(own, key=lambda folder: len(folder.parts))
    return next((folder for folder in (cwd, *cwd.parents) if (folder / ".git").exists()), cwd)


def _pure(text: str) -> PurePath:
    windows = re.match(r"[A-Za-z]:[\\/]|\\\\", text)
    return PureWindowsPath(text) if windows else PurePosixPath(os.path.normpath(text))


def _configured(path: PurePath, projects: Mapping[str, Sequence[str]]) -> str:
    best, depth = "", 0
    for name, folders in projects.items():
        for folder in map(_pure, folders):
            if len(folder.parts) > depth and type(folder) is type(path) and path.is_relative_to(folder):
                best, depth = name, len(folder.parts)
    return best


def _repository(folder: Path) -> str:
    """Return the name of the git repository that contains a folder.  A worktree has its main repository's name."""
    for parent in (folder, *folder.parents):
        git = parent / ".git"
        if git.is_dir():
            return _origin_name(git) or parent.name
        if git.is_file():
            return _main_repository(git) or parent.name
    return ""


def _main_repository(git_file: Path) -> str:
    """Return the main repository's name, from `gitdir: …/.git/worktrees/x`; "" for a submodule."""
    try:
        text = git_file.read_bytes()[:4096].decode("utf-8", "surrogateescape")
    except OSError:
        return ""
    found = re.match(r"gitdir: *(.+?)[\\/]worktrees[\\/][^\\/\n]+\s*$", text)
    if not found:
        return ""
    git = _pure(str(git_file.parent / found[1]) if found[1].startswith(".") else found[1])
    if origin := _origin_name(Path(git)):
        return origin
    # A bare repository is `name.git`, or hidden (`.bare`, `.git`) in a folder called `name`.
    return git.parent.name if git.name.startswith(".") else git.name.removesuffix(".git")


_ORIGIN = re.compile(r'^\[remote "origin"\][^\[]*?^\s*url\s*=\s*(\S+)', re.MULTILINE)


def _origin_name(git: Path) -> str:
    """Return the last part of the origin's URL, without `.git`, or ""."""
    try:
        found = _ORIGIN.search((git / "config").read_bytes()[:65536].decode("utf-8", "replace"))
    except OSError:
        return ""
    return re.split(r"[/\\:]", found[1].rstrip("/"))[-1].removesuffix(".git") if found else ""


def _folder_name(path: PurePath) -> str:
    """Return the folder's name.  A worktree inside a repository (`x/.claude/worktrees/y`) has the repository's name."""
    for at, part in enumerate(path.parts):
        if part in (".worktrees", ".claude") and 0 < at < len(path.parts) - 1:
            return PurePath(path.parts[at - 1]).name
    return path.name
