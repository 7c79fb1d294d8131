"""Detect capture candidates in a session: findings, decision records, API calls and measurements.

A candidate's title is the part of its finding that makes sense alone. Outcomes, open ends, reports and failures
without a cause are not candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from crucible.analysis.failure_causes import FailedRun, does_not_compile, is_uninformative, reports_of
from crucible.analysis.tools.file_kinds import is_test_file, kind_of, languages_of, plain_words, type_of
from crucible.analysis.tools.recorded_calls import RecordedCalls
from crucible.analysis.tools.tool_acts import Deed
from crucible.analysis.tools.tool_calls import Moment, moments_of
from crucible.commands.capture.candidates import PRESELECTED, PROPOSED, Candidate, CandidateKind
from crucible.core.patterns import late_pattern
from crucible.core.text import LINE_END, split_sentences
from crucible.documents.knowledge.items import FailureReport
from crucible.documents.markdown.containment import cut, normal
from crucible.documents.markdown.fences import fenced_lines
from crucible.documents.session import findings
from crucible.documents.session.findings import (
    Finding,
    Source,
    findings_by_phase,
    findings_of,
    sentences,
    without_guesses,
)
from crucible.documents.session.session import Intervention, Prose, Session
from crucible.documents.session.waiting import words_of

_TEXT = r"\.(?:md|mdx|markdown|adoc|asciidoc|asc|rst|txt|org|textile)"
_FOLDER = r"(?:m?adrs?|adls?|log4brains|[\w-]*(?:decisi[oó]n|decis[õo]|d[ée]cision|entscheidung|besluit|decyzj)[\w-]*)"
_RECORD = late_pattern(
    rf"(?:^|/)[._]?(?:\d+[-_.])?{_FOLDER}/(?:[^/]+/){{0,3}}[^/]+{_TEXT}$|(?:^|/)(?:arch|architecture|architektur)/(?:[^/]+/)?\d{{2,5}}[-_][^/]+{_TEXT}$"
    rf"|(?:^|/)(?:\d{{2,5}}[-_.])?m?adr[-_ ][^/]+{_TEXT}$"
)
_NO_RECORD = late_pattern(
    rf"(?:^|/)(?:readme|index|_?template|adr-template|template-\w+|toc|summary|overview|changelog|contributing|glossary|\.[^/]*)(?:[-_.][^/]*)?{_TEXT}$"
    r"|(?:^|/)(?:templates?|node_modules|fixtures|testdata)/|manual|tutorial|howto|guide"
)
_NUMBER = late_pattern(r"^(?:m?adr[-_ ]?)?\d{1,8}[-_. ]+|^m?adr[-_ ]+")
_TOOL = late_pattern(
    r"\b(?:m?adrs?|log4brains|pyadr|phpadr)\b.{0,40}?\b(?:new|add|create|init|accept|supersede|propose|generate)\b"
)
_PATH = late_pattern(r"[\w./\-À-ÿ]{4,300}")
_WORDS = late_pattern(r"[-_. ]+")
_PROPERTIES = late_pattern(r"(?s)\A---[ \t]*\n.*?\n---[ \t]*\n")
_TITLE = late_pattern(r"(?m)^(?:#|=) +(\S.*?)[ \t#]*$")
_HEADING = late_pattern(r"^#{1,6}[ \t]+(\S.*?)[ \t#]*$")
_SHOWN = 20_000
"""Maximum code points of a decision record to keep."""


class DecisionRecord(NamedTuple):
    """The title of a decision record ("" if it has none) and its text."""

    title: str
    text: str


def is_decision_record(path: str) -> bool:
    """True for the path of a decision record, such as `docs/adr/0007-use-sqlite.md`."""
    low = path.replace("\\", "/").casefold()
    return bool(_RECORD.search(low)) and not _NO_RECORD.search(low)


def records_of(moment: Moment) -> Iterator[str]:
    """Yield the paths of records that a call created or changed, relative to the project."""
    if not moment.passed:
        return
    put = [datum.name for act in moment.acts for datum in act.writes]
    is_made = any(_TOOL.search(act.what) for act in moment.acts if act.deed is Deed.RUN)
    made = [path.rstrip(".") for path in _PATH.findall(moment.result[:1000])] if is_made else []
    yield from dict.fromkeys(filter(is_decision_record, (*put, *made)))


def subject_of(path: str) -> str:
    """Return the subject of a record from its file name: `use sqlite` for `docs/adr/0007-use-sqlite.md`."""
    stem = path.replace("\\", "/").rpartition("/")[2].rpartition(".")[0]
    plain = _NUMBER.sub("", stem.casefold())
    return _WORDS.sub(" ", plain or stem).strip()


def read_record(text: str, file: str) -> DecisionRecord:
    """Parse a record: its title, and its text without properties.

    Headings become bold lines, since they could not be told apart from headings in the item's note.
    """
    text = _PROPERTIES.sub("", normal(text.removeprefix("\ufeff")))
    found = _TITLE.search(text)
    without_title = (text[: found.start()] + text[found.end() :] if found else text).strip()
    body = without_title if len(without_title) <= _SHOWN else f"{cut(without_title, _SHOWN)}\n\nThe rest is in {file}."
    lines = body.split("\n")
    code = fenced_lines(lines)
    shown = (line if at in code else _HEADING.sub(r"**\1**", line) for at, line in enumerate(lines))
    return DecisionRecord(found[1] if found else "", "\n".join(shown))


_QUANTITY = late_pattern(
    r"(?<![\w.,/-])\d[\d.,_]*\d?\s?(?:%|[x×](?!\w)|(?:[nµum]s|[kKMG]i?B|B|ops|reqs?|requests|rows|MB|allocs)(?:/(?:s|sec|op|second|row))?\b)"
)
"""Matches a number with a unit. Seconds do not count, since every run prints them."""
_MEASURES = (Deed.RUN, Deed.TEST)
_SHORTEST_SENTENCE, _MOST_READ = 20, 4000
"""Minimum code points of a sentence, and maximum code points of text to read."""


def proofs_in(moments: Sequence[Moment]) -> Iterator[Candidate]:
    """Yield measurements printed by a command and repeated in the next message, as evidence."""
    for moment, following in pairwise(moments):
        command = _measured_by(moment)
        if not command or not isinstance(following.entry, Prose) or following.phase != moment.phase:
            continue
        printed = _quantities(moment.result)
        quoted = next((one for one in _sentences(following.entry.text) if _quantities(one) & printed), "")
        if quoted:
            detail = f"{command} → {moment.result[:_MOST_READ]}"
            yield Candidate(CandidateKind.EVIDENCE, 0.9, quoted, moment.phase, following.line, detail, command)


def _measured_by(moment: Moment) -> str:
    """Return the command that a call ran successfully, "" for none."""
    return next((act.what for act in moment.acts if moment.passed and act.deed in _MEASURES), "")


def _sentences(text: str) -> Iterator[str]:
    for sentence in split_sentences(text[:_MOST_READ], LINE_END):
        line = sentence.strip().strip(" \t#*->")
        if len(line) >= _SHORTEST_SENTENCE and not line.startswith("|"):
            yield line


def _quantities(text: str) -> frozenset[str]:
    """Return the quantities in a text, without blanks: `12 ms` becomes `12ms`."""
    return frozenset("".join(found.split()) for found in _QUANTITY.findall(text[:_MOST_READ]))


# --- external APIs ---------------------------------------------------------------------------------------------------

_READ = 200_000
_DATA = frozenset(("HTML", "CSS", "JSON", "TOML", "TOON", "XML", "Template", "Diff"))
_ADDRESS = late_pattern(r"\b(?:https?|wss?)://(?P<host>[\w.-]{4,200})(?::\d+)?(?P<path>/[^\s\"'`<>)\\]{0,200})?")
_OURS = late_pattern(
    r"^(?:localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)|^[^.]+$"
    r"|(?:^|\.)(?:test|invalid|local|localhost|internal|lan|corp|intranet|home|example(?:\.\w+)?)$"
)
"""Matches hosts on this machine or network, and reserved ones."""
_API = late_pattern(
    r"(?:^|[.-])(?:apis?|gateway|graph|rest|graphql|webhooks?|hooks)\d*[.-]|/(?:api|v\d+|graphql|rest)(?:/|$)"
)
_COMMENT = late_pattern(r"^\s*(?://|#(?!include)|\*|/\*|--|;|<!--|%|\"\"\"|''')")


def apis_in(moments: Sequence[Moment]) -> Iterator[Candidate]:
    """Yield calls of external APIs added to code, one per file and host, with the address but not its query."""
    seen: set[tuple[str, str]] = set()
    for moment in moments:
        for file, code in _lines_of(moment):
            for found in _ADDRESS.finditer(code):
                host, path = found["host"].casefold().rstrip("."), found["path"] or ""
                is_api = not _OURS.search(host) and (_API.search(host) or _API.match(path))
                if is_api and (file, host) not in seen:
                    seen.add((file, host))
                    title = f"{file.rpartition('/')[2]} calls {host}{path.partition('?')[0]}"
                    yield Candidate(CandidateKind.PATTERN, 0.7, title, moment.phase, moment.line, code.strip(), "code")


def _lines_of(moment: Moment) -> Iterator[tuple[str, str]]:
    """Yield the lines with an address that a call wrote, each with its file. Context lines of patches are included."""
    files = [act.what for act in moment.acts if act.deed in (Deed.WRITE, Deed.EDIT) and act.what]
    if not moment.passed or not files or not moment.arguments:
        return
    file = files[0]
    for line in "\n".join(_texts(moment.arguments))[:_READ].split("\n"):
        if line.startswith(("*** ", "+++ ")):
            file = next((one for one in files if line.endswith(one)), file)
        elif "://" in line and not line.startswith("-") and _is_code(file):
            code = line.removeprefix("+")[:500]
            if not _COMMENT.match(code):
                yield file, code


def _texts(arguments: Mapping[str, object]) -> Iterator[str]:
    """Yield all text in a call's arguments except the text that it removes."""
    for name, value in arguments.items():
        if isinstance(value, str) and not name.startswith("old"):
            yield value
        elif isinstance(value, list):
            yield from (text for one in value if isinstance(one, Mapping) for text in _texts(one))


def _is_code(file: str) -> bool:
    kind = type_of(file)
    return kind in languages_of(()) and kind not in _DATA and not is_test_file(file)


NO = RecordedCalls()
"""The recorded calls of a session without an event log."""
_KINDS: dict[str, CandidateKind] = {
    findings.Kind.DECISION: CandidateKind.DECISION,
    findings.Kind.INSTRUCTION: CandidateKind.DECISION,
    findings.Kind.CORRECTION: CandidateKind.CORRECTION,
    findings.Kind.ENVIRONMENT: CandidateKind.OBSERVATION,
    findings.Kind.FAILURE: CandidateKind.FAILURE,
}
_SHORTEST = 40
"""Minimum characters of a cause; a shorter one adds nothing to the failure."""
_SHARE = 2 / 3
"""Minimum length of an informative sentence in a cause, as a share of the longest one."""
_ARROW = " → "
"""Separates a question from its reply in a summary."""
_SPECIFIC, _FEW = 3, 2
"""Minimum significant words of text that makes sense alone, and of a reply shown with its question."""
_RUNS = (Deed.TEST, None)
"""Acts that run code: tests, or a program other than a check or build."""


def detect(session: Session, evidence: RecordedCalls = NO) -> list[Candidate]:
    """Return a session's candidates with a confidence of at least `PROPOSED`.

    `evidence`, from the event log, provides the code that calls wrote and their full results.
    """
    moments = moments_of(session, evidence)
    found = [*_found(session, moments), *_records(moments), *apis_in(moments), *proofs_in(moments)]
    kept = [one for one in found if one.confidence >= PROPOSED]
    return sorted(kept, key=lambda one: (one.line, -one.confidence))


# --- findings --------------------------------------------------------------------------------------------------------


class _CandidateText(NamedTuple):
    """A candidate's title ("" for none), the labelled parts of its body, and its maximum confidence."""

    title: str = ""
    parts: Mapping[str, str] = {}
    confidence: float = 1.0


def _found(session: Session, moments: Sequence[Moment]) -> Iterator[Candidate]:
    reports = reports_of(session, moments)
    entries = ((moment.phase, moment.entry) for moment in reversed(moments))
    words = {phase: " ".join(one.words.split()) for phase, one in entries if isinstance(one, Intervention)}
    guesses = {one.id for one in findings_of(session)} - {one.id for one in without_guesses(findings_of(session))}
    for phase, placed in findings_by_phase(session).items():
        found = [one for one in placed if one.id not in guesses]
        done = next((one.summary for one in found if phase and one.kind == findings.Kind.OUTCOME), "")
        for one in found:
            kind, report = _KINDS.get(one.kind), reports.get(one.id)
            is_instruction = one.kind == findings.Kind.INSTRUCTION
            # The edit that follows a reply may be in a later turn, which has a different outcome.
            is_here = is_instruction or one.summary.rpartition(_ARROW)[2].rstrip("…") in words.get(phase, "")
            text = _text_of(one, report, done if is_here else "") if kind else _CandidateText()
            if not kind or not text.title.strip():
                continue
            yield Candidate(
                CandidateKind.SELF_CORRECTION if report and _is_self_correction(report) else kind,
                # About half of all instructions are not decisions, so none is preselected.
                PROPOSED if is_instruction else min(one.confidence, text.confidence),
                " ".join(text.title.split()),
                phase,
                one.lines.first + 1,
                "\n\n".join(f"{label}: {part}" if label else part for label, part in text.parts.items() if part),
                one.source,
                cause=one.cause,
                fix=one.resolution,
                finding=one.id,
                report=report,
            )


def _text_of(one: Finding, report: FailureReport | None, done: str) -> _CandidateText:
    if report:
        return _failure(one, report)
    if one.source == Source.REPLY and one.kind != findings.Kind.CORRECTION:
        return _reply(one, done)
    if one.kind == findings.Kind.DECISION:
        return _CandidateText(one.summary, {"Why": one.details, "Instead of": one.alternatives})
    words = words_of(one.summary)
    if one.kind == findings.Kind.CORRECTION and one.source != Source.CALLOUT and len(words) < _SPECIFIC:
        return _CandidateText()
    # A stop is preselected only if its words name something that was stopped or done at that time.
    is_stop = one.source in (Source.REJECTION, Source.INTERRUPTION)
    is_named = not is_stop or words & words_of(one.details)
    return _CandidateText(one.summary, {"": one.details}, 1.0 if is_named else PRESELECTED)


def _reply(one: Finding, done: str) -> _CandidateText:
    """Return the text of a decision by reply: the reply if specific, else the outcome, else the question and the reply.

    The agent's words before the reply are context, not the user's reason.
    """
    question, _, reply = one.summary.rpartition(_ARROW)
    words = len(words_of(reply))
    if one.kind == findings.Kind.INSTRUCTION:
        is_whole = done and words >= _SPECIFIC and not reply.endswith(("?", ":"))
        return _CandidateText(reply, {"How": one.details, "Done": done}) if is_whole else _CandidateText()
    if words >= _SPECIFIC:
        before = "Before" if question else "Why"
        return _CandidateText(
            reply, {"Asked": question, before: one.details, "Instead of": one.alternatives, "Done": done}
        )
    if words_of(done) & words_of(f"{one.summary} {one.details}"):
        return _CandidateText(done, {"Asked": one.summary, "Before": one.details})
    return _CandidateText(one.summary, {"Before": one.details}) if words >= _FEW else _CandidateText()


def _failure(one: Finding, report: FailureReport) -> _CandidateText:
    """Return the text of a failure that was recorded or has a stated cause, which titles a failed command.

    Empty for a mistake in new lines, and for tests that were expected to fail first.
    """
    is_recorded = one.source == Source.CALLOUT
    if not is_recorded and (len(one.cause) < _SHORTEST or is_uninformative(report)):
        return _CandidateText()
    if is_recorded or not (report.call or one.source == Source.EDITS):
        return _CandidateText(one.summary, {"": one.details})
    in_cause = sentences(one.cause)
    enough = max(map(len, in_cause)) * _SHARE
    title = next(sentence for sentence in in_cause if len(sentence) >= enough)
    return _CandidateText(title, {"What failed": one.summary, "Seen in": report.call})


def _is_self_correction(report: FailureReport) -> bool:
    """True if a test or program failed and passed after the first fix, with no user message in between.

    New tests do not count, nor do fixes that changed only tests or only code written since the last pass.
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


def _records(moments: Sequence[Moment]) -> Iterator[Candidate]:
    """Yield decision records, each at its first change and with its last text. Deleted ones are dropped."""
    found: dict[str, Candidate] = {}
    for moment in moments:
        for act in moment.acts if moment.passed else ():
            if act.deed is Deed.DELETE:
                found.pop(act.what, None)
        for path in records_of(moment):
            title = f"Decision record: {subject_of(path)}"
            one = found.setdefault(
                path, Candidate(CandidateKind.ADR, 0.95, title, moment.phase, moment.line, path, "path", path)
            )
            content = (moment.arguments or {}).get("content")
            if isinstance(content, str) and content.strip():
                record = read_record(content, path)
                found[path] = one._replace(summary=record.title or title, detail=record.text)
    yield from found.values()
