"""A session's entries as nodes: phases, sub-phases and subagents' work, each with what was done and said in it.

Owns what of an entry counts, which work a correction is about, how deep steps go and that no subagent is read twice.  What is
noise is `stretches`'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from crucible.acts.evidence import Evidence
from crucible.acts.files import Files
from crucible.acts.model import Act
from crucible.acts.reading import acts_of
from crucible.acts.touching import leads_out
from crucible.codify.model import Remark, RemarkKind
from crucible.codify.stretches import NOISE, PROVING, Figured, Node, Stretch
from crucible.note.contain import cut, normal_line, slug
from crucible.session.endings import part_ending
from crucible.session.findings import Finding, Kind, findings_of, is_said_in
from crucible.session.model import (
    Callout,
    Decision,
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
from crucible.session.titles import UNTITLED, prompt_name, untagged
from crucible.workflow.model import key_of

__all__ = ["DEEPEST", "Teller"]

DEEPEST = 4
"""Levels of steps below the first: a heading has six marks at most, and the first step has two."""
_FEW = 2
"""User prompts that name no work: `go on`, `yes please`, `thanks`."""
_LONGEST = 300
_STOPPED = frozenset({Outcome.REJECTED, Outcome.INTERRUPTED})


class Teller:
    """Reads one session and the subagents below it; `whole` is false when one of them, or what it did, is not there."""

    def __init__(
        self, session: Session, children: Mapping[str, Session | None], evidence: Callable[[str], Evidence]
    ) -> None:
        self._session = session
        self._children = children
        self._load = evidence
        self._files = Files()
        self._seen = {session.id}
        self._people = 0
        self._corrections: dict[str, list[Finding]] = {}
        self.whole = True

    def phases(self) -> list[Node]:
        """The session's work, phase by phase; phases that only went on with the one before are part of it."""
        return self._phases(self._session, 0, self._who())

    def _who(self) -> int:
        self._people += 1
        return self._people

    # --- phases ------------------------------------------------------------------------------------------------------

    def _phases(self, session: Session, depth: int, by: int) -> list[Node]:
        evidence = self._evidence(session.id)
        nodes: list[Node] = []
        for phase in _phases_of(session):
            figured = _figured(self._session.id, phase)
            if nodes and _goes_on(phase):
                nodes[-1].whole.add(figured)
            else:
                nodes.append(Node(_phase_name(phase), by, figured, phase.agent, phase.channel))
            told = _Told(nodes[-1], depth, evidence, session, nodes[:-1])
            self._phase(told, phase)
        return nodes

    def _phase(self, told: _Told, phase: Phase) -> None:
        self._entries(told, phase.entries)
        is_alone = len(phase.subphases) == 1 and not told.node.has_work()
        for sub in phase.subphases:
            if told.depth >= DEEPEST or (is_alone and _is_task(told.session, sub)):
                self._entries(told, sub.entries)
                continue
            node = told.node
            agent = sub.agent or node.agent
            figured = _figured(self._session.id, sub)
            if phase.tokens is not None:  # a phase's tokens are those of its sub-phases too
                figured.tokens = None
            below = Node(sub.name, node.by, figured, agent, sub.channel or node.channel)
            self._entries(told.below(below), sub.entries)
            node.parts.append(below)

    def _evidence(self, session_id: str) -> Evidence:
        found = self._load(session_id)
        self.whole = self.whole and found.whole
        return found

    # --- entries -----------------------------------------------------------------------------------------------------

    def _entries(self, told: _Told, entries: Sequence[Entry]) -> None:
        for entry in entries:
            match entry:
                case Subagent() if told.depth < DEEPEST:
                    self._delegated(told, entry)
                case Subagent():
                    self._flattened(told, entry)
                case ToolCalls():
                    for call in entry.calls:
                        self._call(told, call)
                case Intervention():
                    _words(told, entry.words, is_correction=self._is_correction(told.session, entry.words))
                case _:
                    _remark(told.node.stretch(), entry)

    def _is_correction(self, session: Session, words: str) -> bool:
        if session.id not in self._corrections:
            found = [one for one in findings_of(session) if one.kind == Kind.CORRECTION]
            self._corrections[session.id] = found
        return any(is_said_in(one, words) for one in self._corrections[session.id])

    def _call(self, told: _Told, call: ToolCall) -> None:
        stretch = told.node.stretch()
        acts = acts_of(call, told.evidence, self._files)
        stretch.acts += acts
        if call.outcome in _STOPPED:
            stretch.is_critical = True
        if any(act.deed not in NOISE for act in acts):
            stretch.last_failed = call.outcome is not Outcome.OK
        for act in acts:
            _proof(stretch, act, call)

    # --- subagents ---------------------------------------------------------------------------------------------------

    def _delegated(self, told: _Told, entry: Subagent) -> None:
        """A subagent's work as a node below; one that was read already did nothing new."""
        if entry.mode is not Mode.INLINE and entry.link:
            if entry.link in self._seen:
                return
            self._seen.add(entry.link)
        child = self._child(entry)
        by = self._who()
        told_of, ended = part_ending(entry.text)
        task = untagged(_task(entry, child, told_of))
        tokens = next((r.tokens for r in told.session.subagents if r.session == entry.link), None)
        whole = _whole(self._session.id, child, tokens)
        channel = _channel(child) or told.node.channel
        node = Node(_agent_name(task, entry), by, whole, entry.agent, channel, reports=True)
        node.opening.is_open = ended is not Outcome.OK
        node.opening.is_critical = ended in _STOPPED
        if task:
            node.opening.hear(Remark(RemarkKind.ASKED, _line(task)))
        below = _Told(node, told.depth + 1, told.evidence, child or told.session, [])
        if child is None:
            self._entries(below, entry.entries)
        else:
            self._child_phases(below, child)
        told.node.parts.append(node)

    def _child(self, entry: Subagent) -> Session | None:
        if entry.mode is Mode.INLINE:
            return None
        child = self._children.get(entry.link or "")
        self.whole = self.whole and child is not None
        return child

    def _child_phases(self, told: _Told, child: Session) -> None:
        """A subagent with one phase is one step; several are steps below it."""
        own = [phase for phase in _phases_of(child) if phase.entries or phase.subphases]
        if len(own) <= 1 or told.depth >= DEEPEST:
            told.evidence = self._evidence(child.id)
            for phase in own:
                self._phase(told, phase)
        else:
            below = self._phases(child, told.depth + 1, told.node.by)
            told.node.parts += below
            counted = [node.whole.tokens for node in below if node.whole.tokens is not None]
            if counted:  # else they would be counted twice
                rest = (told.node.whole.tokens or 0) - sum(counted)
                told.node.whole.tokens = rest if rest > 0 else None

    def _flattened(self, told: _Told, entry: Subagent) -> None:
        """What is too deep for a step of its own is part of the step that it was handed out in."""
        for found, evidence, session in self._below(told, entry):
            deep = _Told(told.node, told.depth, evidence, session, [])
            if not isinstance(found, Subagent | Intervention):
                self._entries(deep, (found,))

    def _below(self, told: _Told, entry: Subagent) -> Iterator[tuple[Entry, Evidence, Session]]:
        """All entries of a subagent and of those below it, in order, however deep."""
        first: Iterator[Entry] = iter((entry,))
        open_ = [(first, told.evidence, told.session)]
        while open_:
            entries, evidence, session = open_[-1]
            found = next(entries, None)
            if found is None:
                open_.pop()
                continue
            yield found, evidence, session
            if isinstance(found, Subagent):
                open_ += self._opened(found, evidence, session)

    def _opened(
        self, entry: Subagent, evidence: Evidence, session: Session
    ) -> list[tuple[Iterator[Entry], Evidence, Session]]:
        if entry.mode is Mode.INLINE:
            return [(iter(entry.entries), evidence, session)]
        if not entry.link or entry.link in self._seen:
            return []
        self._seen.add(entry.link)
        child = self._child(entry)
        return [(child.all_entries(), self._evidence(child.id), child)] if child else []


class _Told:
    """Where entries go: a node, how deep it is, whose records tell more, and the phases before it."""

    def __init__(
        self, node: Node, depth: int, evidence: Evidence, session: Session, before: Sequence[Node]
    ) -> None:
        self.node = node
        self.depth = depth
        self.evidence = evidence
        self.session = session
        self.before = before

    def below(self, node: Node) -> _Told:
        """The same for a node below."""
        return _Told(node, self.depth + 1, self.evidence, self.session, [*self.before, self.node])

    def corrected(self) -> Stretch | None:
        """What a correction that is said now is about: the work before it, None when there is none."""
        own = self.node.parts[-1] if self.node.parts else None
        if isinstance(own, Stretch) and any(act.deed not in NOISE for act in own.acts):
            return own
        if self.node.has_work():
            return self.node.opening
        return next((node.opening for node in reversed(self.before) if node.has_work()), None)


# --- what is said ----------------------------------------------------------------------------------------------------


def _words(told: _Told, words: str, *, is_correction: bool) -> None:
    """A user's words: where a phase begins they are what it is about; a correction also stands with the work that it corrects."""
    node = told.node
    is_first = not node.parts and not node.opening.remarks
    wrong = told.corrected() if is_correction else None
    if wrong is None and len(words.split()) <= _FEW:
        return
    stretch = node.opening if is_first else node.stretch()
    if wrong:
        # In quotes they cannot be read as their opposite.
        wrong.hear(Remark(RemarkKind.DO_NOT, f'repeat what was corrected: "{_line(words)}"'))
    if stretch is not wrong:
        stretch.hear(Remark(RemarkKind.ASKED, _line(untagged(words))))


def _line(text: str, limit: int = _LONGEST) -> str:
    return cut(normal_line(text), limit)


def _gist(text: str) -> str:
    return _line(text).rstrip(".; ")


def _remark(stretch: Stretch, entry: Entry) -> None:
    match entry:
        case Decision():
            stretch.hear(Remark(RemarkKind.DECIDED, _gist(entry.text), _gist(entry.rationale or "")))
        case Failure():
            stretch.is_critical |= not entry.resolution
            stretch.is_open |= not entry.resolution
            fixed = f"fixed by: {_gist(entry.resolution)}" if entry.resolution else ""
            stretch.hear(Remark(RemarkKind.LEARNED, "; ".join(filter(None, (_gist(entry.text), fixed)))))
        case Callout():
            stretch.is_critical |= entry.title == "Interrupted"
        case _:
            pass


def _proof(stretch: Stretch, act: Act, call: ToolCall) -> None:
    """What a check is good for: to be run again, and to be learned from when it fails."""
    if act.deed not in PROVING or act.outcome in _STOPPED:
        return
    if not leads_out(act.what):
        stretch.hear(Remark(RemarkKind.RUN, act.what))
    if act.outcome is Outcome.FAILED:
        stretch.is_critical = True
        result = _line(call.result, 160)
        stretch.hear(
            Remark(RemarkKind.LEARNED, f"{_line(act.what, 80)} failed{f': {result}' if result else ''}")
        )


# --- names and figures -----------------------------------------------------------------------------------------------


def _phases_of(session: Session) -> Sequence[Phase]:
    """A session's phases; work that stands before the first of them belongs to it, or is one of its own."""
    loose = tuple(entry for entry in session.preamble if not isinstance(entry, Prose | Callout))
    if not loose:
        return session.phases
    if not session.phases:
        return (Phase(session.title, entries=loose),)
    first, *rest = session.phases
    return (replace(first, entries=(*loose, *first.entries)), *rest)


def _first_words(phase: Phase) -> str:
    first = next((entry for entry in phase.entries if not isinstance(entry, Prose)), None)
    return first.words if isinstance(first, Intervention) else ""


def _phase_name(phase: Phase) -> str:
    """A phase's own name; one without words is named by what was asked in it."""
    name = untagged(phase.name)
    words = _first_words(phase)
    return prompt_name(words) if words and (name == UNTITLED or not any(map(str.isalnum, name))) else name


def _goes_on(phase: Phase) -> bool:
    """Whether a phase was opened by words too few to name work, and is named by them."""
    words = _first_words(phase)
    return 0 < len(words.split()) <= _FEW and key_of(prompt_name(words)) == key_of(phase.name)


def _is_task(session: Session, phase: Phase) -> bool:
    return any(key_of(task.content) == key_of(phase.name) for task in session.tasks)


def _task(entry: Subagent, child: Session | None, told_of: str) -> str:
    """What a subagent was told to do, as far as it is known; `told_of` is what its callout says of it."""
    if child is None:
        return entry.task or told_of
    told = "\n".join(part.text for part in child.preamble if isinstance(part, Prose))
    return told or entry.task or child.title or told_of


def _agent_name(task: str, entry: Subagent) -> str:
    name = prompt_name(task) if task else ""
    return name if any(map(str.isalnum, name)) and name != UNTITLED else f"Work of {entry.agent.name}"


def _channel(child: Session | None) -> str | None:
    """A note's own channel, which anybody may have written, as a heading can hold it."""
    return (slug(child.channel, "channel") or None) if child and child.channel else None


def _figured(session: str, phase: Phase) -> Figured:
    return Figured(session, phase.started, _took(phase.started, phase.ended), phase.tokens)


def _whole(session: str, child: Session | None, tokens: int | None) -> Figured:
    """What a subagent's work took: by its own note, else by what its parent's says."""
    if child is None:
        return Figured(session, tokens=tokens)
    known = child.duration()
    took = int(known.total_seconds() * 1000) if known is not None else None
    return Figured(
        session, child.started, took, child.tokens_used if child.tokens_used is not None else tokens
    )


def _took(start: datetime | None, end: datetime | None) -> int | None:
    return int((end - start).total_seconds() * 1000) if start and end and end >= start else None
