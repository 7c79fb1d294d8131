"""Asking a model twice: after a refused answer it gets the reasons and a second try."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from crucible.agents.asking import Answer, Asker
from crucible.errors import AgentFailed
from crucible.note.contain import normal, normal_line
from crucible.note.fencing import fenced, hang, quote_line, shorten, unmarked
from crucible.patterns import UNSEEN

__all__ = ["Came", "Refused", "ask_twice", "quoted", "seen_by"]

_TRIES = 2
_SHOWN = 8000
"""Code points of a refused answer that are shown."""
_LONGEST = 400
"""Code points of a problem."""
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
    """A text as a model is shown it, and as its answer is read: in normal form, without secrets and unseen characters."""
    return lambda text: redact(normal(UNSEEN.sub("", text)))[0]


def quoted(text: str) -> str:
    """A text as data in a prompt, in a fence that nothing in it ends."""
    return fenced(unmarked(text), least=4)


def ask_twice(
    asker: Asker, prompt: Callable[[str], str], read: Callable[[str, str], _Value], seen: Callable[[str], str]
) -> Came[_Value]:
    """Ask with `prompt("")`, and again with what was refused; never raises for what a model does or says.

    `read` makes a value of an answer's text and the model's name, or raises `Refused`.
    """
    answers: list[Answer] = []
    problem = refused = ""
    for _ in range(_TRIES):
        try:
            answers.append(asker.ask(prompt(refused)))
        except AgentFailed as error:
            problem, refused = quote_line(seen(str(error)), _LONGEST), ""
            continue
        text = seen(answers[-1].text)
        try:
            return Came(read(text, answers[-1].model), "", tuple(answers))
        except Refused as error:
            problem = f"its answer was refused: {error}"
            wrong = "\n".join(f"- {normal_line(hang(one))}" for one in error.complaints)
            shown = "  " + hang(shorten(text, _SHOWN))
            refused = quoted(f"[what was wrong]\n{wrong}\n[the answer]\n{shown}")
    return Came(None, problem, tuple(answers))
