"""Decisions (answered questions, approved plans, picked options, replies to offers) and instructions.

A possible decision is pending until the agent's next action is known, since permission to commit is not a decision.
About half of all instructions are decisions, but structure does not show which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from crucible.analysis.findings.corrections import (
    LONG,
    SHORT,
    beyond_yes,
    concedes,
    has_alternatives,
    is_bare,
    is_go_ahead,
    is_no,
    offered_in,
    one_by_one,
    picked,
    takes_all,
)
from crucible.analysis.findings.observed_calls import is_log
from crucible.analysis.findings.text_layout import (
    ClosingQuestion,
    Option,
    closing_question,
    first_line,
    is_question,
    plan_of,
    says_what,
    statements,
)
from crucible.analysis.findings.turns import Pattern, TurnHistory
from crucible.clients.events import PlanSettled, PromptKind, QuestionsAnswered
from crucible.core.patterns import late_pattern
from crucible.core.text import cut_at_word, long_words
from crucible.documents.recording.entry_texts import decision_of
from crucible.documents.session.findings import SUMMARY, Kind, Source
from crucible.documents.session.session import Decision, FindingItem

HANDED_OVER = Pattern("plan handed over", Source.PLAN, 19, 20)
APPROVED = Pattern("approved plan", Source.PLAN, 3, 3)
LEFT_PLAN = Pattern("plan left without a word", Source.PLAN, 4, 5)
ANSWERED = Pattern("answered question", Source.QUESTION, 6, 7)
PICKED = Pattern("picked option", Source.OPTION, 30, 32)
EACH = Pattern("reply to each item of a list", Source.OPTION, 14, 15)
GO_AHEAD = Pattern("yes or no to an offer", Source.REPLY, 14, 18)
IN_ITS_WORDS = Pattern("answer in a word or two, or in the question's words", Source.REPLY, 4, 5)
LONGER = Pattern("answer to a question, then edits", Source.REPLY, 4, 4)

_USER = "user"
_REPLY = 80
"""Minimum code points for a reply when it shares the line with its question."""
_TO = " → "
_TWO, _FEW = 2, 4
_LONG_WORD, _LONGER_WORD = 5, 8


_QUOTED = late_pattern(r"[\"`\u201c]([^\"`\n\u201d]{3,80})[\"`\u201d]")


class _Waiting(NamedTuple):
    """A pending decision from the current turn."""

    pattern: Pattern
    text: str
    reason: str = ""
    alternatives: str = ""


class Decisions:
    """The decisions of one session, each returned as soon as it is certain."""

    def __init__(self, story: TurnHistory) -> None:
        self._story = story
        self._waiting: list[_Waiting] = []
        self._rows: tuple[str, ...] = ()
        """The rows of the last prompt and of the text it answers."""
        self._plans: set[str] = set()

    # --- recorded by the client ----------------------------------------------------------------------------------

    def questions(self, event: QuestionsAnswered) -> list[Decision]:
        """Return a decision for each answered question."""
        return [
            replace(decision_of(choice), grounds=ANSWERED.on(event.at.row))
            for choice in event.choices
            if choice.answer.strip()
        ]

    def plan(self, event: PlanSettled) -> list[Decision]:
        """Return a decision for a plan that was approved, or was left without a comment to start in a new context."""
        if event.approved is False:
            return []
        return self._plan(APPROVED if event.approved else LEFT_PLAN, event.text, event.at.row)

    def _plan(self, pattern: Pattern, plan: str, row: str) -> list[Decision]:
        title, choice, reason = plan_of(plan)
        if not title or title.casefold() in self._plans:
            return []
        self._plans.add(title.casefold())
        is_repeated = reason.partition(". ")[0].rstrip(".:") in choice
        return [Decision(choice, None if is_repeated else reason, by=_USER, grounds=pattern.on(row))]

    # --- replies -------------------------------------------------------------------------------------------------

    def prompted(self, plan: str) -> list[Decision]:
        """Begin a new turn.  `plan` is the plan in its prompt, or ""."""
        turn = self._story.now
        settled = self.ended()
        if plan:
            return settled + self._plan(HANDED_OVER, plan, turn.prompt.row)
        self._rows = (turn.prompt.row, turn.answers.row)
        is_reply = turn.kind is PromptKind.TYPED and turn.answers.text and not self._story.before.interrupted
        self._waiting = list(self._reply(turn.prompt.text, turn.answers.text)) if is_reply else []
        return settled

    def _reply(self, text: str, offered: str) -> Iterator[_Waiting]:
        """Yield the decisions in a prompt about the agent's offer right before it."""
        asked = closing_question(offered)
        if found := list(self._picked(text, asked)):
            yield from found
        elif asked and len(text) <= LONG and not is_question(text):
            yield from _answered(text, offered, asked)

    def _picked(self, text: str, asked: ClosingQuestion | None) -> Iterator[_Waiting]:
        """Yield the options that a reply names, or its words about each.

        Several numbers may refer to an earlier list.
        """
        lists = self._story.offered
        if asked and lists and (replies := one_by_one(text)) and replies.keys() <= lists[0].by_mark.keys():
            yield from _each(replies, lists[0].by_mark)
        elif lists and lists[0].is_last and takes_all(text, len(lists[0].by_mark)):
            yield from _choice(text, lists[0].by_mark, list(lists[0].by_mark), asked)
        elif asked or len(text.split()) <= _FEW:
            for at, by_mark in enumerate(self._story.lists):
                marks = picked(text, by_mark)
                if marks and (at < len(lists) or len(marks) > 1):
                    yield from _choice(text, by_mark, marks, asked)
                    break

    # --- what followed -------------------------------------------------------------------------------------------

    def edited(self) -> list[Decision]:
        """Confirm the pending decisions, since files were changed."""
        waiting, self._waiting = self._waiting, []
        return [] if concedes(self._story.now.first.text) else list(map(self._settled, waiting))

    def committed(self) -> None:
        """Drop the other pending decisions: the prompt only requested or allowed a commit."""
        self._waiting = [one for one in self._waiting if one.pattern in (PICKED, EACH)]

    def ended(self) -> list[Decision]:
        """End the turn: confirm the pending decisions that need no edit."""
        waiting, self._waiting = self._waiting, []
        return [self._settled(one) for one in waiting if one.pattern is not LONGER]

    def stopped(self) -> None:
        """Drop the pending decisions: the user stopped the agent or withdrew the prompt."""
        self._waiting = []

    def _settled(self, one: _Waiting) -> Decision:
        grounds = one.pattern.on(*self._rows)
        return Decision(one.text, one.reason or None, one.alternatives or None, _USER, grounds)


def _each(replies: Mapping[str, str], offers: Mapping[str, Option]) -> Iterator[_Waiting]:
    """Yield a reply's words about each option.  A bare yes or no counts only if the option is a question."""
    for mark, reply in replies.items():
        one = offers[mark]
        about = f"{one.label}: {one.description}" if one.description else one.label
        if reply and not is_question(reply) and (is_question(about) or not (is_go_ahead(reply) and is_bare(reply))):
            yield _Waiting(EACH, _pair(about, reply))


def _choice(
    text: str, offers: Mapping[str, Option], marks: list[str], asked: ClosingQuestion | None
) -> Iterator[_Waiting]:
    """Yield the options with these marks.

    For an option that is a question (`Something else?`), yield the reply itself.
    """
    if any(is_question(offers[mark].label) for mark in marks):
        if asked:
            yield _Waiting(PICKED, _pair(asked.question, text))
        return
    chosen = " + ".join(offers[mark].label for mark in marks)
    # Numbered items may be done one after another, so only `2` or `Option 2` rejects the rest.
    is_only = len(marks) == 1 and (
        marks[0].isalpha() or (text.count(" ") < _TWO and text.rstrip(" .!").endswith(marks[0]))
    )
    rest = "; ".join([each.label for mark, each in offers.items() if mark not in marks][:_FEW]) if is_only else ""
    about = f"{asked.question}{_TO}" if asked else f"{text.strip()}: "
    # A short question such as `Which one?` adds nothing.
    is_long = about.count(" ") < (_FEW if asked else _TWO) or len(about) + len(chosen) > SUMMARY
    more = f'"{first_line(text, 120)}"' if asked and text.count(" ") >= _FEW else ""
    reason = ". ".join(part for mark in marks[:_TWO] if (part := offers[mark].description.rstrip(".")))
    reason = " — ".join(filter(None, (reason, more)))
    yield _Waiting(PICKED, first_line(chosen if is_long else f"{about}{chosen}", SUMMARY), reason, rest)


def _answered(text: str, offered: str, asked: ClosingQuestion) -> Iterator[_Waiting]:
    """Yield a decision from a question and its reply, if both together say what was decided."""
    whole = f"{asked.first} {asked.question}".strip()
    is_open = asked.first or has_alternatives(whole)
    if is_go_ahead(text) and is_bare(text):
        question = asked.first or asked.question
        what = offered_in(question)
        if says_what(question) and not has_alternatives(question) and (what or not asked.first):
            decided = what if what and not is_no(text) else _pair(question, text)
            yield _Waiting(GO_AHEAD, first_line(decided, SUMMARY), asked.context)
    elif is_go_ahead(text):
        if says_what(beyond_yes(text), _LONG_WORD) or says_what(whole, LONG if is_open else _LONGER_WORD):
            yield _Waiting(GO_AHEAD, _pair(whole, text), asked.context)
    elif says_what(f"{whole} {text}" if is_open else text, _LONG_WORD) or says_what(whole):
        is_about = (is_open or not offered_in(whole)) and _shares(text, offered)
        if len(long_words(text)) <= _TWO or _shares(text, whole):
            yield _Waiting(IN_ITS_WORDS, _pair(whole, text), asked.context)
        elif len(text) > SHORT and (is_about or any(quote in offered for quote in _QUOTED.findall(text))):
            yield _Waiting(LONGER, _pair(whole, text), asked.context)


def _shares(text: str, other: str) -> bool:
    """True if both strings share a long, and therefore rare, word."""
    return any(len(word) > _LONG_WORD for word in long_words(text) & long_words(other))


def _pair(about: str, reply: str) -> str:
    """Return a question and its reply on one line."""
    question = cut_at_word(about, SUMMARY - len(_TO) - min(len(reply), SUMMARY - _REPLY))
    return f"{question}{_TO}{first_line(reply, SUMMARY - len(question) - len(_TO))}"


INSTRUCTED = Pattern("instruction with a stated approach", Source.REPLY, 21, 49)

_APPROACH, _REASON = 100, 300
"""Minimum code points in an approach, and maximum code points in the reason made from it."""


class Instructions:
    """The instructions of one session."""

    def __init__(self, story: TurnHistory) -> None:
        self._story = story
        self._found: list[FindingItem] = []

    def edited(self, settled: bool) -> None:
        """Record that files were changed.  `settled` is True if the prompt is already a decision."""
        turn = self._story.now
        text, approach = turn.prompt.text, turn.approach
        is_first = turn.edits == 1 and not settled and not turn.red and turn.kind is PromptKind.TYPED
        if (
            is_first
            and turn.answers.text
            and len(approach.text) >= _APPROACH
            and not is_question(text)
            and not is_log(text)
        ):
            grounds = INSTRUCTED.on(turn.prompt.row, approach.row)
            self._found.append(
                FindingItem(
                    Kind.INSTRUCTION, first_line(text, SUMMARY), statements(approach.text, _REASON) or None, grounds
                )
            )

    def noted(self) -> list[FindingItem]:
        """Return the instructions so far."""
        return list(self._found)
