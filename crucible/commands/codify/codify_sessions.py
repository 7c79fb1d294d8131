"""Turn recorded sessions into one workflow: draft each session, redact it, align the drafts, assemble the steps.

The functions do no I/O and do not read the clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from typing import Any, Literal, TypeVar, cast

from crucible.analysis.tools.recorded_calls import RecordedCalls
from crucible.analysis.tools.tool_acts import Act, Deed
from crucible.commands.codify.alignment import align
from crucible.commands.codify.draft_steps import (
    CHANGING,
    NOISE,
    PROVING,
    STOPPED,
    Draft,
    DraftStep,
    Names,
    Node,
    Parameter,
    Remark,
    RemarkKind,
    StepRun,
    Stretch,
    is_merge,
    slug_of,
    tidy_name,
    work_name,
)
from crucible.commands.codify.generalize import repeatable_requests
from crucible.commands.codify.parameters import INPUTS, parameters_of, with_parameters
from crucible.commands.codify.session_tree import TreeBuilder
from crucible.commands.codify.step_commands import command_remarks
from crucible.commands.codify.workflow_assembly import assemble
from crucible.core.secrets.scanner import Redact
from crucible.core.text import cut_at_word
from crucible.documents.markdown.containment import normal_line, slug
from crucible.documents.session.session import AgentRef, Outcome, Session
from crucible.documents.session.titles import untagged
from crucible.documents.workflow.workflow import Datum, Grade, RunStatus, Workflow, key_of

_EXAMPLE = 80
"""Maximum code points of a parameter's example. Cut after redaction, since a truncated secret is not recognized."""


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """A session, all its subagents' sessions by id (None if missing), and a function that loads a session's calls."""

    session: Session
    children: Mapping[str, Session | None] = field(default_factory=dict)
    evidence: Callable[[str], RecordedCalls] = lambda _: RecordedCalls()


def codify(recorded: Sequence[RecordedSession], redact: Redact) -> Workflow:
    """Build one workflow from sessions, titled after the first.

    Sessions without work are dropped from the workflow's `sessions`. If no session has work, the workflow has no steps.
    """
    requests = [TreeBuilder(one.session, one.children, one.evidence).requests() for one in recorded]
    names = Counter(name for nodes in requests for name in {key_of(node.name) for node in nodes})
    again = {name for name, count in names.items() if count > 1}
    drafts = [
        _clean(draft_session(one.session, nodes, again), redact) for one, nodes in zip(recorded, requests, strict=True)
    ]
    drafts = [draft for draft in drafts if draft.steps] or drafts
    title = drafts[0].title if drafts else "Untitled"
    parameters = [one for draft in drafts for one in draft.parameters]
    sessions = list(dict.fromkeys(draft.session for draft in drafts))
    return assemble(title, align(drafts), sessions, parameters)


# --- one session -----------------------------------------------------------------------------------------------------


def draft_session(session: Session, nodes: list[Node], again: Collection[str] = ()) -> Draft:
    """Draft the steps of a session. `again` has the keys of requests that also occur in other sessions."""
    title = cut_at_word(normal_line(untagged(session.title)), 120) or "Untitled"
    kept, parameters, title = repeatable_requests(title, nodes, parameters_of(session, nodes), again)
    for node in kept:
        fold(node)
    kept = [*_worth_keeping(kept)] if kept == nodes else kept
    drafter = _Drafter(parameters)
    steps = tuple(drafter.step(node, 0) for node in kept)
    return Draft(title, steps, session.id, parameters)


def _worth_keeping(nodes: Sequence[Node]) -> Sequence[Node]:
    """Return the requests that did or delegated work, else those that only read, else those with findings.

    Returns at least one request.
    """
    worked = [node for node in nodes if not node.only_looked() or any(one.reports for one in node.walk())]
    looked = [node for node in nodes if node.parts]
    noted = [node for node in nodes if any(one.kind is not RemarkKind.ASKED for one in node.remarks)]
    return worked or looked or noted or nodes[:1]


class _Drafter:
    """Converts nodes to steps, in order.

    `_owed` has the reports that each agent (by number) received and has not used yet; `_last` has each agent's last
    output.
    """

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self._values = [one.value for one in parameters]
        self._names = Names()
        self._data = Names(str.casefold, "_")
        self._owed: dict[int, list[Datum]] = {}
        self._reports: dict[int, Datum] = {}
        self._last: dict[int, Datum] = {}

    def step(self, node: Node, above: int) -> DraftStep:
        """Return the step for a node; `above` is the number of the agent that receives the node's report."""
        own = list(_own(node, node.by))
        name = self._names.claim(_name(node, own) or "Step")
        report = None
        if node.reports:
            report = self._datum(name, "report", "Report")
            if above in self._last:
                self._last[node.by] = self._last[above]
        if report and own:
            self._reports[id(own[-1])] = report
        is_leaf = len(node.stretches()) == len(node.parts)
        step = self._leaf(node, name, own, report) if is_leaf else self._group(node, name)
        if node.reports:
            given = [report] if report and (is_leaf or own) else self._owed.pop(node.by, [])
            self._owed.setdefault(above, []).extend(given)
        return step

    def _leaf(self, node: Node, name: str, own: Sequence[Stretch], report: Datum | None) -> DraftStep:
        work = Stretch()
        for stretch in own:
            work.take(stretch)
        work.is_critical |= node.is_open
        report = report or (self._reports.get(id(own[-1])) if own else None)
        step = self._made(node, work, name, report)
        run = _run(node.run, node.agent, failed=node.failed())
        return replace(step, remarks=(*_remarks(node, name), *step.remarks), runs=(run,))

    def _group(self, node: Node, name: str) -> DraftStep:
        children = tuple(
            self.step(part, node.by) if isinstance(part, Node) else self._stretch(node, part) for part in node.parts
        )
        run = _run(node.run, node.agent, failed=node.failed())
        grade = Grade.CRITICAL if node.is_open else Grade.PLAIN
        remarks = _remarks(node, name)
        return DraftStep(name, node.agent, node.channel, grade, remarks, children=children, runs=(run,))

    def _stretch(self, node: Node, work: Stretch) -> DraftStep:
        name = self._names.claim(work_name(work.acts) or "Step")
        return self._made(node, work, name, self._reports.get(id(work)))

    def _made(self, node: Node, work: Stretch, name: str, report: Datum | None) -> DraftStep:
        """Return the step for a stretch of work."""
        report, takes = self._handed(name, node.by, work.acts, report)
        return DraftStep(
            name,
            node.agent,
            node.channel,
            Grade.CRITICAL if work.is_critical else Grade.PLAIN,
            tuple(command_remarks(work.acts, self._values)),
            tuple(work.acts),
            report,
            takes,
            runs=(_run(StepRun(node.run.session), node.agent, failed=work.last_failed),),
        )

    def _handed(
        self, name: str, by: int, acts: Sequence[Act], report: Datum | None
    ) -> tuple[Datum | None, tuple[Datum, ...]]:
        """Return the report and the inputs of work. Work that reads nothing takes the agent's last output."""
        takes = tuple(self._owed.pop(by, ())) if acts else ()
        if not takes and by in self._last and (acts or report) and not any(act.reads for act in acts):
            takes = (self._last[by],)
        report = report or self._findings(name, by, acts)
        made = [datum for act in acts for datum in act.writes]
        if report or made:
            self._last[by] = report or made[-1]
        return report, takes

    def _findings(self, name: str, by: int, acts: Sequence[Act]) -> Datum | None:
        """Return the findings of work that wrote no file, as input for the same agent's next work."""
        if not acts or any(act.writes for act in acts):
            return None
        is_run = any(act.deed is Deed.RUN for act in acts)
        found = self._datum(name, "output", "Text") if is_run else self._datum(name, "findings", "Notes")
        self._owed.setdefault(by, []).append(found)
        return found

    def _datum(self, name: str, kind: str, type_: str) -> Datum:
        return Datum(self._data.claim(slug_of(name, kind)), type_)


def _own(node: Node, by: int) -> Iterator[Stretch]:
    """Yield the stretches of work by a node's own agent, in the node and its sub-phases."""
    for part in node.parts:
        if isinstance(part, Stretch):
            yield part
        elif part.by == by:
            yield from _own(part, by)


def _name(node: Node, own: Sequence[Stretch]) -> str:
    """Name a node after its request, else after its work."""
    return tidy_name(node.name) or work_name([act for stretch in own for act in stretch.acts])


def _remarks(node: Node, name: str) -> tuple[Remark, ...]:
    """Return the node's remarks, except a prompt that equals the step's name."""
    return tuple(one for one in node.remarks if not (one.kind is RemarkKind.ASKED and _says(name, one.text)))


def _says(name: str, text: str) -> bool:
    """True if a text equals the name, ignoring punctuation at the end."""
    return normal_line(text).rstrip(" .!").casefold() == name.rstrip(" .!").casefold()


def _run(run: StepRun, agent: AgentRef | None, *, failed: bool) -> StepRun:
    return replace(run, status=RunStatus.FAILED if failed else RunStatus.SUCCESS, agent=agent)


# --- redaction -------------------------------------------------------------------------------------------------------

_T = TypeVar("_T")


def _clean(drafted: Draft, redact: Redact) -> Draft:
    """Redact a draft, and replace values with their parameters. Each text is scanned once."""

    @cache
    def clean(text: str) -> str:
        return redact(text)[0] if text else ""

    parameters = tuple(
        one._replace(value=cut_at_word(clean(one.value), _EXAMPLE) if one.name in INPUTS else one.value)
        for one in drafted.parameters
        if one.name in INPUTS or clean(one.value) == one.value
    )
    cleaner = _Cleaner(clean, parameters)
    steps = tuple(map(cleaner.step, drafted.steps))
    used = tuple(one for one in parameters if one.name in cleaner.used)
    return replace(drafted, title=clean(drafted.title), steps=steps, parameters=used)


class _Cleaner:
    """Redacts steps and keeps their names unique; `used` collects the parameters that occur in the text."""

    def __init__(self, clean: Callable[[str], str], parameters: Sequence[Parameter]) -> None:
        self._clean = clean
        self._parameters = parameters
        self._values = [one for one in parameters if one.name not in INPUTS]
        self._names = Names()
        self.used: set[str] = set()

    def step(self, step: DraftStep) -> DraftStep:
        """Redact a step and all steps below it."""
        remarks = tuple(self._text(one, self._filled) for one in step.remarks)
        taken = [one.name for one in self._parameters if any(f"{{{{{one.name}}}}}" in r.text for r in remarks)]
        self.used.update(taken)
        known = {datum.name for act in step.acts for datum in (*act.reads, *act.writes)}
        given = () if step.children else (Datum(name, "Text") for name in taken if name not in known)
        return replace(
            step,
            name=self._names.claim(tidy_name(self._clean(step.name)) or "Step"),
            agent=self._agent(step.agent),
            channel=self._word(step.channel, "channel"),
            remarks=remarks,
            acts=self._text(step.acts, self._clean),
            report=self._text(step.report, self._clean),
            takes=(*self._text(step.takes, self._clean), *given),
            children=tuple(map(self.step, step.children)),
            runs=tuple(replace(run, agent=self._agent(run.agent)) for run in step.runs),
        )

    def _filled(self, text: str) -> str:
        return with_parameters(self._clean(text), self._values)

    def _text(self, value: _T, clean: Callable[[str], str]) -> _T:
        """Clean all text in a value."""
        found: Any = value
        if isinstance(value, tuple):
            found = tuple(self._text(one, clean) for one in value)
        elif is_dataclass(value) and not isinstance(value, type):
            names = [one.name for one in fields(value)]
            found = replace(found, **{name: self._text(getattr(value, name), clean) for name in names})
        elif type(value) is str:
            found = clean(str(value))
        return cast("_T", found)

    def _agent(self, agent: AgentRef | None) -> AgentRef | None:
        if agent is None:
            return None
        return AgentRef(self._word(agent.name, "agent") or "agent", self._word(agent.version, "version"))

    def _word(self, text: str | None, kind: Literal["agent", "version", "channel"]) -> str | None:
        """Redact a word in a heading; the result is also a single word."""
        clean = self._clean(text or "")
        return text if not text or clean == text else slug(clean, kind) or None


def fold(node: Node) -> None:
    """Drop noise and dead ends from a node and its descendants, and join lookups with the next stretch of work."""
    for part in node.parts:
        if isinstance(part, Node):
            fold(part)
        else:
            part.acts = without_dead_ends(part.acts)
    node.parts = _joined([part for part in node.parts if isinstance(part, Node) or part.acts])


def _joined(parts: Sequence[Stretch | Node]) -> list[Stretch | Node]:
    """Move lookups into the next stretch that changed, ran or checked something, else into the last one.

    If only nodes below have such a stretch, the lookups are dropped.
    """
    own = [part for part in parts if isinstance(part, Stretch)]
    homes = [stretch for stretch in own if not stretch.only_looked()]
    if not homes and any(isinstance(part, Node) and not part.only_looked() for part in parts):
        return [part for part in parts if isinstance(part, Node)]
    homes = homes or own[:1]
    kept: list[Stretch | Node] = []
    looked = Stretch()
    for part in parts:
        if isinstance(part, Stretch) and not any(part is home for home in homes):
            looked.take(part)
            continue
        if isinstance(part, Stretch):
            part.take(looked, before=True)
            looked = Stretch()
        kept.append(part)
    if looked.acts:
        homes[-1].take(looked)
    return kept


_Key = tuple[Act | Deed, str, int]


def without_dead_ends(acts: Iterable[Act]) -> list[Act]:
    """Return acts without noise, repeats and dead ends. Each check occurs once, and again after each merge.

    Dead ends are refused or failed calls, and reverted edits.
    """
    kept: dict[_Key, Act] = {}
    merges = 0
    for act in acts:
        if act.deed in NOISE or act.outcome in STOPPED:
            continue
        if act.deed in PROVING:  # keep the last run
            _keep_last(kept, (act.deed, act.what, merges), act)
        elif act.deed is Deed.REVERT:
            gone = set(act.writes)
            kept = {key: one for key, one in kept.items() if one.deed not in CHANGING or not set(one.writes) <= gone}
        elif act.outcome is not Outcome.FAILED:
            merges += is_merge(act)
            if act.deed is Deed.RUN:  # keep the last run, such as the last `git push`
                _keep_last(kept, (act, "", 0), act)
            kept.setdefault((act, "", 0), act)
    return list(kept.values())


def _keep_last(kept: dict[_Key, Act], key: _Key, act: Act) -> None:
    kept.pop(key, None)
    kept[key] = act
