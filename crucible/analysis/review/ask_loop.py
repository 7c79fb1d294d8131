"""Ask an agent, check its answer, and ask once more if it fails the check: the loop for all checked questions.

Nothing that an agent does or says raises an error here: if it is slow, dead or rambling, the result has a `problem`, one line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from crucible.analysis.review.ask_budget import BUDGET, Budget
from crucible.analysis.review.asked_agent import TimeUsedUp
from crucible.clients.launch.answering_process import Stopped, TimedOut
from crucible.clients.launch.ask import Answer, Asker
from crucible.clients.launch.session_marks import OWN_MARK
from crucible.core.errors import AgentFailed
from crucible.core.patterns import UNSEEN
from crucible.documents.markdown.containment import normal, normal_line
from crucible.documents.markdown.quoting import fenced, hang, quote_line, unmarked

LOOKED = 100_000
"""Code points of an answer that are read."""
_TRIES = 2
_LONGEST = 400
"""The most code points of a problem."""
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
    """The result: the value, or None with the `problem`, and all answers that came."""

    value: _Value | None
    problem: str = ""
    answers: tuple[Answer, ...] = ()


def seen_by(redact: Callable[[str], tuple[str, object]]) -> Callable[[str], str]:
    """The function that prepares texts for an agent, and its answers for us: normal form, no secrets, no invisible characters."""
    return lambda text: redact(visible(text))[0]


def visible(text: str) -> str:
    """A text in normal form, without invisible characters."""
    return normal(UNSEEN.sub("", text))


def quoted(text: str) -> str:
    """A text as data in a prompt, in a fence that the text cannot close."""
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
    """Ask with `prompt("")`.  If the answer is refused, ask again with the reasons and the answer; if the program failed, ask again with "".

    After a time-out nothing is asked again: the user has waited long enough.  `read` gets the answer's text, prepared by `seen`, and the model's name;
    it returns a value or raises `Refused`.  With `read_as`, that prepares the text instead, and `read` must redact what it keeps.  A refused answer is
    shown again within `budget`.  Raises only what `prompt` and `seen` raise on their own.
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
        raise Refused(["it repeats the prompt"])
    text = seen(given)
    # A lone surrogate was replaced by it as well.  The agent may repeat one that the prompt showed.
    if _NO_TEXT in text and _NO_TEXT not in prompt:
        raise Refused(["it is not text"])
    return text


def _read(text: str, answer: Answer, read: Callable[[str, str], _Value]) -> _Value:
    """The result of `read`; refused if a value is nested too deeply, too large or not a number."""
    try:
        return read(text, normal_line(answer.model)[:100])
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise Refused(["it cannot be parsed: answer in the form that was asked for"]) from error


def _refusal(complaints: Iterable[str], text: str, seen: Callable[[str], str], budget: Budget) -> str:
    """The complaints and the refused answer, quoted; only our own words begin a line."""
    lines = [f"- {normal_line(seen(one))[:500]}" for one in [*complaints][:_MOST_COMPLAINTS]]
    wrong, shown = "\n".join(lines), hang(budget.fit(seen(text)))
    return quoted(f"[what was wrong]\n{wrong}\n[the answer]\n  {shown}")
