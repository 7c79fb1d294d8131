"""Callouts for what the user was asked and what they decided: questions, plans, refused calls.

Texts are never cut: a reader must see all that the user decided on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crucible.clients.events import CallEnd, Choice, PlanSettled, QuestionsAnswered, ToolReturned
from crucible.core.patterns import late_pattern
from crucible.core.text.sentences import cut_at_word
from crucible.documents.markdown.containment import normal, normal_line
from crucible.documents.session.plain_text import SUMMARY, clipped, plain, sentences
from crucible.documents.session.session import Callout, Decision, Entry, Intervention
from crucible.documents.session.titles import prompt_name

PLAN = "plan"
"""The kind of callout for a plan."""

_FATES = {True: "approved", False: "rejected", None: "left"}
_PLAN_WORD = late_pattern(r"(?i)(?:plan\b[\s:–—-]*)+(?=\w)")
_TITLE_LIMIT = 80
_CALL_LIMIT = 120
_ANSWER = 80


def put_to_user(event: QuestionsAnswered | PlanSettled, *, is_judged: bool) -> Iterator[Entry]:
    """The callouts of a plan or of questions.  If `is_judged`, the detector adds the answered ones, with their grounds."""
    if isinstance(event, PlanSettled):
        yield _plan(event)
        return
    for choice in event.choices:
        if not normal(choice.answer):
            yield _question(choice)
        elif not is_judged:
            yield decision_of(choice)


def decision_of(choice: Choice) -> Decision:
    """An answered question as a decision: question and answer; what led to the question, the description of the picked options; and the others.

    A long answer's first sentences stand beside the question, and all of it in the rationale.
    """
    *before, question = sentences(choice.question) or [""]
    answer = clipped(choice.answer, max(SUMMARY - len(question) - 3, _ANSWER))
    whole = normal_line(choice.answer)
    picked = [said for label, said in choice.options if label in choice.picked and normal(said)]
    others = [_option(label, said) for label, said in choice.options if label not in choice.picked]
    return Decision(
        f"{question} → {answer}" if question else answer,
        normal_line(" ".join((*before, *([whole] if answer != plain(choice.answer) else []), "; ".join(picked))))
        or None,
        "; ".join(others) or None,
        "user",
    )


def _question(choice: Choice) -> Callout:
    offered = "\n".join(f"- {_option(label, said)}" for label, said in choice.options)
    return Callout("decision_needed", "", "\n\n".join(filter(None, (normal(choice.question), offered))))


def _option(label: str, said: str) -> str:
    return normal_line(f"{label}: {said}" if normal_line(said) else label)


def _plan(event: PlanSettled) -> Callout:
    """The whole plan, folded.  The title says what became of it.  A plan that no call handed over is in the agent's own words above."""
    text, fate = normal(event.text), _FATES[event.approved]
    name = prompt_name(text, _TITLE_LIMIT) if text else ""
    named = _PLAN_WORD.match(name)
    name = name[named.end() :] if named else name
    return Callout(PLAN, f"{fate}: {name}" if name else fate, text if event.call else "", fold="-")


def refusal(event: ToolReturned, call: str, before: Sequence[object]) -> Intervention:
    """The user's comment on a call, and which call it was, unless a plan's callout already shows that."""
    is_plan = any(isinstance(entry, Callout) and entry.kind == PLAN for entry in before)
    line = cut_at_word(call.partition("⏎")[0], _CALL_LIMIT)
    return Intervention(
        normal(event.feedback),
        f"refused: {line}" if line and event.end is CallEnd.REJECTED and not is_plan else None,
    )
