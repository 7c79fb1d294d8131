"""Find out whether a session's client is running, and wait until it has written its last rows."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from zlib import crc32

import orjson

from crucible.core.processes import is_alive
from crucible.vault.events.spool_reader import Spooled, SpoolLine

_SILENCE = 3600.0
"""Seconds without a hook after which a client with an unknown process counts as ended."""


def is_running(spooled: Spooled) -> bool:
    """Return whether a session's client is running."""
    if _is_registered(spooled):
        return True
    if not spooled.lines:
        return False
    called = _calls_of_client(spooled.lines)
    if called is None:
        return time.time() - spooled.lines[-1].time < _SILENCE
    started = _started(called.pid)
    # Process ids are reused: a process that began after the hook was called is a different one.
    return started is not None and started <= called.time + 1.0


def _calls_of_client(lines: Sequence[SpoolLine]) -> SpoolLine | None:
    """Return the last line with the client's process id; None if no process is known.

    A hook that outlives a killed client has a different parent, such as process 1.  The client's id is therefore the
    most frequent one since the last start, not the last one.
    """
    starts = [at for at, line in enumerate(lines) if line.event == "SessionStart"]
    since = [line for line in lines[starts[-1] if starts else 0 :] if line.pid > 1]
    if not since:
        return None
    [(pid, _)] = Counter(line.pid for line in since).most_common(1)
    return next(line for line in reversed(since) if line.pid == pid)


def _is_registered(spooled: Spooled) -> bool:
    """Return whether a `sessions/<pid>.json` names the session and that process runs; crashes leave the file."""
    transcript = spooled.transcript
    if not transcript:
        return False
    with suppress(OSError):
        for path in (Path(transcript).parent.parent.parent / "sessions").glob("*.json"):
            if path.stem.isdecimal() and path.is_file() and _names(path, spooled.session):
                started = _started(int(path.stem))
                return started is not None and started <= path.stat().st_mtime + 1.0
    return False


def _names(path: Path, session: str) -> bool:
    try:
        found = orjson.loads(path.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and session in found.values()


def _started(pid: int) -> float | None:
    """Return when a process began, in seconds since 1970; None if it does not exist, 0.0 if its start is unknown."""
    if not is_alive(pid):
        return None
    if sys.platform == "win32":
        return 0.0
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        if stat[0] == "Z":
            return None  # a zombie process
        boot = next(
            line for line in Path("/proc/stat").read_text(encoding="ascii").split("\n") if line.startswith("btime")
        )
        return float(boot.split()[1]) + int(stat[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, StopIteration, IndexError):
        return _started_by_ps(pid)


def _started_by_ps(pid: int) -> float:
    with suppress(OSError, ValueError, subprocess.SubprocessError):
        transcript = subprocess.run(
            ["ps", "-o", "lstart=", "-p", str(pid)],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
            env={**os.environ, "LC_ALL": "C"},
        ).stdout
        return time.mktime(time.strptime(" ".join(transcript.split()), "%a %b %d %H:%M:%S %Y"))
    return 0.0


LONGEST = 3.0
"""Maximum seconds to wait.  Rows have arrived up to 1.5 s after the hook; later ones are read at the next start."""
_STEP = 0.03
_TAIL = 1 << 20


def wait_for_tail(transcript: Path, answer: str, longest: float = LONGEST, after: float = 0.0) -> bool:
    """Wait until the last answer in the hooks' payload is in the transcript; return whether it is.

    `answer` is the `length:crc32` of that answer; if it is "", wait until the file stops growing.  `after`, in seconds
    since 1970, is the time of an earlier answer with the same text, whose row does not count.
    """
    deadline = time.monotonic() + longest
    size = -1
    while True:
        if answer and _holds(transcript, answer, after):
            return True
        before, size = size, transcript.stat().st_size
        if not answer and size == before:
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(_STEP if answer else 5 * _STEP)


def _holds(transcript: Path, answer: str, after: float) -> bool:
    with transcript.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _TAIL))
        lines = file.read().split(b"\n")
    # The text after the last line break may be an incomplete row.
    return any(_says(line, answer, after) for line in reversed(lines[:-1]) if b'"assistant"' in line)


def _says(line: bytes, answer: str, after: float) -> bool:
    try:
        row = orjson.loads(line)
        texts = [block["text"] for block in row["message"]["content"] if block.get("type") == "text"]
        late = not after or datetime.fromisoformat(row["timestamp"]).timestamp() > after
    except (ValueError, KeyError, TypeError, AttributeError):
        return False
    return late and any(_sum(text) == answer for text in (*texts, "".join(texts), "\n".join(texts)))


def _sum(text: str) -> str:
    data = text.strip().encode("utf-8", "replace")
    return f"{len(data)}:{crc32(data)}"
