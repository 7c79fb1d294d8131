"""A project's profile: the note `projects/{project}.md`, `type: project`, which is its user's once it is there.

Owns its name, reading it, and that it is written when there is none and never again.  What is proposed is `proposing`'s.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from crucible.commands.briefing.briefing_parts import Item, Rank, Section
from crucible.commands.briefing.project_files import BULLET, LARGEST, headed, read_text
from crucible.commands.briefing.quoting import Quoter
from crucible.core import files
from crucible.core.errors import VaultError
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.frontmatter import find_frontmatter
from crucible.documents.markdown.source import Source
from crucible.documents.session.names import slugify

__all__ = [
    "PROJECTS",
    "conventions",
    "load_profile",
    "profile_path",
    "profile_section",
    "write_profile",
]

PROJECTS = "projects"
"""The folder of the vault in which profiles are kept."""
NOTE_TYPE = "project"

_PLAIN = late_pattern(r"[\w-](?:[\w .-]{0,78}[\w-])?\Z")
_DEVICE = late_pattern(r"(?i)(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?\Z")
_CONVENTIONS = frozenset({"conventions", "convention", "style", "rules", "guidelines"})
_LINES = 30
"""Lines of a profile that are told."""


class Profile(NamedTuple):
    """Lines of a profile with the heading that each stands below, "" before the first; `is_cut` says that the file is longer."""

    lines: tuple[tuple[str, str], ...] = ()
    is_cut: bool = False


def profile_path(root: Path, project: str) -> Path:
    """Where the profile is, or would be; a name that can be no file's stands there as a slug with its hash.

    Raises `OutsideVault` where a symlink leads away.
    """
    top = Path(os.path.realpath(root))
    name = project
    if not _PLAIN.match(name) or _DEVICE.match(name) or len(name.encode("utf-8", "replace")) > 200:
        digest = hashlib.sha256(project.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        name = f"{slugify(project, 40)}-{digest}"
    return files.inside(top, top / PROJECTS / f"{name}.md")


def load_profile(root: Path, project: str, clean: Callable[[str], str] = str) -> Profile | None:
    """The profile, None when there is none.  Raises `VaultError` for a note that is none of this project.

    `clean` is given the text whole, for what must be taken out of it and is longer than a line.
    """
    path = profile_path(root, project)
    if not os.path.lexists(path):
        return None
    place = f"{PROJECTS}/{path.name}"
    text = read_text(path.parent, path.name, LARGEST)
    if text is None:
        raise VaultError(f"{place}: no text that can be read", "mend the note, or take it away")
    source = Source(text)
    found = find_frontmatter(source)
    if found.values.get("type") != NOTE_TYPE:
        raise VaultError(f"{place}: its type is not `{NOTE_TYPE}`", f"write `type: {NOTE_TYPE}` into its properties")
    told = found.values.get("project")
    if isinstance(told, str) and told.strip().casefold() != project.strip().casefold():
        raise VaultError(f"{place}: it is about another project", "its property `project` says which")
    lines = clean("\n".join(source.lines[found.lines.end :])).split("\n")
    return Profile(
        tuple((heading, BULLET.sub("", line, count=1)) for heading, line in headed(lines)),
        path.stat().st_size > LARGEST,
    )


def profile_section(profile: Profile | None, quoter: Quoter, most: int = _LINES) -> Section:
    """The profile's first lines, below their headings."""
    if profile is None:
        return Section("profile", "Project")
    items = [
        Item(shown, Rank.CONVENTION, quoter.line(heading, 80).replace("]", ""))
        for heading, line in profile.lines[:most]
        if (shown := quoter.line(line))
    ]
    if items and (len(profile.lines) > most or profile.is_cut):
        items.append(items[-1]._replace(text="… and more in the project's note"))
    return Section("profile", "Project", tuple(items))


def conventions(root: Path, project: str, clean: Callable[[str], str] = str) -> tuple[str, ...]:
    """The lines below a profile's heading Conventions, as they stand there; none without one.  `clean` and errors as of `load_profile`."""
    profile = load_profile(root, project, clean)
    lines = profile.lines if profile else ()
    return tuple(line.strip() for heading, line in lines if heading.strip().casefold() in _CONVENTIONS)


def write_profile(root: Path, project: str, text: str, *, fsync: bool = True) -> Path:
    """Write a new profile, and return its file; `NoteExists` when there is one, and other `VaultError`s."""
    path = profile_path(root, project)
    top = Path(os.path.realpath(root))
    files.make_folders(top, path.parent)
    files.create_exclusive(path, text.encode("utf-8", "replace"), fsync=fsync)
    return path
