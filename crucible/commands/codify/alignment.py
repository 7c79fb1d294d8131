"""Align the drafts of several sessions: pair equal steps, and add branches to steps that only some sessions have.

Steps are compared by their actions and files, by kinds of work, and by name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from crucible.analysis.tools.tool_acts import Act, Deed
from crucible.commands.codify.draft_steps import (
    Branch,
    Draft,
    DraftStep,
    Names,
    Remark,
    RemarkKind,
    StepRun,
    join_words,
    work_name,
)
from crucible.core.patterns import late_pattern
from crucible.core.text import overlap
from crucible.documents.markdown.containment import contain_line, cut, normal_line
from crucible.documents.session.session import Outcome
from crucible.documents.workflow.workflow import Datum, Grade, RunStatus, key_of

_LEAST = 0.35
_SAME_NAME = 0.4
_CHANGE, _LOOK = "change", "look"
_KINDS = {
    Deed.WRITE: _CHANGE,
    Deed.EDIT: _CHANGE,
    Deed.DELETE: _CHANGE,
    Deed.READ: _LOOK,
    Deed.SEARCH: _LOOK,
    Deed.FETCH: _LOOK,
    Deed.PLAN: "",
}
"""Deeds that count as one kind. A deed mapped to "" is ignored; any other deed is its own kind."""


@dataclass(frozen=True, slots=True)
class Traits:
    """The name of a step, and what the step and its descendants did."""

    key: str
    words: frozenset[str]
    done: frozenset[tuple[str, str]]
    kinds: frozenset[str]


def traits_of(step: DraftStep) -> Traits:
    """Return the traits of a step. Lookups count only if nothing else was done."""
    done = frozenset(trait for one in step.walk() for act in one.acts for trait in _done(act))
    worked = frozenset(trait for trait in done if trait[0] != _LOOK)
    words = frozenset(filter(None, map(key_of, step.name.split())))
    return Traits(key_of(step.name), words, worked or done, frozenset(kind for kind, _ in done))


def _done(act: Act) -> Iterator[tuple[str, str]]:
    """Yield the act's kind paired with each of its targets."""
    kind = _KINDS.get(act.deed, act.deed.value)
    if kind:
        # All checks write data with the same name, so compare what they read.
        data = act.writes if kind == _CHANGE else act.reads
        yield from ((kind, target.casefold()) for target in [one.name for one in data] or [act.what])


def best_pairs(left: Sequence[Sequence[Traits]], right: Sequence[Traits]) -> list[tuple[int, int]]:
    """Return the pairs of positions with the highest total similarity, in order and without crossings.

    `left` has the traits from several sessions for each step.
    """
    best = [[0.0] * (len(right) + 1)]
    for several in left:
        above, row = best[-1], [0.0]
        for at, one in enumerate(right):
            paired = above[at] + max(_alike(other, one) for other in several)
            row.append(max(paired, above[at + 1], row[at]))
        best.append(row)
    pairs: list[tuple[int, int]] = []
    at, other = len(left), len(right)
    while at and other:
        if best[at][other] == best[at - 1][other]:
            at -= 1
        elif best[at][other] == best[at][other - 1]:
            other -= 1
        else:
            at, other = at - 1, other - 1
            pairs.append((at, other))
    return pairs[::-1]


def _alike(one: Traits, other: Traits) -> float:
    """Return the similarity of two steps from 0 to 1; 0 if they must not be paired."""
    same_name = one.key == other.key
    names = 1.0 if same_name else overlap(one.words, other.words, "union")
    if not one.done and not other.done:
        return names if names >= 0.5 else 0.0
    done = 0.7 * overlap(one.done, other.done, "union") + 0.3 * overlap(one.kinds, other.kinds, "union")
    found = max(0.75 * done + 0.25 * names, _SAME_NAME if same_name else 0.0)
    return found if found >= _LEAST else 0.0


_LONGEST_WORDS = 100
_MOST_SESSIONS = 3
_CARE = (Grade.OPTIONAL, Grade.PLAIN, Grade.CRITICAL)
_ARROW = late_pattern(r"\s*(?:→|[-=]>)\s*")


@dataclass(slots=True)
class _Column:
    """A step of the workflow: each session's draft step, the columns below it, and its conditional branches."""

    members: dict[str, DraftStep]
    traits: list[Traits]
    below: list[_Column] = field(default_factory=list)
    name: str = ""
    report: Datum | None = None
    remarks: list[Remark] = field(default_factory=list)
    branches: list[tuple[str, _Column]] = field(default_factory=list)

    @property
    def sessions(self) -> frozenset[str]:
        return frozenset(self.members)


def align(drafts: Sequence[Draft]) -> tuple[DraftStep, ...]:
    """Merge drafts into the steps of one workflow. A session that occurs twice counts once."""
    given = {draft.session: draft for draft in reversed(drafts)}
    order = list(dict.fromkeys(draft.session for draft in drafts))
    if len(given) == 1:
        return given[order[0]].steps
    columns = _aligned({session: given[session].steps for session in sorted(given)})
    every = list(_walk(columns))
    _name(every)
    _branch(every, frozenset(given))
    merger = _Merger(order, every)
    return tuple(merger.step(column) for column in columns)


def _aligned(sequences: Mapping[str, Sequence[DraftStep]]) -> list[_Column]:
    """Align the steps of one level session by session, then the steps below each."""
    columns: list[_Column] = []
    for session, steps in sequences.items():
        columns = _with(columns, session, steps)
    for column in columns:
        if any(step.children for step in column.members.values()):
            column.members = {session: _as_group(step) for session, step in column.members.items()}
            column.below = _aligned({session: step.children for session, step in column.members.items()})
    return columns


def _with(columns: Sequence[_Column], session: str, steps: Sequence[DraftStep]) -> list[_Column]:
    """Add a session to the columns. Steps without a counterpart are inserted between those of their neighbours."""
    own = [_Column({session: step}, [traits_of(step)]) for step in steps]
    woven: list[_Column] = []
    done = taken = 0
    pairs = best_pairs([column.traits for column in columns], [column.traits[0] for column in own])
    for left, right in pairs:
        woven += [*columns[done:left], *own[taken:right], columns[left]]
        columns[left].members[session] = steps[right]
        columns[left].traits += own[right].traits
        done, taken = left + 1, right + 1
    return [*woven, *columns[done:], *own[taken:]]


def _as_group(step: DraftStep) -> DraftStep:
    """Convert a step to a group like its counterparts: its own work becomes its only child."""
    if step.children or not (step.acts or step.takes or step.report):
        return step
    work = replace(
        step,
        name=work_name(step.acts) or step.name,
        remarks=tuple(remark for remark in step.remarks if remark.kind is not RemarkKind.ASKED),
        runs=tuple(replace(run, duration_ms=None, tokens=None) for run in step.runs),
    )
    asked = tuple(remark for remark in step.remarks if remark.kind is RemarkKind.ASKED)
    return replace(step, grade=Grade.PLAIN, remarks=asked, acts=(), report=None, takes=(), children=(work,))


def _walk(columns: Iterable[_Column]) -> Iterator[_Column]:
    for column in columns:
        yield column
        yield from _walk(column.below)


# --- names -----------------------------------------------------------------------------------------------------------


def _name(every: Sequence[_Column]) -> None:
    """Name each column as most of its sessions do. Columns with more sessions choose first."""
    names, reports = Names(), Names(str.casefold, "_")
    for column in sorted(every, key=lambda column: -len(column.members)):
        column.name = names.claim(_most(step.name for step in column.members.values()) or "Step")
        report = _most(step.report for step in column.members.values())
        if report:
            column.report = replace(report, name=reports.claim(report.name))


_H = TypeVar("_H", bound=Hashable)


def _most(values: Iterable[_H | None]) -> _H | None:
    """Return the most frequent value (the first one in a tie), None if there is none."""
    counted = Counter(value for value in values if value)
    return max(counted, key=counted.__getitem__, default=None)


# --- branches --------------------------------------------------------------------------------------------------------


def _branch(every: Sequence[_Column], everyone: frozenset[str]) -> None:
    """Add a branch to each step that only some sessions have, or a remark if no earlier step can lead to it.

    The branch starts at the last earlier step that both these and other sessions have, preferably not a group.
    """
    nexts = _nexts(every)
    ends = [at + sum(1 for _ in _walk([column])) for at, column in enumerate(every)]
    gone_along = {id(part) for column in every for part in column.below if part.sessions == column.sessions}
    targets: dict[int, list[int]] = {}
    for at, column in enumerate(every):
        if id(column) in gone_along or column.sessions == everyone:
            continue
        before = [n for n in range(at) if ends[n] <= at and every[n].sessions > column.sessions]
        if before:
            source = max(before, key=lambda n: (not every[n].below, n))
            targets.setdefault(source, []).append(at)
        else:
            column.remarks.append(Remark(RemarkKind.ONLY_IN, _listed(column.sessions)))
    for source, found in targets.items():
        every[source].branches = list(_ways(every, source, found, nexts[source]))


def _nexts(every: Sequence[_Column]) -> list[dict[int, set[str]]]:
    """Return each column's next columns, with the sessions that continued there; `len(every)` is the end."""
    following: dict[str, int] = {}
    nexts: list[dict[int, set[str]]] = [{} for _ in every]
    for at in range(len(every) - 1, -1, -1):
        for session in every[at].members:
            nexts[at].setdefault(following.get(session, len(every)), set()).add(session)
            following[session] = at
    return nexts


def _ways(
    every: Sequence[_Column], source: int, targets: Sequence[int], nexts: Mapping[int, set[str]]
) -> Iterator[tuple[str, _Column]]:
    """Yield a condition for each target. If every session took a branch, the most common one is `Otherwise`."""
    went_on = any(at == len(every) or every[at].sessions >= every[source].sessions for at in nexts)
    main: set[str] = set()
    if not went_on:
        main = max(nexts.items(), key=lambda way: (len(way[1]), way[0]))[1]
    others = [at for at in targets if not every[at].sessions <= main]
    opened: dict[frozenset[str], str] = {}
    for at in others or targets:
        sessions = every[at].sessions
        opened[sessions] = _opening(every[at]) or opened.get(sessions) or _failure(every[source], sessions)
        when = opened[sessions] or f'"{contain_line(every[at].name)}" is needed'
        yield f"{_ARROW.sub(', ', when)} (as in {_listed(sessions)})", every[at]
    if others:
        yield from (("", every[at]) for at in targets if at not in others)


def _opening(column: _Column) -> str:
    """Return a condition that names the user's words that started this step, "" if there are none."""
    for step in column.members.values():
        for one in step.walk():
            for remark in one.remarks:
                if remark.kind is RemarkKind.ASKED and key_of(remark.text):
                    return f'the user says "{contain_line(cut(normal_line(remark.text), _LONGEST_WORDS))}"'
    return ""


def _failure(column: _Column, sessions: Iterable[str]) -> str:
    """Return a condition that names the last failure in this step in these sessions, "" if nothing failed."""
    for session in sorted(sessions):
        step = column.members[session]
        acts = [act for one in step.walk() for act in one.acts if act.outcome is Outcome.FAILED and key_of(act.what)]
        if acts:
            return f'"{contain_line(cut(normal_line(acts[-1].what), _LONGEST_WORDS))}" fails'
        if any(run.status in (RunStatus.FAILED, RunStatus.TIMEOUT) for run in step.runs):
            return f'"{contain_line(column.name)}" fails'
    return ""


def _listed(sessions: Iterable[str]) -> str:
    names = sorted(sessions)
    more = [f"{len(names) - _MOST_SESSIONS} more"] if len(names) > _MOST_SESSIONS else []
    return join_words([*names[:_MOST_SESSIONS], *more])


# --- steps -----------------------------------------------------------------------------------------------------------


class _Merger:
    """Merges columns into steps; `order` has the sessions in the given order."""

    def __init__(self, order: Sequence[str], every: Sequence[_Column]) -> None:
        self._order = order
        self._reports = {
            (session, step.report.name.casefold()): column.report
            for column in every
            for session, step in column.members.items()
            if step.report and column.report
        }

    def step(self, column: _Column) -> DraftStep:
        """Return the step for a column."""
        steps = list(column.members.values())
        below = tuple(self.step(part) for part in column.below)
        return DraftStep(
            column.name,
            _most(step.agent for step in steps),
            _most(step.channel for step in steps),
            max((step.grade for step in steps), key=_CARE.index),
            (*_not_below(_remarks(steps), below), *column.remarks),
            _acts(steps),
            column.report,
            tuple(dict.fromkeys(self._takes(column))),
            tuple(Branch(condition, target.name) for condition, target in column.branches),
            below,
            tuple(self._runs(column)),
        )

    def _takes(self, column: _Column) -> Iterator[Datum]:
        for session, step in column.members.items():
            for datum in step.takes:
                yield self._reports.get((session, datum.name.casefold())) or datum

    def _runs(self, column: _Column) -> Iterator[StepRun]:
        """Yield every run, with its own agent."""
        for session in self._order:
            step = column.members.get(session)
            if step:
                yield from (replace(run, agent=run.agent or step.agent) for run in step.runs)


def _remarks(steps: Sequence[DraftStep]) -> Iterator[Remark]:
    """Yield remarks without duplicates, preferring those with a reason."""
    by_text: defaultdict[tuple[RemarkKind, str], dict[str, Remark]] = defaultdict(dict)
    for remark in (remark for step in steps for remark in step.remarks):
        by_text[remark.kind, normal_line(remark.text)].setdefault(normal_line(remark.why), remark)
    for reasons in by_text.values():
        yield from (remark for why, remark in reasons.items() if why or len(reasons) == 1)


def _not_below(remarks: Iterable[Remark], below: Sequence[DraftStep]) -> Iterator[Remark]:
    """Yield the remarks that no step below has."""
    known = {
        (remark.kind, normal_line(remark.text), why)
        for child in below
        for one in child.walk()
        for remark in one.remarks
        for why in ("", normal_line(remark.why))
    }
    for remark in remarks:
        if (remark.kind, normal_line(remark.text), normal_line(remark.why)) not in known:
            yield remark


def _acts(steps: Sequence[DraftStep]) -> tuple[Act, ...]:
    """Return all acts without duplicates, preferring successful ones."""
    acts: dict[tuple[object, ...], Act] = {}
    for act in (act for step in steps for act in step.acts):
        key = (act.deed, act.what, act.reads, act.writes)
        if key not in acts or (act.outcome is Outcome.OK and acts[key].outcome is not Outcome.OK):
            acts[key] = act
    return tuple(acts.values())
