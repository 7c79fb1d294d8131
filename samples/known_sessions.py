"""Sessions with known decisions, tasks and errors, and what of them a context for resuming holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import NamedTuple

from crucible.commands.resume.resume_context import TEMPLATE, build_context
from crucible.commands.resume.resume_material import Context, Material
from crucible.core.tokens import Estimate
from crucible.documents.markdown.source import Source
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import (
    AgentRef,
    Callout,
    Decision,
    Entry,
    Failure,
    Intervention,
    Outcome,
    Phase,
    Prose,
    Session,
    Status,
    Subagent,
    Task,
    ToolCall,
    ToolCalls,
)
from crucible.documents.session.session_reader import read_session

BUDGET = 4000
_START = datetime(2026, 11, 21, 9, 0, 0, tzinfo=UTC)
_NOW = _START + timedelta(days=30)
_ALWAYS = ("Decisions", "Open tasks", "Unresolved errors")

_WORDS = [
    "the",
    "limiter",
    "keeps",
    "one",
    "bucket",
    "for",
    "each",
    "user",
    "and",
    "drops",
    "those",
    "that",
    "were",
    "quiet",
    "since",
    "an",
    "hour",
    "while",
    "requests",
    "of",
    "a",
    "page",
    "count",
    "as",
    "one",
    "call",
    "to",
    "storage",
    "behind",
    "which",
    "a",
    "lock",
    "waits",
    "for",
    "its",
    "turn",
    "so",
    "tests",
    "run",
    "against",
    "real",
    "clocks",
    "never",
    "mocked",
    "ones",
    "except",
    "where",
    "`time.monotonic()`",
    "is",
    "asked",
    "2026",
    "times",
    "0x7f3a9c",
    "éclair",
    "größer",
    "数据库",
    "миграция",
    '{"key":',
    "[1,",
    "2,",
    "3]}",
    "src/crucible/session.py:118",
    "```",
    "~~~",
    "<b>",
    "--force",
    "https://example.org/a?b=c|d",
    "→",
    "❌",
    "failed",
    "**bold**",
    ">",
    "quoted",
    "#",
    "heading",
    "-",
    "item",
    "*",
    "star",
]


class Known(NamedTuple):
    """A session and what must be found in its context: how each text begins."""

    session: Session
    decisions: tuple[str, ...]
    tasks: tuple[str, ...]
    errors: tuple[str, ...]


class Draw:
    """Entries drawn from one generator; `name` is a text's first words, which no other text begins with."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.decisions: list[str] = []
        self.errors: list[str] = []
        self._count = 0

    def name(self, what: str) -> str:
        self._count += 1
        return f"{what} number {self._count}: {self.random.getrandbits(40):010x}"

    def text(self, most: int) -> str:
        lines = [
            " ".join(self.random.choices(_WORDS, k=self.random.randint(1, 25)))
            for _ in range(self.random.randint(1, most))
        ]
        return self.random.choice(("\n", "\n\n")).join(lines)

    def entry(self, weights: tuple[int, ...]) -> Entry:
        makers = (
            self._prose,
            self._calls,
            self._user,
            self._decision,
            self._error,
            self._subagent,
            self._callout,
        )
        return self.random.choices(makers, weights)[0]()

    def _prose(self) -> Entry:
        return Prose(self.text(8))

    def _calls(self) -> Entry:
        return ToolCalls(tuple(self._call() for _ in range(self.random.randint(1, 12))))

    def _call(self) -> ToolCall:
        call = "Bash " + " ".join(self.text(1).split())
        return ToolCall(call[:199], " ".join(self.text(1).split())[:99], self.random.choice(tuple(Outcome)))

    def _user(self) -> Entry:
        return Intervention(self.text(4), self.random.choice((None, "it was made so.")))

    def _decision(self) -> Entry:
        self.decisions.append(self.name("Decision"))
        rationale = self.text(3) if self.random.random() < 0.8 else None
        return Decision(f"{self.decisions[-1]} {self.text(2)}", rationale)

    def _error(self) -> Entry:
        name = self.name("Error")
        if self.random.random() < 0.6:
            return Failure(f"{name} {self.text(6)}", self.text(2))
        self.errors.append(name)
        return Failure(f"{name} {self.text(6)}")

    def _subagent(self) -> Entry:
        link = f"2026-11-21-{self.random.getrandbits(32):08x}"
        return Subagent(AgentRef("general-purpose"), "claude-opus-4-8", link=link, summary=self.text(3))

    def _callout(self) -> Entry:
        return Callout(self.random.choice(("milestone", "observation", "decision_needed")), "", self.text(2))


def known_session(seed: int, phases: int | None = None) -> Known:
    """A session as it is read from its note.  Few have many decisions: most kinds of session are drawn."""
    random = Random(seed)
    draw = Draw(random)
    weights = (6, 6, 3, random.choice((0, 1, 2, 20)), random.choice((0, 1, 10)), 1, 1)
    count = random.choice((0, 1, 2, 5, 10, 30, 80)) if phases is None else phases
    found = [made_phase(draw, at, weights) for at in range(count)]
    tasks = [_task(draw, at) for at in range(random.choice((0, 1, 5, 40)))]
    session = Session(
        id="2026-11-21-known",
        started=_START,
        status=Status.PAUSED,
        project="shop",
        title="Known content",
        preamble=(Prose(draw.text(3)),),
        tasks=tuple(tasks),
        phases=tuple(found),
        resume_point=f"phase-{count}" if count and random.random() < 0.5 else None,
    )
    read = read_session(Source(render_session(session)), session.id)
    open_tasks = tuple(task.content.partition(" | ")[0] for task in tasks if task.status != "completed")
    return Known(read, tuple(draw.decisions), open_tasks, tuple(draw.errors))


def made_phase(draw: Draw, at: int, weights: tuple[int, ...]) -> Phase:
    started = _START + timedelta(minutes=5 * at)
    entries = tuple(draw.entry(weights) for _ in range(draw.random.randint(0, 12)))
    asked = (Intervention(draw.text(2)),) if draw.random.random() < 0.8 else ()
    name = f"Part {at + 1}"
    return Phase(
        name,
        AgentRef("codex", "0.169.0"),
        None,
        started,
        started + timedelta(minutes=4),
        100,
        (*asked, *entries),
    )


def _task(draw: Draw, at: int) -> Task:
    status = draw.random.choice(("pending", "in_progress", "completed"))
    return Task(str(at + 1), f"{draw.name('Task')} | {' '.join(draw.text(2).split())}", status)


def context_of(session: Session, budget: int = BUDGET) -> Context:
    """Built as the command does, by the estimate."""
    return build_context(Material(session, _NOW), window=15, budget=budget, counter=Estimate(), template=TEMPLATE)


def missing(known: Known, context: Context) -> list[str]:
    """What must be there and is not: each decision, task and error has a place of its own under its heading."""
    names = zip(_ALWAYS, (known.decisions, known.tasks, known.errors), strict=True)
    parts = dict(_parts(context.text))
    return [name for heading, wanted in names for name in wanted if name not in parts.get(heading, "")]


def always_there(context: Context) -> int:
    """Tokens of decisions, open tasks and unresolved errors."""
    return sum(Estimate().count(part) for heading, part in _parts(context.text) if heading in _ALWAYS)


def without_what_is_always_there(context: Context) -> int:
    """Tokens of all the rest."""
    return context.tokens - always_there(context)


def _parts(text: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        yield heading.partition(",")[0], body
