"""The race at a turn's end: the client calls its hook before the last rows of the transcript are on disk.

Owns how it is known that they are: the hook was told the last answer, and the spool kept its length and check sum.
"""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from zlib import crc32

import orjson

LONGEST = 3.0
"""Seconds.  Rows were seen 1.5 s after the hook; what comes later still is read at the next start."""
_STEP = 0.03
_TAIL = 1 << 20


def wait_for_tail(transcript: Path, said: str, longest: float = LONGEST, after: float = 0.0) -> bool:
    """Wait until the last answer that hooks were told of (`length:crc32`, "" unknown) is in the file; whether it is.

    `after`, in seconds since 1970, is when the same had been said already: that row is not the one.  Without an answer,
    until the file has not grown for a moment.
    """
    deadline = time.monotonic() + longest
    size = -1
    while True:
        if said and _holds(transcript, said, after):
            return True
        before, size = size, transcript.stat().st_size
        if not said and size == before:
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(_STEP if said else 5 * _STEP)


def _holds(transcript: Path, said: str, after: float) -> bool:
    with transcript.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _TAIL))
        lines = file.read().split(b"\n")
    # What stands behind the last line break may be half a row.
    return any(_says(line, said, after) for line in reversed(lines[:-1]) if b'"assistant"' in line)


def _says(line: bytes, said: str, after: float) -> bool:
    try:
        row = orjson.loads(line)
        texts = [block["text"] for block in row["message"]["content"] if block.get("type") == "text"]
        late = not after or datetime.fromisoformat(row["timestamp"]).timestamp() > after
    except (ValueError, KeyError, TypeError, AttributeError):
        return False
    return late and any(_sum(text) == said for text in (*texts, "".join(texts), "\n".join(texts)))


def _sum(text: str) -> str:
    data = text.strip().encode("utf-8", "replace")
    return f"{len(data)}:{crc32(data)}"
