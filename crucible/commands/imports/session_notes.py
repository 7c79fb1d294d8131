"""Plan the notes of one native session, then write them.

`plan_notes` compares each log with its note and does no I/O. `write_notes` creates and updates notes in batches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain, groupby
from typing import Any, TypeAlias

from crucible.commands.imports.import_report import SESSION_ERRORS, ImportOptions, ReportDraft, reason_at
from crucible.commands.imports.import_result import UnreadableRow
from crucible.commands.imports.kept_folds import StaleFoldError, short_edits
from crucible.commands.imports.note_sources import SourceTable
from crucible.commands.imports.strands import Strand
from crucible.core.errors import CrucibleError
from crucible.core.settings.settings import VaultSettings
from crucible.documents.markdown.source import Edit
from crucible.documents.recording.call_lines import shorten_paths
from crucible.documents.recording.report_lines import summary_of
from crucible.documents.recording.session_draft import ChildNote, Draft, SessionContext, session_of
from crucible.documents.session.import_properties import parse_usage, usage_lines
from crucible.documents.session.markup import render_session
from crucible.documents.session.merge import merge
from crucible.documents.session.merge_head import merged_tasks
from crucible.documents.session.refresh import refresh
from crucible.documents.session.session import Decision, Failure, Mode, NoteHome, Prose, Session, Status, Subagent
from crucible.documents.session.shared_notes import as_addition, has_other_sources
from crucible.documents.session.status_rules import CLOSED, IDLE_REASON, Client, Turn, is_our_reason
from crucible.documents.session.task_block import CLOSED_TASKS
from crucible.vault.events.archive_writer import archive_events
from crucible.vault.events.event_summary import Facts, save_meta
from crucible.vault.notes.short_notes import ShortNote
from crucible.vault.notes.vault import Note, Vault

_LONG = 1 << 18
"""Size of a note from which reading all of it takes longer than what an import of a few rows may take."""
_THREADS = 8
"""Threads that write notes."""


@dataclass(frozen=True, slots=True)
class PlannedNote:
    """The note of one log.

    `base` is what the last import wrote to the note (equal to `now` for a new note), `now` what this one will write.
    """

    strand: Strand
    base: Session
    now: Session


# --- decide ----------------------------------------------------------------------------------------------------------


def is_inline(strand: Strand, trunk: Strand, mode: str) -> bool:
    """True if a subagent's work is in its parent's note already, or if the setting `mode` puts it there."""
    if strand is trunk:
        return False
    if strand.note:
        return trunk.note is not None and strand.note.path == trunk.note.path
    return mode == Mode.INLINE


def plan_notes(
    strands: Sequence[Strand],
    settings: VaultSettings,
    options: ImportOptions,
    *,
    project: str | None,
    started: datetime,
    home: NoteHome,
) -> list[PlannedNote]:
    """Plan the notes of a session's logs, trunk first; inline work becomes part of its parent's note.

    `strands` has the trunk first and every parent before its children. `started` is used when no event has a time.
    """
    trunk = strands[0]
    context = SessionContext(
        id="",
        source="",
        now=options.now,
        idle=timedelta(minutes=settings.idle_minutes),
        project=project,
        started=started,
        client=options.client,
        home=home,
    )
    children: defaultdict[Strand, list[Strand]] = defaultdict(list)
    for strand in strands[1:]:
        children[strand.parent or trunk].append(strand)
    planned: dict[Strand, PlannedNote] = {}
    for strand in reversed(strands):
        below = [(planned[child], is_inline(child, trunk, settings.subagents)) for child in children[strand]]
        own = _context_of(strand, trunk, context, children[strand])
        planned[strand] = _plan_note(strand, below, own, settings.subagents, trunk.recorder.calling.folder)
    return [planned[strand] for strand in strands if not is_inline(strand, trunk, settings.subagents)]


def _context_of(strand: Strand, trunk: Strand, context: SessionContext, children: Sequence[Strand]) -> SessionContext:
    return replace(
        context,
        id=strand.id,
        source=strand.source,
        parent=(strand.parent or trunk).id if strand is not trunk else None,
        title=strand.title,
        calls={child.call: child.recorder.agent for child in children if child.call},
        open_tasks=_open_tasks(strand),
    )


def _plan_note(
    strand: Strand, children: Sequence[tuple[PlannedNote, bool]], context: SessionContext, mode: str, folder: str
) -> PlannedNote:
    """Plan one note. `children` are the subagents' notes, each with whether it is inline."""
    after = {c.strand.recorder.agent: _child(c.strand, c.now, inline, mode, folder) for c, inline in children}
    before = {
        c.strand.recorder.agent: _child(c.strand, c.base, inline, mode, folder)
        for c, inline in children
        if c.strand.note
    }
    base = _written_before(strand, replace(context, children=before))
    if context.client is Client.UNKNOWN and not strand.has_news and _is_at_rest(base):
        context = replace(context, client=Client.ENDED)  # if the client's state is unknown, a final status stays
    if any(after.get(agent) != before.get(agent) for agent in strand.recorder.closed_agents):
        raise StaleFoldError
    linked = _linked(strand)
    loose = tuple(c.strand.recorder.agent for c, _ in children if c.strand.parent is None and c.strand.id not in linked)
    now = session_of(strand.recorder.draft(), replace(context, children=after, loose=loose))
    inline_notes = [child for child, inline in children if inline]
    if base:
        base = _with_inline(base, [child.base for child in inline_notes if child.strand.note])
    return PlannedNote(strand, base or now, _with_inline(now, [child.now for child in inline_notes]))


def _child(strand: Strand, session: Session, inline: bool, setting: str, folder: str) -> ChildNote:
    """Return how a parent's note shows a subagent. An existing note is linked even with the setting `inline`."""
    mode = Mode.INLINE if inline else Mode(setting)
    prose = [entry for entry in session.all_entries() if isinstance(entry, Prose)]
    summary = (
        summary_of(shorten_paths(prose[-1].text, folder)) if prose and session.status is Status.COMPLETED else None
    )
    return ChildNote(
        strand.id,
        Mode.LINK if mode is Mode.INLINE and not inline else mode,
        strand.kind,
        session.model,
        session.tokens_used,
        summary,
        tuple(session.all_entries()) if inline else (),
        strand.recorder.task,
    )


def _written_before(strand: Strand, context: SessionContext) -> Session | None:
    """Return what the last import wrote to the note, None if there is no note.

    The client's state at that time is not recorded, so it is derived from the note's status. If an import may have set
    that status, it is used even if today's rules or tasks would give another one.
    """
    if strand.note is None:
        return None
    note = strand.note.session
    client = Client.RUNNING if note.status is Status.ACTIVE else Client.ENDED
    base = session_of(strand.base, replace(context, client=client))
    if not _is_imported_status(note, strand.base):
        return base
    return replace(base, status=note.status, ended=note.ended, pause_reason=note.pause_reason)


def _is_imported_status(note: Session, written: Draft) -> bool:
    """True if an import may have set the note's status when it wrote `written`."""
    if note.status is Status.PAUSED:
        return is_our_reason(note.pause_reason)
    ended = Status.FAILED if written.turn is Turn.FAULTED else Status.COMPLETED
    has_ended = written.turn in CLOSED or _ends_in_prose(written)
    return has_ended and (note.status, note.ended) == (ended, written.ended)


def _ends_in_prose(written: Draft) -> bool:
    """True if an open turn ends in the agent's prose, which an earlier import may have taken for the final answer."""
    entries = [entry for phase in written.phases[-1:] for part in (phase, *phase.parts) for entry in part.entries]
    kept = [entry for entry in entries if not isinstance(entry, Decision | Failure)]
    return written.turn is Turn.OPEN and isinstance(kept[-1] if kept else None, Prose)


def _is_at_rest(base: Session | None) -> bool:
    """True if the note's status implies that its client has ended. A pause for the idle time does not."""
    return base is not None and base.status is not Status.ACTIVE and base.pause_reason != IDLE_REASON


def _open_tasks(strand: Strand) -> tuple[str, ...] | None:
    """Return the open tasks that the note will have, including the user's edits; None if there is no note."""
    if strand.note is None:
        return None
    note, drafts = strand.note.session, (strand.base, strand.recorder.draft())
    base, now = (Session("", sources=(strand.source,), tasks=draft.tasks) for draft in drafts)
    if strand.recorder.is_guest:
        base, now = as_addition(note, base, now)
    tasks = merged_tasks(note.tasks, base.tasks, now.tasks)
    return tuple(task.content for task in tasks if task.status not in CLOSED_TASKS)


def _linked(strand: Strand) -> set[str | None]:
    if strand.note is None:
        return set()
    session = strand.note.session
    above = {mark[1] for mark in session.above.marks if mark[0] is Subagent}
    return above | {entry.link for entry in session.all_entries() if isinstance(entry, Subagent)}  # type: ignore[return-value]


def _with_inline(session: Session, inline: Sequence[Session]) -> Session:
    """Add the sources and tokens of inline work, which has no note of its own."""
    if not inline:
        return session
    parts = (session, *inline)
    return replace(
        session,
        sources=tuple(source for part in parts for source in part.sources),
        synced_to=tuple(row for part in parts for row in part.synced_to),
        tokens_used=sum(part.tokens_used or 0 for part in parts) or None,
        tokens_cached=sum(part.tokens_cached or 0 for part in parts) or None,
        usage=usage_lines(spent for part in parts for spent in parse_usage(part.usage)),
    )


# --- act -------------------------------------------------------------------------------------------------------------

_Outcome: TypeAlias = "tuple[str, str] | UnreadableRow"
"""A note's id with the report list to add it to (list name first), or an error."""


def write_notes(
    vault: Vault,
    table: SourceTable,
    options: ImportOptions,
    batch: Sequence[Sequence[PlannedNote]],
    report: ReportDraft,
) -> set[Strand]:
    """Write the notes of a batch, one list per session, in several threads; a dry run only reports.

    Return the trunks of the sessions that were written without an error. Errors of single notes are reported. Any other
    error is raised after all written notes are in the report.
    """

    def write(group: Iterable[Sequence[PlannedNote]]) -> list[tuple[list[_Outcome], Exception | None]]:
        return [_write_session(vault, table, options, notes) for notes in group]

    groups, stopped = _by_note(batch), None
    if len(groups) == 1 or options.dry_run:
        written = write(chain.from_iterable(groups))
    else:
        # Most of the time is spent waiting for the disk.  After an interrupt, all writes still finish.
        with ThreadPoolExecutor(_THREADS) as pool:
            pending = [pool.submit(write, group) for group in groups]
            stopped = _interrupt_of(pending)
        written = list(chain.from_iterable(each.result() for each in pending))
    report.subagents.update(planned.strand.id for notes in batch for planned in notes if planned.strand.trunk)
    for outcome in chain.from_iterable(outcomes for outcomes, _ in written):
        if isinstance(outcome, UnreadableRow):
            report.unreadable.append(outcome)
        else:
            getattr(report, outcome[0]).append(outcome[1])
    for error in (stopped, *(error for _, error in written)):
        if error:
            raise error
    sessions = chain.from_iterable(groups)
    return {
        notes[0].strand
        for notes, (outcomes, _) in zip(sessions, written, strict=True)
        if not any(isinstance(outcome, UnreadableRow) for outcome in outcomes)
    }


def _interrupt_of(pending: Collection[Future[Any]]) -> KeyboardInterrupt | None:
    """Wait for all writes; return the interrupt that ended the wait early."""
    try:
        wait(pending)
    except KeyboardInterrupt as stopped:
        return stopped
    return None


def _by_note(batch: Iterable[Sequence[PlannedNote]]) -> list[list[Sequence[PlannedNote]]]:
    """Group sessions that share a note, so that one thread writes them in order."""
    groups: dict[object, list[Sequence[PlannedNote]]] = {}
    for notes in batch:
        note = notes[0].strand.note if notes else None
        groups.setdefault(note.path if note else id(notes), []).append(notes)
    return list(groups.values())


def _write_session(
    vault: Vault, table: SourceTable, options: ImportOptions, notes: Sequence[PlannedNote]
) -> tuple[list[_Outcome], Exception | None]:
    """Return the outcome of each note, and the error that stopped the rest."""
    outcomes: list[_Outcome] = []
    try:
        outcomes.extend(_write_note(vault, table, options, planned) for planned in notes)
    except (CrucibleError, OSError) as error:
        return outcomes, error
    return outcomes, None


def _write_note(vault: Vault, table: SourceTable, options: ImportOptions, planned: PlannedNote) -> _Outcome:
    strand, written = planned.strand, planned.now
    try:
        if strand.note is None:
            outcome = "created", written.id
            if not options.dry_run:
                # The subagents of an archived session stay out of the way too.
                trunk = strand.trunk.note if strand.trunk else None
                written = replace(written, archived=trunk is not None and trunk.session.archived)
                _store_facts(vault, written.id, written)  # a note must not be on disk before its events
                created = vault.create(written.id, render_session(written))
                table.add_all(written.sources, created)
        else:
            changed = _update(vault, table, options, planned, strand.note)
            outcome = "updated" if changed else "unchanged", strand.id
            is_short = isinstance(strand.note, ShortNote)  # whose note has one source
            if changed and not is_short and _is_shared(strand, changed):
                written = changed.session  # the transcript holds only part of the note
            if changed and not options.dry_run:
                _store_facts(vault, strand.id, written, strand.note.session.above.agents)
    except SESSION_ERRORS as error:
        path = strand.note.path if strand.note else vault.sessions / f"{strand.id}.md"
        return UnreadableRow(path, 0, reason_at(error, path))
    return outcome


def _is_shared(strand: Strand, note: Note) -> bool:
    return strand.recorder.is_guest or has_other_sources(note.session, strand.source)


def _update(vault: Vault, table: SourceTable, options: ImportOptions, planned: PlannedNote, note: Note) -> Note | None:
    """Update a note and return the new version, or None if nothing changed; a dry run returns the note unchanged."""
    strand, recorder, before = planned.strand, planned.strand.recorder, note.source

    def merge_edits(fresh: Note) -> list[Edit]:
        nonlocal before
        if recorder.joins and strand.source in fresh.session.sources:
            return []  # another process added the session since the note was read
        if isinstance(note, ShortNote):
            before = fresh.source
            return short_edits(fresh, note, planned.base, planned.now)
        return merge(fresh.source, fresh.session, planned.base, planned.now, is_guest=recorder.is_guest)

    def refresh_edits(fresh: Note) -> list[Edit]:
        """Return the edits that upgrade a note of an older version, unless it holds several sessions."""
        if strand.text is None or recorder.is_guest or has_other_sources(fresh.session, strand.source):
            return []
        return refresh(fresh.source, fresh.session, planned.now, strand.text)

    if options.dry_run:
        return note if merge_edits(note) or refresh_edits(note) else None
    written = vault.update(note.path, merge_edits)
    if strand.text:
        written = vault.update(note.path, refresh_edits)
    if isinstance(note, ShortNote) and written.stamp.size > _LONG:
        vault.left_to_queries.add(note.path)
    table.add_all(planned.now.sources, written)
    return None if written.source == before else written


def _store_facts(vault: Vault, session_id: str, session: Session, above: tuple[str, ...] = ()) -> None:
    """Store the facts about a session in its event log, and archive the events of one that has ended.

    `above` are the agents of the note's first phases, if `session` lacks them.
    """
    facts = _facts(session, above)
    if session.status is Status.ACTIVE or vault.settings.events.track:
        # Do not create a folder for an archived session.
        save_meta(vault.root, session_id, facts, make=False)
    else:
        archive_events(vault.root, session_id, facts)


def _facts(session: Session, above: tuple[str, ...]) -> Facts:
    """Return the facts about a session to store in its event log; `above` are the agents of earlier phases."""
    agents = [*above, *(str(phase.agent) for phase in session.all_phases() if phase.agent)]
    switches = tuple(agent for agent, _ in groupby(agents))
    return Facts(
        started=session.started,
        ended=session.ended,
        initial_agent=switches[0] if switches else None,
        agent_switches=switches or None,
        project=session.project,
        ended_cleanly=session.status is Status.COMPLETED,
    )
