"""What may be worth keeping, as frozen values.

Owns how sure a proposal must be for what becomes of it: below `PROPOSED` nothing is said, from `PROMPTED` on it may be asked about, above
`PRESELECTED` it is ticked beforehand.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

__all__ = ["PRESELECTED", "PROMPTED", "PROPOSED", "Candidate", "Kind"]

PROPOSED = 0.6
PROMPTED = 0.7
PRESELECTED = 0.8


class Kind(StrEnum):
    """What a candidate is; `cru knowledge` keeps it as `KEPT_AS` (`saving`) says."""

    ADR = "adr"
    DECISION = "decision"
    SELF_CORRECTION = "self_correction"
    FAILURE = "failure"
    PATTERN = "pattern"
    EVIDENCE = "evidence"
    CORRECTION = "correction"
    """What the user corrected, and what to do instead."""
    OBSERVATION = "observation"


class Candidate(NamedTuple):
    """Something worth keeping: `confidence` is from 0 to 1, `line` counts from 1 in the note's file, `phase` is the phase's id.

    `summary` is one line, `detail` some more, `source` how it was found: a finding's source, a path, code, or the command that measured it.  `file` is that
    of a decision record, seen from the project, "" otherwise.  For a failure `error`, `resolution` and `corrected` say what an attribution needs.
    """

    kind: Kind
    confidence: float
    summary: str
    phase: str
    line: int
    detail: str = ""
    source: str = ""
    file: str = ""
    error: str = ""
    resolution: str = ""
    corrected: str = ""
