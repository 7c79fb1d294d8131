"""The value types for a session note, as defined in `format.md`.

Text is unescaped.  Positions (`lines`, `body_end`) are ignored in comparisons, so a session built in memory equals the
same session read back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from typing import TypeAlias

from crucible.core.named_tuples import NamedTuple
from crucible.documents.markdown.code_spans import FORMAT
from crucible.documents.markdown.source import NOWHERE, Lines, Problem
from crucible.documents.markdown.yaml_scalars import Value

RECORDING = 2
"""The version of the recording rules.  Increase it when `import --refresh` would change notes."""


SESSIONS = "sessions"
"""The default folder of session notes."""


class Status(StrEnum):
    """The status of a session."""

    ACTIVE = "active"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"


ENDED = frozenset({Status.COMPLETED, Status.FAILED})
"""Statuses of ended sessions."""


class Outcome(StrEnum):
    """The outcome of a tool call; the marks in notes are `note_entries.MARKS`."""

    OK = "ok"
    FAILED = "failed"
    REJECTED = "rejected"
    INTERRUPTED = "interrupted"
    PENDING = "pending"


class Mode(StrEnum):
    """Where a subagent's work is kept: in the note, or in its own note, linked or embedded."""

    INLINE = "inline"
    LINK = "link"
    EMBED = "embed"


@dataclass(frozen=True, slots=True)
class AgentRef:
    """An agent, written `name@version`, or `name` if the version is unknown."""

    name: str
    version: str | None = None

    def __str__(self) -> str:
        return f"{self.name}@{self.version}" if self.version else self.name

    @classmethod
    def parse(cls, text: str) -> AgentRef:
        """Parse `name` or `name@version`."""
        name, _, version = text.partition("@")
        return cls(name, version or None)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call.  `call` is the tool's name, a space, and the arguments on one line."""

    call: str
    result: str = ""
    outcome: Outcome = Outcome.OK
    lines: Lines = field(default=NOWHERE, compare=False)

    @property
    def tool(self) -> str:
        """The tool's name: the first word of the call."""
        return self.call.partition(" ")[0]


@dataclass(frozen=True, slots=True)
class Prose:
    """Markdown text of one or more paragraphs, from the agent or from a user who edited the note."""

    text: str
    lines: Lines = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ToolCalls:
    """The tool calls of a list under `**Tool calls:**`."""

    calls: tuple[ToolCall, ...]
    lines: Lines = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Grounds:
    """How a finding was detected, a confidence from 0 to 1, and the first characters of its row ids.

    `phase` is a phase id, "" if the position or the words of the finding identify the phase.
    """

    source: str
    confidence: float = 1.0
    rows: tuple[str, ...] = ()
    phase: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """`[!decision]`: the choice, its rationale, the alternatives, and who chose (`by`).

    `grounds` is None if a user or an agent wrote the callout directly.
    """

    text: str
    rationale: str | None = None
    alternatives: str | None = None
    by: str | None = None
    grounds: Grounds | None = None
    lines: Lines = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Failure:
    """`[!error]`: an error, with its cause and resolution if known."""

    text: str
    resolution: str | None = None
    cause: str | None = None
    grounds: Grounds | None = None
    lines: Lines = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Intervention:
    """`[!user]`: the user's exact words, and an optional note on them."""

    words: str
    note: str | None = None
    lines: Lines = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Subagent:
    """`[!subagent]`: delegated work.

    `link` is the target of the wikilink or embed (a session id), `folder` its folder, "" for a link without one.
    `text` is the rest of the callout.  `task` and `entries` are used only in mode `inline`.
    """

    agent: AgentRef
    model: str | None = None
    mode: Mode = Mode.LINK
    link: str | None = None
    text: str = ""
    summary: str | None = None
    task: str | None = None
    entries: tuple[Entry, ...] = ()
    lines: Lines = field(default=NOWHERE, compare=False)
    folder: str = field(default=SESSIONS, compare=False)


@dataclass(frozen=True, slots=True)
class Callout:
    """Any other known callout: milestone, observation, agent_switch, plan, tool, the inbox kinds, abstract.

    `kind` is in lower case; `title` is the text after the marker, "" for none; `fold` is `+`, `-` or "".
    """

    kind: str
    title: str = ""
    text: str = ""
    lines: Lines = field(default=NOWHERE, compare=False)
    fold: str = ""


Entry: TypeAlias = Prose | ToolCalls | Decision | Failure | Intervention | Subagent | Callout


@dataclass(frozen=True, slots=True)
class Phase:
    """A level-2 section, or in `subphases` a level-3 section, with its entries in the order of events.

    `id` is the position: `phase-2`, `phase-2.1`.  `tokens` is the same count as `tokens_used`.  `lines` extends from
    the heading to the next phase; `body_end` is the line after the phase's own entries (before a sub-phase or a `---`).
    """

    name: str
    agent: AgentRef | None = None
    channel: str | None = None
    started: datetime | None = None
    ended: datetime | None = None
    tokens: int | None = None
    entries: tuple[Entry, ...] = ()
    subphases: tuple[Phase, ...] = ()
    id: str = field(default="", compare=False)
    lines: Lines = field(default=NOWHERE, compare=False)
    body_end: int = field(default=-1, compare=False)

    @property
    def status(self) -> str:
        """`failed` if an error is unresolved or the last tool call failed, else `success`."""
        entries = list(self.all_entries())
        if any(isinstance(e, Failure) and not e.resolution for e in entries):
            return "failed"
        calls = [c for e in entries if isinstance(e, ToolCalls) for c in e.calls]
        return "failed" if calls and calls[-1].outcome is Outcome.FAILED else "success"

    def all_entries(self) -> Iterator[Entry]:
        """Yield the phase's own entries, then those of its sub-phases."""
        yield from self.entries
        for sub in self.subphases:
            yield from sub.all_entries()


@dataclass(frozen=True, slots=True)
class FindingItem:
    """An item of the findings block: a finding of a kind that has no callout of its own.

    `kind` is a value of `session.findings.Kind`, `also` the second kind if there is one.  `details` is further text,
    `points` a nested list.  `evidence` is a quotation that supports the finding.
    """

    kind: str
    text: str
    details: str | None = None
    grounds: Grounds | None = None
    points: tuple[str, ...] = ()
    lines: Lines = field(default=NOWHERE, compare=False)
    also: str = ""
    evidence: str | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """A task.  Unknown keys are in `extra`."""

    id: str
    content: str
    status: str = "pending"
    priority: str = "medium"
    depends_on: tuple[str, ...] = ()
    started: str | None = None
    completed: str | None = None
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SubagentRef:
    """An item of the frontmatter's `subagents`."""

    session: str
    agent: str | None = None
    model: str | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class NoteHome:
    """What a new note's properties say about its vault.

    `folder` is the folder of session notes, for links; "" is the vault's root.  `zone` is the user's time zone, None
    for the system's.  `project` is the path of the project's note without `.md`, "" if there is none.  `json_tasks` is
    true if tasks are written as JSON.
    """

    folder: str = SESSIONS
    zone: tzinfo | None = UTC
    project: str = ""
    json_tasks: bool = False


class Above(NamedTuple):
    """What is known of the first phases of a note that was read without them.

    `phases` is their number, `marks` identifies entries that must not be added again, and `agents` are their agents.
    `places` has the kind and summary of each item of the findings block that belongs to one of them, and its phase.
    """

    phases: int = 0
    marks: frozenset[tuple[object, ...]] = frozenset()
    agents: tuple[str, ...] = ()
    places: tuple[tuple[tuple[str, str], str], ...] = ()


NOTHING_ABOVE = Above()


@dataclass(frozen=True, slots=True)
class Session:
    """A session note.

    `usage` has tokens by day and model, as lines of `import_properties`.  `redactions` is the number of removed
    secrets, `redacted` the same by rule (`jwt: 2`).  `properties` has every key of the frontmatter and of the
    bookkeeping as it was read.  `format`
    is the version of the note's escapes, `recording` the version of the recording rules; both are ignored in
    comparisons.  `home` is used only to write a new note.
    """

    id: str
    started: datetime | None = None
    status: Status | None = Status.ACTIVE
    archived: bool = False
    ended: datetime | None = None
    project: str | None = None
    branch: str | None = None
    channel: str | None = None
    participants: tuple[AgentRef, ...] = ()
    model: str | None = None
    tokens_used: int | None = None
    tokens_cached: int | None = None
    usage: tuple[str, ...] = ()
    subagents: tuple[SubagentRef, ...] = ()
    parent: str | None = None
    continues: str | None = None
    continued_by: str | None = None
    resume_point: str | None = None
    pause_reason: str | None = None
    sources: tuple[str, ...] = ()
    synced_to: tuple[str, ...] = ()
    redactions: int | None = None
    redacted: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    format: int = field(default=FORMAT, compare=False)
    recording: int = field(default=1, compare=False)
    home: NoteHome = field(default=NoteHome(), compare=False)
    title: str = ""
    preamble: tuple[Entry, ...] = ()
    tasks: tuple[Task, ...] = ()
    findings: tuple[FindingItem, ...] = ()
    phases: tuple[Phase, ...] = ()
    summary: str | None = None
    properties: Mapping[str, Value] = field(default_factory=dict, compare=False)
    problems: tuple[Problem, ...] = field(default=(), compare=False)
    above: Above = field(default=NOTHING_ABOVE, compare=False)
    title_lines: Lines = field(default=NOWHERE, compare=False)
    preamble_lines: Lines = field(default=NOWHERE, compare=False)
    tasks_lines: Lines = field(default=NOWHERE, compare=False)
    findings_lines: Lines = field(default=NOWHERE, compare=False)
    summary_lines: Lines = field(default=NOWHERE, compare=False)
    bookkeeping_lines: Lines = field(default=NOWHERE, compare=False)

    def all_phases(self) -> Iterator[Phase]:
        """Every phase followed by its sub-phases."""
        for phase in self.phases:
            yield phase
            yield from phase.subphases

    def all_entries(self) -> Iterator[Entry]:
        """Yield the entries of all phases, in the order of the note, except those of the preamble."""
        for phase in self.phases:
            yield from phase.all_entries()

    def calls(self) -> Iterator[ToolCall]:
        """Yield all tool calls, except those of inline subagents."""
        for entry in self.all_entries():
            if isinstance(entry, ToolCalls):
                yield from entry.calls

    def duration(self) -> timedelta | None:
        """The time from `started` to `ended`, or else to the last known time of a phase; None if unknown."""
        if self.started is None:
            return None
        times = [t for p in self.all_phases() for t in (p.started, p.ended) if t]
        last = self.ended or max(times, default=None)
        return last - self.started if last and last >= self.started else None
