"""What `cru knowledge capture` found, as JSON and TOON."""

from __future__ import annotations

from crucible.cli.output import write_data
from crucible.commands.capture.candidates import CaptureProposal, Handling
from crucible.commands.capture.capture import Captured
from crucible.commands.capture.saving import KEPT_AS, KeptCandidate
from crucible.vault.notes.vault import Vault


def write_captured_data(vault: Vault, captured: Captured, format_: str) -> None:
    """Write everything as `json` or `toon`; `--accept` takes the values of `number` and `candidate`."""
    write_data(
        {
            "session": captured.session,
            "kept": [_kept(vault, one) for one in captured.kept],
            "would_keep": [_proposal(one) for one in captured.silent],
            "suggested": [
                {
                    "number": number,
                    **_proposal(one),
                    "preselected": one.preselected,
                    "asked_about": one.way is not Handling.LIST,
                }
                for number, one in enumerate(captured.suggested, 1)
            ],
            "skipped": [_proposal(one) for one in captured.skipped],
            "deferred": [_proposal(one) for one in captured.deferred],
            "budget": {name: getattr(captured.budget, name) for name in ("limit", "spent", "left", "prompts")},
            "problems": list(captured.problems),
        },
        format_,
    )


def _proposal(one: CaptureProposal) -> dict[str, object]:
    candidate = one.candidate
    return {
        "candidate": one.key,
        "kind": candidate.kind.value,
        "type": KEPT_AS[candidate.kind].value,
        "confidence": candidate.confidence,
        "summary": candidate.summary,
        "detail": candidate.detail,
        "cause": candidate.cause,
        "fix": candidate.fix,
        "finding": candidate.finding or None,
        "repeats": one.repeats or None,
        "phase": candidate.phase,
        "line": candidate.line,
        "source": candidate.source,
        "file": candidate.file or None,
        "attribution": _attribution(one),
    }


def _attribution(one: CaptureProposal) -> dict[str, object] | None:
    if one.attribution is None:
        return None
    found = {name: getattr(one.attribution, name) for name in ("category", "confidence", "preventable", "judge")}
    return found | {"category": one.attribution.category.value}


def _kept(vault: Vault, one: KeptCandidate) -> dict[str, object]:
    return {
        **_proposal(one.proposal),
        "state": one.record.state.value,
        "id": one.record.item or None,
        "path": vault.relative(one.path) if one.path else None,
        "silent": one.record.silent,
        "why": one.line or None,
    }
