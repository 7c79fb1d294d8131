"""What becomes of a candidate: kept without a question, asked about, only listed, or dropped.

Owns how sure a candidate must be for each; how sure the attribution of a failure must be is `knowledge.routing`'s.  Pure; who judges is passed in.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TypeAlias

from crucible.agents.asking import Asker
from crucible.capture.model import PRESELECTED, PROMPTED, Candidate, Kind
from crucible.knowledge import judging
from crucible.knowledge.classifying import classify
from crucible.knowledge.model import Attribution, FailureReport
from crucible.knowledge.routing import Route, route
from crucible.lifecycle_settings import CaptureSettings
from crucible.secrets.scanner import Redact
from crucible.settings import VaultSettings

__all__ = [
    "Judge",
    "Way",
    "by_rules",
    "is_preselected",
    "judge_of",
    "report_of",
    "way_of",
]

_OF_FAILURES = {Route.CAPTURE: "silent", Route.PROPOSE: "ask", Route.SKIP: "drop"}
_SILENT = frozenset((Kind.ADR, Kind.EVIDENCE, Kind.SELF_CORRECTION))
_MOST_JUDGED = 8
"""Failures that a model is asked about in one go; rules take the rest."""

Judge: TypeAlias = "Callable[[FailureReport], Attribution]"
"""Who says where a failure comes from; never raises for what a failure or a model says."""


class Way(StrEnum):
    """What becomes of a candidate."""

    SILENT = "silent"
    ASK = "ask"
    LIST = "list"
    DROP = "drop"


def way_of(candidate: Candidate, settings: CaptureSettings, attribution: Attribution | None = None) -> Way:
    """What becomes of it; a failure without an attribution is dropped.

    Nothing is kept unasked that is less sure than what may be asked about.
    """
    if candidate.confidence < settings.min_confidence:
        return Way.DROP
    way = _wished(candidate, attribution)
    if way is not Way.DROP and candidate.confidence < PROMPTED:
        return Way.LIST
    return Way.ASK if way is Way.SILENT and not settings.silent else way


def _wished(candidate: Candidate, attribution: Attribution | None) -> Way:
    if candidate.kind is not Kind.FAILURE:
        return Way.SILENT if candidate.kind in _SILENT else Way.ASK
    return Way.DROP if attribution is None else Way(_OF_FAILURES[route(attribution)])


def is_preselected(candidate: Candidate, attribution: Attribution | None = None) -> bool:
    """Whether it is ticked beforehand; a failure only where its attribution is as sure."""
    sure = candidate.confidence if attribution is None else min(candidate.confidence, attribution.confidence)
    return sure > PRESELECTED


def report_of(candidate: Candidate) -> FailureReport:
    """A failure as knowledge judges it."""
    return FailureReport(
        error=candidate.error or candidate.summary,
        happened=candidate.summary if candidate.error else "",
        context=candidate.detail,
        resolution=candidate.resolution,
    )


def by_rules(report: FailureReport) -> Attribution:
    """The judge where no model is configured."""
    return classify(report)


def judge_of(asker: Asker, settings: VaultSettings, redact: Redact) -> Judge:
    """A model as the judge, with the prompt of a vault with these settings; where it gives no answer that can be taken, rules do it.

    It is asked about a few failures at most, and no more once it has failed.
    """
    template = judging.find_template(settings)
    left = _MOST_JUDGED

    def judge(report: FailureReport) -> Attribution:
        nonlocal left
        if left <= 0:
            return classify(report)
        left -= 1
        came = judging.judge_fully(report, asker=asker, redact=redact, template=template)
        if came.problem and not came.answers:
            left = 0
        return came.attribution

    return judge
