"""The files that the result of a search names, and those that a patch touches.

Owns the forms in which the clients' tools and `grep` tell them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from crucible.acts.files import Files
from crucible.acts.kinds import type_of
from crucible.patterns import late_pattern

__all__ = ["Patched", "found_files", "patched_files"]

_MOST = 40
"""Files of one result."""
_LINES = 4000

_FOUND = late_pattern(
    r"(?:File: )?(?P<path>[^:\n\"'`]{1,300}?)(?::\d+[:-].*|:|)",
)
_WITH_TEXT = late_pattern(r"(?P<path>[^\s:\"'`()]{1,300}\.\w{1,12}):.*")


def found_files(result: str, files: Files, folder: str = "") -> tuple[str, ...]:
    """The files that a search's result names, in its order: `app.py:4:`, `app.py: text`, `app.py` alone in a line."""
    found: dict[str, None] = {}
    for line in result[: 1 << 18].split("\n")[:_LINES]:
        for path in _named(line.strip()[:1000]):
            name = files.path_of(path, folder)
            if name and (type_of(name) or name in files):
                found[name] = None
        if len(found) >= _MOST:
            break
    return tuple(found)


def _named(line: str) -> Iterator[str]:
    if match := _FOUND.fullmatch(line):
        yield match["path"].strip()
    elif match := _WITH_TEXT.match(line):
        yield match["path"]


class Patched(NamedTuple):
    """One file of a patch: `verb` is `Add`, `Update`, `Delete` or, of a file that got another name, `Move`."""

    verb: str
    path: str
    text: str = ""
    origin: str = ""


_HEAD = late_pattern(r"\*\*\* (Add|Update|Delete) File: (.+?)[ \t\r]*")
_MOVED = late_pattern(r"\*\*\* Move to: (.+?)[ \t\r]*")


def patched_files(patch: str) -> Iterator[Patched]:
    """The files of an `apply_patch`, or of a unified diff, each with the lines that were put into it."""
    verb = path = moved = before = ""
    lines: list[str] = []
    mark = "*** " if "*** Begin Patch" in patch or _HEAD.search(patch) else "+++ "
    for line in [*patch.split("\n"), f"{mark}End"]:
        if line.startswith(mark):
            if (found := _MOVED.fullmatch(line)) and path:
                moved = found[1]
                continue
            if path:
                text = "\n".join(lines)
                yield Patched("Move", moved, text, path) if moved else Patched(verb, path, text)
            verb, path, moved, before = *_head(line, before), "", ""
            lines.clear()
        elif line.startswith("--- "):
            before = _diffed(line)
        elif line.startswith("+"):
            lines.append(line[1:])


def _head(line: str, before: str) -> tuple[str, str]:
    """What is done to which file, by the line that says so; a diff says in two, the first of which is `before`."""
    if head := _HEAD.fullmatch(line):
        return head[1], head[2]
    if not line.startswith("+++ ") or not before:
        return "", ""
    after = _diffed(line)
    if after == "/dev/null":
        return "Delete", before
    return ("Add" if before == "/dev/null" else "Update"), after


def _diffed(line: str) -> str:
    """The path of `--- a/limiter.py`, of `+++ b/limiter.py`."""
    path = line[4:].partition("\t")[0].strip()
    return path[2:] if path.startswith(("a/", "b/")) else path
