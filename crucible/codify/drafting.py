"""One session as steps: the tree that a workflow is made of, before data flow and prose.

Owns names, grades, figures and who is handed whose report.  What a session says is read by `telling` and folded by
`stretches`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from crucible.acts.evidence import Evidence
from crucible.acts.model import Act, Deed
from crucible.codify.model import DraftStep, Figures, Remark, RemarkKind
from crucible.codify.stretches import Figured, Node, Stretch, fold
from crucible.codify.telling import Teller
from crucible.codify.titling import Names, slug_of, tidy_name, work_name
from crucible.note.contain import normal_line
from crucible.session.model import AgentRef, Session
from crucible.session.titles import prompt_name, shortened, untagged
from crucible.workflow.model import Datum, Grade, RunStatus

__all__ = ["Drafted", "draft_session"]


@dataclass(frozen=True, slots=True)
class Drafted:
    """A session as steps.  `whole` is false when a subagent's note, or records of what was done, are missing."""

    title: str
    steps: tuple[DraftStep, ...]
    session: str
    whole: bool = True


def draft_session(
    session: Session, children: Mapping[str, Session | None], evidence: Callable[[str], Evidence]
) -> Drafted:
    """A session's steps; whatever a session holds, this does not fail.

    `children` has the sessions of its subagents at any depth by id, None for one that is not there; `evidence` gives what is
    known of a session's calls beyond its note.
    """
    teller = Teller(session, children, evidence)
    nodes = teller.phases()
    for node in nodes:
        fold(node)
    drafter = _Drafter()
    steps = tuple(drafter.step(node, 0) for node in _worth_telling(nodes))
    title = shortened(normal_line(untagged(session.title)), 120) or "Untitled"
    return Drafted(title, steps, session.id, teller.whole)


def _worth_telling(nodes: Sequence[Node]) -> Sequence[Node]:
    """Drop phases in which the user only said something and nothing was done; keep at least one."""
    return [node for node in nodes if not _is_talk(node)] or nodes[:1]


def _is_talk(node: Node) -> bool:
    remarks = node.opening.remarks
    return not node.parts and bool(remarks) and all(one.kind is RemarkKind.ASKED for one in remarks)


class _Drafter:
    """Makes steps of nodes in order.

    `owed` are the reports that whoever works by a number was given and has not used, `last` what they made last.
    """

    def __init__(self) -> None:
        self._names = Names()
        self._data = Names(str.casefold, "_")
        self._owed: dict[int, list[Datum]] = {}
        self._reports: dict[int, Datum] = {}
        self._last: dict[int, Datum] = {}

    def step(self, node: Node, above: int) -> DraftStep:
        """A node's step; `above` is who is given what it reports."""
        own = list(_own(node, node.by))
        name = self._names.claim(tidy_name(node.name) or _told_name(node, own) or "Step")
        report = None
        if node.reports:
            report = self._datum(name, "report", "Report")
            if above in self._last:
                self._last[node.by] = self._last[above]
        if report and own:
            self._reports[id(own[-1])] = report
        is_leaf = all(isinstance(part, Stretch) for part in node.parts)
        step = self._leaf(node, name, own, report) if is_leaf else self._group(node, name)
        if node.reports:
            given = [report] if report and (is_leaf or own) else self._owed.pop(node.by, [])
            self._owed.setdefault(above, []).extend(given)
        return step

    def _leaf(self, node: Node, name: str, own: Sequence[Stretch], report: Datum | None) -> DraftStep:
        work = Stretch(remarks=list(node.opening.remarks), is_critical=node.opening.is_critical)
        for stretch in own:
            work.take(stretch)
        report = report or (self._reports.get(id(own[-1])) if own else None)
        report, takes = self._handed(name, node.by, work.acts, report)
        return DraftStep(
            name,
            node.agent,
            node.channel,
            _grade(work),
            _remarks(name, work.remarks),
            tuple(work.acts),
            report,
            takes,
            runs=(_run(node.whole, node.agent, failed=node.failed()),),
        )

    def _group(self, node: Node, name: str) -> DraftStep:
        children = tuple(
            self.step(part, node.by) if isinstance(part, Node) else self._stretch(node, part)
            for part in node.parts
        )
        return DraftStep(
            name,
            node.agent,
            node.channel,
            _grade(node.opening),
            _remarks(name, node.opening.remarks),
            children=children,
            runs=(_run(node.whole, node.agent, failed=node.failed()),),
        )

    def _stretch(self, node: Node, work: Stretch) -> DraftStep:
        name = self._names.claim(work_name(work.acts) or "Step")
        report, takes = self._handed(name, node.by, work.acts, self._reports.get(id(work)))
        return DraftStep(
            name,
            node.agent,
            node.channel,
            _grade(work),
            _remarks(name, work.remarks),
            tuple(work.acts),
            report,
            takes,
            runs=(_run(Figured(node.whole.session), node.agent, failed=work.failed),),
        )

    def _handed(
        self, name: str, by: int, acts: Sequence[Act], report: Datum | None
    ) -> tuple[Datum | None, tuple[Datum, ...]]:
        """What work hands on beside its files, and what it was handed.

        Work that takes nothing else goes on from what was made last: it would not have been done before that.
        """
        takes = tuple(self._owed.pop(by, ())) if acts else ()
        if not takes and by in self._last and (acts or report) and not any(act.reads for act in acts):
            takes = (self._last[by],)
        report = report or self._findings(name, by, acts)
        made = [datum for act in acts for datum in act.writes]
        if report or made:
            self._last[by] = report or made[-1]
        return report, takes

    def _findings(self, name: str, by: int, acts: Sequence[Act]) -> Datum | None:
        """Work that left no file behind hands on what it found: to whoever did it, for the next work."""
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


def _told_name(node: Node, own: Sequence[Stretch]) -> str:
    """A name for what has none: by what was asked, else by what was done."""
    asked = next((r.text for r in node.opening.remarks if r.kind is RemarkKind.ASKED), "")
    return (tidy_name(prompt_name(asked)) if asked else "") or work_name([a for s in own for a in s.acts])


def _grade(work: Stretch) -> Grade:
    return Grade.CRITICAL if work.is_critical else Grade.PLAIN


def _remarks(name: str, remarks: Sequence[Remark]) -> tuple[Remark, ...]:
    """What a step's heading does not say already."""
    return tuple(r for r in remarks if r.kind is not RemarkKind.ASKED or not _says(name, r.text))


def _says(name: str, text: str) -> bool:
    """Whether a name is all that a text says, but for the mark at its end."""
    return normal_line(text).rstrip(" .!").casefold() == name.rstrip(" .!").casefold()


def _run(whole: Figured, agent: AgentRef | None, *, failed: bool) -> Figures:
    status = RunStatus.FAILED if failed else RunStatus.SUCCESS
    return Figures(whole.session, status, agent, whole.started, whole.duration_ms, whole.tokens)
