"""The properties at the top of a note, read without the rest of it.

Owns where they end, and which notes are workflows of the Rust Crucible: those that `--dialect crucible` wrote, in which our markup
would find steps that are none.
"""

from __future__ import annotations

import os
import re
import stat

from crucible.core.patterns import late_pattern

_HEAD = 4096
"""Bytes that are looked at first: of nearly every note all of its properties."""

_FENCE = late_pattern(rb"\A(?:\xef\xbb\xbf)?---[ \t]*(?:\r\n?|\n)")
_CLOSER = late_pattern(rb"(?:\r\n?|\n)---[ \t]*(?:[\r\n]|\Z)")
_RUST = late_pattern(rb"^dialect[ \t]*:[ \t]*([\"']?)crucible\1[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)


def read_head(path: str) -> bytes:
    """The properties of a note with their fences, b"" for none.  What is no regular file raises `OSError`, and never waits."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path}: no regular file")
        head = os.read(descriptor, _HEAD)
        if not _FENCE.match(head):
            return b""
        while not (closer := _CLOSER.search(head)):
            more = os.read(descriptor, len(head))
            if not more:
                return b""  # never closed, so there are no properties
            head += more
    finally:
        os.close(descriptor)
    return head[: closer.end()]


def is_for_rust(head: bytes) -> bool:
    """Whether the property `dialect` says that the note is written for the Rust Crucible."""
    return b"ialect" in head and bool(_RUST.search(head))
