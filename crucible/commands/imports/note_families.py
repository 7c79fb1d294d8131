"""The logs of one native session as the sessions of its notes: who is whose child, and what each note is to say.

Owns how what a parent tells of its subagents is put together, and which of a note's states an import wrote itself.
Nothing is read or written here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from crucible.clients.events import (
    CallEnd,
    Event,
    Prompted,
    SubagentReturned,
    SubagentStarted,
)
from crucible.clients.log_files import SubagentFile
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.strands import Strand
from crucible.core.settings.settings import VaultSettings
from crucible.documents.recording.call_lines import relative
from crucible.documents.recording.report_lines import summary_of
from crucible.documents.recording.session_draft import ChildNote, Draft, SessionContext, session_of
from crucible.documents.session.counted_properties import spent_in, spent_lines
from crucible.documents.session.merge_head import merged_tasks
from crucible.documents.session.session import Decision, Failure, Mode, Prose, Session, Status
from crucible.documents.session.shared_notes import as_guest
from crucible.documents.session.status_rules import CLOSED, IDLE_REASON, Client, Turn, is_our_reason
from crucible.documents.session.sync_mark import HEARD
from crucible.documents.session.task_block import CLOSED_TASKS


def is_inline(strand: Strand, trunk: Strand, mode: str) -> bool:
    """Whether a subagent's work stands in its parent's note, now or by the setting `mode`."""
    if strand is trunk:
        return False
    if strand.note:
        return trunk.note is not None and strand.note.path == trunk.note.path
    return mode == Mode.INLINE


class Family:
    """A trunk and its subagents; `strands` has the trunk first, every parent before its children."""

    def __init__(
        self,
        trunk: Strand,
        strands: Sequence[Strand],
        settings: VaultSettings,
        options: ImportOptions,
        *,
        project: str | None,
        started: datetime,
    ) -> None:
        self._trunk = trunk
        self._strands = strands
        self._settings = settings
        self._options = options
        self._project = project
        self._started = started
        self._children: defaultdict[Strand, list[Strand]] = defaultdict(list)
        for strand in strands[1:]:
            self._children[strand.parent or trunk].append(strand)

    def sessions(self) -> dict[Strand, tuple[Session, Session]]:
        """What each strand's note held, and what it is to hold: `(base, now)`; inline work is in its parent's."""
        found: dict[Strand, tuple[Session, Session]] = {}
        for strand in reversed(self._strands):
            found[strand] = self._built(strand, found)
        return {strand: found[strand] for strand in self._strands}

    def _built(self, strand: Strand, found: dict[Strand, tuple[Session, Session]]) -> tuple[Session, Session]:
        children = self._children[strand]
        setting = self._setting(strand, children)
        after = {c.recorder.agent: self._child(c, found[c][1]) for c in children}
        before = {c.recorder.agent: self._child(c, found[c][0]) for c in children if c.note}
        loose = tuple(c.recorder.agent for c in children if c.parent is None and c.id not in _linked(strand))
        base = _as_written(strand, replace(setting, children=before))
        if setting.client is Client.UNKNOWN and not strand.has_news and _is_at_rest(base):
            setting = replace(setting, client=Client.ENDED)  # who knows nothing of the client takes back nothing
        now = session_of(strand.recorder.draft(), replace(setting, children=after, loose=loose))
        inline = [child for child in children if self._is_inline(child)]
        if base:
            base = _with_inline(base, [found[child][0] for child in inline if child.note])
        return base or now, _with_inline(now, [found[child][1] for child in inline])

    def _setting(self, strand: Strand, children: Sequence[Strand]) -> SessionContext:
        return SessionContext(
            id=strand.id,
            source=strand.source,
            now=self._options.now,
            idle=timedelta(minutes=self._settings.idle_minutes),
            project=self._project,
            parent=(strand.parent or self._trunk).id if strand is not self._trunk else None,
            title=strand.title,
            started=self._started,
            calls={child.call: child.recorder.agent for child in children if child.call},
            client=self._options.client,
            open_tasks=_open_tasks(strand),
        )

    def _is_inline(self, strand: Strand) -> bool:
        return is_inline(strand, self._trunk, self._settings.subagents)

    def _child(self, strand: Strand, session: Session) -> ChildNote:
        inline = self._is_inline(strand)
        mode = Mode.INLINE if inline else Mode(self._settings.subagents)
        prose = [entry for entry in session.all_entries() if isinstance(entry, Prose)]
        return ChildNote(
            strand.id,
            Mode.LINK if mode is Mode.INLINE and not inline else mode,
            strand.kind,
            session.model,
            session.tokens_used,
            self._summary(prose[-1]) if prose and session.status is Status.COMPLETED else None,
            tuple(session.all_entries()) if inline else (),
            strand.recorder.task,
        )

    def _summary(self, last: Prose) -> str | None:
        return summary_of(relative(last.text, self._trunk.recorder.calling.folder))


def _as_written(strand: Strand, setting: SessionContext) -> Session | None:
    """What the note held when it was last written to, None when there is none.

    Whether the client ran then, nobody wrote down: the note's own status tells.  A standing that is ours counts as written,
    though its tasks may have been ticked since, or an older version wrote it by another rule.
    """
    if strand.note is None:
        return None
    note = strand.note.session
    client = Client.RUNNING if note.status is Status.ACTIVE else Client.ENDED
    base = session_of(strand.base, replace(setting, client=client))
    if not _is_ours(note, strand.base):
        return base
    return replace(base, status=note.status, ended=note.ended, pause_reason=note.pause_reason)


def _is_ours(note: Session, written: Draft) -> bool:
    """Whether an import may have written the note's standing when it wrote `written`."""
    if note.status is Status.PAUSED:
        return is_our_reason(note.pause_reason)
    ended = Status.FAILED if written.turn is Turn.FAULTED else Status.COMPLETED
    came_to_rest = written.turn in CLOSED or _spoke_last(written)
    return came_to_rest and (note.status, note.ended) == (ended, written.ended)


def _spoke_last(written: Draft) -> bool:
    """Whether the agent's words came last.  The end of a file may take them for the answer, which what came later does not show."""
    told = [entry for phase in written.phases[-1:] for each in (phase, *phase.parts) for entry in each.entries]
    said = [entry for entry in told if not isinstance(entry, Decision | Failure)]
    return written.turn is Turn.OPEN and isinstance(said[-1] if said else None, Prose)


def _is_at_rest(base: Session | None) -> bool:
    """Whether a note says that its client is gone; a pause for the idle time is no knowledge of that."""
    return base is not None and base.status is not Status.ACTIVE and base.pause_reason != IDLE_REASON


def _open_tasks(strand: Strand) -> tuple[str, ...] | None:
    """What is to be done still, as the note will say it: a human may tick a task, too.  None without a note."""
    if strand.note is None:
        return None
    note, drafts = strand.note.session, (strand.base, strand.recorder.draft())
    base, now = (Session("", sources=(strand.source,), tasks=draft.tasks) for draft in drafts)
    if strand.recorder.is_guest:
        base, now = as_guest(note, base, now)
    tasks = merged_tasks(note.tasks, base.tasks, now.tasks)
    return tuple(task.content for task in tasks if task.status not in CLOSED_TASKS)


def _linked(strand: Strand) -> set[str | None]:
    if strand.note is None:
        return set()
    return {entry.link for entry in strand.note.session.all_entries() if hasattr(entry, "link")}


def _with_inline(session: Session, inline: Sequence[Session]) -> Session:
    """A note names every log that is folded into it, and counts its tokens: they are in no other note."""
    if not inline:
        return session
    whole = (session, *inline)
    return replace(
        session,
        sources=tuple(source for each in whole for source in each.sources),
        synced_to=tuple(row for each in whole for row in each.synced_to),
        tokens_used=sum(each.tokens_used or 0 for each in whole) or None,
        tokens_cached=sum(each.tokens_cached or 0 for each in whole) or None,
        usage=spent_lines(spent for each in whole for spent in spent_in(each.usage)),
    )


class Returns:
    """The results of one native session, each assigned to its subagent by `at.agent`."""

    def __init__(self, files: Sequence[SubagentFile]) -> None:
        self._agents = {file.call: file.agent for file in files if file.call}
        self._asked: dict[str, SubagentStarted] = {}
        self._results: defaultdict[str, list[SubagentReturned]] = defaultdict(list)
        self._unnamed: dict[str, SubagentReturned] = {}

    def ask(self, event: SubagentStarted) -> None:
        """Record a task, or the subagent's id once it is known."""
        first = self._asked.setdefault(event.call, event)
        if event.agent and not first.agent:
            self._asked[event.call] = replace(first, agent=event.agent)

    def take(self, event: SubagentReturned) -> SubagentReturned | None:
        """Assign a result to its subagent; None while the subagent is unknown."""
        asked = self._asked.get(event.call)
        agent = event.agent or self._agents.get(event.call, "") or (asked.agent if asked else "")
        if not agent:
            self._unnamed[event.call] = event
            return None
        told = _addressed(event, agent)
        if told not in self._results[agent]:  # a parent's transcript may be read twice
            self._results[agent].append(told)
        return told

    def name(self, call: str, agent: str) -> SubagentReturned | None:
        """The result of a call whose subagent is known from elsewhere; None if there is no result yet."""
        event = self._unnamed.pop(call, None)
        return _addressed(event, agent) if event else None

    def asked(self, told: SubagentReturned) -> SubagentStarted | None:
        """The task of a subagent whose report alone is left; None if the result is not a report."""
        is_report = told.end is CallEnd.OK and told.text.strip()
        return self._asked.get(told.call) if is_report else None

    def within(self, agent: str, events: Iterable[Event], mark: str) -> Iterator[Event]:
        """Merge a subagent's results into its events: each before the next task that it was given, or else at the end.

        `mark` is the note's `synced_to`: a result that is already in the note keeps its place, so that the rows after it are new.
        """
        waiting = list(self._results.get(agent, ()))
        own, heard, _ = mark.partition(HEARD)
        line, row = 1, ""
        for event in events:
            is_later = isinstance(event, Prompted) and event.at.agent == agent
            is_known = bool(heard) and row.startswith(own) and not event.at.row.startswith(own or "-")
            while waiting and (is_known or (is_later and _is_before(waiting[0], event))):
                yield _at_line(waiting.pop(0), line)
                is_known = False
            yield event
            line, row = event.at.line, event.at.row
        yield from (_at_line(told, line) for told in waiting)


def _is_before(told: SubagentReturned, event: Event) -> bool:
    return told.at.time is not None and event.at.time is not None and told.at.time < event.at.time


def _addressed(event: SubagentReturned, agent: str) -> SubagentReturned:
    return replace(event, at=replace(event.at, agent=agent), agent=agent)


def _at_line(told: SubagentReturned, line: int) -> SubagentReturned:
    """Place a result after a line of the subagent's own file."""
    return replace(told, at=replace(told.at, line=line))
