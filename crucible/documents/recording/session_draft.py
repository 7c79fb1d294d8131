"""Value types for a recording: open phases and calls, the draft, and the `Session` made from the draft.

A draft becomes a session once its id, its project and the notes of its subagents are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from crucible.core.text import cut_at_word
from crucible.documents.markdown.containment import slug
from crucible.documents.recording.call_lines import one_line
from crucible.documents.recording.entry_texts import ending
from crucible.documents.recording.report_lines import summary_of
from crucible.documents.session.import_properties import redaction_lines
from crucible.documents.session.session import (
    RECORDING,
    AgentRef,
    Entry,
    Failure,
    FindingItem,
    Mode,
    NoteHome,
    Outcome,
    Phase,
    Prose,
    Session,
    Status,
    Subagent,
    SubagentRef,
    Task,
    ToolCall,
    ToolCalls,
)
from crucible.documents.session.status_rules import CLOSED, Client, Turn, open_end, pause_reason, session_status
from crucible.documents.session.task_block import CLOSED_TASKS
from crucible.documents.session.titles import UNTITLED

_TASK_LIMIT = 300


@dataclass(slots=True)
class Call:
    """A tool call while it is recorded."""

    call: str
    result: str = ""
    outcome: Outcome = Outcome.PENDING


@dataclass(slots=True)
class Delegation:
    """Delegated work: a subagent callout whose link is not known yet.

    `call` is the client's id of the call, `agent` the id of the subagent; each may be "".  `fault` is the error
    message.
    """

    call: str
    agent: str = ""
    kind: str = ""
    title: str = ""
    task: str = ""
    summary: str | None = None
    outcome: Outcome = Outcome.PENDING
    fault: str | None = None

    def update(self, agent: str, kind: str, title: str, task: str) -> None:
        """Update the fields that have a new value."""
        self.agent = agent or self.agent
        self.kind = kind or self.kind
        self.title = one_line(title, 200) or self.title
        self.task = task or self.task

    def answer(self, text: str, outcome: Outcome) -> None:
        """Record the report or the error."""
        self.outcome = outcome
        summary = summary_of(text)
        if outcome is Outcome.FAILED:
            self.fault = summary
        elif (
            outcome is not Outcome.REJECTED
        ):  # the client wrote the text of a rejection; the user's words are recorded elsewhere
            self.summary, self.fault = summary or self.summary, None

    def copy(self) -> Delegation:
        """Return a copy that later events do not change."""
        return replace(self)


_Open: TypeAlias = "list[str] | list[Call] | Delegation | Entry"


@dataclass(slots=True)
class OpenPhase:
    """A phase or sub-phase while it is recorded.

    Adjacent prose is one list of strings, adjacent calls are one list of calls.
    """

    name: str
    agent: AgentRef | None
    started: datetime | None
    entries: list[_Open] = field(default_factory=list)
    parts: list[OpenPhase] = field(default_factory=list)
    tokens: int = 0
    last: datetime | None = None
    ended: datetime | None = None

    def head(self) -> OpenPhase:
        """Return the phase without entries and sub-phases."""
        return replace(self, entries=[], parts=[])

    def touch(self, time: datetime, closes: bool) -> None:
        """Record the time of an event.  If the event `closes` the turn, the time is also the end of the phase."""
        self.last = time
        self.ended = time if closes else self.ended
        if self.parts:
            self.parts[-1].touch(time, closes)

    def add(self, entry: Entry) -> None:
        """Add an entry.  Adjacent prose is joined, and a repeated failure is dropped."""
        before = self.entries[-1] if self.entries else None
        if not isinstance(entry, Prose):
            if not (isinstance(entry, Failure) and entry == before):
                self.entries.append(entry)
        elif isinstance(before, list) and isinstance(before[0], str):
            before.append(entry.text)
        else:
            self.entries.append([entry.text])

    def contains_prose(self, text: str) -> bool:
        """True if the phase's prose contains a text, ignoring blanks."""
        wanted_text = "".join(text.split())
        prose = (entry for entry in self.entries if isinstance(entry, list) and isinstance(entry[0], str))
        texts = ("".join("".join(map(str, entry)).split()) for entry in prose)
        return any(wanted_text in each for each in texts) or any(part.contains_prose(text) for part in self.parts)

    def add_call(self, call: Call) -> None:
        """Add a call to the list of calls at the end of the phase."""
        before = self.entries[-1] if self.entries else None
        if isinstance(before, list) and isinstance(before[0], Call):
            before.append(call)
        else:
            self.entries.append([call])

    def drop_call(self, call: Call) -> None:
        """Remove a call that turned out to be delegated work."""
        for place, entry in enumerate(self.entries):
            if isinstance(entry, list) and any(item is call for item in entry):
                entry.remove(call)  # type: ignore[arg-type]
                if not entry:
                    del self.entries[place]
                return

    def phase(self, closed: bool) -> DraftPhase:
        """Return the phase so far.  `closed` is true if nothing more will be added."""
        parts = [part.phase(closed or part is not self.parts[-1]) for part in self.parts]
        ended = self.last if closed else self.ended
        return DraftPhase(
            Phase(self.name, self.agent, None, self.started, ended, self.tokens or None),
            tuple(map(_frozen, self.entries)),
            tuple(parts),
        )


@dataclass(frozen=True, slots=True)
class DraftPhase:
    """A phase whose entries may include delegated work without a link; `head` has no entries and no sub-phases."""

    head: Phase
    entries: tuple[Entry | Delegation, ...]
    parts: tuple[DraftPhase, ...]


def _frozen(entry: _Open) -> Entry | Delegation:
    if isinstance(entry, Delegation):
        return entry.copy()
    if not isinstance(entry, list):
        return entry
    texts = [item for item in entry if isinstance(item, str)]
    if texts:
        return Prose("\n\n".join(texts))
    return ToolCalls(tuple(ToolCall(c.call, c.result, c.outcome) for c in entry if isinstance(c, Call)))


@dataclass(frozen=True, slots=True)
class Draft:
    """A recorded session that has no id yet.

    `ended` is the time of the last event in the note, `last` the time of the last event of all.  `mark` identifies the
    last row in the note, `waiting` is a call without a result, `question` the agent's last unanswered question, and
    `redactions` the number of removed secrets by rule.
    """

    title: str
    started: datetime | None
    ended: datetime | None
    last: datetime | None
    turn: Turn
    waiting: str
    question: str
    mark: str
    branch: str
    participants: tuple[AgentRef, ...]
    model: str | None
    tokens_used: int
    tokens_cached: int
    usage: tuple[str, ...]
    redactions: Mapping[str, int]
    tasks: tuple[Task, ...]
    findings: tuple[FindingItem, ...]
    task: str
    phases: tuple[DraftPhase, ...]
    delegations: tuple[Delegation, ...]
    above: int = 0
    """The number of closed phases above these, of which nothing but their number is known."""


@dataclass(frozen=True, slots=True)
class ChildNote:
    """A subagent's work as its parent's note shows it: a note of its own, or `entries` if kept inline."""

    session: str
    mode: Mode = Mode.LINK
    kind: str = ""
    model: str | None = None
    tokens: int | None = None
    summary: str | None = None
    entries: tuple[Entry, ...] = ()
    task: str = ""


@dataclass(frozen=True, slots=True)
class SessionContext:
    """The facts that a transcript lacks: names, the clock, the user's choices.

    `children` has the subagents' notes by agent id, `calls` the agent ids by call where the transcript lacks them, and
    `loose` the agents without a call in the transcript.  `client` is the state of the client.  `open_tasks` replaces
    those of the draft.
    """

    id: str
    source: str
    now: datetime
    idle: timedelta = timedelta(minutes=60)
    project: str | None = None
    parent: str | None = None
    title: str = ""
    started: datetime | None = None
    children: Mapping[str, ChildNote] = field(default_factory=dict)
    calls: Mapping[str, str] = field(default_factory=dict)
    loose: tuple[str, ...] = ()
    client: Client = Client.UNKNOWN
    open_tasks: tuple[str, ...] | None = None
    home: NoteHome = field(default_factory=NoteHome)

    def agent_of(self, work: Delegation) -> str:
        """The id of the subagent that did this work, "" if not known yet."""
        return work.agent or self.calls.get(work.call, "")


def session_of(draft: Draft, setting: SessionContext) -> Session:
    """Make a session from a draft, as its note will contain it."""
    waits = open_end(draft.question, _open_tasks(draft, setting)) if setting.parent is None else ""
    status = _status(draft, setting, waits=bool(waits))
    phases = [_phase(phase, setting) for phase in draft.phases]
    loose = tuple(_callout(Delegation("", agent), setting) for agent in setting.loose)
    phases = _with_loose(phases, loose)
    numbered = tuple(_numbered(phase, f"phase-{n}") for n, phase in enumerate(phases, draft.above + 1))
    used = [*map(setting.agent_of, draft.delegations), *setting.loose]
    known = [setting.children[agent] for agent in dict.fromkeys(used) if agent in setting.children]
    children = [child for child in known if child.mode is not Mode.INLINE]
    paused = status is Status.PAUSED
    client = setting.source.partition(":")[0]
    return Session(
        id=setting.id,
        started=draft.started or setting.started,
        status=status,
        ended=draft.ended if status in (Status.COMPLETED, Status.FAILED) else None,
        project=setting.project or None,
        branch=draft.branch or None,
        participants=draft.participants,
        model=draft.model,
        tokens_used=draft.tokens_used or None,
        tokens_cached=draft.tokens_cached or None,
        usage=draft.usage,
        subagents=tuple(SubagentRef(c.session, c.kind or None, c.model, c.tokens) for c in children),
        parent=setting.parent,
        resume_point=numbered[-1].id if paused and numbered else None,
        pause_reason=pause_reason(draft.turn, draft.waiting, waits) if paused else None,
        sources=(setting.source,),
        synced_to=(f"{client}:{draft.mark}",) if draft.mark else (),
        redactions=sum(draft.redactions.values()) or None,
        redacted=redaction_lines(draft.redactions),
        tags=("session",),
        recording=RECORDING,
        home=setting.home,
        title=setting.title or draft.title or UNTITLED,
        preamble=(Prose(draft.task),) if draft.task.strip() else (),
        tasks=draft.tasks,
        findings=draft.findings,
        phases=numbered,
    )


def _open_tasks(draft: Draft, setting: SessionContext) -> tuple[str, ...]:
    if setting.open_tasks is not None:
        return setting.open_tasks
    return tuple(task.content for task in draft.tasks if task.status not in CLOSED_TASKS)


def _status(draft: Draft, setting: SessionContext, *, waits: bool) -> Status:
    """The session's status.  A subagent whose turn is closed has ended even if the client is still running."""
    is_over = setting.parent is not None and draft.turn in CLOSED
    client = Client.ENDED if is_over else setting.client
    return session_status(draft.turn, draft.last, setting.now, setting.idle, client, waits=waits)


def _phase(phase: DraftPhase, setting: SessionContext) -> Phase:
    entries = tuple(_callout(e, setting) if isinstance(e, Delegation) else e for e in phase.entries)
    return replace(phase.head, entries=entries, subphases=tuple(_phase(part, setting) for part in phase.parts))


def _numbered(phase: Phase, ident: str) -> Phase:
    parts = tuple(_numbered(part, f"{ident}.{n}") for n, part in enumerate(phase.subphases, 1))
    return replace(phase, id=ident, subphases=parts)


def _with_loose(phases: list[Phase], loose: tuple[Subagent, ...]) -> list[Phase]:
    """Add subagents without a call at the end of the last phase."""
    if not loose:
        return phases
    if not phases:
        return [Phase("Subagents", entries=loose)]
    last = phases[-1]
    if last.subphases:
        last = replace(last, subphases=(*last.subphases[:-1], _extended(last.subphases[-1], loose)))
    else:
        last = _extended(last, loose)
    return [*phases[:-1], last]


def _extended(phase: Phase, entries: Iterable[Entry]) -> Phase:
    return replace(phase, entries=(*phase.entries, *entries))


def _callout(work: Delegation, setting: SessionContext) -> Subagent:
    child = setting.children.get(setting.agent_of(work))
    # For background work, the client may have less text than the report.
    summary = (child.summary if child else None) or work.summary
    kind = work.kind or (child.kind if child else "") or "agent"
    agent = AgentRef(slug(kind, "agent") or "agent")
    end = ending(work.outcome, work.fault)
    if child is None:
        # Without a note to link to, the callout must describe the work.
        return Subagent(
            agent,
            None,
            Mode.LINK,
            None,
            "\n".join(p for p in (work.title or _head(work.task), end) if p),
            summary,
        )
    if child.mode is Mode.INLINE:
        task = child.task or work.task or None
        used = f"{child.tokens} tokens" if child.tokens else ""
        text = "\n".join(filter(None, (used, end)))
        return Subagent(agent, child.model, Mode.INLINE, None, text, summary, task, child.entries)
    return Subagent(agent, child.model, child.mode, child.session, end, summary, folder=setting.home.folder)


def _head(text: str) -> str:
    return cut_at_word(one_line(text, 4 * _TASK_LIMIT), _TASK_LIMIT)
