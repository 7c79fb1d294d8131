"""The user's agent as commands ask it: one time-out for all that a command asks, and what each answer took is written down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from crucible.agents.asking import Answer, Program
from crucible.agents.running import TimedOut
from crucible.asking.spending import Spent, keep_answer
from crucible.errors import AgentFailed, CrucibleError

__all__ = ["Agent", "SoFar", "TimeUsedUp", "told_spent"]


class TimeUsedUp(AgentFailed):
    """A program was not asked, since what it was asked before took all the time that there is."""


@dataclass
class SoFar:
    """What is one for all that a command asks an agent: the seconds that were used up, what was spent, answers by model, and what went wrong."""

    used: float = 0.0
    spent: Spent = field(default_factory=Spent)
    models: Counter[str] = field(default_factory=Counter)
    problems: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Agent:
    """An asker that gives each question what earlier ones left of the program's one time-out, and keeps what its answers took.

    Only the time in which the program is at work counts, by `clock`, in seconds: a human may be asked something in between.  `root` is the vault in which
    each answer's tokens and cost are written down, None for nowhere, with the time that `now` gives, the `purpose` and the `session`'s id.
    """

    program: Program
    clock: Callable[[], float]
    now: Callable[[], datetime]
    root: Path | None = None
    purpose: str = ""
    session: str = ""
    so_far: SoFar = field(default_factory=SoFar)

    def about(self, purpose: str, session: str = "") -> Agent:
        """The same agent, with the same time and totals, asked for something else."""
        return replace(self, purpose=purpose, session=session)

    def renewed(self) -> Agent:
        """The same agent with its whole time again, for the next piece of work that was asked for piece by piece."""
        self.so_far.used = 0.0
        return self

    def ask(self, prompt: str) -> Answer:
        """The answer; `TimedOut` names the whole time, once, and whatever is asked after it is `TimeUsedUp`."""
        answer = self._asked(prompt)
        self.so_far.spent = self.so_far.spent.plus(Spent.of(answer))
        self.so_far.models[answer.model] += 1
        if self.root is not None:
            try:
                keep_answer(self.root, answer, now=self.now(), purpose=self.purpose, session=self.session)
            except CrucibleError as error:
                self.so_far.problems[f"what the agent took was not written down: {error}"] = None
        return answer

    def _asked(self, prompt: str) -> Answer:
        whole = self.program.timeout_seconds
        if whole is None:
            return self.program.ask(prompt)
        if self.so_far.used >= whole:
            raise TimeUsedUp("it was not asked, since agents.timeout_seconds was used up")
        begun = self.clock()
        try:
            return replace(self.program, timeout_seconds=whole - self.so_far.used).ask(prompt)
        except TimedOut as error:
            name = self.program.words[0].rpartition("/")[2]
            self.so_far.used = whole
            raise TimedOut(f"{name}: no answer within {whole:g} seconds in all", error.hint) from error
        finally:
            self.so_far.used += self.clock() - begun

    @property
    def spent(self) -> Spent:
        """What all answers took so far."""
        return self.so_far.spent

    @property
    def problems(self) -> tuple[str, ...]:
        """What could not be written down, a line each."""
        return tuple(self.so_far.problems)

    def spent_line(self) -> str:
        """`asked claude-haiku-4-5 twice: 8,210 tokens in, 940 out, $0.013`; "" where nothing was answered."""
        if not self.spent.count:
            return ""
        models = " and ".join(name or "an agent" for name in self.so_far.models)
        return f"asked {models} {_times(self.spent.count)}: {told_spent(self.spent)}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def told_spent(spent: Spent) -> str:
    """`8,210 tokens in, 940 out, $0.013`; says how many answers came without a price."""
    tokens = f"{spent.tokens_in:,} tokens in, {spent.tokens_out:,} out"
    if spent.count and spent.unpriced == spent.count:
        return f"{tokens}, cost unknown"
    missing = f" ({spent.unpriced:,} without a price)" if spent.unpriced else ""
    return f"{tokens}, {_dollars(spent.cost_usd)}{missing}"


def _dollars(cost: float) -> str:
    """In cents, and in tenths of a cent below ten cents."""
    return f"${cost:,.2f}" if cost >= 0.1 or not cost else f"${cost:.3f}"
