"""Obsidian's `%%` comments, which markdown-it does not know: masked before it looks.

One scanner for comments, fences and HTML comments: whichever opened first wins.  A comment that is never closed is a
problem and hides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from crucible.note.source import Problem

__all__ = ["mask_comments"]

_FENCE = re.compile(r"((?:[ \t]|>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))*)(`{3,}(?=[^`]*$)|~{3,})")
_MARKS = re.compile(r"`+|%%|<!--")


def mask_comments(lines: Sequence[str], first: int = 0) -> tuple[Sequence[str], list[Problem]]:
    """The lines with what a comment hides replaced by `x`, blank lines kept, and unclosed comments as problems.

    Without any comment the very same lines come back.
    """
    if not any("%%" in line for line in lines):
        return lines, []
    masker = _Masker(list(lines), first)
    masker.run()
    return masker.lines, masker.problems


class _Masker:
    """Walks the lines once; what is open (a fence, a comment, an HTML comment) decides how a line is read."""

    def __init__(self, lines: list[str], first: int) -> None:
        self.lines = lines
        self.first = first
        self.problems: list[Problem] = []
        self.last_mark = max((i for i in range(first, len(lines)) if "%%" in lines[i]), default=-1)
        self.last_html_end = max((i for i in range(first, len(lines)) if "-->" in lines[i]), default=-1)

    def run(self) -> None:
        at = self.first
        while at < len(self.lines):
            opener = _FENCE.match(self.lines[at])
            at = self._skip_fence(at, opener) if opener else self._read_line(at, 0)

    def _skip_fence(self, at: int, opener: re.Match[str]) -> int:
        """The line after a fence: its closer, or the end of the list item or quote that it stands in."""
        prefix, fence = opener[1], opener[2]
        quoted, inset = ">" in prefix, len(prefix) if prefix.strip(" >") else 0
        closes = re.compile(rf"[ >\t]*{fence[0]}{{{len(fence)},}}[ \t]*$").match
        for line_no in range(at + 1, len(self.lines)):
            line = self.lines[line_no]
            if quoted and not line.lstrip(" ").startswith(">"):
                return line_no
            if inset and line.strip(" \t") and len(line) - len(line.lstrip(" ")) < inset:
                return line_no
            if closes(line) and (quoted or inset or _indent(line) < 4):
                return line_no + 1
        return len(self.lines)

    def _read_line(self, at: int, column: int) -> int:
        """Read a line outside any fence from `column` on; returns the next line to look at."""
        line = self.lines[at]
        while found := _MARKS.search(line, column):
            mark = found[0]
            if mark[0] == "`":
                close = re.compile(rf"(?<!`){mark}(?!`)").search(line, found.end())
                column = close.end() if close else found.end()
            elif mark == "<!--":
                end = line.find("-->", found.end())
                if end < 0 and at < self.last_html_end:
                    return self._skip_html(at)
                column = end + 3 if end >= 0 else len(line)
            else:
                end = line.find("%%", found.end())
                if end < 0:
                    return self._open_comment(at)
                column = end + 2  # within one line a comment changes no structure
        return at + 1

    def _skip_html(self, at: int) -> int:
        for line_no in range(at + 1, len(self.lines)):
            end = self.lines[line_no].find("-->")
            if end >= 0:
                return self._read_line(line_no, end + 3)
        return len(self.lines)

    def _open_comment(self, at: int) -> int:
        """Mask the lines up to the closing mark; in a quote a comment must close on its own line."""
        if at >= self.last_mark or self.lines[at].lstrip(" ").startswith(">"):
            self.problems.append(Problem("unclosed-comment", at + 1, "this `%%` is never closed; it hides nothing"))
            return at + 1
        for line_no in range(at + 1, len(self.lines)):
            end = self.lines[line_no].find("%%")
            if end >= 0:
                self._mask(line_no, end + 2)
                return self._read_line(line_no, end + 2)
            self._mask(line_no, len(self.lines[line_no]))
        return len(self.lines)

    def _mask(self, at: int, end: int) -> None:
        self.lines[at] = "x" * end + self.lines[at][end:]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
