"""What of a session may be worth keeping: every candidate, in the order of its note, each with how sure that is.

Owns how findings become candidates, and which of them are none: outcomes, open ends, reports, and failures without a cause.  What no finding
tells comes from acts: decision records, code that calls outside APIs, and what a command measured.  Pure: no model, no clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crucible.acts.evidence import Evidence
from crucible.acts.kinds import kind_of, plain_words
from crucible.acts.model import Deed
from crucible.capture.model import PROPOSED, Candidate, Kind
from crucible.capture.outside_apis import api_calls_of
from crucible.capture.proved import proofs_in
from crucible.capture.records_of_decisions import records_of, subject_of
from crucible.capture.steps import Step, steps_of
from crucible.patterns import late_pattern
from crucible.session import findings
from crucible.session.findings import Finding, Source, findings_of
from crucible.session.model import Intervention, Phase, Session

__all__ = ["detect"]

NO = Evidence()
"""For a session without an event log."""
_LONGEST = 160
"""Code points of a title."""
_PLACE = late_pattern(r"(?:^|\s)[\w./\\-]+:\d+:\d+:\s")
"""What a compiler or a linter prints: a file, a line and a column."""
_FILE = late_pattern(r"(?<![\w.@-])[\w.@-]+\.\w{1,12}(?![\w@-])")
_STATIC = frozenset((Deed.CHECK, Deed.BUILD))


def detect(session: Session, evidence: Evidence = NO) -> list[Candidate]:
    """What may be worth keeping of a session, in the order of its note; nothing below `PROPOSED`.

    `evidence` is what its event log knows, for code that calls outside APIs and for whole results.
    """
    steps = steps_of(session, evidence)
    found = [*_found(session), *_records(steps), *_apis(steps), *proofs_in(steps)]
    kept = [one for one in found if one.confidence >= PROPOSED]
    return sorted(kept, key=lambda one: (one.line, -one.confidence))


# --- findings --------------------------------------------------------------------------------------------------------


def _found(session: Session) -> Iterator[Candidate]:
    phases = {phase.id: phase for phase in session.all_phases()}
    for one in findings_of(session):
        match one.kind:
            case findings.Kind.DECISION:
                yield _candidate(Kind.DECISION, one, one.summary, _reasons(one))
            case findings.Kind.CORRECTION:
                yield _candidate(Kind.CORRECTION, one, one.summary, one.details)
            case findings.Kind.ENVIRONMENT:
                yield _candidate(Kind.OBSERVATION, one, one.summary, one.details)
            case findings.Kind.FAILURE if one.cause or one.source == Source.CALLOUT:
                yield _failure(one, phases.get(one.phase))
            case _:
                pass


def _reasons(one: Finding) -> str:
    """The reason for a decision, and the rejected alternatives."""
    return "\n\n".join(filter(None, (one.details, one.alternatives and f"Not chosen: {one.alternatives}")))


def _failure(one: Finding, phase: Phase | None) -> Candidate:
    """A failure's candidate: the first line of the message is the title, the rest goes into `error`."""
    found = _candidate(Kind.FAILURE, one, one.summary.partition(" / ")[0], one.cause)
    kind = Kind.SELF_CORRECTION if _is_of_a_run(one) else Kind.FAILURE
    refused = _refused(phase, one) if phase else ""
    return found._replace(
        kind=kind, detail=one.cause, error=one.summary, resolution=one.resolution, corrected=refused
    )


def _is_of_a_run(one: Finding) -> bool:
    """True if a run failed and passed after the first fix; errors from linters and compilers do not count as runs."""
    command, _, message = one.summary.partition(": ")
    checked = kind_of(plain_words(command.split()))
    is_static = (checked is not None and checked.deed in _STATIC) or _PLACE.search(message) is not None
    return one.source == Source.FIX and "; passed after 2 runs" in one.resolution and not is_static


def _refused(phase: Phase, one: Finding) -> str:
    """The user's words when they refused a change to a file that the fix changed later."""
    files = set(_FILE.findall(one.resolution))
    before = (entry for entry in phase.entries if entry.lines.first < one.lines.first)
    told = (entry for entry in before if isinstance(entry, Intervention) and entry.note)
    return next((entry.words for entry in told if files & set(_FILE.findall(entry.note or ""))), "")


def _candidate(kind: Kind, one: Finding, title: str, detail: str) -> Candidate:
    """Continue a title that is too long for one line in the detail."""
    line = " ".join(title.split())
    told = detail if len(line) <= _LONGEST else "\n\n".join(filter(None, (title, detail)))
    return Candidate(kind, one.confidence, line, one.phase, one.lines.first + 1, told, one.source)


# --- acts ------------------------------------------------------------------------------------------------------------


def _records(steps: Sequence[Step]) -> Iterator[Candidate]:
    """A record once, however often it was changed, where it was changed first."""
    seen: set[str] = set()
    for step in steps:
        for path in records_of(step):
            if path not in seen:
                seen.add(path)
                title = f"Decision record: {subject_of(path)}"
                yield Candidate(Kind.ADR, 0.95, title, step.phase, step.line, path, "path", path)


def _apis(steps: Sequence[Step]) -> Iterator[Candidate]:
    seen: set[tuple[str, str]] = set()
    for step in steps:
        for call in api_calls_of(step):
            if (call.file, call.host) not in seen:
                seen.add((call.file, call.host))
                title = f"{call.file.rpartition('/')[2]} calls {call.address}"
                yield Candidate(Kind.PATTERN, 0.7, title, step.phase, step.line, call.code, "code")
