"""Convert a session's phases and subagents to nodes with their work and findings.

A prompt that only answers, continues or corrects belongs to the request before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from crucible.analysis.tools.recorded_calls import RecordedCalls
from crucible.analysis.tools.session_files import Files
from crucible.analysis.tools.tool_acts import Act, Deed
from crucible.analysis.tools.tool_calls import acts_of
from crucible.commands.codify.draft_steps import CONFLICT, NOISE, PROVING, STOPPED, Node, Remark, RemarkKind, StepRun
from crucible.documents.markdown.containment import cut, normal_line, slug
from crucible.documents.recording.entry_texts import split_ending
from crucible.documents.recording.verdicts import verdict
from crucible.documents.session.findings import Finding, Kind, Source, findings_by_phase, quotes_words
from crucible.documents.session.session import (
    Callout,
    Entry,
    Failure,
    Intervention,
    Mode,
    Outcome,
    Phase,
    Prose,
    Session,
    Subagent,
    ToolCall,
    ToolCalls,
)
from crucible.documents.session.titles import UNTITLED, prompt_name, untagged
from crucible.documents.workflow.workflow import key_of

_REMARKS = {
    Kind.DECISION: RemarkKind.DECIDED,
    Kind.CORRECTION: RemarkKind.CONSTRAINT,
    Kind.FAILURE: RemarkKind.LEARNED,
    Kind.ENVIRONMENT: RemarkKind.LEARNED,
    Kind.OUTCOME: RemarkKind.DID,
}
_ORDER = [*_REMARKS]


def add_findings(node: Node, found: Sequence[Finding]) -> None:
    """Add a phase's findings, except open ends, reports and commits. Commits are commands."""
    kept = [one for one in found if one.kind in _ORDER and one.source != Source.COMMIT]
    corrected = {normal_line(one.summary).strip('"') for one in kept if one.kind == Kind.CORRECTION}
    kept = [one for one in kept if one.kind != Kind.DECISION or one.summary not in corrected]
    for one in sorted(kept, key=lambda one: _ORDER.index(Kind(one.kind))):
        node.add(_remark(one))


def _remark(one: Finding) -> Remark:
    why = "; ".join(
        f"{label}: {normal_line(text)}" if label else normal_line(text)
        for label, text in (
            ("why" if one.kind == Kind.DECISION else "", one.details),
            ("cause", one.cause),
            ("fixed by", one.resolution),
            ("by", one.by),
        )
        if text
    )
    return Remark(_REMARKS[Kind(one.kind)], one.summary, why, one.id, one.points)


DEEPEST = 4
"""Maximum levels of steps below the first, since a heading has at most six marks."""
_FEW = 2
"""Maximum words of a prompt that names no work, such as `go on`, `yes please` or `thanks`."""
_LONGEST, _SHORT = 4000, 120
_ANSWERS = frozenset({Source.REPLY, Source.OPTION})
_CONFLICT = ("CONFLICT (", "Automatic merge failed")
"""Git's output for a merge with conflicts."""


class _Target(NamedTuple):
    """The node that entries are added to, its depth, and the session and records that the entries come from."""

    node: Node
    depth: int
    evidence: RecordedCalls
    session: Session


class TreeBuilder:
    """Builds the nodes for one session and its subagents."""

    def __init__(
        self, session: Session, children: Mapping[str, Session | None], evidence: Callable[[str], RecordedCalls]
    ) -> None:
        self._session = session
        self._children = children
        self._evidence = evidence
        self._files = Files()
        self._seen = {session.id}
        self._agents = 0

    def requests(self) -> list[Node]:
        """Return the session's work by request."""
        return self._requests(self._session, 0, self._next_agent())

    def _next_agent(self) -> int:
        self._agents += 1
        return self._agents

    # --- phases ------------------------------------------------------------------------------------------------------

    def _requests(self, session: Session, depth: int, by: int) -> list[Node]:
        evidence, found = self._evidence(session.id), findings_by_phase(session)
        nodes: list[Node] = []
        for phase in _phases_of(session):
            findings, words = found.get(phase.id, ()), _first_words(phase)
            run = _phase_run(self._session.id, phase)
            name = _phase_name(phase, words)
            before = _before(nodes, phase, words, findings) if words else None
            if before is not None:
                nodes = _absorbed(nodes, before)
                nodes[-1].run = nodes[-1].run.plus(run)
                nodes[-1].is_late |= nodes[-1].only_looked()
            else:
                nodes.append(Node(name, by, run, phase.agent, phase.channel))
                _ask(nodes[-1], words)
            self._phase(_Target(nodes[-1], depth, evidence, session), phase, found)
        return nodes

    def _phase(self, at: _Target, phase: Phase, found: Mapping[str, Sequence[Finding]]) -> None:
        self._own(at, phase, found)
        is_alone = len(phase.subphases) == 1 and not at.node.has_work()
        for sub in phase.subphases:
            if at.depth >= DEEPEST or (is_alone and _is_task(at.session, sub)):
                self._own(at, sub, found)
                continue
            node = at.node
            run = _phase_run(self._session.id, sub)
            if phase.tokens is not None:  # a phase's tokens include those of its sub-phases
                run = replace(run, tokens=None)
            below = Node(sub.name, node.by, run, sub.agent or node.agent, sub.channel or node.channel)
            self._own(at._replace(node=below, depth=at.depth + 1), sub, found)
            node.parts.append(below)

    def _own(self, at: _Target, phase: Phase, found: Mapping[str, Sequence[Finding]]) -> None:
        add_findings(at.node, found.get(phase.id, ()))
        self._entries(at, phase.entries)

    # --- entries -----------------------------------------------------------------------------------------------------

    def _entries(self, at: _Target, entries: Sequence[Entry]) -> None:
        """Add entries. The work of subagents too deep for their own step comes last."""
        waiting = [(at, entries)]
        for here, part in waiting:
            for entry in part:
                match entry:
                    case Subagent() if here.depth < DEEPEST:
                        self._delegated(here, entry)
                    case Subagent():
                        waiting += self._deep(here, entry)
                    case ToolCalls():
                        for call in entry.calls:
                            self._call(here, call)
                    case Failure():
                        here.node.is_open |= not entry.resolution
                    case _:
                        pass

    def _deep(self, at: _Target, entry: Subagent) -> Iterator[tuple[_Target, Sequence[Entry]]]:
        child = self._child(entry) if self._is_new(entry) else None
        if child:
            yield at._replace(evidence=self._evidence(child.id), session=child), tuple(child.all_entries())
        elif entry.mode is Mode.INLINE:
            yield at, entry.entries

    def _is_new(self, entry: Subagent) -> bool:
        """Return False for a second callout that links to the same note."""
        is_new = entry.mode is Mode.INLINE or not entry.link or entry.link not in self._seen
        self._seen.add(entry.link or "")
        return is_new

    def _call(self, at: _Target, call: ToolCall) -> None:
        acts = _judged(acts_of(call, at.evidence, self._files), call, at.evidence)
        stretch = at.node.stretch()
        stretch.acts += acts
        if any(act.deed not in NOISE for act in acts):
            stretch.last_failed = acts[-1].outcome is not Outcome.OK
        stretch.is_critical |= any(act.deed in PROVING and act.outcome is Outcome.FAILED for act in acts)

    # --- subagents ---------------------------------------------------------------------------------------------------

    def _delegated(self, at: _Target, entry: Subagent) -> None:
        """Add a subagent's work as a node below."""
        if not self._is_new(entry):
            return
        child = self._child(entry)
        shown, ended = split_ending(entry.text)
        task = untagged(_task(entry, child, shown))
        tokens = next((r.tokens for r in at.session.subagents if r.session == entry.link), None)
        run = _subagent_run(self._session.id, child, tokens)
        channel = _channel(child) or at.node.channel
        node = Node(_agent_name(task, entry), self._next_agent(), run, entry.agent, channel, reports=True)
        node.is_open = ended is not Outcome.OK
        node.about = untagged(child.title if child else entry.task or "")
        _ask(node, task)
        below = at._replace(node=node, depth=at.depth + 1)
        if child is None:
            self._entries(below, entry.entries)
        else:
            self._child_phases(below, child)
        at.node.parts.append(node)

    def _child(self, entry: Subagent) -> Session | None:
        return None if entry.mode is Mode.INLINE else self._children.get(entry.link or "")

    def _child_phases(self, at: _Target, child: Session) -> None:
        """Add a subagent's phases. A single phase becomes the step itself; several become steps below it."""
        own = [phase for phase in _phases_of(child) if phase.entries or phase.subphases]
        if len(own) <= 1 or at.depth >= DEEPEST:
            found = findings_by_phase(child)
            here = at._replace(evidence=self._evidence(child.id), session=child)
            for phase in own:
                self._phase(here, phase, found)
            return
        below = self._requests(child, at.depth + 1, at.node.by)
        at.node.parts += below
        counted = [node.run.tokens for node in below if node.run.tokens is not None]
        if counted:  # otherwise they would be counted twice
            rest = (at.node.run.tokens or 0) - sum(counted)
            at.node.run = replace(at.node.run, tokens=rest if rest > 0 else None)


# --- calls -----------------------------------------------------------------------------------------------------------


def _judged(acts: Sequence[Act], call: ToolCall, evidence: RecordedCalls) -> tuple[Act, ...]:
    """Add the verdict from a call's output to its last check, or to its only command, which then counts as a test."""
    result = evidence.result(call)
    if call.outcome is Outcome.FAILED and any(mark in (result or call.result) for mark in _CONFLICT):
        return tuple(replace(act, outcome=Outcome.OK, verdict=CONFLICT) for act in acts)
    checks = [at for at, act in enumerate(acts) if act.deed in PROVING]
    runs = [at for at, act in enumerate(acts) if act.deed is Deed.RUN]
    at = checks[-1] if checks else runs[0] if len(runs) == 1 else -1
    if at < 0 or call.outcome in STOPPED:
        return tuple(acts)
    found = verdict(result or "", is_whole=True, failed=call.outcome is Outcome.FAILED)
    if not found.text:
        return tuple(acts)
    outcome = Outcome.FAILED if found.is_red else acts[at].outcome
    deed = acts[at].deed if checks else Deed.TEST
    judged = replace(acts[at], deed=deed, outcome=outcome, verdict=cut(normal_line(found.text), _SHORT))
    return (*acts[:at], judged, *acts[at + 1 :])


# --- requests --------------------------------------------------------------------------------------------------------


def _ask(node: Node, words: str) -> None:
    if words:
        node.add(Remark(RemarkKind.ASKED, cut(untagged(words), _LONGEST)))


def _before(nodes: Sequence[Node], phase: Phase, words: str, found: Sequence[Finding]) -> int | None:
    """Return the position of the request that a prompt continues, None for a new one.

    If the prompt answers a proposal, questions in between are skipped.
    """
    if not nodes or not _goes_on(nodes[-1], phase, words, found):
        return _same_request(nodes, phase.name)
    at = len(nodes) - 1
    while at and nodes[at].only_looked() and nodes[at - 1].only_looked() and _is_question(nodes[at]):
        at -= 1
    return at


def _is_question(node: Node) -> bool:
    return any(one.kind is RemarkKind.ASKED and one.text.rstrip().endswith("?") for one in node.remarks)


def _same_request(nodes: Sequence[Node], name: str) -> int | None:
    """Return the position of an earlier request with this name if only lookups follow, as for repeated plans."""
    for at in reversed(range(len(nodes))):
        if key_of(nodes[at].name) == key_of(name):
            return at
        if not nodes[at].only_looked():
            return None
    return None


def _absorbed(nodes: Sequence[Node], at: int) -> list[Node]:
    """Return the requests up to a position, with all later ones merged into the last."""
    kept, first = list(nodes[: at + 1]), nodes[at]
    for node in nodes[at + 1 :]:
        first.run = first.run.plus(node.run)
        first.parts += node.parts
        for remark in node.remarks:
            if remark.kind is not RemarkKind.ASKED:
                first.add(remark)
    return kept


def _first_words(phase: Phase) -> str:
    first = next((entry for entry in phase.entries if not isinstance(entry, Prose)), None)
    return first.words if isinstance(first, Intervention) else ""


def _phase_name(phase: Phase, words: str) -> str:
    """Return a phase's name; if the name has no words, return one made from the prompt."""
    name = untagged(phase.name)
    return prompt_name(words) if words and (name == UNTITLED or not any(map(str.isalnum, name))) else name


def _goes_on(before: Node, phase: Phase, words: str, found: Sequence[Finding]) -> bool:
    """True if a prompt corrects the request before it, answers its proposal, or names no work of its own."""
    if any(one.kind == Kind.CORRECTION and quotes_words(one, words) for one in found):
        return True
    if before.only_looked() and any(one.kind == Kind.DECISION and one.source in _ANSWERS for one in found):
        return True
    own, name = key_of(prompt_name(words)), key_of(phase.name)
    is_few = len(words.split()) <= _FEW and not words.startswith("/")
    return bool(own) and name.endswith(own) and (is_few or own != name)


def _phases_of(session: Session) -> Sequence[Phase]:
    """Return a session's phases. Work before the first phase is added to that phase."""
    loose = tuple(entry for entry in session.preamble if not isinstance(entry, Prose | Callout))
    if not loose:
        return session.phases
    if not session.phases:
        return (Phase(session.title, entries=loose),)
    first, *rest = session.phases
    return (replace(first, entries=(*loose, *first.entries)), *rest)


def _is_task(session: Session, phase: Phase) -> bool:
    return any(key_of(task.content) == key_of(phase.name) for task in session.tasks)


# --- subagents and figures -------------------------------------------------------------------------------------------


def _task(entry: Subagent, child: Session | None, shown: str) -> str:
    """Return a subagent's task as far as known; `shown` is the callout's text."""
    if child is None:
        return entry.task or shown
    text = "\n".join(part.text for part in child.preamble if isinstance(part, Prose))
    return text or entry.task or child.title or shown


def _agent_name(task: str, entry: Subagent) -> str:
    name = prompt_name(task) if task else ""
    return name if any(map(str.isalnum, name)) and name != UNTITLED else f"Work of {entry.agent.name}"


def _channel(child: Session | None) -> str | None:
    """Return a note's channel in the format of a heading."""
    return (slug(child.channel, "channel") or None) if child and child.channel else None


def _phase_run(session: str, phase: Phase) -> StepRun:
    start, end = phase.started, phase.ended
    took = int((end - start).total_seconds() * 1000) if start and end and end >= start else None
    return StepRun(session, started=start, duration_ms=took, tokens=phase.tokens)


def _subagent_run(session: str, child: Session | None, tokens: int | None) -> StepRun:
    """Return the figures from a subagent's own note, else from the parent's."""
    if child is None:
        return StepRun(session, tokens=tokens)
    known = child.duration()
    took = int(known.total_seconds() * 1000) if known is not None else None
    used = child.tokens_used if child.tokens_used is not None else tokens
    return StepRun(session, started=child.started, duration_ms=took, tokens=used)
