"""The files that a patch touches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from crucible.patterns import late_pattern

__all__ = ["Patched", "patched_files"]


class Patched(NamedTuple):
    """One file of a patch: `verb` is `Add`, `Update`, `Delete` or, of a file that got another name, `Move`."""

    verb: str
    path: str
    origin: str = ""


_HEAD = late_pattern(r"\*\*\* (Add|Update|Delete) File: (.+?)[ \t\r]*")
_MOVED = late_pattern(r"\*\*\* Move to: (.+?)[ \t\r]*")


def patched_files(patch: str) -> Iterator[Patched]:
    """The files of an `apply_patch`, or of a unified diff."""
    verb = path = moved = before = ""
    mark = "*** " if "*** Begin Patch" in patch or _HEAD.search(patch) else "+++ "
    for line in [*patch.split("\n"), f"{mark}End"]:
        if line.startswith(mark):
            if (found := _MOVED.fullmatch(line)) and path:
                moved = found[1]
                continue
            if path:
                yield Patched("Move", moved, path) if moved else Patched(verb, path)
            verb, path, moved, before = *_head(line, before), "", ""
        elif line.startswith("--- "):
            before = _diffed(line)


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
