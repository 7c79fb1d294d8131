"""Attribute the failures of puzzles to causes, by rules or by an agent: the options `--judge` and `--with` of `cru session learn`."""

from __future__ import annotations

from crucible.agents.asking import Answer, Asker
from crucible.cases.attributing import attribute, judge_case
from crucible.cases.model import Case, Puzzle, Review
from crucible.cli.asked_agents import agent_if_any
from crucible.cli.output import say
from crucible.errors import AgentFailed, UsageError
from crucible.knowledge.judging import find_template
from crucible.secrets.scanner import Redact
from crucible.vault.store import Vault

__all__ = ["Improver", "improver_of"]

_PATIENCE = 4
"""Questions in a row without an answer."""


class Improver:
    """Judge cases before they are exported; `problems` counts those that the agent could not judge."""

    def __init__(self, vault: Vault, redact: Redact, judge: Asker | None, *, by_rules: bool) -> None:
        self.redact = redact
        self.problems = 0
        self._judge = _Patient(judge) if judge else None
        self._by_rules = by_rules
        self._template = find_template(vault.settings)

    def improved(self, case: Case, *, settled: bool = False) -> Case:
        """The case with its category; unchanged if a human reviewed it, an agent judged it, or it is `settled`."""
        known = case.body.attribution if isinstance(case.body, Puzzle) else None
        is_judged = known is not None and not known.judge.startswith("rules")
        if settled or is_judged or case.review is not Review.PROPOSED:
            return case
        if self._judge is None or self._judge.is_over:
            return attribute(case) if self._by_rules and not known else case
        judged, problem = judge_case(case, self._judge, self.redact, self._template)
        if problem:
            self.problems += 1
            say(f"cru: {case.id}: judged by rules: {problem}", style="yellow")
        return judged


class _Patient:
    """An agent that is asked as long as it answers now and then; `is_over` when it failed too often in a row."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._failed = 0

    @property
    def is_over(self) -> bool:
        return self._failed >= _PATIENCE

    def ask(self, prompt: str) -> Answer:
        try:
            answer = self._asker.ask(prompt)
        except AgentFailed:
            self._failed += 1
            if self.is_over:
                say("cru: the agent gives no answers, so it is not asked again", style="yellow")
            raise
        self._failed = 0
        return answer


def improver_of(vault: Vault, redact: Redact, named: str | None, *, judge: bool, by_rules: bool) -> Improver:
    """Who judges cases; without an agent the rules do, with `judge` or `by_rules`."""
    if named is not None and not judge:
        raise UsageError("--with goes with --judge", "say what the agent is to do")
    asked = agent_if_any(named, "--judge") if judge else None
    if judge and asked is None:
        say("no agent is configured, so rules say where failures come from, and how sure they are")
    return Improver(vault, redact, asked, by_rules=by_rules or judge)
