"""Convert a case to a lesson: the turns before, the right turns to learn and, if known, the wrong ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from crucible.commands.learn.case import (
    Case,
    CaseTurn,
    Choice,
    Correction,
    Delegation,
    Place,
    Puzzle,
    Role,
    Trajectory,
)
from crucible.documents.markdown.containment import fenced

NO_ANSWER = "[no result was recorded]"
REFUSED = "[the user rejected this call]"


@dataclass(frozen=True, slots=True)
class Lesson:
    """A conversation: the turns `before`, the `right` turns after them and, if known, the `wrong` ones.

    `no_answer` is the text for unknown results.
    """

    before: tuple[CaseTurn, ...]
    right: tuple[CaseTurn, ...]
    wrong: tuple[CaseTurn, ...] = ()
    no_answer: str = NO_ANSWER
    one_answer: bool = True
    """True if `right` is a single answer rather than a long piece of work."""


def lesson_of(case: Case) -> Lesson | None:
    """Return the lesson of a case, None if it has none."""
    match case.body:
        case Puzzle() as body:
            return _of_puzzle(body, case.place, case.verification)
        case Correction() as body:
            return _of_correction(body, case.place)
        case Choice() as body:
            return _of_choice(body)
        case Delegation() as body:
            return _of_delegation(body)
        case Trajectory() as body:
            turns = _begun(body.goal, case.place, body.turns)
            start = next((at for at, one in enumerate(turns) if one.role is Role.ASSISTANT), len(turns))
            return Lesson(turns[:start], turns[start:], one_answer=False) if start < len(turns) else None
        case _:
            assert_never(case.body)


def _of_puzzle(body: Puzzle, place: Place, verification: str) -> Lesson | None:
    if body.is_open:
        return None
    state = quoted("The files as they were", body.state) if body.state.strip() else ""
    before = _begun(body.goal, place, body.tried, state)
    has_spoken = before[-1].role is Role.ASSISTANT and not before[-1].calls
    known = any(body.failure.strip() in one.text for one in body.tried)
    if body.failure.strip() and (has_spoken or not known):
        before += (CaseTurn(Role.USER, quoted("This failed", body.failure)),)
    right = body.solution
    if not any(one.role is Role.ASSISTANT for one in right):
        right += (CaseTurn(Role.ASSISTANT, body.expected),)
    is_wrong = bool(verification) and any(one.calls for one in body.tried)
    return Lesson(before, right, body.tried if is_wrong else ())


def _of_correction(body: Correction, place: Place) -> Lesson | None:
    reply = (CaseTurn(Role.USER, body.words),) if body.words.strip() else ()
    calls = any(one.calls for one in body.did)
    if not body.then or not (reply or calls):
        return None
    before = (*_begun(body.goal, place, body.did), *reply)
    return Lesson(before, body.then, body.did, REFUSED if body.rejected else NO_ANSWER)


def _of_choice(body: Choice) -> Lesson | None:
    if not body.choice.strip() or not (body.situation.strip() or body.options):
        return None
    asked = [quoted("The situation", body.situation)] if body.situation.strip() else []
    if body.options:
        asked.append(quoted("The options", "\n".join(f"- {option}" for option in body.options)))
    asked.append("Which one, and why?" if body.options else "What should be done, and why?")
    why = "" if body.rationale.strip() in body.choice else body.rationale
    answer = "\n\n".join(text for text in (body.choice, why) if text.strip())
    return Lesson((CaseTurn(Role.USER, "\n\n".join(asked)),), (CaseTurn(Role.ASSISTANT, answer),))


def _of_delegation(body: Delegation) -> Lesson | None:
    if body.used is False or not body.task.strip() or not body.result.strip():
        return None
    return Lesson((CaseTurn(Role.USER, body.task),), (CaseTurn(Role.ASSISTANT, body.result),))


def _begun(goal: str, place: Place, turns: tuple[CaseTurn, ...], state: str = "") -> tuple[CaseTurn, ...]:
    """Put the goal and the state before turns, unless the turns begin with that goal."""
    first = turns[0] if turns else None
    if first and first.role is Role.USER and (not goal.strip() or first.text.strip() == goal.strip()):
        goal, turns = first.text, turns[1:]
    if not goal.strip():
        goal = f"The goal was not recorded; the phase is named {place.phase_name or place.phase!r}."
    texts = [goal, state] if state else [goal]
    return (CaseTurn(Role.USER, "\n\n".join(texts)), *turns)


def quoted(label: str, text: str) -> str:
    """Return text as data: under a label, in a fence that the text cannot close."""
    return f"{label}:\n\n{fenced(text, 'text')}"
