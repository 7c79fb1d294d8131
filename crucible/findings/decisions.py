"""Decisions: answered questions, approved plans, picked options, replies to offers, and instructions that were carried out.

The text of a decision by reply is the agent's offer; the reply says what the user chose.  A decision waits until it is known
what followed, since permission to commit is not a decision.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from crucible.findings.calls import is_log
from crucible.findings.replies import LONG, concedes, is_go_ahead, is_short, picked
from crucible.findings.sources import Pattern
from crucible.findings.story import Story, Turn
from crucible.findings.texts import asks, line, options, plan_text, plan_title, proposal, question
from crucible.session.findings import Source
from crucible.session.model import Decision
from crucible.session.settled import decision_of
from crucible.transcript.events import PlanSettled, PromptKind, QuestionsAnswered

__all__ = ["Decisions"]

HANDED_OVER = Pattern("plan handed over", Source.PLAN, 20, 20)
APPROVED = Pattern("approved plan", Source.PLAN, 3, 3)
LEFT_PLAN = Pattern("plan left without a word", Source.PLAN, 4, 5)
ANSWERED = Pattern("answered question", Source.QUESTION, 6, 7)
PICKED = Pattern("picked option", Source.OPTION, 15, 19)
GO_AHEAD = Pattern("yes or no to an offer", Source.REPLY, 45, 52)
LONGER = Pattern("longer answer, then edits", Source.REPLY, 13, 17)
ONWARD = Pattern("short reply to a proposal", Source.REPLY, 14, 16)
INSTEAD = Pattern("refusal with words, then edits", Source.REJECTION, 10, 14)
INSTRUCTED = Pattern("instruction with a stated approach", Source.REPLY, 36, 58)

_USER = "user"


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A possible decision of the current turn; `needs_edit` if only edits prove it."""

    pattern: Pattern
    text: str
    rows: tuple[str, ...]
    reason: str = ""
    alternatives: str = ""
    needs_edit: bool = True


class Decisions:
    """Decisions of one session, each reported as soon as it is certain."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._waiting: _Waiting | None = None
        self._plans: set[str] = set()

    # --- recorded by the client ----------------------------------------------------------------------------------

    def questions(self, event: QuestionsAnswered) -> list[Decision]:
        """A decision for each answered question."""
        return [
            replace(decision_of(choice), grounds=ANSWERED.on(event.at.row))
            for choice in event.choices
            if choice.answer.strip()
        ]

    def plan(self, event: PlanSettled) -> list[Decision]:
        """A plan that was approved, or dismissed without a comment to start in a fresh context."""
        if event.approved is False:
            return []
        return self._plan(APPROVED if event.approved else LEFT_PLAN, event.text, event.at.row)

    def _plan(self, pattern: Pattern, plan: str, row: str) -> list[Decision]:
        title = plan_title(plan)
        if not title or title.casefold() in self._plans:
            return []
        self._plans.add(title.casefold())
        return [Decision(title, plan_text(plan) or None, by=_USER, grounds=pattern.on(row))]

    # --- replies -------------------------------------------------------------------------------------------------

    def prompted(self, plan: str) -> list[Decision]:
        """A new turn began; `plan` is the plan that its prompt passes on."""
        turn = self._story.now
        settled = self.ended()
        if plan:
            return settled + self._plan(HANDED_OVER, plan, turn.prompt.row)
        self._waiting = (
            None if turn.kind is not PromptKind.TYPED else self._reply(turn) or self._instruction(turn)
        )
        return settled

    def _reply(self, turn: Turn) -> _Waiting | None:
        """What a prompt decides about the agent's offer right before it."""
        text, offered = turn.prompt.text, turn.answers
        if not offered.text or self._story.before.interrupted:
            return None
        offers = options(offered.text) if len(text) <= LONG else {}
        asked, short = asks(offered.text), is_short(text)
        marks = picked(text, list(offers)) if asked or len(text.split()) <= 4 else []
        rows, said = (turn.prompt.row, offered.row), f'"{line(text, 120)}"'
        if marks and (asked or short):
            chosen = " + ".join(offers[mark] for mark in marks)
            rest = "; ".join(each for mark, each in offers.items() if mark not in marks)
            lead = question(offered.text, 200) if asked else ""
            return _Waiting(
                PICKED, chosen, rows, f"{lead} — {said}" if lead else said, rest, needs_edit=False
            )
        if asked and short:
            if not is_go_ahead(text):
                return None
            return _Waiting(GO_AHEAD, f"{proposal(offered.text, 560)} — {said}", rows, needs_edit=False)
        if asked and len(text) <= 400 and not asks(text):
            return _Waiting(LONGER, line(text, 400), rows, f"asked: {question(offered.text, 200)}")
        if short and not asked and len(offered.text) >= 200 and not self._story.before.edits:
            return _Waiting(ONWARD, f"{proposal(offered.text, 560)} — {said}", rows)
        return None

    def _instruction(self, turn: Turn) -> _Waiting | None:
        """An instruction after the first prompt; a decision if the agent carries it out."""
        if (
            turn.number < 2
            or self._story.before.interrupted
            or self._story.before.refused
            or is_log(turn.prompt.text)
        ):
            return None
        return _Waiting(INSTRUCTED, line(turn.prompt.text, 400), (turn.prompt.row,))

    def refused(self, words: str, what: str, row: str) -> None:
        """The user refused a call and said what to do instead."""
        if not asks(words):
            self._waiting = _Waiting(INSTEAD, line(words, 400), (row,), f"instead of: {what}")

    # --- what followed -------------------------------------------------------------------------------------------

    def edited(self) -> list[Decision]:
        """Files changed: the waiting decision is certain."""
        waiting, turn = self._waiting, self._story.now
        self._waiting = None
        if waiting is None:
            return []
        approach = turn.approach if len(turn.approach.text) >= 100 and not turn.red else None
        if waiting.pattern is INSTRUCTED and (approach is None or concedes(turn.first.text)):
            return []
        return [
            _settled(waiting, line(approach.text, 450) if approach else "", approach.row if approach else "")
        ]

    def committed(self) -> None:
        """The user only asked for or allowed a commit."""
        if self._waiting and self._waiting.pattern in (GO_AHEAD, INSTRUCTED):
            self._waiting = None

    def ended(self) -> list[Decision]:
        """The turn ended without an edit since the reply."""
        waiting, self._waiting = self._waiting, None
        return [_settled(waiting)] if waiting and not waiting.needs_edit else []

    def stopped(self) -> None:
        """The user stopped the agent or took a prompt back: nothing was decided."""
        self._waiting = None


def _settled(waiting: _Waiting, approach: str = "", row: str = "") -> Decision:
    reason = " · ".join(part for part in (waiting.reason, approach) if part)
    return Decision(
        waiting.text,
        reason or None,
        waiting.alternatives or None,
        _USER,
        waiting.pattern.on(*waiting.rows, row),
    )
