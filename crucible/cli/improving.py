"""Attribute the failures of puzzles to causes, by rules or by an agent: the options `--judge` and `--with` of `cru session learn`."""

from __future__ import annotations

from crucible.analysis.failures.failure_judge import find_template
from crucible.analysis.review.ask_budget import BUDGET
from crucible.analysis.review.asked_agent import Agent
from crucible.cli.asked_agents import agent_if_any
from crucible.cli.asking import as_agent, say_spent, user_budget
from crucible.cli.output import say
from crucible.clients.launch.ask import Answer
from crucible.commands.learn.attribution import attribute, judge_case
from crucible.commands.learn.case import Case, Puzzle, Review
from crucible.core.secrets.scanner import Redact
from crucible.vault.notes.vault import Vault

__all__ = ["Improver", "improver_of"]

_PATIENCE = 4
"""Questions in a row without an answer."""


class Improver:
    """Judge cases before they are exported; `problems` counts those that the agent could not judge."""

    def __init__(self, vault: Vault, redact: Redact, judge: Agent | None, *, by_rules: bool) -> None:
        self.redact = redact
        self.problems = 0
        self._agent = judge
        self._failed = 0
        self._by_rules = by_rules
        self._template = find_template(vault.settings)
        self._budget = user_budget() if judge else BUDGET

    def say_spent(self) -> None:
        """Report what the agent's answers took."""
        say_spent(self._agent)

    def improved(self, case: Case, *, settled: bool = False) -> Case:
        """The case with its category; unchanged if a human reviewed it, an agent judged it, or it is `settled`."""
        known = case.body.attribution if isinstance(case.body, Puzzle) else None
        is_judged = known is not None and not known.judge.startswith("rules")
        if settled or is_judged or case.review is not Review.PROPOSED:
            return case
        if self._agent is None or self._failed >= _PATIENCE:
            return attribute(case) if self._by_rules and not known else case
        # Each case has the whole time-out: a user who wants hundreds judged waits for them.
        agent = _Counted(self._agent.renewed().about("attribution", case.place.session))
        judged, problem = judge_case(case, agent, self.redact, self._template, self._budget)
        self._failed = 0 if agent.answered else self._failed + agent.asked
        if self._failed >= _PATIENCE:
            say("cru: the agent does not answer, so it is not asked again", style="yellow")
        if problem:
            self.problems += 1
            say(f"cru: {case.id}: judged by rules: {problem}", style="yellow")
        return judged


class _Counted:
    """An agent that counts its questions and its answers."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.asked = self.answered = 0

    def ask(self, prompt: str) -> Answer:
        self.asked += 1
        answer = self._agent.ask(prompt)
        self.answered += 1
        return answer


def improver_of(vault: Vault, redact: Redact, named: str | None, *, judge: bool, by_rules: bool) -> Improver:
    """Who judges cases; without an agent the rules do, with `judge` or `by_rules`."""
    asked = agent_if_any(named, "--judge") if judge else None
    if judge and asked is None:
        say("no agent is configured, so rules say where failures come from, and how sure they are")
    agent = as_agent(asked, vault.root, "attribution") if asked else None
    return Improver(vault, redact, agent, by_rules=by_rules or judge)
