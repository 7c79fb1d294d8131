"""Codifying: recorded sessions in, one workflow out.

Owns the order of it: each session is drafted, secrets are taken out of every text that came from it, drafts are aligned, and what
they have in common is settled.  Nothing here reads a file or a clock, and the same sessions always give the same workflow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from typing import Any, Literal, TypeVar, cast

from crucible.analysis.tools.whole_calls import Evidence
from crucible.commands.codify.alignment import align
from crucible.commands.codify.draft import Drafted, draft_session, told_of
from crucible.commands.codify.draft_steps import DraftStep
from crucible.commands.codify.parameters import Parameter, filled
from crucible.commands.codify.request_words import INPUTS
from crucible.commands.codify.step_titles import Names, tidy_name
from crucible.commands.codify.workflow_assembly import settle
from crucible.core.secrets.scanner import Redact
from crucible.documents.markdown.containment import slug
from crucible.documents.session.session import AgentRef, Session
from crucible.documents.session.titles import shortened
from crucible.documents.workflow.workflow import Datum, Workflow, key_of

_T = TypeVar("_T")
_EXAMPLE = 80
"""Most code points of a user's text; cut after redaction, since half a secret is not recognized."""


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


def codify(recorded: Sequence[Recorded], redact: Redact) -> Workflow:
    """The workflow of one or more sessions, the first of which gives the title.

    A session in which nothing was done is none of its `sessions` beside others; where nothing was done in any, it has no steps.
    """
    told = [told_of(one.session, one.children, one.evidence) for one in recorded]
    names = Counter(name for nodes in told for name in {key_of(node.name) for node in nodes})
    again = {name for name, count in names.items() if count > 1}
    drafts = [
        _clean(draft_session(one.session, nodes, again), redact) for one, nodes in zip(recorded, told, strict=True)
    ]
    drafts = [draft for draft in drafts if draft.steps] or drafts
    title = drafts[0].title if drafts else "Untitled"
    parameters = [one for draft in drafts for one in draft.parameters]
    sessions = list(dict.fromkeys(draft.session for draft in drafts))
    return settle(title, align(drafts), sessions, parameters)


def _clean(drafted: Drafted, redact: Redact) -> Drafted:
    """A draft without secrets and with its parameters in the place of their values; each text is looked at once."""

    @cache
    def clean(text: str) -> str:
        return redact(text)[0] if text else ""

    parameters = tuple(
        one._replace(value=shortened(clean(one.value), _EXAMPLE) if one.name in INPUTS else one.value)
        for one in drafted.parameters
        if one.name in INPUTS or clean(one.value) == one.value
    )
    cleaner = _Cleaner(clean, parameters)
    steps = tuple(map(cleaner.step, drafted.steps))
    used = tuple(one for one in parameters if one.name in cleaner.used)
    return replace(drafted, title=clean(drafted.title), steps=steps, parameters=used)


class _Cleaner:
    """`used` are the names of the parameters that stand in a text; names of steps that have become alike are told apart again."""

    def __init__(self, clean: Callable[[str], str], parameters: Sequence[Parameter]) -> None:
        self._clean = clean
        self._parameters = parameters
        self._values = [one for one in parameters if one.name not in INPUTS]
        self._names = Names()
        self.used: set[str] = set()

    def step(self, step: DraftStep) -> DraftStep:
        """A step and all below it."""
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
        return filled(self._clean(text), self._values)

    def _text(self, value: _T, clean: Callable[[str], str]) -> _T:
        """A value with every text in it cleaned."""
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
        """A word of a heading, which stays one."""
        clean = self._clean(text or "")
        return text if not text or clean == text else slug(clean, kind) or None
