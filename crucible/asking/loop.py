"""Ask an agent, check its answer, and ask once more: the one loop for all that is asked.

Nothing an agent does or says raises here: a slow, dead or rambling one costs a line, the `problem`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from crucible.agents.asking import Answer, Asker
from crucible.agents.marks import OWN_MARK
from crucible.agents.running import Stopped, TimedOut
from crucible.asking.agent import TimeUsedUp
from crucible.asking.budget import BUDGET, Budget
from crucible.errors import AgentFailed
from crucible.note.contain import normal, normal_line
from crucible.note.fencing import fenced, hang, quote_line, unmarked
from crucible.patterns import UNSEEN

__all__ = ["LOOKED", "Came", "Refused", "ask_checked", "quoted", "seen_by", "visible"]

LOOKED = 100_000
"""Code points of an answer that are looked at."""
_TRIES = 2
_LONGEST = 400
"""Code points of a problem."""
_MOST_COMPLAINTS = 20
_NO_TEXT = "\ufffd"
_Value = TypeVar("_Value")


class Refused(Exception):
    """An answer that cannot be used; `complaints` say why, each in one line."""

    def __init__(self, complaints: Iterable[str]) -> None:
        self.complaints = tuple(complaints)
        super().__init__(self.complaints[0])


@dataclass(frozen=True, slots=True)
class Came(Generic[_Value]):
    """What came of it: the value, or None with the `problem`; and all answers that were given."""

    value: _Value | None
    problem: str = ""
    answers: tuple[Answer, ...] = ()


def seen_by(redact: Callable[[str], tuple[str, object]]) -> Callable[[str], str]:
    """A text as an agent is shown it, and as its answer is read: in normal form, without secrets and unseen characters."""
    return lambda text: redact(visible(text))[0]


def visible(text: str) -> str:
    """A text in normal form, without what nobody sees."""
    return normal(UNSEEN.sub("", text))


def quoted(text: str) -> str:
    """A text as data in a prompt, in a fence that nothing in it ends."""
    return fenced(unmarked(text), least=4)


def ask_checked(
    asker: Asker,
    prompt: Callable[[str], str],
    read: Callable[[str, str], _Value],
    seen: Callable[[str], str],
    *,
    budget: Budget = BUDGET,
    read_as: Callable[[str], str] | None = None,
) -> Came[_Value]:
    """Ask with `prompt("")`, and once more: with what was refused and why, or with "" after a failure.

    After a time-out nothing is asked again: somebody waits, and has waited long enough.  `read` makes a value of an answer's text, as `seen`, and the
    model's name, or raises `Refused`; with `read_as` it takes the text as that makes it, and redacts what it keeps itself.  A refused answer is shown again
    within `budget`.  Raises only what `prompt` and `seen` raise on their own.
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
            return Came(_read(text, answer, read), "", tuple(answers))
        except Refused as error:
            problem = _line(seen(f"its answer was refused: {error}"))
            refused = _refusal(error.complaints, text, seen, budget)
    return Came(None, problem, tuple(answers))


def _line(text: str) -> str:
    return quote_line(text, _LONGEST)


def _text_of(answer: Answer, prompt: str, seen: Callable[[str], str]) -> str:
    given = answer.text[:LOOKED]
    if OWN_MARK in given:
        raise Refused(["it answered with its question"])
    text = seen(given)
    # A lone surrogate is one by now, too.  What it was shown it may repeat.
    if _NO_TEXT in text and _NO_TEXT not in prompt:
        raise Refused(["its answer is no text"])
    return text


def _read(text: str, answer: Answer, read: Callable[[str, str], _Value]) -> _Value:
    """What `read` makes of it; what is too deep, too large or no number for it is refused."""
    try:
        return read(text, normal_line(answer.model)[:100])
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise Refused(["it cannot be read: answer in the form that was asked for"]) from error


def _refusal(complaints: Iterable[str], text: str, seen: Callable[[str], str], budget: Budget) -> str:
    """What was wrong, and the answer that it was said of; both are foreign words, so only ours begin a line."""
    lines = [f"- {normal_line(seen(one))[:500]}" for one in [*complaints][:_MOST_COMPLAINTS]]
    wrong, shown = "\n".join(lines), hang(budget.fit(seen(text)))
    return quoted(f"[what was wrong]\n{wrong}\n[the answer]\n  {shown}")
