"""Delegations: work that was given away, what came back, and whether it was taken up.

A result was used if the parent's later words or work say of it what nobody had said before; else nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from crucible.analysis.failures.moments import Moment
from crucible.commands.learn.case import Case, Delegation
from crucible.commands.learn.case_making import make_case
from crucible.commands.learn.excerpts import SIDE, brief
from crucible.commands.learn.puzzles_proof import verification_after
from crucible.commands.learn.timeline import Timeline, placed
from crucible.commands.learn.word_overlap import content_words
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import cut, normal_line
from crucible.documents.session.findings import Kind
from crucible.documents.session.session import Intervention, Prose, Session, Subagent
from crucible.documents.session.titles import untagged

__all__ = ["find_delegations"]

_LATER = 12
"""Moments after a delegation that are looked at."""
_BEFORE = 6
"""Moments before it whose words are no news."""
_ENOUGH = 2
"""Words that only the result had said, in what the parent says or does later."""
_LONGEST = 300


def find_delegations(timeline: Timeline, children: Mapping[str, Session | None]) -> Iterator[Case]:
    """The delegations of a session, in the order of its note; `children` are the subagents' sessions by id."""
    for finding, moment in placed(timeline, Kind.REPORT):
        entry = moment.entry
        if not isinstance(entry, Subagent) or _has_failed(entry):
            continue
        child = children.get(entry.link) if entry.link else None
        task = untagged(_task(entry, child)).strip().removeprefix("Task:").strip()
        result = _result(entry, child)
        used, evidence = _use(timeline, moment, task, result)
        body = Delegation(entry.agent.name, brief(task, 2 * SIDE), brief(result, 4 * SIDE), used, evidence)
        anchor = entry.link or f"{task}\n{entry.summary or ''}"
        verification = verification_after(timeline, moment.at) if used else ""
        yield make_case(timeline, moment, body, anchor, finding=finding, verification=verification)


def _has_failed(entry: Subagent) -> bool:
    """Whether a note says that the subagent came to no answer; what stands as its result is an error then."""
    return any(line.strip(" .").casefold() == "the subagent failed" for line in entry.text.split("\n"))


def _task(entry: Subagent, child: Session | None) -> str:
    """The subagent's task: from its note, else from the callout."""
    if child is not None:
        told = next((one.text for one in child.preamble if isinstance(one, Prose)), "")
        if told.strip():
            return told
    return entry.task or entry.text or (child.title if child else "")


def _result(entry: Subagent, child: Session | None) -> str:
    """What came back: the last words of the subagent's note, else all that the callout has of them."""
    entries = list(child.all_entries()) if child is not None else list(entry.entries)
    last = next((one.text for one in reversed(entries) if isinstance(one, Prose)), "")
    return max(last, entry.summary or "", key=len)


def _use(timeline: Timeline, moment: Moment, task: str, result: str) -> tuple[bool | None, str]:
    """Whether the result was used, and what shows it."""
    known = content_words(task) | _said_before(timeline, moment)
    news, names = content_words(result) - known, _names_in(result) - _names_in(task)
    seen: set[str] = set()
    for later in timeline.moments[moment.at + 1 : moment.at + 1 + _LATER]:
        if isinstance(later.entry, Intervention):
            break
        text = later.entry.text if isinstance(later.entry, Prose) else _made(later)
        seen |= news & content_words(text)
        if len(seen) >= min(_ENOUGH, len(news) or _ENOUGH) or names & _names_in(text):
            return True, cut(normal_line(text), _LONGEST)
    return None, ""


_NAME = late_pattern(r"[A-Za-z_]\w*(?:[._/-]\w+)+|`[^`\n]{2,80}`")


def _names_in(text: str) -> set[str]:
    """Names of code and files, which nobody says by chance."""
    return {name.strip("`") for name in _NAME.findall(text[:8000])}


def _said_before(timeline: Timeline, moment: Moment) -> frozenset[str]:
    """What was known before: the goal, and what was said and called last."""
    before = timeline.moments[max(0, moment.at - _BEFORE) : moment.at]
    said_then = (one.entry.text for one in before if isinstance(one.entry, Prose))
    called = (one.call.call for one in before if one.call)
    return content_words(" ".join([timeline.goal_of(moment.phase), *said_then, *called]))


def _made(moment: Moment) -> str:
    """What a call wrote; looking at something shows nothing."""
    if moment.call is None or not any(act.writes for act in moment.acts):
        return ""
    values = moment.arguments.values() if moment.arguments else [moment.call.call]
    return " ".join(one[:2000] for one in values if isinstance(one, str))
