"""What an import was asked for and what came of it: values only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from crucible.clients.redact import Redactor
from crucible.documents.session.status_rules import Client
from crucible.vault.notes.vault import Note

Met: TypeAlias = "Callable[[str, Note | None, str], None]"

ROWS_PER_FILE = 100
"""Unreadable rows told of one file; more are counted in a last line."""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """`now` is aware; `since` leaves out what was last written to before it.

    `only_project` leaves out sessions of other projects, `only_session` what belongs into other notes than that of this id.  `projects` maps a name to the folders that belong to it.
    `redact` takes the place of the redactor that the vault's settings ask for.  `client` is what is known of the program
    that writes the transcripts; with `whole_turns` a turn that it is still in the middle of is left for the next time.
    `follows` is the source of the session that this one goes on from, where no transcript tells it.  With `refresh` notes of
    older versions get what this one writes.  `met` is told of each session before it is written: its id ("" when there is
    nothing to write), its note as it was, and the folder that the client worked in.
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
    """A row, or a whole file, that could not be read.  `line` counts from 1; 0 is the file itself."""

    path: Path
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """Ids of notes, subagents' notes included, in the order of the transcripts, those that go on with a session last.

    `empty` are transcripts in which nobody said a word: they make no note.  `left_out` counts, by reason, sessions that
    were not looked at (`own`, `since`, `project`, `session`) and transcripts that tell nothing new of a session that another tells
    (`copy`), `unknown_rows` rows by type that this version does not know.  `sessions` counts the native sessions found,
    `redacted` the secrets taken out of what is new, by the transcript that still has them.
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
class Importing:
    """A report under way."""

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
        """The finished report; a note that holds several sessions is named once, with what most was done to it."""
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


def told_rows(path: Path, rows: list[UnreadableRow], wanted: str) -> list[UnreadableRow]:
    """Unreadable rows of a file for the report; only one if the file is not a transcript of the `wanted` client."""
    if wanted:
        reason = "empty" if path.stat().st_size == 0 else "no row of it is known"
        first = rows[0] if rows else UnreadableRow(path, 1, reason)
        return [UnreadableRow(path, first.line, f"no {wanted} transcript: {first.reason}")]
    if len(rows) > ROWS_PER_FILE:
        more = UnreadableRow(path, rows[ROWS_PER_FILE].line, f"and {len(rows) - ROWS_PER_FILE} more rows")
        return [*rows[:ROWS_PER_FILE], more]
    return rows
