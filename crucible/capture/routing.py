"""What becomes of a candidate: kept without a question, asked about, only listed, or dropped.

Kept without a question are decision records, evidence, self-corrections, what somebody recorded on purpose, and failures of which a model is
sure that knowledge would have prevented them.
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

__all__ = ["Judge", "Way", "is_preselected", "judge_of", "report_of", "way_of"]

_SILENT = frozenset((Kind.ADR, Kind.EVIDENCE, Kind.SELF_CORRECTION))
_MOST_JUDGED = 8
"""Failures that a model is asked about in one go; rules take the rest."""

Judge: TypeAlias = "Callable[[FailureReport], Attribution | None]"
"""Says where a failure comes from, None if nobody knows; never raises for what a failure or a model says."""


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
    if candidate.source == Source.CALLOUT:
        way = Way.SILENT
    elif attribution and route(attribution) is Route.SKIP:
        return Way.DROP
    else:
        is_sure = attribution and attribution.judge != "rules" and route(attribution) is Route.CAPTURE
        way = Way.SILENT if candidate.kind in _SILENT or is_sure else Way.ASK
    if candidate.confidence < PROMPTED:
        return Way.LIST
    return Way.ASK if way is Way.SILENT and not settings.silent else way


def is_preselected(candidate: Candidate, attribution: Attribution | None = None) -> bool:
    """True if it is ticked beforehand; a failure only if its attribution is as sure."""
    sure = candidate.confidence if attribution is None else min(candidate.confidence, attribution.confidence)
    return sure > PRESELECTED


def report_of(candidate: Candidate) -> FailureReport:
    """What a failure is attributed by."""
    return candidate.report or FailureReport(candidate.summary, candidate.cause, resolution=candidate.fix)


def judge_of(asker: Asker | None, settings: VaultSettings, redact: Redact) -> Judge:
    """A model as the judge, with the prompt template of these settings; the rules if there is none, or its answer cannot be used.

    It is asked about a few failures at most, and no more once it has failed.
    """
    if asker is None:
        return classify
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
