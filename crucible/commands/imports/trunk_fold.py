"""Read a session's trunk from where an earlier import left off, and keep the state near its end for the next one."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path

from crucible.clients.events import Event
from crucible.clients.log_files import LogPlace, Resume, Transcript, Wanted
from crucible.clients.redact import Private, Redactor, redact_value, redactor_of, scanner_of
from crucible.clients.registry import Dialect
from crucible.commands.imports.import_report import ReportDraft
from crucible.commands.imports.import_result import UnreadableRow
from crucible.commands.imports.kept_folds import (
    BEFORE_END,
    WORTH_IT,
    KeptFold,
    KeptFolds,
    Snapshot,
    StaleFoldError,
)
from crucible.commands.imports.note_sources import Tickets
from crucible.commands.imports.strands import Strand
from crucible.commands.imports.trunk_events import SubagentResults, WholeTurns
from crucible.core.settings.settings import VaultSettings
from crucible.documents.recording.kept_recording import closed_phases, is_stale, kept_fields, mark_line, recorder_of
from crucible.vault.notes.short_notes import ShortNote

_MOST, _MOST_TEXT = 64, 1 << 20
"""Maximum events of a run, and code points of their texts."""


class TrunkFold:
    """The state of reading one trunk.  `snapshot` is the state near the end, if it can be kept."""

    tickets: Tickets
    _redact: Redactor

    def __init__(
        self,
        dialect: Dialect,
        transcript: Transcript,
        settings: VaultSettings,
        report: ReportDraft,
        folds: KeptFolds | None,
    ) -> None:
        self.transcript = transcript
        self.events = 0
        self.snapshot: Snapshot | None = None
        self._dialect = dialect
        self._settings = settings
        self._report = report
        self._results = SubagentResults(transcript.subagents)
        self._turns = WholeTurns()
        self._held: list[Event] = []
        """The events of an unfinished turn that the kept fold held back."""
        self._private = Private()
        self._unreadable: list[UnreadableRow] = []
        self._strands: dict[str, Strand] = {}
        self._run: list[Event] = []
        """Events of one log that were read and not recorded yet."""
        self._run_text = 0
        self._is_foldable = folds is not None and dialect.is_resumable(transcript)
        source = transcript.source
        self._kept: KeptFold | None = folds.load(source, transcript.path) if folds and self._is_foldable else None

    @property
    def trunk(self) -> Strand:
        """The session's own log."""
        return self._strands[""]

    @property
    def is_cut(self) -> bool:
        """True if an unfinished turn was left to the next import."""
        return self._turns.cut

    def _resume(self, strand: Strand) -> None:
        """Go on from the kept fold, or forget it if the note needs to be read whole."""
        kept = self._kept
        if kept is None or strand.note is None or (kept.middle and not isinstance(strand.note, ShortNote)):
            self._kept = None
            return
        values = kept.values
        strand.recorder = recorder_of(values["recorder"], strand.recorder, strand.mark)
        strand.first_prompt, strand.has_rows = values["first_prompt"], values["has_rows"]
        self._results = values["results"].with_files(self.transcript.subagents)
        self._held = values["held"]
        self.events, self.tickets.met_any = values["events"], values["has_mark"]
        self._unreadable = [UnreadableRow(self.transcript.path, *row) for row in values["unreadable"]]
        self._report.unknown_rows.update(values["unknown_rows"])

    def _trunk_events(self) -> Iterator[Event]:
        """Yield the trunk's events, from the kept fold on."""
        if not self._is_foldable:
            return self._dialect.read(self.transcript)
        start, keep_at = self._kept.place if self._kept else None, -1
        with suppress(OSError):
            size = self.transcript.path.stat().st_size
            keep_at = size - BEFORE_END if size >= WORTH_IT else -1
        if start and keep_at - start.offset < BEFORE_END:
            keep_at = -1
        if start is None and keep_at < 0:
            return self._dialect.read(self.transcript)
        return self._dialect.read_from(self.transcript, Resume(start, keep_at, self._keep))

    def _find_subagents(self) -> set[str]:
        """Find the logs of subagents again, and return their ids: some may have begun after the session was found."""
        found = self._dialect.find(self.transcript.path, Wanted(self.transcript.native_id))
        grown = next((one for one in found if one.native_id == self.transcript.native_id), self.transcript)
        self.transcript = replace(self.transcript, subagents=grown.subagents)
        self._results.with_files(grown.subagents)
        return {file.agent for file in grown.subagents}

    def _forget_fold(self) -> None:
        """Neither go on from a fold nor keep one: the log is read several times."""
        self._is_foldable, self.snapshot = False, None

    def _check_fold(self) -> None:
        """Drop a snapshot that begins after the note's last row; raise `StaleFoldError` if the kept fold was wrong."""
        recorder = self.trunk.recorder
        if self._kept and (not recorder.synced_found or is_stale(recorder)):
            raise StaleFoldError
        if self.snapshot and self.snapshot.lines >= mark_line(recorder):
            self.snapshot = None

    def keep_fold(self, folds: KeptFolds, path: Path | None) -> None:
        """Keep the snapshot, if there is one, after the session's note at `path` was written."""
        trunk = self.trunk
        if self.snapshot and path:
            folds.save(trunk.source, self.transcript.path, self.snapshot, path, trunk.note)
        elif self._kept is None:
            folds.drop(trunk.source)

    # --- recording -------------------------------------------------------------------------------------------------

    def _add_to_run(self, event: Event) -> None:
        """Record an event with those after it.

        A processor's caches hold the code of one step, so reading, redacting and recording some events at a time takes
        a quarter less time than all steps for each event.
        """
        self._run.append(event)
        self._run_text += len(getattr(event, "text", ""))
        if len(self._run) >= _MOST or self._run_text >= _MOST_TEXT:
            self._take_run()

    def _take_run(self) -> None:
        """Redact and record the events of the run."""
        run, self._run, self._run_text = self._run, [], 0
        if run:
            self._strands[run[0].at.agent].take(*[self._redact(event) for event in run])

    # --- keeping -----------------------------------------------------------------------------------------------------

    def _keep(self, place: LogPlace) -> None:
        self._take_run()
        recorder = self.trunk.recorder
        fields = kept_fields(recorder)
        if fields is None or len(self._strands) > 1 or self._has_secrets(place):
            return
        values = {
            "recorder": fields,
            "first_prompt": self.trunk.first_prompt,
            "results": self._results,
            "held": self._turns.held,
            "events": self.events,
            "has_rows": self.trunk.has_rows,
            "has_mark": self.tickets.met_any,
            "unreadable": [(row.line, row.reason) for row in self._unreadable],
            "unknown_rows": dict(self._report.unknown_rows),
        }
        data = pickle.dumps((place, values), pickle.HIGHEST_PROTOCOL)
        self.snapshot = Snapshot(place.offset, place.lines, closed_phases(fields["_phases"], fields["above"]), data)

    def _has_secrets(self, place: LogPlace) -> bool:
        """True if the state of reading holds text that redaction would change; everything else has been redacted."""
        if self._private.texts:
            return True
        secrets = self._settings.secrets
        scanner, redact = scanner_of(secrets), redactor_of(secrets)
        texts = any(redact_value(scanner, value)[1] for value in place.state.texts())
        return texts or any(redact(event)[1] for event in chain(self._results.events(), self._turns.held))
