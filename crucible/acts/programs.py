"""The files that a program reads and writes, as far as its text says.

Owns the forms in which Python and JavaScript name them; the program is one that an agent gave to an interpreter in a command, as
it does to change files.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from crucible.patterns import late_pattern

__all__ = ["Touched", "touched_files"]

_MOST_TEXT = 1 << 17

_GIVEN = r"""(?:(?P<name>[A-Za-z_]\w{0,60})|[rb]?(?P<quote>['"])(?P<text>[^'"\n]{1,300})(?P=quote))"""
_SET = late_pattern(
    r"""\b([A-Za-z_]\w{0,60})[ \t]*=[ \t]*(?:(?:pathlib\.)?Path\([ \t]*)?['"]([^'"\n]{1,300})['"]"""
)
_OPENED = late_pattern(
    rf"""\bopen\([ \t]*{_GIVEN}[ \t]*(?:,[ \t]*(?:mode[ \t]*=[ \t]*)?['"](?P<mode>[rwaxbt+]{{1,4}})['"])?"""
)
_PATHS = late_pattern(
    rf"""(?:\bPath\([ \t]*{_GIVEN}[ \t]*\)|\b(?P<path>[A-Za-z_]\w{{0,60}}))\.(?P<verb>read|write)_(?:text|bytes)\("""
)
_NODE = late_pattern(rf"""\b(?P<verb>read|write|append)File(?:Sync)?\([ \t]*{_GIVEN}""")


class Touched(NamedTuple):
    """Paths as they stand in the program, each once."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]


def touched_files(code: str) -> Touched:
    """What a program reads and writes by name: `open("a")`, `Path("a").write_text(…)`, `writeFileSync("a", …)`."""
    code = code[:_MOST_TEXT]
    named = dict(_SET.findall(code))
    reads: dict[str, None] = {}
    writes: dict[str, None] = {}
    for path, is_written, is_read in _uses(code, named):
        if is_written:
            writes[path] = None
        if is_read:
            reads[path] = None
    return Touched(tuple(reads), tuple(writes))


def _uses(code: str, named: dict[str, str]) -> Iterator[tuple[str, bool, bool]]:
    """Each path with whether it is written and whether it is read."""
    for found in _OPENED.finditer(code):
        mode = found["mode"] or "r"
        if path := found["text"] or named.get(found["name"], ""):
            yield path, any(c in mode for c in "wax+"), "r" in mode or "a" in mode or "+" in mode
    for found in _PATHS.finditer(code):
        if path := found["text"] or named.get(found["name"] or found["path"], ""):
            yield path, found["verb"] == "write", found["verb"] == "read"
    for found in _NODE.finditer(code):
        if path := found["text"] or named.get(found["name"], ""):
            yield path, found["verb"] != "read", found["verb"] != "write"
