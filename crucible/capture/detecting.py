"""What of a session may be worth keeping: its findings, and what acts prove, in the order of its note.

Findings are the only judgement here: a candidate says what a finding says, and its title is the part that reads alone.  Outcomes, open ends, reports,
and failures without a cause are no candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from crucible.acts.evidence import Evidence
from crucible.acts.kinds import is_test_file, kind_of, plain_words
from crucible.acts.model import Deed
from crucible.capture.from_calls import api_calls_of, proofs_in
from crucible.capture.model import PRESELECTED, PROPOSED, Candidate, Kind
from crucible.capture.records_of_decisions import read_record, records_of, subject_of
from crucible.knowledge.classifying import does_not_compile, says_nothing
from crucible.knowledge.model import FailureReport
from crucible.knowledge.reporting import FailedRun, reports_of
from crucible.knowledge.steps import Step, steps_of
from crucible.patterns import late_pattern
from crucible.session import findings
from crucible.session.findings import Finding, Source, findings_by_phase
from crucible.session.model import Session
from crucible.session.sentences import leads_on, sentences
from crucible.session.waiting import words_of

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
_ARROW = " → "
"""Between a question and its reply."""
_TELLING, _FEW = 3, 2
"""Words that tell something, for a text to be understood alone, and for a reply to be understood with its question."""
_RUNS = (Deed.TEST, None)
"""What a run is: tests, or a program that checks and builds nothing."""
_NARRATION = late_pattern(r"(?:\w+,? )?(?:I|[Ww]e|[Ll]et|[Ii]ch|[Ww]ir|[Ll]ass|[Jj]e|[Nn]ous|[Yy]o)\b")
"""How a sentence begins in which the speaker tells what they do or saw."""
_ASIDE = late_pattern(r"(?s)[^.:]{0,40}? [-–—] (.+)")


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
    for phase, found in findings_by_phase(session).items():
        outcomes = (one.summary for one in found if phase and one.kind == findings.Kind.OUTCOME)
        done = " ".join(next(filter(None, map(_stated, outcomes)), ()))
        for one in found:
            kind = _KINDS.get(one.kind)
            told = replace(one, summary=" ".join(one.summary.split()), phase=phase)
            candidate = _candidate(kind, told, reports.get(one.id), done) if kind else None
            if candidate and candidate.summary:
                yield candidate


def _candidate(kind: Kind, one: Finding, report: FailureReport | None, done: str) -> Candidate | None:
    if report:
        return _failure(one, report)
    if kind is Kind.CORRECTION:
        return _correction(one)
    if one.source == Source.REPLY:
        return _reply(one, done)
    return _made(kind, one, one.summary, {"Why" if kind is Kind.DECISION else "": one.details})


def _made(kind: Kind, one: Finding, title: str, parts: Mapping[str, str], sure: float = 1.0) -> Candidate:
    """A candidate with that title, and the labelled parts as its body."""
    told = {**parts, "Instead of": one.alternatives}
    return Candidate(
        kind,
        min(one.confidence, sure),
        title,
        one.phase,
        one.lines.first + 1,
        "\n\n".join(f"{label}: {text}" if label else text for label, text in told.items() if text),
        one.source,
        finding=one.id,
    )


def _reply(one: Finding, done: str) -> Candidate | None:
    """What a reply decided: in its own words if they tell enough, else what was done then, else with its question.

    What the agent had said before is no reason of the user's.
    """
    asked, _, reply = one.summary.rpartition(_ARROW)
    if one.kind == findings.Kind.INSTRUCTION:
        # Half of them are no decisions: they are proposed, and never ticked.
        if not done or not _tells(reply) or reply.endswith(("?", ":")):
            return None
        sure = replace(one, confidence=PROPOSED)
        return _made(Kind.DECISION, sure, reply, {"How": one.details, "Done": done})
    before = " ".join(_stated(one.details))
    if _tells(reply):
        return _made(Kind.DECISION, one, reply, {"Asked": asked, "Before": before, "Done": done})
    if not words_of(done) & words_of(f"{one.summary} {before}"):
        done = ""
    title = done or (one.summary if len(words_of(reply)) >= _FEW else "")
    return _made(Kind.DECISION, one, title, {"Asked": one.summary if done else "", "Before": before})


def _tells(text: str) -> bool:
    """True for a text with enough words to be understood alone."""
    return len(words_of(text)) >= _TELLING


def _correction(one: Finding) -> Candidate | None:
    """Nothing for words that name nothing; after a stop it is ticked only if they name something of what was stopped or done then."""
    if one.source != Source.CALLOUT and not _tells(one.summary):
        return None
    is_stop = one.source in (Source.REJECTION, Source.INTERRUPTION)
    sure = PRESELECTED if is_stop and not words_of(one.summary) & words_of(one.details) else 1.0
    return _made(Kind.CORRECTION, one, one.summary, {"": one.details}, sure)


def _failure(one: Finding, report: FailureReport) -> Candidate | None:
    """A failure that somebody recorded, else one whose cause was stated: the longest sentence of it says the most, and is the title.

    Nothing for a slip in fresh lines, or tests that had to fail first.
    """
    is_told = one.source == Source.CALLOUT
    causes = [one.cause] if is_told else _stated(one.cause)
    if not is_told and (len(" ".join(causes)) < _SHORTEST or says_nothing(report)):
        return None
    title, seen = (one.summary, "") if is_told else (max(causes, key=len), one.summary)
    kind = Kind.SELF_CORRECTION if _is_self_correction(report) else Kind.FAILURE
    made = _made(kind, one, title, {"": one.details, "What failed": seen, "Seen in": report.call})
    return made._replace(cause=" ".join(causes), fix=one.resolution, report=report)


def _stated(text: str) -> list[str]:
    """The sentences of a text, without those in which the agent tells what it does or introduces what follows."""
    told = (
        (found[1] if _NARRATION.match(one) and (found := _ASIDE.match(one)) else one)
        for one in sentences(text)
    )
    return [one for one in told if not _NARRATION.match(one) and not leads_on(one)]


def _is_self_correction(report: FailureReport) -> bool:
    """True if a test or a program failed, and passed after the first fix, without a word of the user in between.

    It was no new test, and the fix changed more than tests and than what the agent had changed since the last pass: a mistake in fresh lines teaches nobody else.
    """
    if not isinstance(report, FailedRun) or report.runs != 1 or not report.alone:
        return False
    checked = kind_of(plain_words(report.call.split()))
    fixed = {file for file in report.files.split("\n") if not is_test_file(file)}
    is_run = (checked.deed if checked else None) in _RUNS
    is_new_test = is_test_file(report.latest) and report.latest not in report.files.split("\n")
    is_fresh = is_new_test or fixed <= {*report.before.split("\n")}
    return is_run and not is_fresh and not does_not_compile(report)


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
