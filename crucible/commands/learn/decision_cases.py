"""Decisions: a question of this work that the user or the agent settled.

Findings say what was decided.  The situation is what was known before: the request, the agent's last words before the reply, and the question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from crucible.analysis.findings.corrections import is_go_ahead
from crucible.analysis.tools.tool_calls import Moment
from crucible.commands.learn.case import Case, Choice, content_words
from crucible.commands.learn.case_making import make_case
from crucible.commands.learn.excerpts import SIDE, brief, request_of
from crucible.commands.learn.timeline import Timeline, moment_of_rows, placed_findings, verification_after
from crucible.core.patterns import late_pattern
from crucible.documents.session.findings import Finding, Kind, Source
from crucible.documents.session.session import Intervention, Prose

_NEAR, _LATE = 8, 40
"""Most moments to search before the answer for the agent's words, and most moments between the answer and its callout."""


class _Asked(NamedTuple):
    """A decision with its question ("" for none), the choice, the other options, and the moment of the reply, or of the callout."""

    finding: Finding
    question: str
    choice: str
    others: Sequence[str]
    reply: Moment


def find_choices(timeline: Timeline) -> Iterator[Case]:
    """The decisions of a session, in the order of its note; without plans and replies that name several or finished options."""
    for finding, moment in placed_findings(timeline, Kind.DECISION):
        asked = _asked(timeline, finding, moment)
        if finding.source == Source.PLAN or _is_unclear(asked):
            continue
        found = verification_after(timeline, moment.at)
        outcome = f"`{found}` passed afterwards." if found else ""
        # In alphabetical order their place does not tell which one was chosen.
        options = tuple(sorted(_told(asked), key=str.casefold)) if asked.others else ()
        # The text before a reply in the user's own words is part of the situation.
        why = "" if finding.source == Source.REPLY else finding.details
        body = Choice(_situation(timeline, asked), options, asked.choice, why, outcome)
        yield make_case(timeline, moment, body, finding.summary, finding=finding, verification=found)


def _told(asked: _Asked) -> list[str]:
    """The options as the user saw them: all with their descriptions, or none."""
    shown = _options_in(asked.reply.arguments or {})
    names = [asked.choice, *(one.partition(": ")[0] for one in asked.others)]
    told = [f"{name}: {shown[name]}" for name in names if shown.get(name)]
    return told if len(told) == len(names) else names


def _options_in(value: object) -> dict[str, str]:
    """The labels in the arguments of a question, each with its description."""
    if isinstance(value, Mapping):
        label, description = value.get("label"), value.get("description")
        own = {_name(label): description} if isinstance(label, str) and isinstance(description, str) else {}
        return own | _options_in([*value.values()])
    found: dict[str, str] = {}
    for one in value if isinstance(value, list) else ():
        found |= _options_in(one)
    return found


def _name(option: str) -> str:
    """An option without the agent's recommendation, which would give the answer away."""
    return option.removesuffix("(Recommended)").rstrip()


def _asked(timeline: Timeline, finding: Finding, told: Moment) -> _Asked:
    question, mark, choice = finding.summary.rpartition(" → ")
    if not mark:
        question, mark, choice = finding.summary.partition("? ")
        question += mark.strip()
    if not (mark and choice.strip()):
        question, choice = "", finding.summary
    others = [_name(one.strip()) for one in finding.alternatives.split(";") if one.strip()]
    choice = _name(choice)
    reply = _reply(timeline, finding, choice, told)
    if finding.source == Source.REPLY and isinstance(reply.entry, Intervention):
        choice = reply.entry.words  # the summary may have shortened them
    return _Asked(finding, question, choice, others, reply)


def _reply(timeline: Timeline, finding: Finding, choice: str, told: Moment) -> Moment:
    """The user's words, or the question with its answer, by the finding's row or by the choice; else the callout."""
    before = timeline.moments[: told.at]
    said = (one for one in reversed(before[-_LATE:]) if isinstance(one.entry, Intervention))
    last = next(said, told)
    is_choice = isinstance(last.entry, Intervention) and _bare(choice)[:_LATE] in _bare(last.entry.words)
    return moment_of_rows(before, finding.rows) or (last if is_choice else told)


def _is_unclear(asked: _Asked) -> bool:
    """True for a reply that answers no question, or whose choice is unclear: several options, or a finished one."""
    words = asked.reply.entry.words if isinstance(asked.reply.entry, Intervention) else ""
    if asked.finding.source == Source.REPLY:
        is_answer = is_go_ahead(words) or content_words(asked.question) & content_words(words)
        if not (asked.question.endswith("?") and is_answer):  # the next request
            return True
    is_several = asked.finding.source == Source.OPTION and (" + " in asked.choice or len(set(_PICK.findall(words))) > 1)
    offered = _options_in(asked.reply.arguments or {})
    is_typed = bool(offered) and asked.choice not in offered  # not an option, but the user's own words
    return is_several or is_typed or any(mark in one for one in (asked.choice, *asked.others) for mark in _FINISHED)


_PICK = late_pattern(r"(?<![\w.#-])(?:\d{1,2}|[A-Z])(?![\w.'-]*\w)")
_FINISHED = ("✅", "✓", "~~", "[x]")


def _situation(timeline: Timeline, asked: _Asked) -> str:
    """The user's request, the agent's last words before the reply, and the question; "" if only the question is known."""
    at = asked.reply.at
    earlier = timeline.moments[max(0, at - _NEAR) : at]
    before = next((one.entry.text for one in reversed(earlier) if isinstance(one.entry, Prose)), "")
    request = request_of(timeline, at)
    question = "" if _bare(asked.question) in _bare(before) else asked.question
    texts = [brief(request, SIDE // 4), brief(before, SIDE * 3 // 4), question]
    if asked.finding.source == Source.CALLOUT:  # written after the choice, which earlier texts may mention
        texts = [one for one in texts if not _tells(one, asked)]
    parts = [one for one in texts if one.strip()]
    return "\n\n".join(parts) if len(parts) > 1 or not asked.question else ""


def _tells(text: str, asked: _Asked) -> bool:
    words = _bare(text)
    return _bare(asked.choice) in words and not (asked.others and all(_bare(one) in words for one in asked.others))


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
