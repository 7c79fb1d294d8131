"""Findings as remarks: which of them a workflow names, and the phase in which each was said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from crucible.codify.model import Remark, RemarkKind
from crucible.codify.stretches import Node
from crucible.note.contain import normal_line
from crucible.patterns import late_pattern
from crucible.session.findings import Finding, Kind, Source, findings_by_phase
from crucible.session.model import Outcome, Phase, Prose, Session, ToolCalls

__all__ = ["by_phase", "hear"]

_STOPPED = frozenset({Outcome.REJECTED, Outcome.INTERRUPTED})
_REMARKS = {
    Kind.DECISION: RemarkKind.DECIDED,
    Kind.CORRECTION: RemarkKind.CONSTRAINT,
    Kind.FAILURE: RemarkKind.LEARNED,
    Kind.ENVIRONMENT: RemarkKind.LEARNED,
    Kind.OUTCOME: RemarkKind.DID,
}
_ORDER = [*_REMARKS]


def hear(node: Node, found: Sequence[Finding]) -> None:
    """Add a phase's findings.  Left out: open ends and reports, and commits, which are commands."""
    kept = [one for one in found if one.kind in _ORDER and one.source != Source.COMMIT]
    corrected = {normal_line(one.summary).strip('"') for one in kept if one.kind == Kind.CORRECTION}
    kept = [one for one in kept if one.kind != Kind.DECISION or one.summary not in corrected]
    for one in sorted(kept, key=lambda one: _ORDER.index(Kind(one.kind))):
        node.hear(_remark(one))


def _remark(one: Finding) -> Remark:
    why = "; ".join(
        f"{label}: {normal_line(text)}" if label else normal_line(text)
        for label, text in (
            ("why" if one.kind == Kind.DECISION else "", one.details),
            ("cause", one.cause),
            ("fixed by", one.resolution),
            ("by", one.by),
        )
        if text
    )
    return Remark(_REMARKS[Kind(one.kind)], one.summary, why, one.id, one.points)


def by_phase(session: Session) -> Mapping[str, Sequence[Finding]]:
    """The findings by phase; one that no phase quotes belongs to the phase that has most of its words, refused calls' included."""
    found = {name: list(told) for name, told in findings_by_phase(session).items()}
    lost = found.pop("", [])
    said = {phase.id: _words_of(" ".join(_said(phase))) for phase in session.all_phases()} if lost else {}
    for one in lost:
        words = _words_of(" ".join((one.summary, *one.points)))
        home = max(said, key=lambda name: len(words & said[name]), default="")
        if home and len(words & said[home]) >= _SHARE * len(words):
            found.setdefault(home, []).append(one)
    return found


def _said(phase: Phase) -> Iterator[str]:
    for entry in phase.entries:
        if isinstance(entry, ToolCalls):
            yield from (call.result for call in entry.calls if call.outcome in _STOPPED)
        elif isinstance(entry, Prose):
            yield entry.text


_WORD = late_pattern(r"\w{4,}")
_SHARE = 0.6
"""Of a finding's words, the part that a phase must have to be where it was said."""


def _words_of(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
