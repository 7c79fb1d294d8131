"""Ask the user's agent, within one timeout and token budget, and check its answers.

`ask_checked` asks once more if an answer fails the check.  Agents never cause it to raise: the result has a one-line
`problem` instead.
"""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from crucible.clients.client import Answer
from crucible.clients.launch.answering_process import Stopped, TimedOut
from crucible.clients.launch.ask import Asker, Program
from crucible.clients.launch.session_marks import OWN_MARK
from crucible.core.errors import AgentFailed, CrucibleError
from crucible.core.patterns import UNSEEN
from crucible.core.settings.settings import AgentSettings
from crucible.core.tokens import Counter, Estimate, counter_of
from crucible.documents.markdown.containment import (
    fenced,
    hang,
    normal,
    normal_line,
    quote_line,
    shorten,
    without_marks,
)
from crucible.vault.logs.spending import Spending, keep_answer


class TimeUsedUp(AgentFailed):
    """A program was not asked because earlier questions used up the timeout."""


@dataclass
class AskTotals:
    """Totals over all questions in a command: seconds used, tokens and cost, answers by model, and problems."""

    used: float = 0.0
    spent: Spending = field(default_factory=Spending)
    models: Counts[str] = field(default_factory=Counts)
    problems: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Agent:
    """An asker whose questions share the program's timeout, and whose costs are recorded.

    Only the seconds in which the program runs count, since the user may be asked something in between.  The tokens and
    cost of each answer are recorded in the vault at `root` (None to record nothing), with the time from `now`, the
    `purpose` and the id of the `session`.
    """

    program: Program
    clock: Callable[[], float]
    now: Callable[[], datetime]
    root: Path | None = None
    purpose: str = ""
    session: str = ""
    so_far: AskTotals = field(default_factory=AskTotals)

    def about(self, purpose: str, session: str = "") -> Agent:
        """Return this agent for another purpose, with shared time and totals."""
        return replace(self, purpose=purpose, session=session)

    def renewed(self) -> Agent:
        """Return this agent with its full timeout again, for the next of several sessions or cases."""
        self.so_far.used = 0.0
        return self

    def ask(self, prompt: str) -> Answer:
        """Ask the program.  Raises `TimedOut` when the timeout is used up, and `TimeUsedUp` for later questions."""
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
        """Return the tokens and cost of all answers so far."""
        return self.so_far.spent

    @property
    def problems(self) -> tuple[str, ...]:
        """Return the failures to record a cost, one line each."""
        return tuple(self.so_far.problems)

    def spent_line(self) -> str:
        """Return `asked claude-haiku-4-5 twice: 8,210 tokens in, 940 out, $0.013`; "" if there was no answer."""
        if not self.spent.count:
            return ""
        models = " and ".join(name or "an agent" for name in self.so_far.models)
        return f"asked {models} {_times(self.spent.count)}: {spent_text(self.spent)}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def spent_text(spent: Spending) -> str:
    """Return `8,210 tokens in, 940 out, $0.013`, with the number of answers without a price, if any."""
    is_counted, is_priced = spent.tokens_in or spent.tokens_out, spent.unpriced < spent.count
    if not is_counted and not is_priced:
        return "tokens and cost unknown"
    tokens = f"{spent.tokens_in:,} tokens in, {spent.tokens_out:,} out" if is_counted else "tokens unknown"
    if not is_priced:
        return f"{tokens}, cost unknown"
    missing = f" ({spent.unpriced:,} without a price)" if spent.unpriced else ""
    return f"{tokens}, {_dollars(spent.cost_usd)}{missing}"


def _dollars(cost: float) -> str:
    """Format dollars with two decimals, or three below ten cents."""
    return f"${cost:,.2f}" if cost >= 0.1 or not cost else f"${cost:.3f}"


_WIDEST = 16
"""Maximum code points assumed per token.  Used to cut long text before counting."""


class Budget(NamedTuple):
    """Maximum tokens of records, sessions and descriptions in one prompt."""

    tokens: int = AgentSettings().budget_tokens
    counter: Counter = Estimate()

    def fit(self, text: str, parts: int = 1) -> str:
        """Shorten a text to its head and tail, within one of `parts` equal shares of the budget.

        Redact first, since the scanner does not find a truncated secret.
        """
        most = max(1, self.tokens // max(1, parts))
        limit = min(len(text), most * _WIDEST)
        while (count := self.counter.count(found := shorten(text, limit))) > most:
            limit = min(limit - 1, limit * most // count)
            if limit <= 0:
                return ""
        return found


BUDGET = Budget()
"""The default budget."""


def budget_of(settings: AgentSettings) -> Budget:
    """Return the user's budget.  Raises `CrucibleError` if the tokenizer cannot be loaded."""
    return Budget(settings.budget_tokens, counter_of(settings.tokenizer))


MAX_ANSWER = 100_000
"""Maximum code points read from an answer."""
_TRIES = 2
_LONGEST = 400
"""Maximum code points in a problem."""
_MOST_COMPLAINTS = 20
_NO_TEXT = "\ufffd"
_Value = TypeVar("_Value")


class Refused(Exception):
    """An answer that cannot be used.  Each of the `complaints` is one line."""

    def __init__(self, complaints: Iterable[str]) -> None:
        self.complaints = tuple(complaints)
        super().__init__(self.complaints[0])


@dataclass(frozen=True, slots=True)
class AskResult(Generic[_Value]):
    """A value, or None with a `problem`, and all answers."""

    value: _Value | None
    problem: str = ""
    answers: tuple[Answer, ...] = ()


def text_cleaner(redact: Callable[[str], tuple[str, object]]) -> Callable[[str], str]:
    """Return a function that normalises prompts and answers, and removes secrets and invisible characters."""
    return lambda text: redact(visible(text))[0]


def visible(text: str) -> str:
    """Return a text in normal form, without invisible characters."""
    return normal(UNSEEN.sub("", text))


def quoted_data(text: str) -> str:
    """Quote a text as data in a prompt, in a fence that the text cannot close."""
    return fenced(without_marks(text), least=4)


def ask_checked(
    asker: Asker,
    prompt: Callable[[str], str],
    read: Callable[[str, str], _Value],
    seen: Callable[[str], str],
    *,
    budget: Budget = BUDGET,
    read_as: Callable[[str], str] | None = None,
) -> AskResult[_Value]:
    """Ask an agent with `prompt("")`, and once more if its answer is refused or the program fails.

    After a refusal, `prompt` gets the complaints and the refused answer, within `budget`.  After a timeout the agent is
    not asked again, since the user has waited long enough.  `read` gets the answer's text, cleaned by `seen`, and the
    model's name; it returns a value or raises `Refused`.  If `read_as` is given, it cleans the text instead of `seen`,
    and `read` must redact what it keeps.  Raises only what `prompt` and `seen` themselves raise.
    """
    answers: list[Answer] = []
    problem = refused = ""
    for _ in range(_TRIES):
        try:
            given = prompt(refused)
            answers.append(asker.ask(given))
        except AgentFailed as error:
            problem, refused = _line(seen(str(error))), ""
            if isinstance(error, TimedOut | TimeUsedUp | Stopped):
                break
            continue
        answer, text = answers[-1], ""
        try:
            text = _text_of(answer, given, read_as or seen)
            return AskResult(_read(text, answer, read), "", tuple(answers))
        except Refused as error:
            problem = _line(seen(f"its answer was rejected: {error}"))
            refused = _refusal(error.complaints, text, seen, budget)
    return AskResult(None, problem, tuple(answers))


def _line(text: str) -> str:
    return quote_line(text, _LONGEST)


def _text_of(answer: Answer, prompt: str, seen: Callable[[str], str]) -> str:
    given = answer.text[:MAX_ANSWER]
    if OWN_MARK in given:
        raise Refused(["it repeats the prompt"])
    text = seen(given)
    # Also replaces lone surrogates.  The agent may repeat a replacement character that was in the prompt.
    if _NO_TEXT in text and _NO_TEXT not in prompt:
        raise Refused(["it is not text"])
    return text


def _read(text: str, answer: Answer, read: Callable[[str, str], _Value]) -> _Value:
    """Call `read`.  Refuses an answer whose values are nested too deeply, too large or not numbers."""
    try:
        return read(text, normal_line(answer.model)[:100])
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise Refused(["it cannot be parsed: answer in the requested form"]) from error


def _refusal(complaints: Iterable[str], text: str, seen: Callable[[str], str], budget: Budget) -> str:
    """Return the complaints and the refused answer, quoted and indented so that only our labels begin a line."""
    lines = [f"- {normal_line(seen(one))[:500]}" for one in [*complaints][:_MOST_COMPLAINTS]]
    wrong, shown = "\n".join(lines), hang(budget.fit(seen(text)))
    return quoted_data(f"[what was wrong]\n{wrong}\n[the answer]\n  {shown}")
