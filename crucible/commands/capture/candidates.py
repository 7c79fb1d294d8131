"""Capture candidates, and the minimum confidence to propose one, to ask about it, and to preselect it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from crucible.documents.knowledge.items import Attribution, FailureReport

PROPOSED = 0.6
PROMPTED = 0.7
PRESELECTED = 0.8


class CandidateKind(StrEnum):
    """The kind of a candidate; `saving.KEPT_AS` maps it to the type of a knowledge item."""

    ADR = "adr"
    DECISION = "decision"
    SELF_CORRECTION = "self_correction"
    FAILURE = "failure"
    PATTERN = "pattern"
    EVIDENCE = "evidence"
    CORRECTION = "correction"
    """A correction by the user that says what to do instead."""
    OBSERVATION = "observation"


FAILURES = frozenset((CandidateKind.FAILURE, CandidateKind.SELF_CORRECTION))
"""The kinds that get an attribution: a category, and whether knowledge would have prevented the failure."""


class Handling(StrEnum):
    """How a candidate is handled: kept without asking, kept as approved, asked about, only listed, or dropped."""

    SILENT = "silent"
    APPROVED = "approved"
    ASK = "ask"
    LIST = "list"
    DROP = "drop"


class Candidate(NamedTuple):
    """Something that may be worth keeping.

    - `confidence`: from 0 to 1
    - `summary`, `detail`: one line, and a body of labelled parts
    - `phase`, `line`: the phase's id, and the line in the note's file, from 1
    - `source`: how it was found: a finding's source, `path`, `code`, or the command that printed the measurement
    - `file`: the path of a decision record, relative to the project's folder
    - `cause`, `fix`, `report`: details of a failure; `report` is the input for its attribution
    - `finding`: the id of its finding, "" if the evidence is tool calls
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
    """A proposed candidate.

    `key` identifies it in the log. `repeats` is the id of an equal or similar item, "" for none.
    """

    key: str
    candidate: Candidate
    way: Handling = Handling.ASK
    preselected: bool = False
    attribution: Attribution | None = None
    repeats: str = ""
