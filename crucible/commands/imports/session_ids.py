"""Pick the ids of one native session's new notes, in the order in which its logs begin to have messages."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import NamedTuple

from crucible.clients.launch.session_marks import OWN_MARK
from crucible.clients.log_files import Transcript
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.note_sources import SourceTable
from crucible.commands.imports.strands import Strand, written_at
from crucible.core.zones import local_day
from crucible.documents.session.session_id import LONGEST_ID, new_session_id, slugify
from crucible.documents.session.titles import UNTITLED, key_words
from crucible.vault.notes.known_projects import remember_project
from crucible.vault.notes.projects import KnownProjects, project_of
from crucible.vault.notes.vault import Vault

_TITLE_SLUG, _SLUG = 40, 24
"""Maximum code points from the title in a file name: of a trunk's note, and of a subagent's."""


class SessionSkippedError(Exception):
    """The options exclude this session; `reason` is a key of the report's `left_out`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Opening(NamedTuple):
    """A log that has its first message, and what was known by then: its start, its title and its folder."""

    strand: Strand
    started: datetime | None
    title: str | None
    folder: str

    @classmethod
    def of(cls, strand: Strand) -> Opening:
        """Return what is known now. Raises `SessionSkippedError` if `cru` itself started the session."""
        if strand.trunk is None and OWN_MARK in strand.first_prompt:
            raise SessionSkippedError("own")
        recorder = strand.recorder
        return cls(strand, recorder.started, recorder.title, recorder.calling.folder)


class SessionIds:
    """Picks ids. `project` is known when the trunk has its id, or a note."""

    def __init__(
        self,
        vault: Vault,
        options: ImportOptions,
        table: SourceTable,
        transcript: Transcript,
        redact_text: Callable[[str], str],
    ) -> None:
        self.project: str | None = None
        self._vault = vault
        self._options = options
        self._table = table
        self._transcript = transcript
        self._redact_text = redact_text

    def check_project(self) -> None:
        """Raise `SessionSkippedError` if the options exclude the session's project."""
        if self._options.only_project is not None and self.project != self._options.only_project:
            raise SessionSkippedError("project")

    def pick(self, opening: Opening, trunk: Strand) -> str:
        """Return the id of a new note. Raises `SessionSkippedError` if the options exclude its project."""
        return self._trunk_id(opening) if opening.strand is trunk else self._subagent_id(opening.strand, trunk.id)

    def _trunk_id(self, opening: Opening) -> str:
        self.project = self._redact_text(project_of(opening.folder, self._options.projects)) or None
        self.check_project()
        projects = self._options.projects
        if self.project and isinstance(projects, KnownProjects) and not self._options.dry_run:
            fsync = self._vault.settings.fsync
            remember_project(self._vault.root, projects, opening.folder, self.project, fsync=fsync)
        day = local_day(opening.started or written_at(self._transcript.path), self._options.now)
        words = key_words(opening.title or UNTITLED, _TITLE_SLUG)
        name = new_session_id(words, day, partial(self._is_taken, opening.strand))
        self._table.plan(name)
        return name

    def _subagent_id(self, strand: Strand, trunk: str) -> str:
        words = (
            key_words(strand.title, _SLUG) if strand.title else f"{strand.kind or 'agent'}-{strand.recorder.agent[:8]}"
        )
        name = f"{trunk[: LONGEST_ID - _SLUG - 5]}-{slugify(words, _SLUG)}"
        free, number = name, 2
        while self._is_taken(strand, free):
            free, number = f"{name}-{number}", number + 1
        self._table.plan(free)
        return free

    def _is_taken(self, strand: Strand, name: str) -> bool:
        """True if another session's note has this name.

        Raises `NoteUnreadable` if a note with this name has unreadable frontmatter and may be this session's.
        """
        taken = self._table.is_taken(name)
        if taken:
            self._table.check_collision(name, strand.source)
        return taken
