"""Build the draft of a note from the events of one native session, one by one.

Text is cut immediately, so memory grows with the note, not with the transcript.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from typing import assert_never

from crucible.clients.events import (
    Answered,
    Compacted,
    ContextSeen,
    ContinuedIn,
    Event,
    Faulted,
    Injected,
    Interrupted,
    PlanSettled,
    Prompted,
    PromptKind,
    QuestionsAnswered,
    Reasoned,
    Replied,
    Resumed,
    Rewound,
    SubagentReturned,
    SubagentStarted,
    TaskChanged,
    TasksListed,
    Titled,
    ToolReturned,
    ToolUsed,
    Unknown,
    Unreadable,
    UsageCounted,
)
from crucible.documents.markdown.containment import normal
from crucible.documents.recording.call_lines import one_line
from crucible.documents.recording.entry_texts import (
    happening_entry,
    intervention,
    question_entries,
    refusal_entry,
    rewind_callout,
    whole_seconds,
)
from crucible.documents.recording.pending_calls import Details, PendingCalls
from crucible.documents.recording.session_draft import Draft, OpenPhase
from crucible.documents.recording.trackers import (
    PhaseTracker,
    Speakers,
    Switch,
    TaskTracker,
    TokenCounts,
    turn_after,
)
from crucible.documents.session.findings import FindingDetector
from crucible.documents.session.import_properties import SyncPoint
from crucible.documents.session.session import Callout, FindingItem, Prose
from crucible.documents.session.status_rules import CLOSED, Turn
from crucible.documents.session.titles import Titles, prompt_name, resumed_name


def is_parent_report(event: Event, agent: str) -> bool:
    """True if an event from the parent's transcript is about this subagent."""
    return isinstance(event, SubagentStarted | SubagentReturned) and agent != "" and event.agent == agent


_FOLDING = {"_judge", "_sync", "_held", "_plan", "_usage", "_redactions", "_speakers"}
"""Fields that only `add` and `draft` use."""


class Recorder(PhaseTracker):
    """Record one native session, or the work of one subagent.

    `agent` is the subagent's id, "" for the main session, and `kind` its type.  `work_name` names a phase without a
    prompt: a subagent's, or one of a transcript whose start is lost.  `synced` is the mark of the last row in the note;
    if that row is gone, `known_until` is its time.  `base` becomes the draft at that row: what an earlier import wrote.
    If `joins`, the note contains nothing from this transcript yet, and `after` is the agent that worked on the note
    before.  Tokens count on the day in `zone`.  `task` is the subagent's task, `moved_to` the session in which the client continued, `started` the time of
    the first event in the note, and `last` the time of the last event of all.
    """

    def __init__(
        self,
        client: str,
        *,
        agent: str = "",
        kind: str = "",
        work_name: str = "Work",
        synced: str = "",
        known_until: datetime | None = None,
        joins: bool = False,
        after: str = "",
        cwd: str = "",
        judge: FindingDetector | None = None,
        details: Details = Details.NONE,
        zone: tzinfo | None = None,
    ) -> None:
        self.client = client
        self.agent = agent
        self.work_name = work_name
        self.base: Draft | None = None
        self.joins = joins
        self.task = self.moved_to = ""
        self.last: datetime | None = None
        self._judge = judge
        self._noted: tuple[FindingItem, ...] | None = None
        self._sync = SyncPoint(synced, known_until)
        self._phases: list[OpenPhase] = []
        self._held: list[Prompted] = []
        self.details = details
        self.calling = PendingCalls(cwd, details)
        self._plan = TaskTracker()
        self._usage = TokenCounts()
        self.zone = zone or UTC
        self._redactions: Counter[str] = Counter()
        self._speakers = Speakers(client, kind if agent else "")
        self._titles = Titles()
        self.started: datetime | None = None
        self._ended: datetime | None = None
        self._turn = Turn.UNASKED
        self._mark, self._mark_line = "", 0
        self._branch = ""
        self._after = after
        self._switch: Switch | None = None
        self._final: Draft | None = None
        self.above = 0
        """The number of closed phases: only their heads are kept."""
        self.is_stale = False
        """True if an event changes a closed phase, so that the recording is wrong."""
        if joins:
            self.base = self.draft()

    def __getstate__(self) -> dict[str, object]:
        """Return what another process needs to write the note.  The draft is made here, and nothing more is recorded."""
        kept = {name: value for name, value in vars(self).items() if name not in _FOLDING}
        return kept | {"_final": self.draft(), "_phases": self._phases[:1]}

    # --- queries -----------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """The session's title so far."""
        return self._titles.best

    @property
    def has_work(self) -> bool:
        """True if there is anything to record in a note."""
        return bool(self._phases or self.task)

    @property
    def closed_agents(self) -> set[str]:
        """The subagents whose callouts are in closed phases."""
        return {work.agent for work, _ in self.calling.closed_work if work.agent}

    @property
    def is_guest(self) -> bool:
        """True if the transcript was first imported into another session's note."""
        return self._switch is not None

    @property
    def synced_found(self) -> bool:
        """True if the row marked by `synced` was found."""
        return self._sync.found

    def draft(self) -> Draft:
        """Everything recorded so far, as values that later events do not change."""
        return self._final or Draft(
            title=self.title,
            started=self.started,
            ended=self._ended,
            last=self.last,
            turn=self._turn,
            waiting=self.calling.waiting,
            question=self.calling.question(self._turn),
            mark=self._mark,
            branch=self._branch,
            participants=self._speakers.all(),
            # The model must not change while an added transcript grows, since a note without a model uses it.
            model=self._usage.first_model if self.is_guest else self._usage.model,
            tokens_used=self._usage.used,
            tokens_cached=self._usage.cached,
            usage=self._usage.lines,
            redactions=dict(self._redactions),
            tasks=self._plan.tasks(),
            findings=self._findings(),
            task=self.task,
            phases=tuple(p.phase(p is not self._phases[-1]) for p in self._phases[self.above :]),
            delegations=tuple(d.copy() for d in self.calling.delegations),
            above=self.above,
        )

    def _findings(self) -> tuple[FindingItem, ...]:
        """Return the items of the findings block.  A draft is made several times between two events."""
        if self._noted is None:
            self._noted = self._judge.noted() if self._judge else ()
        return self._noted

    # --- folding -----------------------------------------------------------------------------------------------------

    def add(self, event: Event, secrets: Mapping[str, int] | None = None) -> None:
        """Process the next event of the transcript.  `secrets` counts the secrets removed from it, by rule."""
        if self._sync.is_behind(event) and self.base is None:
            self.base = self.draft()
        if event.at.time and not isinstance(event, Titled | Unknown | Unreadable):
            self.last = max(self.last, event.at.time) if self.last else event.at.time
        if secrets:
            self._redactions.update(secrets)
        if self.above and getattr(event, "call", "") in self.calling.closed:
            self.is_stale = True
        is_noted = self._fold(event)
        self._noted = None
        found = self._judge.add(event) if self._judge else ()
        if (found and self._add_callouts(event.at, found)) or is_noted:
            self._note_row(event)
            if self._switch:
                self._switch.name_model(self._usage.first_model)
        self._sync.pass_by(event)

    def _note_row(self, event: Event) -> None:
        """Record that the note contains this event's row."""
        self._speakers.add_current()
        # An event emitted at the end of a file may belong to an earlier row.
        if event.at.line >= self._mark_line:
            own = self._mark if is_parent_report(event, self.agent) else None
            self._mark, self._mark_line = self._sync.mark(event, own), event.at.line
        time = whole_seconds(event.at.time)
        if time is None:
            return
        self.started = self.started or time
        self._ended = max(self._ended, time) if self._ended else time
        if self._phases:
            self._phases[-1].touch(time, self._turn in CLOSED)

    def _fold(self, event: Event) -> bool:  # noqa: C901, PLR0912 -- one arm an event
        """Process an event by its type; return True if the note contains it."""
        match event:
            case Prompted():
                return self._prompted(event)
            case Replied():
                self._replied(event)
            case ToolUsed():
                self._tool_used(event)
            case ToolReturned():
                self._tool_returned(event)
            case SubagentStarted():
                return self._subagent_started(event)
            case SubagentReturned():
                return self._subagent_returned(event)
            case UsageCounted():
                self._usage.count(event, self._work(event.at), self.zone)
            case TasksListed():
                self._plan.replace(event.tasks, event.at.time)
            case TaskChanged():
                self._plan.change(event)
            case Reasoned():
                self._work(event.at)
            case Answered():
                self._turn = Turn.ANSWERED
            case Interrupted():
                self._add_callouts(event.at, [happening_entry(event)])
                self._turn = Turn.INTERRUPTED
            case Compacted():
                self._add_callouts(event.at, [happening_entry(event)])
            case Rewound():
                return self._rewound(event)
            case Faulted():
                self._work(event.at)
                self._add_callouts(event.at, [happening_entry(event)])
                self._turn = Turn.FAULTED
            case ContinuedIn():
                self._turn, self.moved_to = Turn.MOVED, event.session
            case ContextSeen():
                return self._context_seen(event)
            case Titled():
                self._titles.named(one_line(event.title, 120), event.by_user)
                return False
            case Resumed():
                self._resumed(event)
            case QuestionsAnswered() | PlanSettled():
                return self._add_callouts(event.at, question_entries(event, is_judged=self._judge is not None))
            case Injected() | Unknown() | Unreadable():
                return False
            case _:
                assert_never(event)
        return True

    # --- users ------------------------------------------------------------------------------------------------------

    def _prompted(self, event: Prompted) -> bool:
        if not normal(event.text) and not event.images:
            return False
        if event.kind is PromptKind.TASK:
            return self._parent_prompted(event)
        if event.kind in (PromptKind.COMMAND, PromptKind.SHELL):
            # `/exit` and similar commands are dropped; a command that makes the agent work is recorded with that work.
            self._held.append(event)
            return False
        steering = event.kind is PromptKind.STEERING or self.agent
        if steering and self._phases and not self._held:
            self._stretch(event.at).add(intervention(event))
        else:
            self._open_phase(event)
        self._turn = Turn.UNASKED
        return True

    def _parent_prompted(self, event: Prompted) -> bool:
        """Record a prompt that the parent sent to a subagent.  The first one is the task."""
        if not self.task and not self._phases:
            self.task = normal(event.text)
            if not self.agent:  # its parent is gone, so nothing else provides a name
                self._titles.first_said(prompt_name(self.task, 80))
        else:
            self._stretch(event.at).add(Callout("observation", "Message", normal(event.text)))
        self._turn = Turn.UNASKED
        return True

    def _resumed(self, event: Resumed) -> None:
        """Begin a phase with the held commands; at the start of a transcript, also record the change of agent."""
        is_first, (held, self._held) = not self._phases, (self._held, [])
        name = resumed_name(event.after or (self._phases[-1].name if self._phases else ""))
        self._titles.first_said(name)
        phase = self._new_phase(name, held[0].at if held else event.at)
        phase.entries.extend(map(intervention, held))
        if is_first:
            self._switch = Switch(phase, self._after, self._speakers.now)
        self._turn = Turn.UNASKED

    # --- the agent ---------------------------------------------------------------------------------------------------

    def _replied(self, event: Replied) -> None:
        self._work(event.at)
        self._usage.name_model(event.message, event.model)
        text = normal(event.text)
        if text:
            self._stretch(event.at).add(Prose(text))
            self._titles.replied(text)
            self.calling.last_words = text
        if event.final:
            self._turn = Turn.ANSWERED

    def _tool_used(self, event: ToolUsed) -> None:
        self._work(event.at)
        self._usage.name_model(event.message, event.model)
        self.calling.use(event, lambda: self._stretch(event.at))

    def _tool_returned(self, event: ToolReturned) -> None:
        self.calling.answer(event, lambda: self._stretch(event.at))
        if normal(event.feedback):
            stretch = self._stretch(event.at)
            stretch.add(refusal_entry(event, self.calling.line(event.call), stretch.entries[-1:]))
        if self._turn is not Turn.INTERRUPTED:
            self._turn = Turn.OPEN

    def _subagent_started(self, event: SubagentStarted) -> bool:
        if is_parent_report(event, self.agent):
            self.task = normal(event.task)  # the subagent's own transcript is gone
            return False
        if self.calling.delegation(event.call, event.agent) is None:
            self._work(event.at)
        self.calling.hand_out(event, lambda: self._stretch(event.at))
        return True

    def _subagent_returned(self, event: SubagentReturned) -> bool:
        if is_parent_report(event, self.agent):
            turn = turn_after(event, self._turn, self._phases, lambda: self._stretch(event.at))
            self._turn = turn or self._turn
            return turn is not None
        self.calling.take_back(event, lambda: self._stretch(event.at))
        return True

    # --- session events -----------------------------------------------------------------------------------

    def _rewound(self, event: Rewound) -> bool:
        if not self._phases:
            return False  # nothing was recorded that could be withdrawn
        # Added to the last phase, since a held `/rewind` does not begin one.
        phase = self._phases[-1]
        (phase.parts[-1] if phase.parts else phase).add(rewind_callout(event))
        self._turn, self.calling.last_words = Turn.ANSWERED, ""
        return True

    def _context_seen(self, event: ContextSeen) -> bool:
        if not self._mark:
            self.calling.folder = event.cwd or self.calling.folder
            self._branch = one_line(event.branch, 200) or self._branch
        self._speakers.change(event.version)
        return False
