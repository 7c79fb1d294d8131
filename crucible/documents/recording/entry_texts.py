"""Render single events as entries: prompts, questions and plans, interruptions, compactions and errors.

A user's questions and decisions are never cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache

from crucible.clients.events import (
    CallEnd,
    Choice,
    Compacted,
    Faulted,
    Interrupted,
    PlanSettled,
    Prompted,
    QuestionsAnswered,
    Rewound,
    ToolReturned,
)
from crucible.core.patterns import late_pattern
from crucible.core.text import counted, cut_at_word
from crucible.documents.markdown.containment import normal, normal_line, slug
from crucible.documents.recording.call_lines import one_line
from crucible.documents.session.findings import SUMMARY, cut_at_sentence, plain, sentences
from crucible.documents.session.session import AgentRef, Callout, Decision, Entry, Failure, Intervention, Outcome
from crucible.documents.session.titles import prompt_name

_FAULT_LIMIT = 1000

OUTCOMES = {
    CallEnd.OK: Outcome.OK,
    CallEnd.FAILED: Outcome.FAILED,
    CallEnd.REJECTED: Outcome.REJECTED,
    CallEnd.INTERRUPTED: Outcome.INTERRUPTED,
}
"""Maps the outcome that a client reports for a call to the outcome in a note."""


@lru_cache(maxsize=64)
def agent_ref(name: str, version: str = "") -> AgentRef:
    """Make an agent reference whose name and version are valid in a heading."""
    return AgentRef(slug(name, "agent") or "agent", slug(version, "version") or None)


def intervention(event: Prompted) -> Intervention:
    """The user's exact words.  Images are only counted."""
    pictures = counted(event.images, "picture") if event.images else None
    words = normal(event.text)
    if not words:
        return Intervention(f"[{pictures}]")
    return Intervention(words, f"with {pictures}" if pictures else None)


def happening_entry(event: Compacted | Faulted | Interrupted) -> Callout | Failure:
    """A callout for a compaction or an interruption by the user, or the failure of the client."""
    if isinstance(event, Faulted):
        return Failure(cut_at_word(normal(event.text), _FAULT_LIMIT) or "The client failed.")
    if isinstance(event, Interrupted):
        where = " during a tool call" if event.in_tool else ""
        return Callout("observation", "Interrupted", f"The user stopped the agent{where}.")
    tokens = f"{event.tokens_before:,} tokens before" if event.tokens_before else ""
    details = ", ".join(part for part in (one_line(event.trigger, 80), tokens) if part)
    return Callout("observation", "Compacted", details)


def rewind_callout(event: Rewound) -> Callout:
    """The callout for a prompt that the user withdrew."""
    turns = "the last turn" if event.turns == 1 else f"the last {event.turns} turns" if event.turns else ""
    return Callout("observation", "Rewound", f"The user took back {turns or one_line(event.text, 200) or 'words'}.")


def switch_callout(before: str, now: AgentRef) -> Callout:
    """The callout for a session continued in another native session, worded like `cru record agent-switch`."""
    return Callout("agent_switch", f"{before} → {now}".lstrip())


def whole_seconds(time: datetime | None) -> datetime | None:
    """Convert a time to UTC in whole seconds, as in notes."""
    if time is None:
        return None
    return (time if time.tzinfo is UTC else time.astimezone(UTC)).replace(microsecond=0)


_ENDINGS = {
    Outcome.FAILED: "The subagent failed.",
    Outcome.REJECTED: "The user rejected it.",
    Outcome.INTERRUPTED: "The subagent was stopped.",
}
"""The last line of a subagent callout if its work did not succeed."""


def ending(outcome: Outcome, message: str | None = None) -> str:
    """Describe how a subagent failed, with the error message; "" for work that succeeded or has not ended."""
    sentence = _ENDINGS.get(outcome, "")
    return f"{sentence[:-1]}: {message}" if sentence and message else sentence


def split_ending(text: str) -> tuple[str, Outcome]:
    """Split our ending off a callout's text and return its outcome; `OK` if there is no ending."""
    above, _, last = text.rstrip().rpartition("\n")
    for outcome, sentence in _ENDINGS.items():
        if last.strip() == sentence or last.lstrip().startswith(f"{sentence[:-1]}: "):
            return above.rstrip(), outcome
    return text, Outcome.OK


PLAN = "plan"
"""The callout kind for a plan."""

_FATES = {True: "approved", False: "rejected", None: "left"}
_PLAN_WORD = late_pattern(r"(?i)(?:plan\b[\s:–—-]*)+(?=\w)")
_TITLE_LIMIT = 80
_CALL_LIMIT = 120
_ANSWER = 80


def question_entries(event: QuestionsAnswered | PlanSettled, *, is_judged: bool) -> Iterator[Entry]:
    """Yield the callouts for a plan or for questions.  If `is_judged`, answered questions are left to the detector."""
    if isinstance(event, PlanSettled):
        yield _plan_callout(event)
        return
    for choice in event.choices:
        if not normal(choice.answer):
            yield _question(choice)
        elif not is_judged:
            yield decision_of(choice)


def decision_of(choice: Choice) -> Decision:
    """Convert an answered question to a decision.

    The text is the question and the answer.  The rationale has the sentences above the question and the descriptions of
    the chosen options; the other options are the alternatives.  If the answer is long, the text has only its first
    sentences, and the rationale the full answer.
    """
    *before, question = sentences(choice.question) or [""]
    answer = cut_at_sentence(choice.answer, max(SUMMARY - len(question) - 3, _ANSWER))
    full_answer = normal_line(choice.answer)
    picked = [description for label, description in choice.options if label in choice.picked and normal(description)]
    others = [_option(label, description) for label, description in choice.options if label not in choice.picked]
    return Decision(
        f"{question} → {answer}" if question else answer,
        normal_line(" ".join((*before, *([full_answer] if answer != plain(choice.answer) else []), "; ".join(picked))))
        or None,
        "; ".join(others) or None,
        "user",
    )


def _question(choice: Choice) -> Callout:
    offered = "\n".join(f"- {_option(label, description)}" for label, description in choice.options)
    return Callout("decision_needed", "", "\n\n".join(filter(None, (normal(choice.question), offered))))


def _option(label: str, description: str) -> str:
    return normal_line(f"{label}: {description}" if normal_line(description) else label)


def _plan_callout(event: PlanSettled) -> Callout:
    """A folded callout with the full plan; its title says whether the plan was approved.

    If there is no call, the text is empty, since the plan is in the agent's prose above.
    """
    text, fate = normal(event.text), _FATES[event.approved]
    name = prompt_name(text, _TITLE_LIMIT) if text else ""
    named = _PLAN_WORD.match(name)
    name = name[named.end() :] if named else name
    return Callout(PLAN, f"{fate}: {name}" if name else fate, text if event.call else "", fold="-")


def refusal_entry(event: ToolReturned, call: str, before: Sequence[object]) -> Intervention:
    """The user's comment on a call, with the call's line unless a plan callout already shows it."""
    is_plan = any(isinstance(entry, Callout) and entry.kind == PLAN for entry in before)
    line = cut_at_word(call.partition("⏎")[0], _CALL_LIMIT)
    return Intervention(
        normal(event.feedback),
        f"refused: {line}" if line and event.end is CallEnd.REJECTED and not is_plan else None,
    )
