"""Options of an import, and its report under construction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

from crucible.clients.redact import Redactor
from crucible.clients.row_shapes import count_kinds
from crucible.commands.imports.import_result import ImportReport, UnreadableRow
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
"""Maximum unreadable rows listed for a file; the last row gives the number of the others."""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """The options of an import. `now` is timezone-aware; the dates of new ids are in its zone.

    - `since`: skip sessions whose last event is before this time
    - `only_project`, `only_session`: import only sessions of this project, or only the session with this id
    - `projects`: the folders of each project, by name
    - `redact`: replaces the redactor of the vault's settings
    - `client`: whether the program that writes the transcripts is running, if known
    - `whole_turns`: leave an unfinished last turn to the next import
    - `growing_since`: the same, for logs that were written since this time
    - `follows`: the source of the session that this one continues, if no transcript says so
    - `met`: called for each session before it is written, with its id ("" if there is nothing to write), its note
      before the import, and the client's working directory
    - `refresh`: upgrade notes of older versions
    """

    now: datetime
    dry_run: bool = False
    since: datetime | None = None
    only_project: str | None = None
    projects: Mapping[str, Sequence[str]] = field(default_factory=dict)
    redact: Redactor | None = None
    client: Client = Client.UNKNOWN
    whole_turns: bool = False
    growing_since: datetime | None = None
    follows: str = ""
    met: Met | None = None
    only_session: str = ""
    refresh: bool = False


@dataclass(slots=True)
class ReportDraft:
    """A report under construction."""

    created: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    unreadable: list[UnreadableRow] = field(default_factory=list)
    unknown_rows: Counter[str] = field(default_factory=Counter)
    empty: list[Path] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    sessions: int = 0
    redacted: Counter[Path] = field(default_factory=Counter)
    subagents: set[str] = field(default_factory=set)

    def add(self, other: ReportDraft) -> None:
        """Add what one session reports."""
        self.created += other.created
        self.updated += other.updated
        self.unchanged += other.unchanged
        self.unreadable += other.unreadable
        self.empty += other.empty
        self.subagents |= other.subagents
        if other.unknown_rows or other.left_out or other.redacted:
            count_kinds(self.unknown_rows, other.unknown_rows)
            self.left_out.update(other.left_out)
            self.redacted.update(other.redacted)

    def as_entry(self) -> dict[str, Any]:
        """Return what an unchanged session reports, as JSON."""
        return {
            "unchanged": self.unchanged,
            "subagents": sorted(self.subagents),
            "empty": [*map(str, self.empty)],
            "unreadable": [(str(row.path), row.line, row.reason) for row in self.unreadable],
            "unknown": self.unknown_rows,
            "left_out": self.left_out,
        }

    def add_entry(self, entry: Mapping[str, Any]) -> None:
        """Add what an unchanged session reports."""
        self.unchanged += entry["unchanged"]
        self.subagents |= {*entry["subagents"]}
        self.empty += map(Path, entry["empty"])
        self.unreadable += [UnreadableRow(Path(path), line, reason) for path, line, reason in entry["unreadable"]]
        if entry["unknown"] or entry["left_out"]:
            count_kinds(self.unknown_rows, entry["unknown"])
            self.left_out.update(entry["left_out"])

    def report(self) -> ImportReport:
        """Return the finished report.

        A note that holds several sessions is listed once: as created, else as updated, else as unchanged.
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
            frozenset(self.subagents),
        )


def unreadable_rows(path: Path, rows: list[UnreadableRow], expected: str) -> list[UnreadableRow]:
    """Limit a file's unreadable rows for the report.

    If the file is not a transcript of the client `expected`, return a single row; `expected` is "" if it is one.
    """
    if expected:
        reason = "empty" if path.stat().st_size == 0 else "no rows in a known format"
        first = rows[0] if rows else UnreadableRow(path, 1, reason)
        return [UnreadableRow(path, first.line, f"not a {expected} transcript: {first.reason}")]
    if len(rows) > ROWS_PER_FILE:
        more = UnreadableRow(path, rows[ROWS_PER_FILE].line, f"and {len(rows) - ROWS_PER_FILE} more rows")
        return [*rows[:ROWS_PER_FILE], more]
    return rows


SESSION_ERRORS = (EditRefused, LockTimeout, NoteChanged, NoteExists, NoteUnreadable, OutsideVault, TranscriptError)
"""Errors that affect a single session. They are reported; other errors, such as a full disk, end the import."""


def reason_at(error: Exception, path: Path) -> str:
    """Return an error's message without the path, which the report shows separately."""
    if isinstance(error, OSError):
        return reason_of(error)
    return str(error).removeprefix(f"{path}: ")
