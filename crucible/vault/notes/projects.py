"""Determine the project to which a folder belongs."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.core.quick_imports import sha256


class KnownProjects(dict[str, Sequence[str]]):
    """The folders of the user's projects by name.  `names` has the vault's own projects by key, see `project_keys`."""

    def __init__(self, folders: Mapping[str, Sequence[str]], names: dict[str, str]) -> None:
        super().__init__(folders)
        self.names = names


def _names(projects: Mapping[str, Sequence[str]]) -> Mapping[str, str]:
    return projects.names if isinstance(projects, KnownProjects) else {}


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
    if not here.is_absolute() or "\0" in cwd:
        return ""
    if not os.path.isdir(here):
        return _remembered(here, projects)
    inside = vault and Path(os.path.realpath(here)).is_relative_to(os.path.realpath(vault))
    found = None if inside else _repository(here)
    return _unique_name(found, _names(projects)) if found else ""


def project_keys(cwd: str, projects: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the keys under which a vault remembers the repository around a folder.

    They are that of its origin, which all clones share, or else of its git directory, and that of its folder.  There
    are none without a repository, and where the user's settings name the project.
    """
    here = Path(cwd)
    if not cwd or "\0" in cwd or not here.is_absolute() or not os.path.isdir(here) or _configured(_pure(cwd), projects):
        return ()
    found = _repository(here)
    return (found.key, _key("folder", str(found.folder))) if found else ()


def _key(kind: str, text: str) -> str:
    return f"{kind}:{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _remembered(folder: Path, projects: Mapping[str, Sequence[str]]) -> str:
    """Return the name of a repository that is gone from this folder or one above; "" if the vault knows none."""
    names = _names(projects)
    above = (_key("folder", str(each)) for each in (folder, *folder.parents))
    return next((names[key] for key in above if key in names), "") if names else ""


def _unique_name(found: _Repository, names: Mapping[str, str]) -> str:
    """Return a repository's name: the vault's, else one that no other repository of the vault has."""
    if found.key in names:
        return names[found.key]
    taken = {name.casefold() for key, name in names.items() if key.startswith("git:")}
    digest = found.key.rpartition(":")[2]
    choices = (found.name, f"{found.name}-{found.owner}" if found.owner else "", f"{found.name}-{digest[:6]}")
    return next((one for one in choices if one and one.casefold() not in taken), f"{found.name}-{digest}")


def folder_in_project(cwd: str, projects: Mapping[str, Sequence[str]], project: str) -> Path | None:
    """Return the folder if it exists on this machine and belongs to the project."""
    folder = Path(cwd)
    if not cwd or "\0" in cwd or not folder.is_absolute() or not os.path.isdir(folder):
        return None
    return folder if project_of(cwd, projects) == project else None


def project_folder(cwd: Path, projects: Mapping[str, Sequence[str]], project: str) -> Path:
    """Return the project's folder: from the user's settings, else the repository's root, else `cwd` itself."""
    own = [Path(folder) for folder in projects.get(project, ()) if cwd.is_relative_to(folder)]
    if own:
        return max(own, key=lambda folder: len(folder.parts))
    return next((folder for folder in (cwd, *cwd.parents) if os.path.exists(folder / ".git")), cwd)


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


class _Repository(NamedTuple):
    """A repository: its name, its owner or the folder above, the key that its clones share, and its top folder."""

    name: str
    owner: str
    key: str
    folder: Path


def _repository(folder: Path) -> _Repository | None:
    """Return the git repository that contains a folder.  A worktree has its main repository's name."""
    for parent in (folder, *folder.parents):
        git = parent / ".git"
        if os.path.isdir(git):
            return _described(git, parent, parent.name)
        if os.path.isfile(git):
            common, name = _common_folder(git)
            return _described(common, parent, name or parent.name, is_worktree=bool(name))
    return None


def _described(git: Path, folder: Path, name: str, *, is_worktree: bool = True) -> _Repository:
    """Describe the repository with this git directory; a submodule is called as its folder is, not as its origin."""
    place = _place_of(_origin(git), git)
    if place is None:
        real = os.path.realpath(git)
        return _Repository(name, Path(real).parent.parent.name, _key("git", real), folder)
    *above, last = place.split("/")
    owner = _fitting(above[-1]) if len(above) > 1 else ""
    return _Repository((is_worktree and _fitting(last)) or name, owner, _key("git", place.lower()), folder)


def _fitting(name: str) -> str:
    """Return a name that a stranger's repository gave, without a password; "" if it cannot be a project's name."""
    name = name.rpartition("@")[2]
    return name if len(name) <= 100 and name.isprintable() and name.strip(".") else ""


def _common_folder(git_file: Path) -> tuple[Path, str]:
    """Return the git directory that a `.git` file names, and its repository's name; "" if it is no worktree."""
    text = _read_start(git_file, 4096)
    found = re.match(r"gitdir: *(.+?)\s*$", text, re.MULTILINE)
    if not found or "\0" in found[1]:
        return git_file, ""
    place = re.fullmatch(r"(.+?)[\\/]worktrees[\\/][^\\/\n]+", found[1])
    target = place[1] if place else found[1]
    git = _pure(str(git_file.parent / target) if target.startswith(".") else target)
    # A bare repository is `name.git`, or hidden (`.bare`, `.git`) in a folder called `name`.
    name = git.parent.name if git.name.startswith(".") else git.name.removesuffix(".git")
    return Path(git), _fitting(name) if place else ""


_ORIGIN = late_pattern(r'^\[remote "origin"\]([^\[]*+)', re.MULTILINE)
_URL = late_pattern(r"^[ \t\r]*url[ \t]*=[ \t]*([^\s\0]{1,4096})", re.MULTILINE)


def _origin(git: Path) -> str:
    section = _ORIGIN.search(_read_start(git / "config", 65536))
    found = _URL.search(section[1]) if section else None
    return found[1] if found else ""


def _place_of(url: str, git: Path) -> str | None:
    """Return where an origin is, the same for https and ssh: `host/owner/name`, or an absolute path."""
    # A query and a fragment may hold a token.
    url = re.split(r"[?#]", url, maxsplit=1)[0] if "://" in url else url
    url = url.rstrip("/\\").removesuffix(".git")
    found = re.fullmatch(
        r"[a-z][a-z0-9+.-]*://(?:[^/@]*@)?([^/:]*)(?::\d+)?/+(.+)", url, re.IGNORECASE
    ) or re.fullmatch(r"(?:[^/@:\\]+@)?([^/:\\@]{2,}):(?![/\\]{2})/*(.+)", url)
    if found:
        return f"{found[1].lower()}/{found[2].replace(chr(92), '/').lstrip('~/')}" if found[1] else f"/{found[2]}"
    top = git.parent if git.name == ".git" else git
    return os.path.normpath(top / url).replace("\\", "/") if url else None


def _read_start(path: Path, size: int) -> str:
    """Return the start of a regular file, "" if there is none: a stranger's link may lead to a pipe or a device."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
            return file.read(size).decode("utf-8", "surrogateescape") if is_file else ""
    except (OSError, ValueError):
        return ""


def _folder_name(path: PurePath) -> str:
    """Return the folder's name.  A worktree inside a repository (`x/.claude/worktrees/y`) has the repository's name."""
    for at, part in enumerate(path.parts):
        if part in (".worktrees", ".claude") and 0 < at < len(path.parts) - 1:
            return PurePath(path.parts[at - 1]).name
    return path.name
