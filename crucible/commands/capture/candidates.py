"""Capture candidates, and the confidence at which one is proposed, asked about, and preselected."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from crucible.documents.knowledge.items import Attribution, FailureReport

PROPOSED = 0.6
PROMPTED = 0.7
PRESELECTED = 0.8


class CandidateKind(StrEnum):
    """The kind of a candidate; `KEPT_AS` maps it to the type of an item."""

    ADR = "adr"
    DECISION = "decision"
    SELF_CORRECTION = "self_correction"
    FAILURE = "failure"
    PATTERN = "pattern"
    EVIDENCE = "evidence"
    CORRECTION = "correction"
    """What the user corrected, and what to do instead."""
    OBSERVATION = "observation"


FAILURES = frozenset((CandidateKind.FAILURE, CandidateKind.SELF_CORRECTION))
"""The kinds that are attributed to a cause."""


class Handling(StrEnum):
    """How a candidate is handled: kept without asking, kept as approved before, asked about, only listed, or dropped."""

    SILENT = "silent"
    APPROVED = "approved"
    ASK = "ask"
    LIST = "list"
    DROP = "drop"


class Candidate(NamedTuple):
    """Something worth keeping: `confidence` is from 0 to 1, `line` counts from 1 in the note's file, `phase` is the phase's id.

    `summary` is one line, `detail` the body in labelled parts, `cause` and `fix` are those of a failure.  `source` is how it was found: a finding's
    source, a path, code, or the command that measured it.  `file` is that of a decision record, seen from the project.  `finding` is the id of the
    finding it comes from, "" for what acts prove, `report` what a failure is attributed by.
    """

    kind: CandidateKind
    confidence: float
    summary: str
    phase: str
    line: int
    detail: str = ""
    source: str = ""
    file: str = ""
    cause: str = ""
    fix: str = ""
    finding: str = ""
    report: FailureReport | None = None


class CaptureProposal(NamedTuple):
    """A candidate as it is proposed: `key` is what it is remembered by, `repeats` the item that says it already, `attribution` a failure's."""

    key: str
    candidate: Candidate
    way: Handling = Handling.ASK
    preselected: bool = False
    attribution: Attribution | None = None
    repeats: str = ""
