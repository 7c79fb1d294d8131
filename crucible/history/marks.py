"""What we wrote into a note, remembered in its last line: a digest for each item and property.

Owns that line, a comment that Obsidian does not show.  What stands in the note and has no mark a human wrote or changed; what has a mark and
does not stand there he took out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from crucible.note.scalars import Value, render_entry
from crucible.patterns import late_pattern

__all__ = ["BASIS", "basis_mark", "is_marks_line", "mark_of", "read_marks", "render_marks", "value_mark"]

_DIGITS = 8
_LINE = late_pattern(r"%% crucible wrote:((?: (?:[a-z_]{1,40}=)?[0-9a-f]{8})*) %%[ \t]*")


def mark_of(part: str, text: str, why: str) -> str:
    """The mark of an item: of its words, not of the line of the session's note that it leads to."""
    return _digest(f"{part}\0{text}\0{why}")


def value_mark(key: str, value: Value) -> str:
    """The mark of a property, `key=digits`: a removed one is known by its name."""
    return f"{key}={_digest(chr(10).join(render_entry(key, value)))}"


BASIS = "told_from="
"""What the mark begins with that says from what a note was told."""


def basis_mark(texts: Iterable[str]) -> str:
    """The mark of what the session held when it was told: while that is the same, what a model told of it is still true."""
    return BASIS + _digest("\0".join(texts))


def render_marks(marks: Iterable[str]) -> str:
    """The line; each mark once, in one order, so that nothing new changes nothing."""
    return " ".join(["%% crucible wrote:", *sorted(set(marks)), "%%"])


def is_marks_line(line: str) -> bool:
    """Whether a line is such a one."""
    return line.startswith("%% crucible wrote:") and bool(_LINE.fullmatch(line))


def read_marks(lines: Sequence[str]) -> tuple[str, ...] | None:
    """The marks of all such lines of a note, since a merge may have left two; None without any."""
    found = [match[1].split() for line in lines if is_marks_line(line) and (match := _LINE.fullmatch(line))]
    return tuple(mark for marks in found for mark in marks) if found else None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]
