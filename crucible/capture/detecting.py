"""What of a session may be worth keeping: its findings, and what acts prove, in the order of its note.

Findings are the only judgement here: a candidate's title is the finding's summary.  Outcomes, open ends, reports, and failures without a cause
are no candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crucible.acts.evidence import Evidence
from crucible.acts.kinds import is_test_file, kind_of, plain_words
from crucible.acts.model import Deed
from crucible.capture.from_calls import api_calls_of, proofs_in
from crucible.capture.model import PROPOSED, Candidate, Kind
from crucible.capture.records_of_decisions import read_record, records_of, subject_of
from crucible.knowledge.classifying import does_not_compile, says_nothing
from crucible.knowledge.model import FailureReport
from crucible.knowledge.reporting import FailedRun, reports_of
from crucible.knowledge.steps import Step, steps_of
from crucible.session import findings
from crucible.session.findings import Finding, Source, findings_of
from crucible.session.model import Session

__all__ = ["NO", "detect"]

NO = Evidence()
"""For a session without an event log."""
_KINDS: dict[str, Kind] = {
    findings.Kind.DECISION: Kind.DECISION,
    findings.Kind.INSTRUCTION: Kind.DECISION,
    findings.Kind.CORRECTION: Kind.CORRECTION,
    findings.Kind.ENVIRONMENT: Kind.OBSERVATION,
    findings.Kind.FAILURE: Kind.FAILURE,
}
_SHORTEST = 40
"""Characters of a cause; a shorter one says nothing that the failure does not."""
_RUNS = (Deed.TEST, None)
"""What a run is: tests, or a program that checks and builds nothing."""


def detect(session: Session, evidence: Evidence = NO) -> list[Candidate]:
    """What may be worth keeping of a session; nothing below `PROPOSED`.

    `evidence` is what its event log knows, for code that calls outside APIs and for whole results.
    """
    steps = steps_of(session, evidence)
    found = [*_found(session, steps), *_records(steps), *_apis(steps), *proofs_in(steps)]
    kept = [one for one in found if one.confidence >= PROPOSED]
    return sorted(kept, key=lambda one: (one.line, -one.confidence))


# --- findings --------------------------------------------------------------------------------------------------------


def _found(session: Session, steps: Sequence[Step]) -> Iterator[Candidate]:
    reports = reports_of(session, steps)
    for one in findings_of(session):
        kind, report = _KINDS.get(one.kind), reports.get(one.id)
        if kind and one.summary.strip() and (report is None or _teaches(one, report)):
            yield _candidate(kind, one, report)


def _teaches(one: Finding, report: FailureReport) -> bool:
    """True for a failure that somebody recorded, or whose cause was stated; not for a slip in fresh lines, or tests that had to fail first."""
    return one.source == Source.CALLOUT or (len(one.cause) >= _SHORTEST and not says_nothing(report))


def _candidate(kind: Kind, one: Finding, report: FailureReport | None) -> Candidate:
    parts = {
        "Why" if kind is Kind.DECISION else "": one.details,
        "Instead of": one.alternatives,
        "Seen in": report.call if report else "",
    }
    return Candidate(
        Kind.SELF_CORRECTION if report and _is_self_correction(report) else kind,
        # Half of the instructions are no decisions: they are proposed, and never ticked.
        PROPOSED if one.kind == findings.Kind.INSTRUCTION else one.confidence,
        " ".join(one.summary.split()),
        one.phase,
        one.lines.first + 1,
        "\n\n".join(f"{label}: {text}" if label else text for label, text in parts.items() if text),
        one.source,
        cause=one.cause,
        fix=one.resolution,
        finding=one.id,
        report=report,
    )


def _is_self_correction(report: FailureReport) -> bool:
    """True if a test or a program failed, and passed after the first fix, without a word of the user in between.

    The fix changed code, not only tests, and the failure was neither a slip in fresh lines nor a new test that had to fail first.
    """
    if not isinstance(report, FailedRun) or report.runs != 1 or not report.alone:
        return False
    checked = kind_of(plain_words(report.call.split()))
    fixed = report.files.split("\n")
    is_new_test = is_test_file(report.latest) and report.latest not in fixed
    is_run = (checked.deed if checked else None) in _RUNS
    return is_run and not is_new_test and not all(map(is_test_file, fixed)) and not does_not_compile(report)


# --- acts ------------------------------------------------------------------------------------------------------------


def _records(steps: Sequence[Step]) -> Iterator[Candidate]:
    """A record once, where it was changed first, with the text that was written last."""
    found: dict[str, Candidate] = {}
    for step in steps:
        for path in records_of(step):
            title = f"Decision record: {subject_of(path)}"
            one = found.setdefault(
                path, Candidate(Kind.ADR, 0.95, title, step.phase, step.line, path, "path", path)
            )
            content = (step.arguments or {}).get("content")
            if isinstance(content, str) and content.strip():
                record = read_record(content, path)
                found[path] = one._replace(summary=record.title or title, detail=record.text)
    yield from found.values()


def _apis(steps: Sequence[Step]) -> Iterator[Candidate]:
    seen: set[tuple[str, str]] = set()
    for step in steps:
        for call in api_calls_of(step):
            if (call.file, call.host) not in seen:
                seen.add((call.file, call.host))
                title = f"{call.file.rpartition('/')[2]} calls {call.address}"
                yield Candidate(Kind.PATTERN, 0.7, title, step.phase, step.line, call.code, "code")
