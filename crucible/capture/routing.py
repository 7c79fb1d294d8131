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
from crucible.session.findings import Source
from crucible.settings import VaultSettings

__all__ = [
    "FAILURES",
    "Judge",
    "Way",
    "by_rules",
    "is_preselected",
    "judge_of",
    "report_of",
    "way_of",
]

FAILURES = frozenset((Kind.FAILURE, Kind.SELF_CORRECTION))
"""What is attributed before it is decided what becomes of it."""
_SILENT = frozenset((Kind.ADR, Kind.EVIDENCE, Kind.SELF_CORRECTION))
_MOST_JUDGED = 8
"""Failures that a model is asked about in one go; rules take the rest."""

Judge: TypeAlias = "Callable[[FailureReport], Attribution | None]"
"""Who says where a failure comes from, None for nobody knows; never raises for what a failure or a model says."""


class Way(StrEnum):
    """What becomes of a candidate."""

    SILENT = "silent"
    ASK = "ask"
    LIST = "list"
    DROP = "drop"


def way_of(candidate: Candidate, settings: CaptureSettings, attribution: Attribution | None = None) -> Way:
    """What becomes of it; a failure without a known origin has no `attribution`.

    Nothing is kept unasked that is less sure than what may be asked about.
    """
    if candidate.confidence < settings.min_confidence:
        return Way.DROP
    way = _wished(candidate, attribution)
    if way is not Way.DROP and candidate.confidence < PROMPTED:
        return Way.LIST
    return Way.ASK if way is Way.SILENT and not settings.silent else way


def _wished(candidate: Candidate, attribution: Attribution | None) -> Way:
    """Keep recorded callouts, what acts prove, and failures that knowledge would surely have prevented."""
    found = route(attribution) if attribution else None
    if found is Route.SKIP:
        return Way.DROP
    if found is Route.CAPTURE or candidate.source == Source.CALLOUT:
        return Way.SILENT
    return Way.SILENT if candidate.kind in _SILENT and found is None else Way.ASK


def is_preselected(candidate: Candidate, attribution: Attribution | None = None) -> bool:
    """Whether it is ticked beforehand; a failure only where its attribution is as sure."""
    sure = candidate.confidence if attribution is None else min(candidate.confidence, attribution.confidence)
    return sure > PRESELECTED


def report_of(candidate: Candidate) -> FailureReport:
    """A failure as knowledge judges it; a finding's summary begins with the command that failed: `pytest: test_refund_rounds, 0.1 off`."""
    command, found, message = (candidate.error or candidate.summary).partition(": ")
    return FailureReport(
        error=message if found else command,
        happened=candidate.detail,
        call=command if found else "",
        resolution=candidate.resolution if candidate.source == Source.CALLOUT else "",
        files=candidate.resolution,
        corrected=candidate.corrected,
    )


def by_rules(report: FailureReport) -> Attribution | None:
    """The judge where no model is configured."""
    return classify(report)


def judge_of(asker: Asker, settings: VaultSettings, redact: Redact) -> Judge:
    """A model as the judge, with the prompt template of these settings.  If its answer cannot be used, the rules decide.

    It is asked about a few failures at most, and no more once it has failed.
    """
    template = judging.find_template(settings)
    left = _MOST_JUDGED

    def judge(report: FailureReport) -> Attribution | None:
        nonlocal left
        if left <= 0:
            return classify(report)
        left -= 1
        came = judging.judge_fully(report, asker=asker, redact=redact, template=template)
        if came.problem and not came.answers:
            left = 0
        return came.attribution

    return judge
