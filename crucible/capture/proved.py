"""Evidence: a command measured something, and the agent states the result right after it.

Owns what shows that: the sentence repeats a quantity that the command printed.  Files that are read and suites that pass measure nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from crucible.acts.model import Deed
from crucible.capture.model import Candidate, Kind
from crucible.knowledge.steps import Step
from crucible.patterns import late_pattern
from crucible.session.model import Prose

__all__ = ["proofs_in"]

_QUANTITY = late_pattern(
    r"(?<![\w.,/-])\d[\d.,_]*\d?\s?(?:%|[x×](?!\w)|(?:[nµum]s|[kKMG]i?B|B|ops|reqs?|requests|rows|MB|allocs)(?:/(?:s|sec|op|second|row))?\b)"
)
"""A number with a unit; seconds do not count, since every run prints some."""
_END = late_pattern(r"(?<=[.!?])\s+|\n+")
_MEASURES = (Deed.RUN, Deed.TEST)
_SHORTEST, _READ = 20, 4000
"""Minimum code points of a sentence, and maximum of a text that is read."""


def proofs_in(steps: Sequence[Step]) -> Iterator[Candidate]:
    """What commands proved, each with the sentence that says it."""
    for step, behind in pairwise(steps):
        command = _measured_by(step)
        if not command or not isinstance(behind.entry, Prose) or behind.phase != step.phase:
            continue
        printed = _quantities(step.result)
        said = next((one for one in _sentences(behind.entry.text) if _quantities(one) & printed), "")
        if said:
            detail = f"{command} → {step.result[:_READ]}"
            yield Candidate(Kind.EVIDENCE, 0.9, said, step.phase, behind.line, detail, command)


def _measured_by(step: Step) -> str:
    """The command that a call ran successfully, "" for none."""
    return next((act.what for act in step.acts if step.passed and act.deed in _MEASURES), "")


def _sentences(text: str) -> Iterator[str]:
    for sentence in _END.split(text[:_READ]):
        line = sentence.strip(" \t#*->")
        if len(line) >= _SHORTEST and not line.startswith("|"):
            yield line


def _quantities(text: str) -> frozenset[str]:
    """The quantities of a text, without blanks: `12 ms` is `12ms`."""
    return frozenset("".join(found.split()) for found in _QUANTITY.findall(text[:_READ]))
