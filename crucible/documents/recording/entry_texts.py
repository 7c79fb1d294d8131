"""Single events as entries of a note: a human's words, questions and plans, and what happened to the session.

What the user was asked and decided on is never cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

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
from crucible.core.text import cut_at_word
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
"""How a call ended, as a note tells it."""


def agent_ref(name: str, version: str = "") -> AgentRef:
    """A name and a version that a heading can hold."""
    return AgentRef(slug(name, "agent") or "agent", slug(version, "version") or None)


def intervention(event: Prompted) -> Intervention:
    """A human's exact words; pictures are counted."""
    pictures = f"{event.images} picture{'' if event.images == 1 else 's'}" if event.images else None
    words = normal(event.text)
    if not words:
        return Intervention(f"[{pictures}]")
    return Intervention(words, f"with {pictures}" if pictures else None)


def happening_entry(event: Compacted | Faulted | Interrupted) -> Callout | Failure:
    """A callout for what happened to a session: the client compacted its context or failed, or the user stopped the agent."""
    if isinstance(event, Faulted):
        return Failure(cut_at_word(normal(event.text), _FAULT_LIMIT) or "The client failed.")
    if isinstance(event, Interrupted):
        where = " during a tool call" if event.in_tool else ""
        return Callout("observation", "Interrupted", f"The user stopped the agent{where}.")
    tokens = f"{event.tokens_before:,} tokens before" if event.tokens_before else ""
    told = ", ".join(part for part in (one_line(event.trigger, 80), tokens) if part)
    return Callout("observation", "Compacted", told)


def rewind_callout(event: Rewound) -> Callout:
    """The user took words back."""
    turns = "the last turn" if event.turns == 1 else f"the last {event.turns} turns" if event.turns else ""
    return Callout("observation", "Rewound", f"The user took back {turns or one_line(event.text, 200) or 'words'}.")


def switch_callout(before: str, now: AgentRef) -> Callout:
    """Another client goes on, or the same one anew: in the words of `cru log agent_switch`."""
    return Callout("agent_switch", f"{before} → {now}".lstrip())


def whole_seconds(time: datetime | None) -> datetime | None:
    """Notes hold whole seconds, UTC."""
    return time.astimezone(UTC).replace(microsecond=0) if time else None


_ENDINGS = {
    Outcome.FAILED: "The subagent failed.",
    Outcome.REJECTED: "The user rejected it.",
    Outcome.INTERRUPTED: "The subagent was stopped.",
}
"""What stands in a line of its own at the end of a callout's text."""


def ending(outcome: Outcome, message: str | None = None) -> str:
    """One sentence on how a subagent failed, with the error message; "" for work that succeeded or has not ended."""
    sentence = _ENDINGS.get(outcome, "")
    return f"{sentence[:-1]}: {message}" if sentence and message else sentence


def split_ending(text: str) -> tuple[str, Outcome]:
    """A callout's text without our sentence at its end, and how the work ended by that; `OK` where there is none."""
    above, _, last = text.rstrip().rpartition("\n")
    for outcome, sentence in _ENDINGS.items():
        if last.strip() == sentence or last.lstrip().startswith(f"{sentence[:-1]}: "):
            return above.rstrip(), outcome
    return text, Outcome.OK


PLAN = "plan"
"""The kind of callout for a plan."""

_FATES = {True: "approved", False: "rejected", None: "left"}
_PLAN_WORD = late_pattern(r"(?i)(?:plan\b[\s:–—-]*)+(?=\w)")
_TITLE_LIMIT = 80
_CALL_LIMIT = 120
_ANSWER = 80


def question_entries(event: QuestionsAnswered | PlanSettled, *, is_judged: bool) -> Iterator[Entry]:
    """The callouts of a plan or of questions.  If `is_judged`, the detector adds the answered ones, with their grounds."""
    if isinstance(event, PlanSettled):
        yield _plan_callout(event)
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
    answer = cut_at_sentence(choice.answer, max(SUMMARY - len(question) - 3, _ANSWER))
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


def _plan_callout(event: PlanSettled) -> Callout:
    """The whole plan, folded.  The title says what became of it.  A plan that no call handed over is in the agent's own words above."""
    text, fate = normal(event.text), _FATES[event.approved]
    name = prompt_name(text, _TITLE_LIMIT) if text else ""
    named = _PLAN_WORD.match(name)
    name = name[named.end() :] if named else name
    return Callout(PLAN, f"{fate}: {name}" if name else fate, text if event.call else "", fold="-")


def refusal_entry(event: ToolReturned, call: str, before: Sequence[object]) -> Intervention:
    """The user's comment on a call, and which call it was, unless a plan's callout already shows that."""
    is_plan = any(isinstance(entry, Callout) and entry.kind == PLAN for entry in before)
    line = cut_at_word(call.partition("⏎")[0], _CALL_LIMIT)
    return Intervention(
        normal(event.feedback),
        f"refused: {line}" if line and event.end is CallEnd.REJECTED and not is_plan else None,
    )
