"""One session as steps: the tree that a workflow is made of, before data flow.

Decides names, grades and figures, and which step takes whose report.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from crucible.analysis.tools.tool_acts import Act, Deed
from crucible.analysis.tools.whole_calls import Evidence
from crucible.commands.codify.draft_steps import DraftStep, Figures, Remark, RemarkKind
from crucible.commands.codify.parameters import Parameter, parameters_of
from crucible.commands.codify.repeatable import repeated
from crucible.commands.codify.session_tree import Teller
from crucible.commands.codify.step_titles import Names, slug_of, tidy_name, work_name
from crucible.commands.codify.stretches import Figured, Node, Stretch, fold
from crucible.commands.codify.work_lines import lines_of
from crucible.documents.markdown.containment import normal_line
from crucible.documents.session.session import AgentRef, Session
from crucible.documents.session.titles import shortened, untagged
from crucible.documents.workflow.workflow import Datum, Grade, RunStatus


@dataclass(frozen=True, slots=True)
class Drafted:
    """A session as steps."""

    title: str
    steps: tuple[DraftStep, ...]
    session: str
    parameters: tuple[Parameter, ...] = ()


def told_of(
    session: Session, children: Mapping[str, Session | None], evidence: Callable[[str], Evidence]
) -> list[Node]:
    """A session's requests with what was done in each; never raises for what a session holds.

    `children` has the sessions of its subagents at any depth by id, None for a missing one; `evidence` gives the records of a session.
    """
    return Teller(session, children, evidence).requests()


def draft_session(session: Session, nodes: list[Node], again: Collection[str] = ()) -> Drafted:
    """A session's steps; `again` are the keys of requests that other sessions have too."""
    title = shortened(normal_line(untagged(session.title)), 120) or "Untitled"
    kept, parameters, title = repeated(title, nodes, parameters_of(session, nodes), again)
    for node in kept:
        fold(node)
    kept = [*_worth_telling(kept)] if kept == nodes else kept
    drafter = _Drafter(parameters)
    steps = tuple(drafter.step(node, 0) for node in kept)
    return Drafted(title, steps, session.id, parameters)


def _worth_telling(nodes: Sequence[Node]) -> Sequence[Node]:
    """Requests that changed, ran or checked something, or delegated; else those that looked; else those with findings; at least one."""
    worked = [node for node in nodes if not node.only_looked() or any(one.reports for one in node.walk())]
    looked = [node for node in nodes if node.parts]
    told = [node for node in nodes if any(one.kind is not RemarkKind.ASKED for one in node.remarks)]
    return worked or looked or told or nodes[:1]


class _Drafter:
    """Makes steps of nodes in order.

    `owed` are the reports that an agent, by its number, was given and has not used; `last` is what it made last.
    """

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self._values = [one.value for one in parameters]
        self._names = Names()
        self._data = Names(str.casefold, "_")
        self._owed: dict[int, list[Datum]] = {}
        self._reports: dict[int, Datum] = {}
        self._last: dict[int, Datum] = {}

    def step(self, node: Node, above: int) -> DraftStep:
        """A node's step; `above` is the agent that gets its report."""
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
        run = _run(node.whole, node.agent, failed=node.failed())
        return replace(step, remarks=(*_remarks(node, name), *step.remarks), runs=(run,))

    def _group(self, node: Node, name: str) -> DraftStep:
        children = tuple(
            self.step(part, node.by) if isinstance(part, Node) else self._stretch(node, part) for part in node.parts
        )
        run = _run(node.whole, node.agent, failed=node.failed())
        grade = Grade.CRITICAL if node.is_open else Grade.PLAIN
        remarks = _remarks(node, name)
        return DraftStep(name, node.agent, node.channel, grade, remarks, children=children, runs=(run,))

    def _stretch(self, node: Node, work: Stretch) -> DraftStep:
        name = self._names.claim(work_name(work.acts) or "Step")
        return self._made(node, work, name, self._reports.get(id(work)))

    def _made(self, node: Node, work: Stretch, name: str, report: Datum | None) -> DraftStep:
        """The step of a stretch."""
        report, takes = self._handed(name, node.by, work.acts, report)
        return DraftStep(
            name,
            node.agent,
            node.channel,
            Grade.CRITICAL if work.is_critical else Grade.PLAIN,
            tuple(lines_of(work.acts, self._values)),
            tuple(work.acts),
            report,
            takes,
            runs=(_run(Figured(node.whole.session), node.agent, failed=work.last_failed),),
        )

    def _handed(
        self, name: str, by: int, acts: Sequence[Act], report: Datum | None
    ) -> tuple[Datum | None, tuple[Datum, ...]]:
        """What work hands on beside its files, and what it was handed; work that takes nothing else takes what was made last."""
        takes = tuple(self._owed.pop(by, ())) if acts else ()
        if not takes and by in self._last and (acts or report) and not any(act.reads for act in acts):
            takes = (self._last[by],)
        report = report or self._findings(name, by, acts)
        made = [datum for act in acts for datum in act.writes]
        if report or made:
            self._last[by] = report or made[-1]
        return report, takes

    def _findings(self, name: str, by: int, acts: Sequence[Act]) -> Datum | None:
        """What work that left no file found out, for the same agent's next work."""
        if not acts or any(act.writes for act in acts):
            return None
        is_run = any(act.deed is Deed.RUN for act in acts)
        found = self._datum(name, "output", "Text") if is_run else self._datum(name, "findings", "Notes")
        self._owed.setdefault(by, []).append(found)
        return found

    def _datum(self, name: str, kind: str, type_: str) -> Datum:
        return Datum(self._data.claim(slug_of(name, kind)), type_)


def _own(node: Node, by: int) -> Iterator[Stretch]:
    """The stretches of a node, and of its sub-phases, that are its own agent's work."""
    for part in node.parts:
        if isinstance(part, Stretch):
            yield part
        elif part.by == by:
            yield from _own(part, by)


def _name(node: Node, own: Sequence[Stretch]) -> str:
    """The request; else what was done."""
    return tidy_name(node.name) or work_name([act for stretch in own for act in stretch.acts])


def _remarks(node: Node, name: str) -> tuple[Remark, ...]:
    """The remarks that a step's heading does not say already."""
    return tuple(one for one in node.remarks if not (one.kind is RemarkKind.ASKED and _says(name, one.text)))


def _says(name: str, text: str) -> bool:
    """Whether a name is all that a text says, but for the mark at its end."""
    return normal_line(text).rstrip(" .!").casefold() == name.rstrip(" .!").casefold()


def _run(whole: Figured, agent: AgentRef | None, *, failed: bool) -> Figures:
    status = RunStatus.FAILED if failed else RunStatus.SUCCESS
    return Figures(whole.session, status, agent, whole.started, whole.duration_ms, whole.tokens)
