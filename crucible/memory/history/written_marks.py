"""What we wrote into a note, remembered in its last line: a digest of each item and each property, by key.

The line is a comment that Obsidian does not show.  An item whose digest is there is ours; any other a person wrote or changed.  A key without an item
means that a person changed or deleted it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.yaml_scalars import Value, render_entry
from crucible.memory.history.history import HEADINGS, Entry, Line, lines_of

_FORMER = "told_from"
"""A key in notes that a model wrote in older versions: the digest of what it was shown."""
_DIGITS = 8
_KEY = r"[\w./:@+-]{1,160}"
_LINE = late_pattern(rf"%% crucible wrote:((?: {_KEY}=[0-9a-f]{{8}})*) %%[ \t]*")
_NAME = late_pattern(_KEY)
_MARKER = late_pattern(r"\A[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)?")


def item_keys(entry: Entry) -> dict[str, Line]:
    """The lines of all sections by key: the section, and the finding's id or else a digest of the text."""
    found: dict[str, Line] = {}
    for part in HEADINGS:
        for line in lines_of(entry, part):
            name = line.finding if _NAME.fullmatch(line.finding) else f"text-{_digest(line.text)}"
            key, number = f"{part}/{name}", 1
            while key in found:
                number += 1
                key = f"{part}/{name}+{number}"
            found[key] = line
    return found


def item_mark(rows: Sequence[str]) -> str:
    """The digest of an item's lines, without indentation and list marks."""
    return _digest("\n".join(_MARKER.sub("", row).rstrip() for row in rows))


def value_mark(key: str, value: Value) -> str:
    """The digest of a property."""
    return _digest("\n".join(render_entry(key, value)))


def render_marks(marks: Mapping[str, str]) -> str:
    """The line, in one order, so that nothing new changes nothing."""
    return " ".join(["%% crucible wrote:", *(f"{key}={marks[key]}" for key in sorted(marks)), "%%"])


def is_marks_line(line: str) -> bool:
    """True for such a line."""
    return bool(_LINE.fullmatch(line))


def read_marks(lines: Sequence[str]) -> dict[str, str] | None:
    """The digests by key of all such lines, since a merge may have left two; None without any."""
    found = [match[1].split() for line in lines if (match := _LINE.fullmatch(line))]
    if not found:
        return None
    pairs = (one.rpartition("=") for marks in found for one in marks)
    return {key: digest for key, _, digest in pairs if key != _FORMER}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
