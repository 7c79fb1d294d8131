"""Files of a project's folder, as far as a briefing may read them.

Owns that nothing outside the folder is read, whatever a path or a symlink says, that nobody is waited for, and that a file is text and is read to
an end of its own.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from crucible.commands.briefing.briefing_parts import Item, Rank, Section
from crucible.commands.briefing.quoting import Quoter
from crucible.core.patterns import late_pattern

LARGEST = 64 * 1024
"""Bytes that are read of one file."""
_LINES, _READ = 12, 16 * 1024
"""Lines that a briefing shows of each file, and bytes that it reads for them."""
MOST_FILES = 20
"""Files that are read of all that were asked for."""

_HEADING = late_pattern(r"(#{1,6})[ \t]+(.*)\Z")
BULLET = late_pattern(r"\A[ \t]*(?:[-*+]|[0-9]{1,3}[.)])[ \t]+")
"""The beginning of a list item."""

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def read_text(folder: Path, name: str, largest: int = LARGEST) -> str | None:
    """The beginning of a text file of the folder; None for one that is not there, lies elsewhere, or is no text."""
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
        # What is cut may end in the middle of a letter.
        return data[:largest].decode("utf-8-sig", "ignore" if len(data) > largest else "strict")
    except UnicodeDecodeError:
        return None


def find_files(folder: Path, named: Iterable[str]) -> list[str]:
    """The files that are meant, seen from the folder: each that is named, and of a named folder those in it, by name; none twice."""
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
    """The non-blank lines, each with its heading ("" for the title), without Obsidian's comments."""
    heading, is_comment = "", False
    for line in lines:
        if line.strip() == "%%" or (line.startswith("%%") and not line.rstrip().endswith("%%")):
            is_comment = not is_comment
        elif found := _HEADING.match(line):
            heading = found[2].rstrip(" \t#") if len(found[1]) > 1 else ""
        elif line.strip() and not is_comment and not line.startswith("%%"):
            yield heading, line


def _inside(folder: Path, name: str) -> Path | None:
    """Where it really lies, when that is in the folder."""
    if not name or "\0" in name or os.path.isabs(name):
        return None
    top = Path(os.path.realpath(folder))
    real = Path(os.path.realpath(top / name))
    return real if real.is_relative_to(top) else None


def project_folder(cwd: Path, projects: Mapping[str, Sequence[str]], project: str) -> Path:
    """The user's own for that project, else the repository's, else `cwd` itself."""
    own = [Path(folder) for folder in projects.get(project, ()) if cwd.is_relative_to(folder)]
    if own:
        return max(own, key=lambda folder: len(folder.parts))
    return next((folder for folder in (cwd, *cwd.parents) if (folder / ".git").exists()), cwd)


def included_section(folder: Path | None, named: Sequence[str], quoter: Quoter) -> Section:
    """The first lines of each file; one that cannot be read, or lies elsewhere, is named."""
    items = list(_items(folder, named, quoter)) if folder and named else []
    return Section("files", "From the project's files", tuple(items))


def _items(folder: Path, named: Iterable[str], quoter: Quoter) -> Iterator[Item]:
    for name in find_files(folder, named):
        label = quoter.line(name, 120).replace("]", "")
        text = read_text(folder, name, _READ)
        if text is None:
            yield Item("not there, not in the project's folder, or no text", Rank.CONVENTION, label)
            continue
        lines = [shown for line in quoter.whole(text).split("\n") if (shown := quoter.line(line, 200))]
        yield from (Item(line, Rank.CONVENTION, label) for line in lines[:_LINES])
        if len(lines) > _LINES:
            yield Item(f"… {len(lines) - _LINES} more lines", Rank.CONVENTION, label)
