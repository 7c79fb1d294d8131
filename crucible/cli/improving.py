"""Having an agent refine cases, or say where failures come from: who is asked, when, and what is told of it.

Owns the options `--refine`, `--judge` and `--with` of `cru session learn`.  What an answer may change is `cases.refining`'s, what a category is
`knowledge`'s.  Whatever an agent says, there is a case in the end; a case that one has refined or judged is not put to it again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from crucible.agents.asking import Answer, Asker
from crucible.cases import attributing, refining
from crucible.cases.gathering import REFINED
from crucible.cases.model import Case, Puzzle, Review
from crucible.cli.asked_agents import agent_if_any, agent_named
from crucible.cli.output import say
from crucible.errors import AgentFailed, UsageError
from crucible.knowledge import judging
from crucible.secrets.scanner import Redact
from crucible.vault.store import Vault

__all__ = ["Improver", "improver_of"]

_PATIENCE = 4
"""Questions in a row without an answer; a case has two of them."""


class Improver:
    """Cases as they go out; `problems` counts those that an agent was to better and did not."""

    def __init__(
        self, vault: Vault, redact: Redact, refiner: Asker | None, judge: Asker | None, *, by_rules: bool
    ) -> None:
        self.redact = redact
        self.problems = 0
        self._refiner = _Patient(refiner) if refiner else None
        self._judge = _Patient(judge) if judge else None
        self._by_rules = by_rules
        self._refining = refining.find_template(vault.settings)
        self._judging = judging.find_template(vault.settings)

    def improved(self, case: Case, text_of: Callable[[str], str], *, settled: bool = False) -> Case:
        """The case with what was asked for; `text_of` gives a session's whole note.

        What a human reviewed is his; so is what is `settled`, where an answer would have no place.
        """
        if settled or case.review is not Review.PROPOSED:
            return case
        return self._judged(self._refined(case, text_of))

    def _refined(self, case: Case, text_of: Callable[[str], str]) -> Case:
        if self._refiner is None or self._refiner.is_over or REFINED in case.tags:
            return case
        found = refining.refine_case(
            case,
            (text_of(case.place.session),),
            asker=self._refiner,
            template=self._refining,
            redact=self.redact,
        )
        self._tell(case, "not refined", found.problem)
        if found.problem or not found.answers:
            return found.case
        return replace(found.case, tags=(*found.case.tags, REFINED))

    def _judged(self, case: Case) -> Case:
        known = case.body.attribution if isinstance(case.body, Puzzle) else None
        if known and not known.judge.startswith("rules"):
            return case
        if self._judge is None or self._judge.is_over:
            return attributing.attribute(case) if self._by_rules and not known else case
        judged, problem = attributing.judge_case(case, self._judge, self.redact, self._judging)
        self._tell(case, "judged by rules", problem)
        return judged

    def _tell(self, case: Case, what: str, problem: str) -> None:
        if problem:
            self.problems += 1
            say(f"cru: {case.id}: {what}: {problem}", style="yellow")
            if any(one and one.is_over for one in (self._refiner, self._judge)):
                say("cru: the agent gives no answers, so it is not asked again", style="yellow")


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
            raise
        self._failed = 0
        return answer


def improver_of(
    vault: Vault, redact: Redact, named: str | None, *, refine: bool, judge: bool, by_rules: bool
) -> Improver:
    """Who betters cases as the options say.

    Nobody needs to be configured to judge: rules do it then, as they do without `judge` where `by_rules` says so.
    """
    if named is not None and not (refine or judge):
        raise UsageError("--with goes with --refine or --judge", "say what the agent is to do")
    refiner = agent_named(named, "--refine", "refine cases") if refine else None
    asked = agent_if_any(named, "--judge") if judge else None
    if judge and asked is None:
        say("no agent is configured, so rules say where failures come from, and how sure they are")
    return Improver(vault, redact, refiner, asked, by_rules=by_rules or judge)
