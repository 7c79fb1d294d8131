"""A project's profile (the note `projects/{project}.md`), proposals for one, and files in a project's folder.

Nothing outside the folder is read, and all reads are bounded and non-blocking. Existing profiles are never overwritten.
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import orjson

from crucible.commands.briefing.briefing_parts import Item, Quoter, Rank, Section
from crucible.core import files
from crucible.core.errors import VaultError
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import contain, cut, normal_line
from crucible.documents.markdown.frontmatter import find_frontmatter, render_frontmatter
from crucible.documents.markdown.source import Source
from crucible.documents.session.markup import render_title
from crucible.vault.notes.note_homes import PROJECTS, profile_path

LARGEST = 64 * 1024
"""Maximum bytes to read from a file."""
_LINES, _READ = 12, 16 * 1024
"""Maximum lines of a file in a briefing, and maximum bytes to read for them."""
MOST_FILES = 20
"""Maximum files to read."""

_HEADING = late_pattern(r"(#{1,6})[ \t]+(.*)\Z")
BULLET = late_pattern(r"\A[ \t]*(?:[-*+]|[0-9]{1,3}[.)])[ \t]+")
"""The start of a list item."""

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def read_text(folder: Path, name: str, largest: int = LARGEST) -> str | None:
    """Return the start of a text file in the folder; None if it is missing, outside the folder, or not text."""
    path = _inside(folder, name)
    if path is None:
        return None
    try:
        descriptor = os.open(path, _FLAGS)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            data = file.read(largest + 1)
    except OSError:
        return None
    if b"\0" in data:
        return None
    try:
        # The cut may split a character.
        return data[:largest].decode("utf-8-sig", "ignore" if len(data) > largest else "strict")
    except UnicodeDecodeError:
        return None


def find_files(folder: Path, named: Iterable[str]) -> list[str]:
    """Return the named files and the files in named folders, as relative paths without duplicates."""
    found: dict[str, None] = {}
    for name in named:
        path = _inside(folder, name)
        if path is None or not path.is_dir():
            found[name] = None
            continue
        with suppress(OSError):
            inner = (PurePosixPath(name, one).as_posix() for one in sorted(os.listdir(path)) if one[0] != ".")
            found |= {one: None for one in inner if (real := _inside(folder, one)) and real.is_file()}
    return [*found][:MOST_FILES]


def headed(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the non-blank lines, each with its heading ("" under the title), without Obsidian comments."""
    heading, is_comment = "", False
    for line in lines:
        if line.strip() == "%%" or (line.startswith("%%") and not line.rstrip().endswith("%%")):
            is_comment = not is_comment
        elif found := _HEADING.match(line):
            heading = found[2].rstrip(" \t#") if len(found[1]) > 1 else ""
        elif line.strip() and not is_comment and not line.startswith("%%"):
            yield heading, line


def _inside(folder: Path, name: str) -> Path | None:
    """Return the real path if it is in the folder, else None."""
    if not name or "\0" in name or os.path.isabs(name):
        return None
    top = Path(os.path.realpath(folder))
    real = Path(os.path.realpath(top / name))
    return real if real.is_relative_to(top) else None


def included_section(folder: Path | None, named: Sequence[str], quoter: Quoter) -> Section:
    """Return the section with the first lines of each file, or a note that the file cannot be read."""
    items = list(_items(folder, named, quoter)) if folder and named else []
    return Section("files", "From the project's files", tuple(items))


def _items(folder: Path, named: Iterable[str], quoter: Quoter) -> Iterator[Item]:
    for name in find_files(folder, named):
        label = quoter.line(name, 120).replace("]", "")
        text = read_text(folder, name, _READ)
        if text is None:
            yield Item("missing, outside the project's folder, or not text", Rank.CONVENTION, label)
            continue
        lines = [shown for line in quoter.whole(text).split("\n") if (shown := quoter.line(line, 200))]
        yield from (Item(line, Rank.CONVENTION, label) for line in lines[:_LINES])
        if len(lines) > _LINES:
            yield Item(f"… {len(lines) - _LINES} more lines", Rank.CONVENTION, label)


NOTE_TYPE = "project"

_CONVENTIONS = frozenset({"conventions", "convention", "style", "rules", "guidelines"})
_LINES_PROFILE = 30
"""Maximum lines of a profile in a briefing."""


class Profile(NamedTuple):
    """The lines of a profile, each with its heading ("" before the first). `is_cut` is True if there are more lines."""

    lines: tuple[tuple[str, str], ...] = ()
    is_cut: bool = False


def load_profile(root: Path, project: str, clean: Callable[[str], str] = str) -> Profile | None:
    """Load the profile, None if there is none. Raises `VaultError` if the note is not this project's profile.

    `clean` is called with the full text, to redact secrets that span lines.
    """
    path = profile_path(root, project)
    if not os.path.lexists(path):
        return None
    place = f"{PROJECTS}/{path.name}"
    text = read_text(path.parent, path.name, LARGEST)
    if text is None:
        raise VaultError(f"{place}: not readable as text", "fix the note, or remove it")
    source = Source(text)
    found = find_frontmatter(source)
    if found.values.get("type") != NOTE_TYPE:
        raise VaultError(f"{place}: its type is not `{NOTE_TYPE}`", f"set `type: {NOTE_TYPE}` in its properties")
    owner = found.values.get("project")
    if isinstance(owner, str) and owner.strip().casefold() != project.strip().casefold():
        raise VaultError(f"{place}: it belongs to another project", "see its property `project`")
    lines = clean("\n".join(source.lines[found.lines.end :])).split("\n")
    return Profile(
        tuple((heading, BULLET.sub("", line, count=1)) for heading, line in headed(lines)),
        path.stat().st_size > LARGEST,
    )


def profile_section(profile: Profile | None, quoter: Quoter, most: int = _LINES_PROFILE) -> Section:
    """Return a section with the profile's first lines, below their headings."""
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
    """Return the lines below a profile's heading Conventions. `clean` and errors are as in `load_profile`."""
    profile = load_profile(root, project, clean)
    lines = profile.lines if profile else ()
    return tuple(line.strip() for heading, line in lines if heading.strip().casefold() in _CONVENTIONS)


def write_profile(root: Path, project: str, text: str, *, fsync: bool = True) -> Path:
    """Write a new profile and return its path. Raises `NoteExists` if one exists, or another `VaultError`."""
    path = profile_path(root, project)
    top = Path(os.path.realpath(root))
    files.make_folders(top, path.parent)
    files.create_exclusive(path, text.encode("utf-8", "replace"), fsync=fsync)
    return path


_READMES = ("README.md", "README.rst", "README.txt", "README", "readme.md")
_RULES = ("CONTRIBUTING.md", "AGENTS.md", "CLAUDE.md", ".github/CONTRIBUTING.md", "docs/CONTRIBUTING.md")
_MANIFESTS = {
    "pyproject.toml": "Python",
    "package.json": "JavaScript",
    "Cargo.toml": "Rust",
    "go.mod": "Go",
    "Makefile": "",
}
"""Manifest files and their languages."""
_HEADINGS = ("Purpose", "Languages", "Commands", "Layout", "Conventions")
_SKIPPED = frozenset({"node_modules", "target", "dist", "build", "vendor", "venv", "__pycache__"})
_LINE, _MOST, _SHORTEST = 240, 15, 20
_RULE = late_pattern(
    r"(?m)^##+[ \t]+(\S[^\n]*)\n(?:[ \t]*\n)*(?![#`~])(?:[ \t]*(?:[-*+]|[0-9]{1,3}[.)])[ \t]+)?([^\n]*)"
)
"""Matches a heading below the title, with the first text below it."""
_CODE = late_pattern(r"(?ms)^(```|~~~).*?^\1")
_TARGET = late_pattern(r"(?m)^([A-Za-z][\w.-]*)[ \t]*:(?![=:])")
_NO_PROSE = ("#", "=", "-", "`", "|", ".", ">")
_NOISE = late_pattern(r"!?\[[^\[\]]*\]\([^()]*\)|<[^<>]*>")
"""Matches links, images and tags that are not nested."""


class Proposal(NamedTuple):
    """A note's text, and the relative paths of the files that it is based on."""

    text: str
    sources: tuple[str, ...]


def propose(folder: Path, project: str, tidy: Callable[[str], str]) -> Proposal | None:
    """Propose a profile from the project's files; None if they contain nothing to use.

    `tidy` redacts secrets and paths.
    """
    by_heading: dict[str, list[str]] = {heading: [] for heading in _HEADINGS}
    sources: list[str] = []
    for name in (*_READMES, *_MANIFESTS, *_RULES):
        text = "" if name in _READMES and by_heading["Purpose"] else read_text(folder, name) or ""
        found = [*_profile_lines(name, text.replace("\r\n", "\n"))] if text else []
        sources += [name] if found else []
        for heading, line in found:
            by_heading[heading].append(line)
    if not sources:
        return None
    names = sorted(one.name for one in folder.iterdir() if one.is_dir() and not one.is_symlink())
    by_heading["Layout"] = [f"{name}/" for name in names if name not in _SKIPPED and not name.startswith(".")]
    blocks = [render_title(normal_line(project) or "Project")]
    for heading, lines in by_heading.items():
        clean = (normal_line(tidy(line)) for line in dict.fromkeys(lines[:_MOST]))
        shown = "\n".join(f"- {contain(cut(line, _LINE))}" for line in clean if line)
        blocks += [f"## {heading}\n\n{shown}"] if shown else []
    head = render_frontmatter({"type": "project", "project": normal_line(project), "proposed_from": [*sources]})
    return Proposal(head + "\n" + "\n\n".join(blocks) + "\n", tuple(sources))


def _profile_lines(name: str, text: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a file that go into the profile, each with its heading."""
    if name in _RULES:
        for heading, first in _RULE.findall(_CODE.sub("", text)):
            yield "Conventions", ": ".join(filter(None, (heading.rstrip(" \t#"), first)))
    elif name in _READMES:
        yield from (("Purpose", paragraph) for paragraph in islice(_paragraphs(text), 1))
    elif name == "Makefile":
        yield from (("Commands", f"make {target}") for target in dict.fromkeys(_TARGET.findall(text)))
    elif (table := _table(text)) or name == "go.mod":
        parts = (one for key in ("project", "package") if isinstance(one := table.get(key), dict))
        project = next(parts, table)
        yield "Languages", "TypeScript" if '"typescript"' in text else _MANIFESTS[name]
        if isinstance(about := project.get("description"), str):
            yield "Purpose", about
        if isinstance(scripts := project.get("scripts"), dict):
            run = "npm run " if name == "package.json" else ""
            yield from (("Commands", f"{run}{script} ({does})") for script, does in scripts.items())


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the text paragraphs, without headings, badges and images."""
    for paragraph in text.split("\n\n"):
        lines = (line for line in paragraph.split("\n") if not line.startswith(_NO_PROSE))
        paragraph_text = " ".join(_NOISE.sub("", _NOISE.sub("", " ".join(lines))).split())
        if len(paragraph_text) > _SHORTEST:
            yield paragraph_text


def _table(text: str) -> dict[str, Any]:
    """Parse a TOML or JSON manifest; empty if the text is neither."""
    for loads in (orjson.loads, tomllib.loads):
        with suppress(ValueError, RecursionError):
            found = loads(text)
            return found if isinstance(found, dict) else {}
    return {}
