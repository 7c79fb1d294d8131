"""Building a session's context: what is in it, how large it is, how it grows, and how long the whole command takes."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import NamedTuple

from markdown_it import MarkdownIt

from benchmarks.measuring import Figure, clock, in_turns, median_ratio, seconds_of
from crucible.commands.resume.resume_context import build_context
from crucible.commands.resume.resume_material import Context, Material
from crucible.core.templates import OwnTemplate
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
from samples.notes import sample_phases

BUDGET = 4000
SESSIONS = 2000
_START = datetime(2026, 11, 21, 9, 0, 0, tzinfo=UTC)
_NOW = _START + timedelta(days=30)
_TEMPLATE = OwnTemplate("resume.md.j2")
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


class _Draw:
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
    draw = _Draw(random)
    weights = (6, 6, 3, random.choice((0, 1, 2, 20)), random.choice((0, 1, 10)), 1, 1)
    count = random.choice((0, 1, 2, 5, 10, 30, 80)) if phases is None else phases
    found = [_phase(draw, at, weights) for at in range(count)]
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


def _phase(draw: _Draw, at: int, weights: tuple[int, ...]) -> Phase:
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


def _task(draw: _Draw, at: int) -> Task:
    status = draw.random.choice(("pending", "in_progress", "completed"))
    return Task(str(at + 1), f"{draw.name('Task')} | {' '.join(draw.text(2).split())}", status)


def context_of(session: Session, budget: int = BUDGET) -> Context:
    """Built as the command does, by the estimate."""
    return build_context(Material(session, _NOW), window=15, budget=budget, counter=Estimate(), template=_TEMPLATE)


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


def measure(scratch: Path) -> list[Figure]:
    return [*_contents(), *_growth(), *_speed(scratch)]


def _contents() -> list[Figure]:
    wanted = absent = over = differing = tight = 0
    for seed in range(SESSIONS):
        known = known_session(seed)
        context = context_of(known.session)
        wanted += len(known.decisions) + len(known.tasks) + len(known.errors)
        absent += len(missing(known, context))
        over += context.tokens > BUDGET and without_what_is_always_there(context) > BUDGET
        differing += context_of(known_session(seed).session).text != context.text
        tight += context.is_tight
    detail = f"{wanted} of them in {SESSIONS} sessions, {tight} of which were tight at {BUDGET} tokens"
    share = 100 * (wanted - absent) / wanted
    return [
        Figure(
            "resume: decisions, open tasks and errors that are in the context",
            share,
            100,
            "%",
            at_least=True,
            detail=detail,
        ),
        Figure("resume: contexts over the budget but for those three", over, 0, ""),
        Figure("resume: contexts with other bytes on a second run", differing, 0, ""),
    ]


def _growth() -> list[Figure]:
    ratios = []
    for seed in range(5):
        short, long = (context_of(known_session(seed, phases).session, 8000) for phases in (100, 1000))
        ratios.append(without_what_is_always_there(long) / without_what_is_always_there(short))
    return [
        Figure(
            "resume: tokens of a context of 1,000 phases over one of 100",
            max(ratios),
            1.1,
            detail="the three aside, the worst of 5",
        )
    ]


def _speed(scratch: Path) -> list[Figure]:
    notes = {"as we write it": _tidy_note(), "that needs markdown-it": _untidy_note()}
    bars = (
        1.0,
        None,
    )  # a note that people made untidy costs a parse of its own before anything is known of it
    return [
        _speed_of(scratch / f"resume-{at}", name, text, bar)
        for at, ((name, text), bar) in enumerate(zip(notes.items(), bars, strict=True))
    ]


def _speed_of(vault: Path, name: str, text: str, bar: float | None) -> Figure:
    (vault / ".crucible").mkdir(parents=True)
    (vault / "sessions").mkdir()
    (vault / "sessions" / "2026-11-21-known.md").write_text(text, encoding="utf-8")
    command = ("cru", "--vault", vault, "session", "resume", "2026-11-21-known", "--print")
    ours = clock(command, vault)
    ours()
    parser = MarkdownIt("commonmark")
    found = in_turns({"ours": ours, "markdown-it": lambda: seconds_of(lambda: parser.parse(text), 1)}, 7)
    taken, theirs = (statistics.median(found[key]) * 1000 for key in ("ours", "markdown-it"))
    return Figure(
        f"resume: the context of 1,000 phases, whole process, over markdown-it's parse: a note {name}",
        median_ratio(found, "ours", "markdown-it"),
        bar,
        detail=f"{len(text.encode())} bytes: {taken:.0f} ms, {theirs:.0f} ms",
    )


def _tidy_note() -> str:
    return _note_of(sample_phases(1000))


def _untidy_note() -> str:
    draw = _Draw(Random(1))
    phases = (_phase(draw, at, (6, 6, 3, 1, 1, 1, 1)) for at in range(1000))
    return _note_of(tuple(replace(phase, entries=phase.entries[:3]) for phase in phases))


def _note_of(phases: tuple[Phase, ...]) -> str:
    session = known_session(1, 0).session
    return render_session(replace(session, phases=phases, resume_point=f"phase-{len(phases)}"))
