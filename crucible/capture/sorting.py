"""The candidates of a session, sorted by what becomes of them, told without secrets and in plain characters.

Owns which of them belong to a task, what was answered already, and when a task's end deserves a question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from crucible.bookmarks.model import Bookmark
from crucible.capture.asking import Proposal
from crucible.capture.model import PROMPTED, Candidate, Kind
from crucible.capture.records import Known, Remembered, State, key_of
from crucible.capture.routing import FAILURES, Judge, Way, by_rules, is_preselected, report_of, way_of
from crucible.history.worked import QUIET, worked
from crucible.lifecycle_settings import CaptureSettings
from crucible.note.contain import cut, normal, normal_line
from crucible.patterns import UNSEEN
from crucible.secrets.scanner import Redact
from crucible.session.model import Phase, Session, Status

__all__ = ["Sorted", "deserves_question", "minutes_of", "sort_out", "told_safely"]

_LONGEST, _LONGEST_DETAIL = 200, 4000
"""Code points of a summary, and of the other texts."""
_TAKEN_OUT = "[REDACTED:"
_REFUSED = frozenset((State.SKIPPED, State.DROPPED))
_ANSWERED = _REFUSED | {State.KEPT, State.KNOWN}
_FEWEST = 2
"""Decisions of a task that are worth a question."""


@dataclass(frozen=True, slots=True)
class Sorted:
    """What is kept without a question, what was approved and is not kept yet, what may be asked about, and what is only listed.

    `dropped` are failures that a model has looked at, so that it is not asked again.
    """

    silent: tuple[Proposal, ...] = ()
    approved: tuple[Proposal, ...] = ()
    asked: tuple[Proposal, ...] = ()
    listed: tuple[Proposal, ...] = ()
    dropped: tuple[Proposal, ...] = ()

    @property
    def open(self) -> tuple[Proposal, ...]:
        """All that waits for an answer."""
        return (*self.asked, *self.listed)

    @property
    def unsure(self) -> frozenset[str]:
        """The keys of what is only listed."""
        return frozenset(one.key for one in self.listed)


def sort_out(
    session: Session,
    candidates: Iterable[Candidate],
    known: Known,
    settings: CaptureSettings,
    judge: Judge | None,
    *,
    task: str = "",
    now: datetime,
    again: bool = False,
) -> Sorted:
    """Sort what has no answer yet, of a task alone where one is named; each thing once, the surest first.  What was refused counts `again`."""
    answered = _ANSWERED - _REFUSED if again else _ANSWERED
    phases = _phases_of(session, task, now) if task else None
    groups: dict[str, dict[str, Proposal]] = {name: {} for name in Sorted.__slots__}
    for candidate in sorted(candidates, key=lambda one: (-one.confidence, one.line)):
        if not candidate.summary or (phases is not None and candidate.phase not in phases):
            continue
        key = key_of(candidate)
        state = known.state(key)
        if state in answered or any(key in group for group in groups.values()):
            continue
        group, proposal = _placed(key, candidate, known.states.get(key), settings, judge)
        if group:
            groups[group][key] = proposal
    return Sorted(**{name: tuple(group.values()) for name, group in groups.items()})


def _placed(
    key: str, candidate: Candidate, before: Remembered | None, settings: CaptureSettings, judge: Judge | None
) -> tuple[str, Proposal]:
    """In which group it belongs, "" for none."""
    attribution = None
    if candidate.kind in FAILURES and candidate.confidence >= settings.min_confidence:
        attribution = (judge or by_rules)(report_of(candidate))
    proposal = Proposal(key, candidate, is_preselected(candidate, attribution), attribution)
    if before and before.state is State.APPROVED and not before.silent:
        told = candidate._replace(summary=before.summary, detail=before.detail)
        return "approved", proposal._replace(candidate=told)
    way = way_of(candidate, settings, attribution)
    if way is Way.DROP:
        return ("dropped" if attribution and attribution.judge != "rules" else ""), proposal
    if before and before.state is State.ALIKE:
        return "listed", proposal._replace(preselected=False)
    group = {Way.SILENT: "silent", Way.ASK: "asked", Way.LIST: "listed"}[way]
    return group, proposal._replace(preselected=proposal.preselected and way is Way.ASK)


def deserves_question(found: Sorted) -> bool:
    """Whether a task's end is worth one: two decisions of weight, or a failure that was mended; a simple implementation is not.

    A decision record needs no question: it is kept.
    """
    if any(one.candidate.kind in FAILURES for one in (*found.silent, *found.asked)):
        return bool(found.asked)
    return sum(_has_weight(one.candidate) for one in found.asked) >= _FEWEST


def _has_weight(candidate: Candidate) -> bool:
    return candidate.kind is Kind.DECISION and candidate.confidence >= PROMPTED


# --- told safely -----------------------------------------------------------------------------------------------------


def told_safely(
    candidates: Iterable[Candidate], redact: Redact, *, strict: bool = True
) -> Iterator[Candidate]:
    """The same in normal form, without secrets and what nobody sees; where it is `strict`, what holds or held a secret is left out altogether."""
    for one in candidates:
        if strict and _has_secret(one, redact):
            continue
        yield one._replace(
            summary=_line(redact(normal(one.summary))[0], _LONGEST),
            detail=_text(one.detail, redact),
            source=_line(redact(one.source)[0], _LONGEST),
            file=_line(redact(one.file)[0], 4 * _LONGEST),
            error=_text(one.error, redact),
            resolution=_text(one.resolution, redact),
            corrected=_text(one.corrected, redact),
        )


def _has_secret(one: Candidate, redact: Redact) -> bool:
    texts = (one.summary, one.detail, one.error, one.resolution)
    return any(_TAKEN_OUT in text or redact(normal(text))[1] for text in texts if text)


def _line(text: str, limit: int) -> str:
    return cut(normal_line(UNSEEN.sub("", text)), limit)


def _text(text: str, redact: Redact) -> str:
    if not text:
        return ""
    return cut(normal(UNSEEN.sub("", redact(text)[0])), _LONGEST_DETAIL)


# --- times -----------------------------------------------------------------------------------------------------------


def minutes_of(
    session: Session, now: datetime, bookmarks: Iterable[Bookmark] = (), quiet: timedelta = QUIET
) -> float | None:
    """How long was worked on a session, as its history tells it; on one that goes on until now.  None where nobody knows."""
    goes_on = session.status is Status.ACTIVE and session.ended is None
    lasted = worked(replace(session, ended=now) if goes_on else session, bookmarks, quiet)
    return None if lasted is None else lasted.total_seconds() / 60


def _phases_of(session: Session, task: str, now: datetime) -> frozenset[str] | None:
    """The ids of the phases in which a task was worked on; None where its note does not tell, and all count."""
    found = next((one for one in session.tasks if one.id == task), None)
    begun = _time(found.started) if found else None
    if begun is None or found is None:
        return None
    over = _time(found.completed) or now
    phases = [*session.all_phases()]
    if not all(phase.started for phase in session.phases):
        return None
    spans = zip(phases, _ends(session, now), strict=True)
    return frozenset(phase.id for phase, (start, end) in spans if start <= over and end >= begun)


def _ends(session: Session, now: datetime) -> Iterator[tuple[datetime, datetime]]:
    """From when to when each phase went, its parts with it; one without an end goes to the next one's beginning."""
    starts = [phase.started or now for phase in session.phases]
    for phase, (start, following) in zip(session.phases, pairwise([*starts, max(now, *starts)]), strict=True):
        span = start, phase.ended or following
        for _ in _with_parts(phase):
            yield span


def _with_parts(phase: Phase) -> Iterator[Phase]:
    yield phase
    yield from phase.subphases


def _time(text: str | None) -> datetime | None:
    try:
        found = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
