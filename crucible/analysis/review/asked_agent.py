"""The user's agent as commands ask it: one time-out for all questions of a command, and a record of what each answer took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from crucible.clients.launch.answering_process import TimedOut
from crucible.clients.launch.ask import Answer, Program
from crucible.core.errors import AgentFailed, CrucibleError
from crucible.vault.logs.spending import Spending, keep_answer


class TimeUsedUp(AgentFailed):
    """A program was not asked, because earlier questions used up the time-out."""


@dataclass
class SoFar:
    """Totals over all questions of a command: seconds used, what was spent, answers by model, and problems."""

    used: float = 0.0
    spent: Spending = field(default_factory=Spending)
    models: Counter[str] = field(default_factory=Counter)
    problems: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Agent:
    """An asker whose questions share the program's time-out and whose answers' cost is recorded.

    Only the seconds in which the program runs count, by `clock`; a human may be asked something in between.  Each answer's tokens and cost are
    recorded in the vault at `root` (None: nowhere), with the time from `now`, the `purpose` and the `session`'s id.
    """

    program: Program
    clock: Callable[[], float]
    now: Callable[[], datetime]
    root: Path | None = None
    purpose: str = ""
    session: str = ""
    so_far: SoFar = field(default_factory=SoFar)

    def about(self, purpose: str, session: str = "") -> Agent:
        """The same agent, with the same time and totals, for another purpose."""
        return replace(self, purpose=purpose, session=session)

    def renewed(self) -> Agent:
        """Give the agent its whole time-out again, for the next of several sessions or cases."""
        self.so_far.used = 0.0
        return self

    def ask(self, prompt: str) -> Answer:
        """The answer.  Raises `TimedOut` with the whole time-out once, and `TimeUsedUp` for every question after it."""
        answer = self._asked(prompt)
        self.so_far.spent = self.so_far.spent.plus(Spending.of(answer))
        self.so_far.models[answer.model] += 1
        if self.root is not None:
            try:
                keep_answer(self.root, answer, now=self.now(), purpose=self.purpose, session=self.session)
            except CrucibleError as error:
                self.so_far.problems[f"the answer's cost was not recorded: {error}"] = None
        return answer

    def _asked(self, prompt: str) -> Answer:
        whole = self.program.timeout_seconds
        if whole is None:
            return self.program.ask(prompt)
        if self.so_far.used >= whole:
            raise TimeUsedUp("not asked: earlier questions used up agents.timeout_seconds")
        begun = self.clock()
        try:
            return replace(self.program, timeout_seconds=whole - self.so_far.used).ask(prompt)
        except TimedOut as error:
            name = self.program.words[0].rpartition("/")[2]
            self.so_far.used = whole
            raise TimedOut(f"{name}: no answer within {whole:g} seconds in total", error.hint) from error
        finally:
            self.so_far.used += self.clock() - begun

    @property
    def spent(self) -> Spending:
        """What all answers took so far."""
        return self.so_far.spent

    @property
    def problems(self) -> tuple[str, ...]:
        """What could not be recorded, a line each."""
        return tuple(self.so_far.problems)

    def spent_line(self) -> str:
        """`asked claude-haiku-4-5 twice: 8,210 tokens in, 940 out, $0.013`; "" if there was no answer."""
        if not self.spent.count:
            return ""
        models = " and ".join(name or "an agent" for name in self.so_far.models)
        return f"asked {models} {_times(self.spent.count)}: {told_spent(self.spent)}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def told_spent(spent: Spending) -> str:
    """`8,210 tokens in, 940 out, $0.013`, with the number of answers without a price."""
    is_counted, is_priced = spent.tokens_in or spent.tokens_out, spent.unpriced < spent.count
    if not is_counted and not is_priced:
        return "tokens and cost unknown"
    tokens = f"{spent.tokens_in:,} tokens in, {spent.tokens_out:,} out" if is_counted else "tokens unknown"
    if not is_priced:
        return f"{tokens}, cost unknown"
    missing = f" ({spent.unpriced:,} without a price)" if spent.unpriced else ""
    return f"{tokens}, {_dollars(spent.cost_usd)}{missing}"


def _dollars(cost: float) -> str:
    """Dollars with two decimals, with three below ten cents."""
    return f"${cost:,.2f}" if cost >= 0.1 or not cost else f"${cost:.3f}"
