"""Random sessions with hostile text in every field, drawn by a seeded generator.

The strategies of `tests/unit/documents/session` draw the same kinds of values and shrink what fails; this draws twenty times as many in
the same time, for the soak.  Values are in the normal form in which a note keeps them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Literal, TypeVar

from crucible.documents.markdown.containment import cut, normal, normal_line, slug
from crucible.documents.session.session import (
    AgentRef,
    Callout,
    Decision,
    Entry,
    Failure,
    Intervention,
    Mode,
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
from samples.hostile_texts import BLOCKS, INLINE

T = TypeVar("T")

_INDENTS = ("", "", "", "", " ", "  ", "   ", "    ", "\t", "> ", "\\")
_KINDS = ("milestone", "observation", "agent_switch", "decision_needed", "approval_required", "task_complete")
_YAML = ("no", "12:30", "0123", "12e03", "~", "null", "- a", "a: b", "#x", "[[x]]", "2025-12-05")
_WORDS = ("claude-code", "2.1.197", "general-purpose", "dev", "a/b", "claude-opus-4-8[1m]", "é")
_START = datetime(2020, 1, 1, tzinfo=UTC)


def random_session(random: Random) -> Session:
    """A session with up to three phases."""
    return _Draw(random).session()


class _Draw:
    """What can be drawn from one generator."""

    def __init__(self, random: Random) -> None:
        self.random = random

    # --- texts -------------------------------------------------------------------------------------------------------

    def raw_line(self) -> str:
        start = self.random.choice(BLOCKS) if self.random.random() < 0.5 else ""
        return self.random.choice(_INDENTS) + start + "".join(self.random.choices(INLINE, k=self.random.randrange(5)))

    def text(self) -> str:
        lines: list[str] = []
        for _ in range(self.random.choice((0, 1, 1, 1, 2, 3, 6))):
            if self.random.random() < 0.1:
                indent, fence = (
                    " " * self.random.choice((0, 0, 2, 4)),
                    self.random.choice(("```", "~~~", "````")),
                )
                info = self.random.choice(("", "py", "tasks"))
                inner = [indent + self.raw_line() for _ in range(self.random.randrange(3))]
                lines += [self.random.choice(("", "- ")) + indent + fence + info, *inner, indent + fence]
            lines.append(self.raw_line() if self.random.random() < 0.9 else "")
        return normal("\n".join(lines))

    def line(self) -> str:
        return normal_line(self.raw_line())

    def cut_line(self, limit: int) -> str:
        return normal_line(cut(self.line().replace("\n", "⏎"), limit))

    def filled(self, draw: Callable[[], str]) -> str:
        while not (found := draw()):
            pass
        return found

    def name(self) -> str:
        found = self.filled(self.line)
        return found if found.casefold() != "summary" else "A summary"

    def slug(self, kind: Literal["agent", "version", "model", "channel"]) -> str:
        return self.filled(lambda: slug(self.random.choice((*_WORDS, self.line())), kind) or "")

    def value(self) -> str:
        return self.random.choice((*_YAML, self.filled(self.line)))

    def id(self) -> str:
        return "".join(self.random.choices("abcXYZ019_-", k=self.random.randrange(1, 20)))

    def maybe(self, draw: Callable[[], T]) -> T | None:
        return draw() if self.random.random() < 0.5 else None

    def some(self, draw: Callable[[], T], most: int) -> tuple[T, ...]:
        return tuple(draw() for _ in range(self.random.randrange(most + 1)))

    def count(self) -> int:
        return self.random.choice((0, 7, 10 ** self.random.randrange(16)))

    def time(self) -> datetime:
        return _START + timedelta(seconds=self.random.randrange(300_000_000))

    # --- parts of a session ------------------------------------------------------------------------------------------

    def agent(self) -> AgentRef:
        return AgentRef(self.slug("agent"), self.maybe(lambda: self.slug("version")))

    def call(self) -> ToolCall:
        line = self.filled(lambda: self.cut_line(200))
        return ToolCall(line, self.cut_line(100), self.random.choice(list(Outcome)))

    def linked(self) -> Subagent:
        mode = self.random.choice((Mode.LINK, Mode.EMBED))
        link = self.id() if mode is Mode.EMBED else self.maybe(self.id)
        model = self.maybe(lambda: self.slug("model"))
        return Subagent(self.agent(), model, mode, link, self.text(), self.maybe(self.text))

    def inline(self, depth: int) -> Subagent:
        task, summary = self.maybe(self.text), self.maybe(self.text)
        model = self.maybe(lambda: self.slug("model"))
        return Subagent(self.agent(), model, Mode.INLINE, None, self.text(), summary, task, self.entries(depth - 1, 3))

    def entry(self, depth: int) -> Entry:
        if depth and self.random.random() < 0.12:
            return self.inline(depth)
        draws: tuple[Callable[[], Entry], ...] = (
            lambda: Prose(self.filled(self.text)),
            lambda: ToolCalls((self.call(), *self.some(self.call, 2))),
            lambda: Decision(self.text(), self.maybe(self.text)),
            lambda: Failure(self.text(), self.maybe(self.text)),
            lambda: Intervention(self.text(), self.maybe(lambda: self.filled(self.text))),
            lambda: Callout(self.random.choice(_KINDS), self.line(), self.text()),
            self.linked,
        )
        return self.random.choice(draws)()

    def entries(self, depth: int = 1, most: int = 4) -> tuple[Entry, ...]:
        """Adjacent prose would be one entry, and adjacent calls one list."""
        kept: list[Entry] = []
        for entry in self.some(lambda: self.entry(depth), most):
            if not (kept and type(kept[-1]) is type(entry) and isinstance(entry, Prose | ToolCalls)):
                kept.append(entry)
        return tuple(kept)

    def phase(self, depth: int = 1) -> Phase:
        return Phase(
            self.name(),
            self.maybe(self.agent),
            self.maybe(lambda: self.slug("channel")),
            self.maybe(self.time),
            self.maybe(self.time),
            self.maybe(self.count),
            self.entries(),
            self.some(lambda: self.phase(0), 2) if depth else (),
        )

    def task(self, number: int) -> Task:
        status = self.random.choice(("pending", "in_progress", "completed"))
        priority = self.random.choice(("high", "medium", "low"))
        depends = self.some(self.id, 2)
        return Task(f"{number}", self.line(), status, priority, depends, self.maybe(lambda: self.time().isoformat()))

    def ref(self) -> SubagentRef:
        return SubagentRef(self.id(), self.maybe(self.value), self.maybe(self.value), self.maybe(self.count))

    def session(self) -> Session:
        return Session(
            id=self.id(),
            started=self.time(),
            status=self.random.choice(list(Status)),
            ended=self.maybe(self.time),
            project=self.maybe(self.value),
            branch=self.maybe(self.value),
            channel=self.maybe(self.value),
            participants=self.some(self.agent, 2),
            model=self.maybe(self.value),
            tokens_used=self.maybe(self.count),
            tokens_cached=self.maybe(self.count),
            subagents=self.some(self.ref, 2),
            parent=self.maybe(self.id),
            pause_reason=self.maybe(self.value),
            sources=self.some(self.value, 2),
            tags=self.random.choice(((), ("session",), ("a/b", "é"))),
            title=self.filled(self.line),
            preamble=self.entries(),
            tasks=tuple(self.task(number) for number in range(self.random.randrange(4))),
            phases=self.some(self.phase, 3),
            summary=self.maybe(self.text),
        )
