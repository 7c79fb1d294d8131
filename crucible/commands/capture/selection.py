"""Deduplicate candidates and decide for each: keep without asking, ask, list, or drop.

Decision records, evidence, self-corrections and explicitly recorded findings are kept without asking.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain
from math import ceil
from typing import Any

from crucible.analysis.failure_causes import classify
from crucible.commands.capture.candidates import (
    FAILURES,
    PRESELECTED,
    PROMPTED,
    Candidate,
    CandidateKind,
    CaptureProposal,
    Handling,
)
from crucible.commands.capture.capture_log import CaptureState, KnownCaptures, Remembered, key_of
from crucible.core.patterns import UNSEEN
from crucible.core.secrets.scanner import Redact
from crucible.core.settings.session_settings import CaptureSettings
from crucible.documents.knowledge.item_rules import likeness, words_of
from crucible.documents.knowledge.items import Attribution, FailureReport
from crucible.documents.markdown.containment import cut, normal, normal_line
from crucible.documents.session.findings import Source
from crucible.documents.session.properties import parse_time
from crucible.documents.session.session import Session, Status
from crucible.memory.bookmarks.bookmark import Bookmark
from crucible.memory.history.work_time import QUIET, worked

_LONGEST, _LONGEST_DETAIL = 200, 21_000
"""Maximum code points of a line, and of other text."""
_LINES = ("summary", "source", "file")
_REDACTED = "[REDACTED:"
_REFUSED = frozenset((CaptureState.SKIPPED, CaptureState.DROPPED))
_ANSWERED = _REFUSED | {CaptureState.KEPT, CaptureState.KNOWN}
_SAME = 0.8
"""Minimum share of words in common for two titles to count as duplicates."""
_FEWEST = 2
"""Minimum decisions of a task that justify a question."""
_SILENT = frozenset((CandidateKind.ADR, CandidateKind.EVIDENCE, CandidateKind.SELF_CORRECTION))
_PREVENTABLE = 0.6
"""Minimum confidence that knowledge would have prevented a failure, for the failure to be proposed."""


def sort_out(
    candidates: Iterable[Candidate],
    known: KnownCaptures,
    settings: CaptureSettings,
    repeats: Callable[[Candidate], str],
    *,
    again: bool = False,
) -> list[CaptureProposal]:
    """Return the candidates without an answer, highest confidence first; with `again`, also skipped ones.

    Candidates that are waiting in another session of the project are omitted. `repeats` returns the id of an equal
    item, or ""; such candidates are never preselected.
    """
    answered = _ANSWERED - _REFUSED if again else _ANSWERED
    found: dict[str, CaptureProposal] = {}
    for candidate in once_each(candidates):
        key = key_of(candidate)
        if key in found or known.state(key) in answered:
            continue
        one = _propose(key, candidate, known.states.get(key), settings)
        if one.way in (Handling.ASK, Handling.LIST):
            if key in known.waiting and key not in known.states:
                continue
            repeated = repeats(candidate)
            preselected = one.preselected and one.way is Handling.ASK and not repeated
            one = one._replace(preselected=preselected, repeats=repeated)
        if one.way is not Handling.DROP:
            found[key] = one
    return [*found.values()]


def once_each(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Drop duplicates (the same row, or nearly the same words), keeping the candidate with the highest confidence."""
    rows: set[str] = set()
    found = [(one, words_of(one.summary)) for one in sorted(candidates, key=lambda one: (-one.confidence, one.line))]
    seen = _SeenTitles(words for _, words in found)
    for one, words in found:
        if one.kind not in FAILURES:
            row = one.finding.partition("-")[2]
            if row in rows or (one.kind is not CandidateKind.EVIDENCE and seen.has_like(words)):
                continue
            rows.update(filter(None, [row]))
            seen.add(words)
        if one.summary:
            yield one


class _SeenTitles:
    """The words of titles, to find one with nearly the same words without comparing all.

    Two titles are alike only if one has at least one of the other's rarest words: all but those that may differ.
    """

    def __init__(self, titles: Iterable[frozenset[str]]) -> None:
        self._counts = Counter(word for words in titles for word in words)
        self._by_word: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
        self._by_rare_word: defaultdict[str, list[frozenset[str]]] = defaultdict(list)

    def has_like(self, words: frozenset[str]) -> bool:
        """True if a title has nearly the same words."""
        lists = chain(map(self._by_word.get, self._rarest(words)), map(self._by_rare_word.get, words))
        return any(likeness(words, other) >= _SAME for titles in lists for other in titles or ())

    def add(self, words: frozenset[str]) -> None:
        """Add a title."""
        for word in words:
            self._by_word[word].append(words)
        for word in self._rarest(words):
            self._by_rare_word[word].append(words)

    def _rarest(self, words: frozenset[str]) -> list[str]:
        shared = ceil(_SAME * len(words) - 1e-9)
        return sorted(words, key=lambda word: (self._counts[word], word))[: len(words) - shared + 1]


def _propose(key: str, candidate: Candidate, before: Remembered | None, settings: CaptureSettings) -> CaptureProposal:
    is_attributed = candidate.kind in FAILURES and candidate.confidence >= settings.min_confidence
    report = candidate.report or FailureReport(candidate.summary, candidate.cause, resolution=candidate.fix)
    attribution = classify(report) if is_attributed else None
    preselected = is_preselected(candidate, attribution)
    if before and before.state is CaptureState.APPROVED and not before.silent:
        approved = candidate._replace(summary=before.summary, detail=before.detail)
        return CaptureProposal(key, approved, Handling.APPROVED, preselected, attribution)
    way = way_of(candidate, settings, attribution)
    if way is not Handling.DROP and before and before.state is CaptureState.ALIKE:
        way = Handling.LIST
    return CaptureProposal(key, candidate, way, preselected, attribution)


def way_of(candidate: Candidate, settings: CaptureSettings, attribution: Attribution | None = None) -> Handling:
    """Return how to handle a candidate. Below the confidence `PROMPTED`, none is kept without asking."""
    if candidate.confidence < settings.min_confidence:
        return Handling.DROP
    is_recorded = candidate.source == Source.CALLOUT
    # Not `<`, since the confidence may be NaN.
    if not is_recorded and attribution and not (attribution.preventable and attribution.confidence >= _PREVENTABLE):
        return Handling.DROP
    if candidate.confidence < PROMPTED:
        return Handling.LIST
    is_silent = is_recorded or candidate.kind in _SILENT
    return Handling.SILENT if is_silent and settings.silent else Handling.ASK


def is_preselected(candidate: Candidate, attribution: Attribution | None = None) -> bool:
    """True if a candidate is preselected. For a failure, the attribution must also have enough confidence."""
    confidence = candidate.confidence if attribution is None else min(candidate.confidence, attribution.confidence)
    return confidence > PRESELECTED


def deserves_question(found: Iterable[CaptureProposal]) -> bool:
    """True if a task's end justifies a question: two decisions, or a fixed failure."""
    asked = [one for one in found if one.way is Handling.ASK]
    if any(one.candidate.kind in FAILURES for one in found if one.way in (Handling.ASK, Handling.SILENT)):
        return bool(asked)
    return sum(one.candidate.kind is CandidateKind.DECISION for one in asked) >= _FEWEST


# --- redaction -------------------------------------------------------------------------------------------------------


def redact_candidates(candidates: Iterable[Candidate], redact: Redact, *, strict: bool = True) -> Iterator[Candidate]:
    """Normalize text, and remove secrets and invisible characters. `strict` drops candidates with secrets instead."""

    def clean(one: Candidate, name: str) -> str:
        text = UNSEEN.sub("", redact(normal(getattr(one, name)))[0])
        return cut(normal_line(text), _LONGEST) if name in _LINES else cut(text, _LONGEST_DETAIL)

    for one in candidates:
        texts = filter(None, (one.summary, one.detail, one.cause, one.fix))
        if strict and any(_REDACTED in text or redact(normal(text))[1] for text in texts):
            continue
        texts_by_name: dict[str, Any] = {name: clean(one, name) for name in (*_LINES, "detail", "cause", "fix")}
        yield one._replace(**texts_by_name)


# --- times -----------------------------------------------------------------------------------------------------------


def minutes_of(
    session: Session, now: datetime, bookmarks: Iterable[Bookmark] = (), quiet: timedelta = QUIET
) -> float | None:
    """Return the minutes of work on a session, until now if it is active; None if unknown."""
    is_active = session.status is Status.ACTIVE and session.ended is None
    duration = worked(replace(session, ended=now) if is_active else session, bookmarks, quiet)
    return None if duration is None else duration.total_seconds() / 60


def phases_of(session: Session, task: str, now: datetime) -> frozenset[str] | None:
    """Return the ids of the phases that overlap with a task's time; None if the task's times are unknown."""
    found = next((one for one in session.tasks if one.id == task), None)
    begun = parse_time(found.started or "") if found else None
    if begun is None or found is None or not all(phase.started for phase in session.phases):
        return None
    end = parse_time(found.completed or "") or now
    worked_on = (one for one in session.phases if (one.started or now) <= end and (one.ended or now) >= begun)
    return frozenset(one.id for phase in worked_on for one in (phase, *phase.subphases))
