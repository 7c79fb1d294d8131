"""What an import looks for, and its report.  Imports little: `cru import` shows it even if nothing is new."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from crucible.clients.registry import Dialect

if TYPE_CHECKING:  # an import that finds nothing new reads no logs
    from crucible.clients.log_files import Transcript, Wanted

_NONE: Mapping[Any, int] = MappingProxyType({})


class Search(NamedTuple):
    """Where to look for one client's sessions.

    `is_sniffed`: skip files that other clients wrote.  `wanted`: the sessions to look for, None for all; of those
    written since a time, more may be found.  `is_new`: whether to import a session that was found.
    """

    dialect: Dialect
    paths: tuple[Path, ...]
    is_sniffed: bool = False
    wanted: Wanted | None = None
    is_new: Callable[[Transcript], bool] = lambda _transcript: True


class UnreadableRow(NamedTuple):
    """A row or a file that could not be read. `line` counts from 1; 0 means the entire file."""

    path: Path
    line: int
    reason: str


class ImportReport(NamedTuple):
    """The report of an import.

    - `created`, `updated`, `unchanged`: ids of notes, including subagents' notes, in the order of the transcripts;
      sessions that continue another session's note come last
    - `empty`: transcripts without a message, which get no note
    - `left_out`: numbers of skipped sessions by reason: `own`, `since`, `project`, `session` or `deleted`, and
      `copy` for transcripts that add nothing to another transcript of the same session
    - `unknown_rows`: numbers of rows by type, for types that this version does not know
    - `subagents`: the ids of subagents' notes among them
    - `sessions`: the native sessions found
    - `redacted`: secrets redacted from new text, by the transcript that still contains them
    """

    created: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    unreadable: tuple[UnreadableRow, ...] = ()
    unknown_rows: Mapping[str, int] = _NONE
    empty: tuple[Path, ...] = ()
    left_out: Mapping[str, int] = _NONE
    sessions: int = 0
    redacted: Mapping[Path, int] = _NONE
    subagents: frozenset[str] = frozenset()
