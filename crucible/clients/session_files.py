"""The files of one native session, the same for every client.

Owns the vocabulary that the dialects' `find` answers in; where a client keeps its files is the dialect's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from crucible.clients.log_values import as_time
from crucible.core.errors import TranscriptError

DEEPEST = 20
"""Folders in one another that are gone down into: no client has so many, and a folder may be named that holds anything."""


@dataclass(frozen=True, slots=True)
class SubagentFile:
    """The log of one subagent.

    `agent` is its id, as in `At.agent` and `SubagentStarted.agent`.  `kind`, `description` and `call` (the id of the
    call that started it) are "" where the client wrote no notice beside the log.  `run` names the workflow run it
    belonged to, `depth` counts from 1 and is 0 when unknown.
    """

    agent: str
    path: Path
    kind: str = ""
    description: str = ""
    call: str = ""
    run: str = ""
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Transcript:
    """One native session: its trunk file and the files of its subagents, in the order of their names.

    Where a client keeps many sessions in one file (a database), `path` is that file, for the subagents too, and
    `native_id` and a subagent's `agent` tell them apart.

    `follows` is the native id of the session that this one goes on from and whose rows it may repeat, "" unknown;
    `followed_by` are those that go on from this one, as far as a look for it alone finds them.
    """

    client: str
    native_id: str
    path: Path
    subagents: tuple[SubagentFile, ...] = ()
    follows: str = ""
    followed_by: tuple[str, ...] = ()

    def path_of(self, agent: str = "") -> Path:
        """The file of a log: the trunk's for "" and for a subagent that has none of its own."""
        return next((file.path for file in self.subagents if agent and file.agent == agent), self.path)


class Reach(NamedTuple):
    """How far a transcript goes: the last time that it tells, its size in bytes, and the id of its first row ("" unknown).

    Of two copies of a session the one that reaches further is imported, when both begin with the same row.
    """

    last: datetime | None
    size: int
    first: str = ""


_ROW = re.compile(rb'"(?:uuid|id)"\s*:\s*"([^"]+)"')
_STAMP = re.compile(rb'"timestamp"\s*:\s*"([^"]{10,40})"')
_TAIL = 1 << 16


def reach_of_lines(path: Path) -> Reach:
    """The reach of a file of JSON lines whose rows have a `timestamp` and a `uuid` or `id`."""
    size = path.stat().st_size
    with path.open("rb") as file:
        first = _ROW.search(file.read(_TAIL))
        file.seek(max(0, size - _TAIL))
        told = (as_time(stamp.decode("ascii", "replace")) for stamp in _STAMP.findall(file.read()))
        last = max((time for time in told if time), default=None)
    return Reach(last, size, first[1].decode("utf-8", "replace") if first else "")


def check_reachable(path: Path) -> None:
    """`TranscriptError` for a path at which nothing is, or nothing that we may look at."""
    try:
        path.stat()
    except OSError as error:
        raise TranscriptError(f"{path}: {error.strerror or error}") from error


def files_below(folder: Path) -> Iterator[Path]:
    """What is no folder, in a folder and below it, by name; links to folders are not followed."""
    for at, folders, names in os.walk(folder):
        folders.sort()
        if len(Path(at).parts) - len(folder.parts) >= DEEPEST:
            folders.clear()
        yield from (Path(at, name) for name in sorted(names))
