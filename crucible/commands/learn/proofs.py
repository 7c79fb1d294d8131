"""The commands that prove that a session's work succeeded."""

from __future__ import annotations

import re
from collections.abc import Sequence

from crucible.analysis.tools.tool_acts import Deed
from crucible.analysis.tools.tool_calls import RUNS, Moment
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import cut, normal_line
from crucible.documents.session.session import Outcome

_PROOFS = frozenset({Deed.TEST, Deed.CHECK, Deed.BUILD})
_SHOWS = late_pattern(
    r"(?:git|ls|cat|echo|pwd|mkdir|rm|cd|cp|mv|chmod|touch|which|sleep|export|apt|apt-get|sudo|find|head|tail|wc|date|ps|kill|ln)(?:\s|$)"
    r"|(?:python3? -m )?(?:uv )?(?:pip3?|npm|yarn|pnpm|poetry|cargo|go|brew|uv) (?:install|add|i|ci|get|sync)(?:\s|$)"
)
"""Matches commands that only look something up or prepare work, so that their success proves nothing."""
_NOTHING_RAN = late_pattern(
    r"\b(?:0|no) tests? (?:were )?(?:ran|run|collected|found|passed|executed)\b|\bcollected 0 items\b|\bran 0 tests\b|\brunning 0 tests\b|\[no test files\]",
    re.IGNORECASE,
)
_SOME_RAN = late_pattern(r"\b[1-9]\d* (?:tests?|passed|passing|examples?)\b|^ok\s+\S", re.MULTILINE)
_READ = 4000
_LONGEST = 300


def verifications(moments: Sequence[Moment]) -> Sequence[str]:
    """Return the command that verified each moment: the first test, check or build that passed later in the same phase.

    Without one, it is the first program that succeeded, else "". Sub-phases belong to their phase. Nothing after a
    failed test, check or build counts.
    """
    found: list[str] = []
    phase, proof, ran = "", None, ""
    for moment in reversed(moments):
        top = moment.phase.partition(".")[0]
        if top != phase:
            phase, proof, ran = top, None, ""
        found.append(ran if proof is None else proof)
        is_proof = _proves(moment)
        if is_proof and moment.outcome is Outcome.FAILED:
            proof, ran = None, ""
        elif is_proof and moment.passed and not _is_empty(moment):
            proof = _command_of(moment)
        elif moment.passed and not is_proof:
            ran = _program_of(moment) or ran
    return found[::-1]


def _proves(moment: Moment) -> bool:
    """True if a call ran a test, check or build."""
    return any(act.deed in _PROOFS for act in moment.acts)


def _program_of(moment: Moment) -> str:
    """Return the first program that a call ran, "" if its commands only looked something up or prepared work."""
    runs = (act.what for act in moment.acts if act.deed is Deed.RUN)
    return next((_line(one) for one in runs if one and not _SHOWS.match(one)), "")


def proof_of(moment: Moment) -> str:
    """Return the command of a passed call as proof, "" if it ran no command or a test run had no tests."""
    is_proof = any(act.deed in RUNS for act in moment.acts) and not _is_empty(moment)
    return _command_of(moment) if is_proof else ""


def _is_empty(moment: Moment) -> bool:
    """True for a test run that passed but ran no tests."""
    if not any(act.deed is Deed.TEST for act in moment.acts):
        return False
    text = moment.result[-_READ:]
    return bool(_NOTHING_RAN.search(text)) and not _SOME_RAN.search(text)


def _command_of(moment: Moment) -> str:
    """Return a call's most conclusive command in one line."""
    ran = [act.what for act in moment.acts if act.deed is Deed.RUN]
    proofs = [act.what for act in moment.acts if act.deed in _PROOFS] or [
        *(one for one in ran if not _SHOWS.match(one)),
        *ran,
    ]
    line = moment.call.call.partition(" ")[2] if moment.call else ""
    return _line(proofs[0] if proofs and proofs[0] else line.replace("⏎", " "))


def _line(text: str) -> str:
    return cut(normal_line(text), _LONGEST)
