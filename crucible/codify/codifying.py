"""Codifying: recorded sessions in, one workflow out.

Owns the order of it: each session is drafted, secrets are taken out of every text that came from it, drafts are aligned, and what
they have in common is settled.  Nothing here reads a file or a clock, and the same sessions always give the same workflow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from crucible.acts.evidence import Evidence
from crucible.acts.model import Act
from crucible.codify.aligning import align
from crucible.codify.drafting import Drafted, draft_session
from crucible.codify.model import DraftStep, Remark
from crucible.codify.settling import settle
from crucible.codify.titling import Names, tidy_name
from crucible.note.contain import slug
from crucible.secrets.scanner import Redact
from crucible.session.model import AgentRef, Session
from crucible.workflow.model import Datum, Workflow

__all__ = ["Codified", "Recorded", "codified", "codify"]


def _nothing(_: str) -> Evidence:
    return Evidence()


@dataclass(frozen=True, slots=True)
class Recorded:
    """A session, its subagents' sessions at any depth by id, and what the flight recorder knows of a session's calls.

    `children` has None for one that is not there.
    """

    session: Session
    children: Mapping[str, Session | None] = field(default_factory=dict)
    evidence: Callable[[str], Evidence] = _nothing


@dataclass(frozen=True, slots=True)
class Codified:
    """`incomplete` names the sessions of which a subagent's note or a record of what was done is missing."""

    workflow: Workflow
    incomplete: tuple[str, ...] = ()


def codify(recorded: Sequence[Recorded], redact: Redact) -> Workflow:
    """The workflow of one or more sessions, the first of which gives the title.

    A session in which nothing was done is none of its `sessions` beside others; where nothing was done in any, it has no steps.
    """
    return codified(recorded, redact).workflow


def codified(recorded: Sequence[Recorded], redact: Redact) -> Codified:
    """The same, and what it could not know."""
    cleaner = _Cleaner(redact)
    drafts = [cleaner.draft(draft_session(one.session, one.children, one.evidence)) for one in recorded]
    drafts = [draft for draft in drafts if draft.steps] or drafts
    title = drafts[0].title if drafts else "Untitled"
    workflow = settle(title, align(drafts), list(dict.fromkeys(draft.session for draft in drafts)))
    return Codified(workflow, tuple(draft.session for draft in drafts if not draft.whole))


class _Cleaner:
    """Takes secrets out of a draft; each text is looked at once."""

    def __init__(self, redact: Redact) -> None:
        self._redact = redact
        self._clean: dict[str, str] = {}

    def draft(self, drafted: Drafted) -> Drafted:
        """The same draft without secrets.  Names that have become alike are told apart again."""
        names = Names()
        steps = tuple(self._step(step, names) for step in drafted.steps)
        return replace(drafted, title=self._text(drafted.title), steps=steps)

    def _step(self, step: DraftStep, names: Names) -> DraftStep:
        name = names.claim(tidy_name(self._text(step.name)) or "Step")
        return replace(
            step,
            name=name,
            agent=self._agent(step.agent),
            channel=self._word(step.channel, "channel"),
            remarks=tuple(map(self._remark, step.remarks)),
            acts=tuple(map(self._act, step.acts)),
            report=self._datum(step.report) if step.report else None,
            takes=self._data(step.takes),
            children=tuple(self._step(child, names) for child in step.children),
            runs=tuple(replace(run, agent=self._agent(run.agent)) for run in step.runs),
        )

    def _agent(self, agent: AgentRef | None) -> AgentRef | None:
        if agent is None:
            return None
        return AgentRef(self._word(agent.name, "agent") or "agent", self._word(agent.version, "version"))

    def _word(self, text: str | None, kind: Literal["agent", "version", "channel"]) -> str | None:
        """A word of a heading, which stays one."""
        clean = self._text(text or "")
        return text if not text or clean == text else slug(clean, kind) or None

    def _act(self, act: Act) -> Act:
        what, reads, writes = self._text(act.what), self._data(act.reads), self._data(act.writes)
        if what == act.what and reads == act.reads and writes == act.writes:
            return act
        return replace(act, what=what, reads=reads, writes=writes)

    def _data(self, data: tuple[Datum, ...]) -> tuple[Datum, ...]:
        return tuple(map(self._datum, data)) if data else data

    def _datum(self, datum: Datum) -> Datum:
        name = self._text(datum.name)
        return datum if name == datum.name else replace(datum, name=name)

    def _remark(self, remark: Remark) -> Remark:
        return Remark(remark.kind, self._text(remark.text), self._text(remark.why))

    def _text(self, text: str) -> str:
        clean = self._clean.get(text)
        if clean is None:
            clean = self._clean[text] = self._redact(text)[0] if text else ""
        return clean
