"""Find the decisions, delegations and completed workflows of a session, in note order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from crucible.analysis.findings.corrections import is_go_ahead
from crucible.analysis.tools.tool_calls import Moment
from crucible.commands.learn.case import (
    Case,
    Choice,
    Delegation,
    Trajectory,
    content_words,
)
from crucible.commands.learn.excerpts import (
    SENTENCE,
    SIDE,
    Requests,
    shorten_middle,
    shorten_turns,
    with_prose_before,
)
from crucible.commands.learn.timeline import (
    Timeline,
    last_before,
    make_case,
    moment_of_rows,
    placed_findings,
)
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import cut, normal_line
from crucible.documents.session.findings import Finding, Kind, Source, bare_words
from crucible.documents.session.session import Callout, Intervention, Outcome, Phase, Prose, Session, Status, Subagent
from crucible.documents.session.titles import untagged

_LATER = 12
"""Number of moments after a delegation to search for a use of the result."""
_BEFORE = 6
"""Number of moments before a delegation whose words do not count as new in the result."""
_ENOUGH = 2
"""Minimum number of new words from the result that the parent's later work must contain to count as a use."""
_LONGEST, _READ = 300, 4000
"""Maximum code points of a use, and of a goal to read."""


def find_delegations(timeline: Timeline, children: Mapping[str, Session | None]) -> Iterator[Case]:
    """Yield the delegations of a session; `children` are the subagents' sessions by link."""
    for finding, moment in placed_findings(timeline, Kind.REPORT):
        entry = moment.entry
        if not isinstance(entry, Subagent) or _has_failed(entry):
            continue
        child = children.get(entry.link) if entry.link else None
        task = untagged(_task(entry, child)).strip().removeprefix("Task:").strip()
        result = _result(entry, child)
        used, evidence = _use(timeline, moment, task, result)
        body = Delegation(
            entry.agent.name, shorten_middle(task, 2 * SIDE), shorten_middle(result, 4 * SIDE), used, evidence
        )
        anchor = entry.link or f"{task}\n{entry.summary or ''}"
        verification = timeline.verifications[moment.at] if used else ""
        yield make_case(timeline, moment, body, anchor, finding=finding, verification=verification)


def _has_failed(entry: Subagent) -> bool:
    """True if the callout reports that the subagent failed; the result is then an error message."""
    return any(line.strip(" .").casefold() == "the subagent failed" for line in entry.text.split("\n"))


def _task(entry: Subagent, child: Session | None) -> str:
    """Return the subagent's task, from its note or else from the callout."""
    if child is not None:
        prompt = next((one.text for one in child.preamble if isinstance(one, Prose)), "")
        if prompt.strip():
            return prompt
    return entry.task or entry.text or (child.title if child else "")


def _result(entry: Subagent, child: Session | None) -> str:
    """Return the subagent's last prose or the callout's summary, whichever is longer."""
    entries = list(child.all_entries()) if child is not None else list(entry.entries)
    last = next((one.text for one in reversed(entries) if isinstance(one, Prose)), "")
    return max(last, entry.summary or "", key=len)


def _use(timeline: Timeline, moment: Moment, task: str, result: str) -> tuple[bool | None, str]:
    """Return True and the text that shows a use of the result, or None and "" if nothing shows one."""
    known = content_words(task) | _words_before(timeline, moment)
    news, names = content_words(result) - known, _names_in(result) - _names_in(task)
    seen: set[str] = set()
    for later in timeline.moments[moment.at + 1 : moment.at + 1 + _LATER]:
        if isinstance(later.entry, Intervention):
            break
        text = later.entry.text if isinstance(later.entry, Prose) else _written_by(later)
        seen |= news & content_words(text)
        if len(seen) >= min(_ENOUGH, len(news) or _ENOUGH) or names & _names_in(text):
            return True, cut(normal_line(text), _LONGEST)
    return None, ""


_NAME_IN_TEXT = late_pattern(r"[A-Za-z_]\w*(?:[._/-]\w+)+|`[^`\n]{2,80}`")


def _names_in(text: str) -> set[str]:
    """Return identifiers, paths and code spans in a text. They rarely match by chance."""
    return {name.strip("`") for name in _NAME_IN_TEXT.findall(text[:8000])}


def _words_before(timeline: Timeline, moment: Moment) -> frozenset[str]:
    """Return the words known before the delegation, from the goal and from the agent's latest prose and calls."""
    before = timeline.moments[max(0, moment.at - _BEFORE) : moment.at]
    prose = (one.entry.text for one in before if isinstance(one.entry, Prose))
    calls = (one.call.call for one in before if one.call)
    return content_words(" ".join([timeline.goal_of(moment.phase)[:_READ], *prose, *calls]))


def _written_by(moment: Moment) -> str:
    """Return the text that a call wrote, "" if it only read."""
    if moment.call is None or not any(act.writes for act in moment.acts):
        return ""
    values = moment.arguments.values() if moment.arguments else [moment.call.call]
    return " ".join(one[:2000] for one in values if isinstance(one, str))


def find_trajectories(timeline: Timeline) -> Iterator[Case]:
    """Yield the workflows of a session: completed phases with an outcome and no correction."""
    parts = [list(group) for _, group in groupby(timeline.moments, key=_top)]
    corrected, requests = _corrected(timeline), Requests(timeline)
    for part in parts:
        is_whole = _top(part[0]) not in corrected and _is_done(timeline, part, is_last=part is parts[-1])
        if is_whole and (case := _case(timeline, requests, part)):
            yield case


def _corrected(timeline: Timeline) -> set[str]:
    """Return the phases whose work the user corrected, in the phase itself or at the start of a later one."""
    last = (last_before(timeline.calls, at) for at in timeline.corrections)
    return {_top(timeline.moments[at]) for at in last if at >= 0}


def _top(moment: Moment) -> str:
    return moment.phase.partition(".")[0]


def _phase(timeline: Timeline, moment: Moment) -> Phase:
    return timeline.phases.get(_top(moment)) or timeline.phase_of(moment.at)


def _is_done(timeline: Timeline, part: list[Moment], *, is_last: bool) -> bool:
    if is_last and timeline.session.status not in (Status.COMPLETED, None):
        return False
    calls = [one for one in part if one.call]
    phase = _phase(timeline, part[0])
    is_stopped = isinstance(part[-1].entry, Callout) and part[-1].entry.title.startswith("Interrupted")
    is_cut = calls and calls[-1].outcome in (Outcome.INTERRUPTED, Outcome.PENDING, Outcome.REJECTED)
    return bool(calls) and phase.status == "success" and not is_stopped and not is_cut


def _case(timeline: Timeline, requests: Requests, part: list[Moment]) -> Case | None:
    first = part[0]
    outcome = timeline.outcomes.get(_top(first))
    if outcome is None:
        return None
    goal = timeline.goal_of(_top(first))
    steps = _steps(timeline, part)
    if not any(one.changed for one in steps):
        return None
    turns = shorten_turns(steps, SIDE * 6, SIDE)
    if sum(len(one.calls) for one in turns) < sum(bool(one.call) for one in steps):
        return None  # only part of the phase fits
    # Unlike the phase's number, its goal and name do not change when earlier phases are added. `with_unique_ids`
    # handles equal names.
    anchor = f"{goal}\n{_phase(timeline, first).name}"
    begun = next((one.at for one in part if not isinstance(one.entry, Intervention)), first.at)
    is_long = len(goal.split()) >= SENTENCE
    body = Trajectory(shorten_middle(goal, SIDE // 2) if is_long else requests.at(begun), turns)
    verification = timeline.verifications[first.at]
    return make_case(timeline, first, body, anchor, finding=outcome, verification=verification)


def _steps(timeline: Timeline, part: list[Moment]) -> list[Moment]:
    """Return the calls that changed or proved something, with the prose before each, and the closing prose."""
    closing = part[-1:] if isinstance(part[-1].entry, Prose) else []
    return with_prose_before(
        timeline, [*(one for one in part if one.passed and (one.commands or one.changed)), *closing]
    )


# --- which are worth a row -------------------------------------------------------------------------------------------


_NEAR, _LATE = 8, 40
"""Number of moments to search for the agent's prose before the reply, and for the reply before its callout."""


class _Asked(NamedTuple):
    """A decision: its question ("" for none), choice and other options, and the moment of the reply or callout."""

    finding: Finding
    question: str
    choice: str
    others: Sequence[str]
    reply: Moment


def find_choices(timeline: Timeline) -> Iterator[Case]:
    """Yield the decisions of a session, except plans, unclear replies, and options that were already carried out."""
    requests = Requests(timeline)
    for finding, moment in placed_findings(timeline, Kind.DECISION):
        asked = _asked(timeline, finding, moment)
        if finding.source == Source.PLAN or _is_unclear(asked):
            continue
        found = timeline.verifications[moment.at]
        outcome = f"`{found}` passed afterwards." if found else ""
        # Sorted, so that the order does not reveal the choice.
        options = tuple(sorted(_shown_options(asked), key=str.casefold)) if asked.others else ()
        # The details of a reply in the user's own words belong to the situation.
        why = "" if finding.source == Source.REPLY else finding.details
        body = Choice(_situation(timeline, requests, asked), options, asked.choice, why, outcome)
        yield make_case(timeline, moment, body, finding.summary, finding=finding, verification=found)


def _shown_options(asked: _Asked) -> list[str]:
    """Return the options as the user saw them: with descriptions if all have one."""
    descriptions = _options_in(asked.reply.arguments or {})
    names = [asked.choice, *(one.partition(": ")[0] for one in asked.others)]
    shown = [f"{name}: {descriptions[name]}" for name in names if descriptions.get(name)]
    return shown if len(shown) == len(names) else names


def _options_in(value: object) -> dict[str, str]:
    """Return the options in the arguments of a question tool, as descriptions by label."""
    if isinstance(value, Mapping):
        label, description = value.get("label"), value.get("description")
        own = {_name(label): description} if isinstance(label, str) and isinstance(description, str) else {}
        return own | _options_in([*value.values()])
    found: dict[str, str] = {}
    for one in value if isinstance(value, list) else ():
        found |= _options_in(one)
    return found


def _name(option: str) -> str:
    """Return an option without the agent's "(Recommended)", which would reveal the answer."""
    return option.removesuffix("(Recommended)").rstrip()


def _asked(timeline: Timeline, finding: Finding, callout: Moment) -> _Asked:
    question, mark, choice = finding.summary.rpartition(" → ")
    if not mark:
        question, mark, choice = finding.summary.partition("? ")
        question += mark.strip()
    if not (mark and choice.strip()):
        question, choice = "", finding.summary
    others = [_name(one.strip()) for one in finding.alternatives.split(";") if one.strip()]
    choice = _name(choice)
    reply = _reply(timeline, finding, choice, callout)
    if finding.source == Source.REPLY and isinstance(reply.entry, Intervention):
        choice = reply.entry.words  # the summary may be shortened
    return _Asked(finding, question, choice, others, reply)


def _reply(timeline: Timeline, finding: Finding, choice: str, callout: Moment) -> Moment:
    """Return the moment of the reply, found by the finding's rows or by the choice; else the callout's moment."""
    before = timeline.moments[max(0, callout.at - _LATE) : callout.at]
    replies = (one for one in reversed(before) if isinstance(one.entry, Intervention))
    last = next(replies, callout)
    is_choice = isinstance(last.entry, Intervention) and _bare(choice)[:_LATE] in _bare(last.entry.words)
    return moment_of_rows(timeline, range(callout.at), finding.rows) or (last if is_choice else callout)


def _is_unclear(asked: _Asked) -> bool:
    """True if the reply answers no question, picks several options, or names one that was already carried out."""
    words = asked.reply.entry.words if isinstance(asked.reply.entry, Intervention) else ""
    if asked.finding.source == Source.REPLY:
        is_answer = is_go_ahead(words) or content_words(asked.question) & content_words(words)
        if not (asked.question.endswith("?") and is_answer):  # a new request
            return True
    is_several = asked.finding.source == Source.OPTION and (" + " in asked.choice or len(set(_PICK.findall(words))) > 1)
    offered = _options_in(asked.reply.arguments or {})
    is_typed = bool(offered) and asked.choice not in offered  # the user's own words instead of an option
    return is_several or is_typed or any(mark in one for one in (asked.choice, *asked.others) for mark in _FINISHED)


_PICK = late_pattern(r"(?<![\w.#-])(?:\d{1,2}|[A-Z])(?![\w.'-]*\w)")
_FINISHED = ("✅", "✓", "~~", "[x]")


def _situation(timeline: Timeline, requests: Requests, asked: _Asked) -> str:
    """Return the user's request, the agent's last prose and the question; "" if only the question is known."""
    at = asked.reply.at
    earlier = timeline.moments[max(0, at - _NEAR) : at]
    before = next((one.entry.text for one in reversed(earlier) if isinstance(one.entry, Prose)), "")
    request = requests.at(at)
    question = "" if _bare(asked.question) in _bare(before) else asked.question
    texts = [shorten_middle(request, SIDE // 4), shorten_middle(before, SIDE * 3 // 4), question]
    if asked.finding.source == Source.CALLOUT:  # written after the choice, so the earlier text may mention it
        texts = [one for one in texts if not _reveals(one, asked)]
    parts = [one for one in texts if one.strip()]
    return "\n\n".join(parts) if len(parts) > 1 or not asked.question else ""


def _reveals(text: str, asked: _Asked) -> bool:
    """True if a text names the choice but not all other options."""
    words = _bare(text)
    return _bare(asked.choice) in words and not (asked.others and all(_bare(one) in words for one in asked.others))


def _bare(text: str) -> str:
    return bare_words(text.casefold())
