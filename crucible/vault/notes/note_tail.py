"""Read the comment with a session's bookkeeping from the end of its note, without reading the rest."""

from __future__ import annotations

import os
from typing import BinaryIO

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.source import NOWHERE, Source
from crucible.documents.session.session_reader import read_session

_TAIL = 4096
"""Bytes to read first: enough for the comment of nearly every note."""
_COMMENT = late_pattern(rb"\n<!-- crucible[ \t]*\r?\n((?>(?:(?![^\n]*-->)[^\n]*\n)*))-->[ \t\r\n]*\Z")


def read_tail(path: str) -> bytes:
    """Return the lines of the comment with which a session's note ends (`documents.session.bookkeeping`), or b"".

    If a user wrote below the comment, the note is parsed.  Raises `OSError`.
    """
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        for length in (_TAIL, size):
            tail = _tail_of(file, size, length)
            at = tail.rfind(b"\n<!-- crucible")
            if at >= 0:
                found = _COMMENT.match(tail, at)
                return found[1] if found else _parsed_tail(_tail_of(file, size, size))
            if length >= size:
                break
    return b""


def _tail_of(file: BinaryIO, size: int, length: int) -> bytes:
    file.seek(max(0, size - length))
    return file.read(length)


def _parsed_tail(data: bytes) -> bytes:
    source = Source.from_bytes(data)
    lines = read_session(source, "").bookkeeping_lines
    return b"" if lines is NOWHERE else source.slice(source.span_of(lines)).encode("utf-8", "surrogateescape")
