"""Which vault is meant, and which project a folder belongs to.

Owns the order of the answers.  The environment, the working directory and the user's settings are handed in.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from crucible.errors import VaultNotFound
from crucible.settings import UserSettings

__all__ = ["find_vault", "is_vault", "project_of"]


def find_vault(explicit: str | Path | None, env: Mapping[str, str], cwd: Path, user: UserSettings) -> Path:
    """The root of the vault: `--vault`, `CRUCIBLE_VAULT`, the nearest parent with `.crucible/`, the user's default.

    The first of these that is given decides; when it is no vault, `VaultNotFound` says so instead of trying the next.
    """
    if explicit:
        return _named_vault(cwd / explicit, "--vault")
    if env.get("CRUCIBLE_VAULT"):
        return _named_vault(cwd / env["CRUCIBLE_VAULT"], "CRUCIBLE_VAULT")
    for folder in (cwd, *cwd.parents):
        if is_vault(folder):
            return _real(folder)
    if user.default_vault:
        return _named_vault(user.default_vault, f"default_vault in {user.path}")
    raise VaultNotFound(
        f"no vault in {cwd} or above, and no default vault",
        "`cru init` makes one here, `--vault DIR` names one, `cru init DIR --default` makes one for everywhere",
    )


def is_vault(folder: Path) -> bool:
    """It has a folder `.crucible`."""
    return (folder / ".crucible").is_dir()


def _named_vault(path: Path, named_by: str) -> Path:
    if is_vault(path):
        return _real(path)
    what = "no vault (it has no .crucible folder)" if path.is_dir() else "no such folder"
    what = "a file, no vault" if path.is_file() else what
    above = next((parent for parent in path.parents if path.exists() and is_vault(parent)), None)
    makes = "name a folder" if path.is_file() else f"`cru init {path}` makes one there"
    hint = f"did you mean {above}?" if above else makes
    raise VaultNotFound(f"{path}: {what} (from {named_by})", hint)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def project_of(cwd: str, projects: Mapping[str, Sequence[str]]) -> str:
    """The project's name: the user's own (the deepest folder wins), the git repository's, the folder's.

    `projects` maps a name to folders.  A repository is called as its origin is, else as its folder.  `cwd` may come from another machine or be gone; then only its text counts.  "" when it names nothing.
    """
    if not cwd:
        return ""
    path = _pure(cwd)
    named = _configured(path, projects)
    if named:
        return named
    here = Path(cwd)
    repository = _repository(here) if here.is_absolute() and "\0" not in cwd and here.is_dir() else ""
    return repository or _folder_name(path)


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
    """The name of the git repository that holds a folder; a worktree has its main repository's."""
    for parent in (folder, *folder.parents):
        git = parent / ".git"
        if git.is_dir():
            return _origin_name(git) or parent.name
        if git.is_file():
            return _main_repository(git) or parent.name
    return ""


def _main_repository(git_file: Path) -> str:
    """What `gitdir: /main/.git/worktrees/x` says; "" for a submodule, which is a repository of its own."""
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
    # A bare repository is `name.git`, or hidden (`.bare`, `.git`) inside the folder that has the name.
    return git.parent.name if git.name.startswith(".") else git.name.removesuffix(".git")


_ORIGIN = re.compile(r'^\[remote "origin"\][^\[]*?^\s*url\s*=\s*(\S+)', re.MULTILINE)


def _origin_name(git: Path) -> str:
    """The last part of the origin's address without `.git`, or ""."""
    try:
        found = _ORIGIN.search((git / "config").read_bytes()[:65536].decode("utf-8", "replace"))
    except OSError:
        return ""
    return re.split(r"[/\\:]", found[1].rstrip("/"))[-1].removesuffix(".git") if found else ""


def _folder_name(path: PurePath) -> str:
    """The last part; a worktree that tools keep inside the repository (`x/.claude/worktrees/y`) has the repository's."""
    for at, part in enumerate(path.parts):
        if part in (".worktrees", ".claude") and 0 < at < len(path.parts) - 1:
            return PurePath(path.parts[at - 1]).name
    return path.name
