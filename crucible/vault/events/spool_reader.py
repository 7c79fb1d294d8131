"""Read the spool: each session's lines, and how many bytes of them were imported (`<session>.state`)."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import orjson

from crucible.core.errors import OutsideVault
from crucible.vault.events.spool import is_name, remove, spool_folder


@dataclass(frozen=True, slots=True)
class SpoolLine:
    """One hook event.

    `time` is in seconds since 1970, `pid` is the client's process id, and `said` is the size and checksum of the
    client's last answer.
    """

    event: str
    time: float = 0.0
    pid: int = 0
    transcript: str = ""
    agent: str = ""
    call: str = ""
    source: str = ""
    reason: str = ""
    trigger: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True)
class Spooled:
    """One session's lines.  `size` is the file's size in bytes, `synced` the number of bytes that were imported.

    `left` is the session's state after the last import: `running`, `ended`, `died`, `missing` (no transcript), or "" if
    never imported.
    """

    client: str
    session: str
    lines: tuple[SpoolLine, ...] = ()
    size: int = 0
    synced: int = 0
    left: str = ""

    @property
    def has_backlog(self) -> bool:
        """Whether there are lines to import."""
        return self.size > self.synced

    @property
    def has_ended(self) -> bool:
        """Whether the client ended the session and has not continued it since.

        A hook for a tool or prompt may arrive after the end, since hooks run in parallel.  A fork opens the original
        session but adds nothing to it.
        """
        events = [line.event for line in self.lines]
        if "SessionEnd" not in events:
            return False
        since = events[len(events) - events[::-1].index("SessionEnd") :]
        opened = since.index("SessionStart") if "SessionStart" in since else len(since)
        return all(event == "SessionStart" for event in since[opened:])

    @property
    def transcript(self) -> str:
        """The path of the client's transcript, from the latest hook that gave one, or ""."""
        return next((line.transcript for line in reversed(self.lines) if line.transcript), "")


def load_spool(root: Path, client: str) -> list[Spooled]:
    """Load a client's sessions from the vault's spool, sorted by name.

    Raises `OutsideVault` if a symlink points outside the vault.
    """
    try:
        folder = Path(spool_folder(str(root), client))
    except ValueError as error:
        raise OutsideVault(str(error), "remove the symlink") from None
    if not folder.is_dir():
        return []
    return [_load(folder, client, path) for path in sorted(folder.glob("*.jsonl")) if is_name(path.stem)]


def save_state(root: Path, spooled: Spooled, left: str) -> None:
    """Record the session's state, and that it was imported up to its current size."""
    path = _state_path(Path(spool_folder(str(root), spooled.client)), spooled.session)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    temporary.unlink(missing_ok=True)  # left by a killed process, or a symlink that is not ours
    with temporary.open("x", encoding="ascii") as file:
        file.write(f"{spooled.size} {left}\n")
    temporary.replace(path)


def retire(root: Path, spooled: Spooled) -> bool:
    """Remove a session from the spool, unless lines were added since it was read."""
    folder = Path(spool_folder(str(root), spooled.client))
    if not remove(str(folder), spooled.session, spooled.size):
        return False
    _state_path(folder, spooled.session).unlink(missing_ok=True)
    return True


def _load(folder: Path, client: str, path: Path) -> Spooled:
    data = _content(path)
    synced, left = _load_state(_state_path(folder, path.stem))
    lines = tuple(line for line in map(_line, data.split(b"\n")) if line)
    # After a power failure the file may be shorter than recorded.
    return Spooled(client, path.stem, lines, len(data), synced if synced <= len(data) else 0, left)


def _content(path: Path) -> bytes:
    """Return a file's content; empty for anything but a regular file, since reading a named pipe would block."""
    with suppress(OSError):
        if stat.S_ISREG(path.lstat().st_mode):
            return path.read_bytes()
    return b""


def _state_path(folder: Path, session: str) -> Path:
    return folder / f"{session}.state"


def _load_state(path: Path) -> tuple[int, str]:
    with suppress(ValueError):
        size, _, left = _content(path).decode("ascii").strip().partition(" ")
        return int(size), left
    return 0, ""


def _line(data: bytes) -> SpoolLine | None:
    try:
        row = orjson.loads(data)
    except ValueError:
        return None
    if not isinstance(row, dict) or not isinstance(row.get("event"), str):
        return None
    texts = {name: value for name, value in row.items() if name in _TEXTS and isinstance(value, str)}
    time, pid = row.get("time"), row.get("pid")
    return SpoolLine(
        time=float(time) if isinstance(time, int | float) else 0.0,
        pid=pid if isinstance(pid, int) else 0,
        **texts,
    )


_TEXTS = frozenset(SpoolLine.__slots__) - {"time", "pid"}
