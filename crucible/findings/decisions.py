"""Decisions: answered questions, approved plans, picked options, and replies to offers.

The text of a decision by reply is the agent's question and the reply.  A decision waits until it is known
what followed, since permission to commit is not a decision.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from crucible.findings.replies import LONG, concedes, is_go_ahead, is_short, picked
from crucible.findings.sources import Pattern
from crucible.findings.story import Story, Turn
from crucible.findings.texts import (
    asks,
    line,
    options,
    plan_text,
    plan_title,
    prose,
    question,
    said,
    words_in,
)
from crucible.session.findings import Source
from crucible.session.model import Decision
from crucible.session.sentences import SUMMARY, meaningful
from crucible.session.settled import decision_of
from crucible.session.titles import has_content, prompt_name
from crucible.transcript.events import PlanSettled, PromptKind, QuestionsAnswered

__all__ = ["Decisions"]

HANDED_OVER = Pattern("plan handed over", Source.PLAN, 20, 20)
APPROVED = Pattern("approved plan", Source.PLAN, 3, 3)
LEFT_PLAN = Pattern("plan left without a word", Source.PLAN, 4, 5)
ANSWERED = Pattern("answered question", Source.QUESTION, 6, 7)
PICKED = Pattern("picked option", Source.OPTION, 15, 19)
GO_AHEAD = Pattern("yes or no to an offer", Source.REPLY, 45, 52)
IN_ITS_WORDS = Pattern("answer in a word or two, or in the question's words", Source.REPLY, 17, 20)
LONGER = Pattern("answer to a question, then edits", Source.REPLY, 5, 6)
ONWARD = Pattern("short reply to a proposal", Source.REPLY, 14, 16)

_USER = "user"
_REPLY = 80
"""Code points of a reply beside the question that it answers."""
_REASON = 300
_TO = " → "
_TWO, _FEW, _ENOUGH = 2, 4, 100
_LONG_WORD = 5
_SUBSTANCE = 200
"""Code points of a text of the agent that proposes something or says how it goes about it."""


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
        self._waiting = None if turn.kind is not PromptKind.TYPED else self._reply(turn)
        return settled

    def _reply(self, turn: Turn) -> _Waiting | None:
        """What a prompt decides about the agent's offer right before it."""
        text, offered = turn.prompt.text, turn.answers
        if not offered.text or self._story.before.interrupted:
            return None
        asked, short = asks(offered.text), is_short(text)
        rows = (turn.prompt.row, offered.row)
        if (asked or short) and (found := _picked(text, offered.text, rows, asked=asked)):
            return found
        if asked and short and is_go_ahead(text):
            return _answered(GO_AHEAD, text, offered.text, rows)
        if asked and len(text) <= LONG and not asks(text):
            about = words_in((prose(offered.text) or [""])[-1])
            is_choice = len(words_in(text)) <= _TWO or any(map(_is_long, words_in(text) & about))
            is_about = is_go_ahead(text) or any(map(_is_long, words_in(text) & words_in(offered.text)))
            if is_choice or (is_about and not short):
                return _answered(IN_ITS_WORDS if is_choice else LONGER, text, offered.text, rows)
        if short and not asked and len(offered.text) >= _SUBSTANCE and not self._story.before.edits:
            reason = " ".join(one for one in prose(offered.text) if not asks(one))
            return _Waiting(ONWARD, self._onward(text, offered.text), rows, said(reason, _REASON))
        return None

    def _onward(self, text: str, offered: str) -> str:
        """A reply with what it is about: the agent's last question, or what the user wanted to know."""
        asked = [one for one in prose(offered)[-_TWO:] if asks(one)]
        topic = prompt_name(self._story.before.prompt.text, SUMMARY - _REPLY)
        heads = [topic] if has_content(topic) else meaningful(prose(offered)) or [offered]
        return _pair(line([*asked, *heads][0], SUMMARY - _REPLY), text)

    # --- what followed -------------------------------------------------------------------------------------------

    def edited(self) -> list[Decision]:
        """Files changed: the waiting decision is certain."""
        waiting, turn = self._waiting, self._story.now
        self._waiting = None
        if waiting is None or concedes(turn.first.text):
            return []
        if waiting.reason or turn.red or len(turn.approach.text) < _ENOUGH:
            return [_settled(waiting)]
        return [_settled(waiting, said(turn.approach.text, _REASON), turn.approach.row)]

    def committed(self) -> None:
        """The user only asked for or allowed a commit."""
        if self._waiting and self._waiting.pattern is not PICKED:
            self._waiting = None

    def ended(self) -> list[Decision]:
        """The turn ended without an edit since the reply."""
        waiting, self._waiting = self._waiting, None
        return [_settled(waiting)] if waiting and not waiting.needs_edit else []

    def stopped(self) -> None:
        """The user stopped the agent or took a prompt back: nothing was decided."""
        self._waiting = None


def _is_long(word: str) -> bool:
    """True for a word that is hardly one that any text has."""
    return len(word) > _LONG_WORD


def _picked(text: str, offered: str, rows: tuple[str, ...], *, asked: bool) -> _Waiting | None:
    """The options that a reply names."""
    offers = options(offered) if len(text) <= LONG else {}
    marks = picked(text, list(offers)) if asked or len(text.split()) <= _FEW else []
    if not marks:
        return None
    if any(offers[mark].label.endswith("?") for mark in marks):  # such as `Something else?`
        return _answered(PICKED, text, offered, rows)
    chosen = " + ".join(offers[mark].label for mark in marks)
    rest = "; ".join([each.label for mark, each in offers.items() if mark not in marks][:_FEW])
    about = (prose(offered) or [""])[-1] if asked else ""
    # A question as short as `Which one?` adds nothing.
    is_long = about.count(" ") < _FEW or len(about) + len(chosen) > SUMMARY - len(_TO)
    more = f'"{line(text, 120)}"' if text.count(" ") >= _FEW else ""
    reason = ". ".join(part for mark in marks if (part := offers[mark].said.rstrip(".")))
    summary = line(chosen if is_long else f"{about}{_TO}{chosen}", SUMMARY)
    return _Waiting(PICKED, summary, rows, " — ".join(filter(None, (reason, more))), rest, needs_edit=False)


def _answered(pattern: Pattern, text: str, offered: str, rows: tuple[str, ...]) -> _Waiting:
    """A reply to the question at the end of an offer."""
    short = pattern is GO_AHEAD
    room = SUMMARY - len(_TO) - (_REPLY if short else min(len(text), SUMMARY - _REPLY))
    is_yes = short and len(text.split()) <= _TWO
    asked = question(offered, max(room, _REPLY), is_yes=is_yes)
    return _Waiting(pattern, _pair(asked.question, text), rows, asked.context, needs_edit=pattern is LONGER)


def _pair(about: str, reply: str) -> str:
    """A question or a proposal, and the reply to it."""
    return f"{about}{_TO}{line(reply, SUMMARY - len(about) - len(_TO))}"


def _settled(waiting: _Waiting, approach: str = "", row: str = "") -> Decision:
    reason = " · ".join(part for part in (waiting.reason, approach) if part)
    return Decision(
        waiting.text,
        reason or None,
        waiting.alternatives or None,
        _USER,
        waiting.pattern.on(*waiting.rows, row),
    )
