"""A session note as frozen values, one for each thing that `format.md` names.

Texts are decoded: what an agent or a person said, without escapes.  Places (`lines`, `body_end`) do not count for equality, so a session
built in memory equals the same session read back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypeAlias

from crucible.documents.markdown.code_spans import FORMAT
from crucible.documents.markdown.source import NOWHERE, Lines, Problem
from crucible.documents.markdown.yaml_scalars import Value

RECORDING = 2
"""The rules by which this version records a transcript; raised when `import --refresh` has something new to bring."""


class Status(StrEnum):
    """Where a session stands."""

    ACTIVE = "active"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"


class Outcome(StrEnum):
    """How a tool call ended; its mark in a note is in `session.entries.MARKS`."""

    OK = "ok"
    FAILED = "failed"
    REJECTED = "rejected"
    INTERRUPTED = "interrupted"
    PENDING = "pending"


class Mode(StrEnum):
    """How a subagent's work is kept."""

    INLINE = "inline"
    LINK = "link"
    EMBED = "embed"


@dataclass(frozen=True, slots=True)
class AgentRef:
    """`name@version`, the version left out when unknown."""

    name: str
    version: str | None = None

    def __str__(self) -> str:
        return f"{self.name}@{self.version}" if self.version else self.name

    @classmethod
    def parse(cls, text: str) -> AgentRef:
        """Read `name` or `name@version`."""
        name, _, version = text.partition("@")
        return cls(name, version or None)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call: `call` is the tool's name, a blank, and its arguments in one line."""

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
    """What the agent, or a human editor, wrote: Markdown, any number of paragraphs."""

    text: str
    lines: Lines = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ToolCalls:
    """One list under one `**Tool calls:**`."""

    calls: tuple[ToolCall, ...]
    lines: Lines = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Grounds:
    """The grounds of a finding: how it was found, a confidence from 0 to 1, and the first characters of its row ids.

    `phase` is the id of its phase, "" if its place or its words show that.
    """

    source: str
    confidence: float = 1.0
    rows: tuple[str, ...] = ()
    phase: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """`[!decision]`: what was chosen and why, what was not chosen (`alternatives`), and who chose (`by`).

    `grounds` is None where a human, or an agent that told it, wrote it.
    """

    text: str
    rationale: str | None = None
    alternatives: str | None = None
    by: str | None = None
    grounds: Grounds | None = None
    lines: Lines = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Failure:
    """`[!error]`: what went wrong, why (`cause`) and how it was fixed (`resolution`), each as far as it is known."""

    text: str
    resolution: str | None = None
    cause: str | None = None
    grounds: Grounds | None = None
    lines: Lines = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Intervention:
    """`[!user]`: a human's exact words, and what was made of them."""

    words: str
    note: str | None = None
    lines: Lines = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Subagent:
    """`[!subagent]`: delegated work.

    `link` is the bare target of the wikilink or embed (a session id).  `text` is what else the callout says.  `task`
    and `entries` are filled in mode `inline` only.
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


@dataclass(frozen=True, slots=True)
class Callout:
    """Any other callout that means something: milestone, observation, agent_switch, plan, the inbox kinds, abstract.

    `kind` is in lower case; `title` is the text after the marker ("" when there is none), `fold` its `+`, `-` or "".
    """

    kind: str
    title: str = ""
    text: str = ""
    lines: Lines = field(default=NOWHERE, compare=False)
    fold: str = ""


Entry: TypeAlias = Prose | ToolCalls | Decision | Failure | Intervention | Subagent | Callout


@dataclass(frozen=True, slots=True)
class Phase:
    """A level-2 section (or, in `subphases`, a level-3 one) and its entries in the order of events.

    `id` is ordinal: `phase-2`, `phase-2.1`.  `tokens` counts as `tokens_used` does.  `lines` runs from the heading to
    the next phase; `body_end` is the line after the last line of its own entries (before a sub-phase or a `---`).
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
        """`failed` when an error stayed unresolved or the last tool call failed, else `success`."""
        entries = list(self.all_entries())
        if any(isinstance(e, Failure) and not e.resolution for e in entries):
            return "failed"
        calls = [c for e in entries if isinstance(e, ToolCalls) for c in e.calls]
        return "failed" if calls and calls[-1].outcome is Outcome.FAILED else "success"

    def all_entries(self) -> Iterator[Entry]:
        """Its own entries, then those of its sub-phases."""
        yield from self.entries
        for sub in self.subphases:
            yield from sub.all_entries()


@dataclass(frozen=True, slots=True)
class FindingItem:
    """One item of the note's findings block: a finding of a kind that has no callout of its own.

    `kind` is a word of `session.findings.Kind`, `details` what else is said of it, `points` its parts: a nested list.  `also` is
    the second kind of a finding with two.  `evidence` quotes what proves it.
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
    """One item of the tasks block.  `extra` keeps keys we do not know."""

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
class Session:
    """A whole session note.

    `usage` tells tokens by day and model, in the texts of `session.spending`.  `redactions` counts secrets that were taken out, `redacted` the same by rule (`jwt: 2`).  `properties` holds every frontmatter key
    as it was read, known or not.  `problems` is what was untidy, with lines.  `format` says by which escapes the note is written,
    `recording` by which rules an import recorded it: they are no part of what it says.
    """

    id: str
    started: datetime | None = None
    status: Status | None = Status.ACTIVE
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
    title: str = ""
    preamble: tuple[Entry, ...] = ()
    tasks: tuple[Task, ...] = ()
    findings: tuple[FindingItem, ...] = ()
    phases: tuple[Phase, ...] = ()
    summary: str | None = None
    properties: Mapping[str, Value] = field(default_factory=dict, compare=False)
    problems: tuple[Problem, ...] = field(default=(), compare=False)
    title_lines: Lines = field(default=NOWHERE, compare=False)
    preamble_lines: Lines = field(default=NOWHERE, compare=False)
    tasks_lines: Lines = field(default=NOWHERE, compare=False)
    findings_lines: Lines = field(default=NOWHERE, compare=False)
    summary_lines: Lines = field(default=NOWHERE, compare=False)

    def all_phases(self) -> Iterator[Phase]:
        """Every phase followed by its sub-phases."""
        for phase in self.phases:
            yield phase
            yield from phase.subphases

    def all_entries(self) -> Iterator[Entry]:
        """Every entry of every phase, in the order of the note (the preamble's not)."""
        for phase in self.phases:
            yield from phase.all_entries()

    def calls(self) -> Iterator[ToolCall]:
        """Every tool call; what is inside an inline subagent does not count."""
        for entry in self.all_entries():
            if isinstance(entry, ToolCalls):
                yield from entry.calls

    def duration(self) -> timedelta | None:
        """`ended - started`, or the last known time of a phase minus `started`, or unknown."""
        if self.started is None:
            return None
        times = [t for p in self.all_phases() for t in (p.started, p.ended) if t]
        last = self.ended or max(times, default=None)
        return last - self.started if last and last >= self.started else None
