"""What may be worth keeping, as frozen values, and how sure each must be.

Below `PROPOSED` nothing is said, from `PROMPTED` on you may be asked, above `PRESELECTED` it is ticked.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from crucible.documents.knowledge.items import Attribution, FailureReport

PROPOSED = 0.6
PROMPTED = 0.7
PRESELECTED = 0.8


class Kind(StrEnum):
    """What a candidate is; `saving.KEPT_AS` says which item of knowledge it becomes."""

    ADR = "adr"
    DECISION = "decision"
    SELF_CORRECTION = "self_correction"
    FAILURE = "failure"
    PATTERN = "pattern"
    EVIDENCE = "evidence"
    CORRECTION = "correction"
    """What the user corrected, and what to do instead."""
    OBSERVATION = "observation"


FAILURES = frozenset((Kind.FAILURE, Kind.SELF_CORRECTION))
"""The kinds that are attributed before it is decided what becomes of them."""


class Way(StrEnum):
    """What becomes of a candidate: kept without a question, kept as a human approved it before, asked about, only listed, or dropped."""

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

    kind: Kind
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


class Proposal(NamedTuple):
    """A candidate as it is proposed: `key` is what it is remembered by, `repeats` the item that says it already, `attribution` a failure's."""

    key: str
    candidate: Candidate
    way: Way = Way.ASK
    preselected: bool = False
    attribution: Attribution | None = None
    repeats: str = ""
