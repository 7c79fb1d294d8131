"""Read the properties at the top of a note.  Few imports, since `cru` alone and completion need nothing else of a note."""

from __future__ import annotations

import os
import re
import stat

from crucible.core.patterns import late_pattern

_HEAD = 4096
"""Bytes to read first: enough for the properties of nearly every note."""

_FENCE = late_pattern(rb"\A(?:\xef\xbb\xbf)?---[ \t]*(?:\r\n?|\n)")
_CLOSER = late_pattern(rb"(?:\r\n?|\n)---[ \t]*(?:[\r\n]|\Z)")
_RUST = late_pattern(rb"^dialect[ \t]*:[ \t]*([\"']?)crucible\1[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)


def read_head(path: str) -> bytes:
    """Return a note's properties with their fences, or b"".

    Raises `OSError` for anything but a regular file, and never blocks.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path}: not a regular file")
        head = os.read(descriptor, _HEAD)
        if not _FENCE.match(head):
            return b""
        while not (closer := _CLOSER.search(head)):
            more = os.read(descriptor, len(head))
            if not more:
                return b""  # never closed, so these are not properties
            head += more
    finally:
        os.close(descriptor)
    return head[: closer.end()]


def is_for_rust(head: bytes) -> bool:
    """Return whether the property `dialect` says that the note was written for the Rust version of Crucible."""
    return b"ialect" in head and bool(_RUST.search(head))
