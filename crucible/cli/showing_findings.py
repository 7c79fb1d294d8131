"""`cru session show --findings`: what matters in a session, one paragraph per finding, or as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crucible.cli.output import write
from crucible.documents.session.findings import Finding, findings_of
from crucible.documents.session.findings_block__grounds import render_grounds
from crucible.documents.session.session import Grounds, Phase
from crucible.vault.notes.vault import Note

__all__ = ["findings_document", "write_findings"]


def findings_document(note: Note, phase: Phase | None) -> dict[str, Any]:
    """The findings of a note, or of one of its phases, for JSON."""
    return {"session": note.name, "findings": [_row(each) for each in _wanted(note, phase)]}


def write_findings(note: Note, phase: Phase | None) -> None:
    """Write the findings of a note as text: kind and summary, then the details, indented."""
    found = _wanted(note, phase)
    if not found:
        write("no findings")
    for number, each in enumerate(found):
        if number:
            write()
        write(f"{each.kind.replace('_', ' ')}: {each.summary}")
        for line in _details(each):
            write(f"    {line}")


def _wanted(note: Note, phase: Phase | None) -> list[Finding]:
    found = findings_of(note.session)
    if phase is None:
        return list(found)
    return [each for each in found if each.phase == phase.id or each.phase.startswith(f"{phase.id}.")]


def _row(finding: Finding) -> dict[str, Any]:
    values: dict[str, Any] = {"id": finding.id, "kind": finding.kind, "summary": finding.summary}
    for name in ("details", "alternatives", "by", "cause", "resolution", "evidence", "phase"):
        if value := getattr(finding, name):
            values[name] = value
    if finding.points:
        values["points"] = "\n".join(f"- {point}" for point in finding.points)
    return {**values, "source": finding.source, "confidence": finding.confidence, "rows": list(finding.rows)}


def _details(finding: Finding) -> Iterator[str]:
    labels = {
        "cause": "cause",
        "resolution": "fix",
        "details": "details",
        "alternatives": "alternatives",
        "by": "by",
        "evidence": "evidence",
    }
    for name, label in labels.items():
        if value := getattr(finding, name):
            yield f"{label}: {value}"
    yield from (f"- {point}" for point in finding.points)
    grounds = Grounds(finding.source, finding.confidence, finding.rows)
    yield f"source: {render_grounds(grounds)}"
    yield f"id: {finding.id}"
