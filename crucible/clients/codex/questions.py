"""Codex's questions and plans, and what the user decided: answers, plans approved or sent back.

A plan is a piece of an answer, no call: the client shows it apart and offers to implement it.  What the user does then is the
next prompt, and the mode that its turn is in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from crucible.clients.codex.state import State
from crucible.clients.codex.values import dicts, parsed
from crucible.clients.events import At, Choice, PlanSettled, PromptKind, QuestionsAnswered
from crucible.clients.log_questions import choice_of
from crucible.clients.log_values import Row, as_dict, as_list, as_str

QUESTION_TOOL = "request_user_input"
_NOTE, _OTHER = "user_note: ", "None of the above"
_IMPLEMENT = "Implement the plan."
_FRESH = "A previous agent produced the plan below to accomplish the user's task."


def answered(at: At, call: str, arguments: Mapping[str, Any], output: str) -> QuestionsAnswered:
    """The questions of a call with the answers in its result, matched by id."""
    told = as_dict(parsed(output).get("answers"))
    questions = dicts(arguments.get("questions"))
    given = (as_list(as_dict(told.get(as_str(question.get("id")))).get("answers")) for question in questions)
    return QuestionsAnswered(at, call, tuple(map(choice_of, questions, map(_words, given))))


def _words(given: Iterable[object]) -> list[str]:
    """The user's labels and notes; with a note, the label for "none of these" is dropped."""
    words = [word for each in given if (word := as_str(each).removeprefix(_NOTE))]
    return [word for word in words if word != _OTHER or len(words) == 1]


def read_retained(state: State, row: Row, at: At) -> None:
    """An answer in the client's own record; needed if the question came from a script, whose calls are not logged."""
    call = as_str(row.get("call_id"))
    if as_str(row.get("type")) == "verified_answer" and call not in state.calls:
        choices = (_retained(each) for each in dicts(row.get("questions")))
        state.out.append(QuestionsAnswered(at, call, tuple(choices)))


def _retained(told: Row) -> Choice:
    """A question, perhaps with the picked option after it, and the answer with its note."""
    question, (label, _, note) = (
        as_str(told.get("question")),
        as_str(told.get("answer")).partition(f"\n{_NOTE}"),
    )
    asked, picked, description = question.rpartition(f"\n{label}: ")
    options = [{"label": label, "description": description}] if picked else []
    return choice_of({"question": asked or question, "options": options}, _words([label, note]))


def settle_plan(state: State, at: At, text: str) -> PromptKind:
    """Emit what a prompt decides about the proposed plan; return the kind of the prompt."""
    plan, state.plan = state.plan, ""
    approved = text.strip() == _IMPLEMENT
    if plan and (approved or state.mode):
        state.out.append(PlanSettled(at, "", plan, approved or (False if state.mode == "plan" else None)))
    return PromptKind.PLAN if text.startswith(_FRESH) else PromptKind.TYPED
