"""Whether our hooks are installed, and whether they fire.

Owns what counts as firing: a hook was called, or its process ran, after the client last wrote a transcript.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

from crucible.doctor.findings import Finding, State
from crucible.errors import CrucibleError
from crucible.installing.claude_code import EVENTS, find_installed

__all__ = ["check_hooks", "check_log", "last_fired"]

_LATE = 300.0
"""Seconds between the client's last row and our last hook beyond which hooks do not seem to fire."""
_LOG_LINES = 5


def check_hooks(
    places: Iterable[tuple[str, Path]], root: Path, last_written: datetime | None
) -> Iterator[Finding]:
    """`places` are settings files with the option of `cru install claude-code` that means each.

    `last_written` is when a transcript of a session that belongs to this vault was last written to.
    """
    installed: list[float] = []
    for option, path in places:
        try:
            found = find_installed(path)
        except CrucibleError as error:
            yield Finding("hooks", State.BAD, str(error), "mend the file by hand")
            continue
        if found.events and found.lacking:
            what = f"{path}: {len(found.lacking)} of {len(EVENTS)} hooks are missing or changed"
            yield Finding("hooks", State.BAD, what, f"cru install claude-code {option}", found.lacking)
        elif found.events:
            yield Finding("hooks", State.GOOD, f"{path}: all hooks are installed")
        if found.events:
            installed.append(path.stat().st_mtime)
    if not installed:
        what = "Claude Code's hooks are not installed: its sessions are not written down by themselves"
        yield Finding("hooks", State.NOTE, what, "cru install claude-code")
    else:
        # What was written before they were installed says nothing about them.
        late = last_written is not None and last_written.timestamp() > min(installed)
        yield from _firing(root, last_written if late else None)


def _firing(root: Path, last_written: datetime | None) -> Iterator[Finding]:
    fired = last_fired(root)
    if last_written is None or (fired is not None and fired > last_written.timestamp() - _LATE):
        told = f"last called {_ago(fired)}" if fired else "no session has run since they were installed"
        yield Finding("hooks", State.GOOD, f"hooks: {told}")
        return
    when = f"last {_ago(fired)}" if fired else "never"
    what = f"a session was written to at {last_written:%Y-%m-%d %H:%M} UTC, and hooks were called {when}"
    mend = (
        "start the client anew; hooks are read at its start, and `claude --debug` shows why one does not run"
    )
    yield Finding("hooks", State.BAD, what, mend)


def last_fired(root: Path) -> float | None:
    """When a hook was last called in this vault, in seconds since 1970, as far as the spool tells."""
    spool = root / ".crucible" / "spool"
    times = [path.stat().st_mtime for path in (spool / "lock", *spool.glob("*/*.jsonl")) if path.exists()]
    return max(times, default=None)


def _ago(time: float | None) -> str:
    return f"at {datetime.fromtimestamp(time).astimezone():%Y-%m-%d %H:%M}" if time else "never"


def check_log(log: Path, since: datetime) -> Iterator[Finding]:
    """Faults of hooks that were noted since then."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return
    recent = [line for line in lines if line[:20] >= f"{since:%Y-%m-%dT%H:%M:%SZ}"]
    if recent:
        what = f"{len(recent)} faults of hooks in {log}"
        yield Finding("hooks", State.BAD, what, f"less {shlex.quote(str(log))}", tuple(recent[-_LOG_LINES:]))
