"""Findings as remarks: which of them a workflow names."""

from __future__ import annotations

from collections.abc import Sequence

from crucible.commands.codify.draft_steps import Remark, RemarkKind
from crucible.commands.codify.stretches import Node
from crucible.documents.markdown.containment import normal_line
from crucible.documents.session.findings import Finding, Kind, Source

__all__ = ["hear"]

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
