"""A block of ours in a text file of somebody else's, between two lines that mark it.

Owns that taking it out gives every byte back: one line end goes in before the block, always, and one goes out.
"""

from __future__ import annotations

from typing import NamedTuple

from crucible.core.errors import UsageError

__all__ = ["Marks", "block_in", "with_block", "without_block"]

_BOM = "\ufeff"


class Marks(NamedTuple):
    """The lines around a block; nobody else writes such."""

    opening: str
    closing: str


def with_block(text: str | None, body: str, marks: Marks) -> str:
    """The text with the block in its place, or at its end; None is a file that is not there."""
    found = _place(text, marks) if text else None
    newline = _line_end(text[found[0] : found[1]] if text and found else text or "")
    block = newline.join([marks.opening, *body.rstrip("\n").split("\n"), marks.closing]) + newline
    if text is None:
        return block
    return text[: found[0]] + block + text[found[1] :] if found else text + newline + block


def without_block(text: str, marks: Marks) -> str | None:
    """The text without the block; None when the whole file came with it."""
    found = _place(text, marks)
    if found is None:
        return text
    before, after = text[: found[0]], text[found[1] :]
    if not before and not after:
        return None
    return before.removesuffix(_line_end(text[found[0] : found[1]])) + after


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def block_in(text: str, marks: Marks) -> str | None:
    """What stands between the marks, None where there is no block."""
    found = _place(text, marks)
    if found is None:
        return None
    lines = text[found[0] : found[1]].splitlines()
    return "\n".join(lines[1:-1])


def _place(text: str, marks: Marks) -> tuple[int, int] | None:
    """From the first mark's line to behind the second's.  `UsageError` for one without the other."""
    at, start, end = 0, -1, -1
    for line in text.splitlines(keepends=True):
        bare = line.removeprefix(_BOM).rstrip("\r\n")
        if bare == marks.opening and start < 0:
            start = at + (len(line) - len(line.removeprefix(_BOM)))
        elif bare == marks.closing and start >= 0 and end < 0:
            end = at + len(line)
        at += len(line)
    if start >= 0 and end < 0:
        raise UsageError(
            f"{marks.opening!r} without {marks.closing!r}",
            "take out what is ours by hand; nothing was changed",
        )
    return (start, end) if start >= 0 else None
