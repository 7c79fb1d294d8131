"""The options of an import, and its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from crucible.clients.redact import Redactor
from crucible.core.errors import (
    EditRefused,
    LockTimeout,
    NoteChanged,
    NoteExists,
    NoteUnreadable,
    OutsideVault,
    TranscriptError,
    reason_of,
)
from crucible.documents.session.status_rules import Client
from crucible.vault.notes.vault import Note

Met: TypeAlias = "Callable[[str, Note | None, str], None]"

ROWS_PER_FILE = 100
"""Unreadable rows listed for one file; the rest is counted in a last row."""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """The options of an import. `now` is aware.

    - `since`: skip sessions whose last event is earlier
    - `only_project`, `only_session`: skip sessions of other projects, or of other notes than the one with this id
    - `projects`: the folders of each project, by name
    - `redact`: replaces the redactor of the vault's settings
    - `client`: whether the program that writes the transcripts is known to run
    - `whole_turns`: leave an unfinished last turn to the next import
    - `follows`: the source of the session that this one continues, if no transcript says so
    - `met`: called for each session before it is written, with its id ("" if there is nothing to write), its note
      before the import, and the folder that the client worked in
    - `refresh`: upgrade notes of older versions
    """

    now: datetime
    dry_run: bool = False
    since: datetime | None = None
    only_project: str | None = None
    projects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    redact: Redactor | None = None
    client: Client = Client.UNKNOWN
    whole_turns: bool = False
    follows: str = ""
    met: Met | None = None
    only_session: str = ""
    refresh: bool = False


@dataclass(frozen=True, slots=True)
class UnreadableRow:
    """A row or a whole file that could not be read.  `line` counts from 1; 0 is the file itself."""

    path: Path
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The report of an import.

    - `created`, `updated`, `unchanged`: ids of notes, subagents' too, in the order of the transcripts; sessions that
      continue another one's note come last
    - `empty`: transcripts without a message, which get no note
    - `left_out`: skipped sessions by reason: `own`, `since`, `project` and `session`, and `copy` for transcripts that
      add nothing to another one of the same session
    - `unknown_rows`: rows by type that this version does not know
    - `sessions`: the native sessions found
    - `redacted`: secrets redacted from new text, by the transcript that still contains them
    """

    created: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    unreadable: tuple[UnreadableRow, ...] = ()
    unknown_rows: Mapping[str, int] = field(default_factory=dict)
    empty: tuple[Path, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    sessions: int = 0
    redacted: Mapping[Path, int] = field(default_factory=dict)


@dataclass(slots=True)
class ReportDraft:
    """A report that is still being filled."""

    created: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    unreadable: list[UnreadableRow] = field(default_factory=list)
    unknown_rows: Counter[str] = field(default_factory=Counter)
    empty: list[Path] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    sessions: int = 0
    redacted: Counter[Path] = field(default_factory=Counter)

    def report(self) -> ImportReport:
        """The finished report.

        A note that holds several sessions is listed once: created, else updated, else unchanged.
        """
        created, updated, unchanged = map(dict.fromkeys, (self.created, self.updated, self.unchanged))
        return ImportReport(
            tuple(created),
            tuple(name for name in updated if name not in created),
            tuple(name for name in unchanged if name not in created and name not in updated),
            tuple(self.unreadable),
            dict(self.unknown_rows),
            tuple(self.empty),
            {reason: count for reason, count in self.left_out.items() if count},
            self.sessions,
            dict(self.redacted),
        )


def unreadable_rows(path: Path, rows: list[UnreadableRow], expected: str) -> list[UnreadableRow]:
    """Limit a file's unreadable rows for the report.

    `expected` is the name of the client if the file is not one of its transcripts, else "": such a file gets one row.
    """
    if expected:
        reason = "empty" if path.stat().st_size == 0 else "no row of it is known"
        first = rows[0] if rows else UnreadableRow(path, 1, reason)
        return [UnreadableRow(path, first.line, f"no {expected} transcript: {first.reason}")]
    if len(rows) > ROWS_PER_FILE:
        more = UnreadableRow(path, rows[ROWS_PER_FILE].line, f"and {len(rows) - ROWS_PER_FILE} more rows")
        return [*rows[:ROWS_PER_FILE], more]
    return rows


SESSION_ERRORS = (EditRefused, LockTimeout, NoteChanged, NoteExists, NoteUnreadable, OutsideVault, TranscriptError)
"""Errors that concern one session only. They are reported; others, such as a full disk, end the import."""


def reason_at(error: Exception, path: Path) -> str:
    """The reason of an error without its path, which is shown beside it."""
    if isinstance(error, OSError):
        return reason_of(error)
    return str(error).removeprefix(f"{path}: ")
