"""Whether a session's client still runs, and whether it has written its last rows."""

from __future__ import annotations

import os
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from zlib import crc32

import orjson

from crucible.vault.events.spool_reader import Spooled, SpoolLine

_SILENCE = 3600.0
"""Seconds without a hook after which a client that cannot be asked counts as gone."""


def is_running(spooled: Spooled) -> bool:
    """Whether a session's client runs."""
    if _is_registered(spooled):
        return True
    if not spooled.lines:
        return False
    called = _calls_of_client(spooled.lines)
    if called is None:
        return time.time() - spooled.lines[-1].time < _SILENCE
    started = _started(called.pid)
    # Numbers of processes are given out again: one that began after the hook was called is another one.
    return started is not None and started <= called.time + 1.0


def _calls_of_client(lines: Sequence[SpoolLine]) -> SpoolLine | None:
    """The last line that the client itself called for; None when no process is known.

    A hook that outlives a killed client is somebody else's child by the time it looks, process 1's say, so what most
    lines since the last start tell is believed and not what the last one does.
    """
    starts = [at for at, line in enumerate(lines) if line.event == "SessionStart"]
    since = [line for line in lines[starts[-1] if starts else 0 :] if line.pid > 1]
    if not since:
        return None
    [(pid, _)] = Counter(line.pid for line in since).most_common(1)
    return next(line for line in reversed(since) if line.pid == pid)


def _is_registered(spooled: Spooled) -> bool:
    """Claude Code keeps `sessions/<pid>.json` beside its `projects` while a session runs; a crash leaves the file."""
    told = spooled.transcript
    if not told:
        return False
    with suppress(OSError):
        for path in (Path(told).parent.parent.parent / "sessions").glob("*.json"):
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
    """When a process began, in seconds since 1970; None when there is none, 0.0 when the system does not say."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return None
    except OSError:
        pass  # it is somebody else's
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        if stat[0] == "Z":
            return None  # dead, and not buried yet
        boot = next(
            line for line in Path("/proc/stat").read_text(encoding="ascii").split("\n") if line.startswith("btime")
        )
        return float(boot.split()[1]) + int(stat[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, StopIteration, IndexError):
        return _started_by_ps(pid)


def _started_by_ps(pid: int) -> float:
    with suppress(OSError, ValueError, subprocess.SubprocessError):
        told = subprocess.run(
            ["ps", "-o", "lstart=", "-p", str(pid)],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
            env={**os.environ, "LC_ALL": "C"},
        ).stdout
        return time.mktime(time.strptime(" ".join(told.split()), "%a %b %d %H:%M:%S %Y"))
    return 0.0


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
