"""The candidates of a session, sorted by what becomes of them: without secrets, in plain characters, each thing once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from crucible.bookmarks.model import Bookmark
from crucible.capture.model import FAILURES, PROMPTED, Candidate, Kind, Proposal
from crucible.capture.records import Known, Remembered, State, key_of
from crucible.capture.routing import Judge, Way, is_preselected, report_of, way_of
from crucible.history.worked import QUIET, worked
from crucible.knowledge.noise import overlap, words_of
from crucible.lifecycle_settings import CaptureSettings
from crucible.note.contain import cut, normal, normal_line
from crucible.patterns import UNSEEN
from crucible.secrets.scanner import Redact
from crucible.session.model import Phase, Session, Status

__all__ = ["Sorted", "deserves_question", "minutes_of", "once_each", "phases_of", "sort_out", "told_safely"]

_LONGEST, _LONGEST_DETAIL = 200, 21_000
"""Code points of a summary, and of the other texts."""
_TAKEN_OUT = "[REDACTED:"
_REFUSED = frozenset((State.SKIPPED, State.DROPPED))
_ANSWERED = _REFUSED | {State.KEPT, State.KNOWN}
_GROUPS = {Way.SILENT: "silent", Way.ASK: "asked", Way.LIST: "listed", Way.DROP: ""}
_ONE = 0.8
"""The share of the words of two titles from which on they say one thing."""
_FEWEST = 2
"""Decisions of a task that are worth a question."""

Repeats = Callable[[Candidate], str]
"""The id of the item that says the same as a candidate, "" for none."""


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


def sort_out(
    candidates: Iterable[Candidate],
    known: Known,
    settings: CaptureSettings,
    judge: Judge,
    repeats: Repeats,
    *,
    again: bool = False,
) -> Sorted:
    """Sort what has no answer yet, the surest first.  What was refused counts `again`.

    What waits for an answer in another session of the project is not proposed a second time; what is known already is never ticked.
    """
    answered = _ANSWERED - _REFUSED if again else _ANSWERED
    groups: dict[str, dict[str, Proposal]] = {name: {} for name in Sorted.__slots__}
    for candidate in once_each(candidates):
        key = key_of(candidate)
        if known.state(key) not in answered:
            name, proposal = _placed(key, candidate, known.states.get(key), settings, judge)
            if name in ("asked", "listed"):
                if key in known.waiting and key not in known.states:
                    continue
                repeated = repeats(candidate)
                ticked = proposal.preselected and name == "asked" and not repeated
                proposal = proposal._replace(preselected=ticked, repeats=repeated)
            if name:
                groups[name].setdefault(key, proposal)
    return Sorted(**{name: tuple(group.values()) for name, group in groups.items()})


def once_each(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """The surest of those that say one thing: found in the same row, or in nearly the same words."""
    rows: set[str] = set()
    told: list[frozenset[str]] = []
    for one in sorted(candidates, key=lambda one: (-one.confidence, one.line)):
        row, words = one.finding.partition("-")[2], words_of(one.summary)
        is_failure = one.kind in FAILURES
        if not one.summary or (row and row in rows and not is_failure):
            continue
        if not is_failure:
            if one.kind is not Kind.EVIDENCE and any(overlap(words, other) >= _ONE for other in told):
                continue
            rows.add(row)
            told.append(words)
        yield one


def _placed(
    key: str, candidate: Candidate, before: Remembered | None, settings: CaptureSettings, judge: Judge
) -> tuple[str, Proposal]:
    """The group that it belongs to, "" for none."""
    is_judged = candidate.kind in FAILURES and candidate.confidence >= settings.min_confidence
    attribution = judge(report_of(candidate)) if is_judged else None
    proposal = Proposal(key, candidate, is_preselected(candidate, attribution), attribution)
    if before and before.state is State.APPROVED and not before.silent:
        told = candidate._replace(summary=before.summary, detail=before.detail)
        return "approved", proposal._replace(candidate=told)
    way = way_of(candidate, settings, attribution)
    if way is Way.DROP:
        return ("dropped" if attribution and attribution.judge != "rules" else ""), proposal
    return ("listed" if before and before.state is State.ALIKE else _GROUPS[way]), proposal


def deserves_question(found: Sorted) -> bool:
    """True if a task's end is worth one: two decisions of weight, or a failure that was fixed; a simple implementation is not."""
    if any(one.candidate.kind in FAILURES for one in (*found.silent, *found.asked)):
        return bool(found.asked)
    return sum(_has_weight(one.candidate) for one in found.asked) >= _FEWEST


def _has_weight(candidate: Candidate) -> bool:
    return candidate.kind is Kind.DECISION and candidate.confidence >= PROMPTED


# --- told safely -----------------------------------------------------------------------------------------------------


def told_safely(
    candidates: Iterable[Candidate], redact: Redact, *, strict: bool = True
) -> Iterator[Candidate]:
    """The same in normal form, without secrets and unseen characters; if `strict`, what holds or held a secret is left out altogether."""
    for one in candidates:
        texts = (one.summary, one.detail, one.cause, one.fix)
        if strict and any(_TAKEN_OUT in text or redact(normal(text))[1] for text in texts if text):
            continue
        yield one._replace(
            summary=_line(one.summary, redact),
            detail=_text(one.detail, redact),
            source=_line(one.source, redact),
            file=_line(one.file, redact),
            cause=_text(one.cause, redact),
            fix=_text(one.fix, redact),
        )


def _line(text: str, redact: Redact) -> str:
    return cut(normal_line(UNSEEN.sub("", redact(normal(text))[0])), _LONGEST)


def _text(text: str, redact: Redact) -> str:
    return cut(normal(UNSEEN.sub("", redact(text)[0])), _LONGEST_DETAIL) if text else ""


# --- times -----------------------------------------------------------------------------------------------------------


def minutes_of(
    session: Session, now: datetime, bookmarks: Iterable[Bookmark] = (), quiet: timedelta = QUIET
) -> float | None:
    """How long was worked on a session, as its history tells it, on one that goes on until now; None if nobody knows."""
    goes_on = session.status is Status.ACTIVE and session.ended is None
    lasted = worked(replace(session, ended=now) if goes_on else session, bookmarks, quiet)
    return None if lasted is None else lasted.total_seconds() / 60


def phases_of(session: Session, task: str, now: datetime) -> frozenset[str] | None:
    """The ids of the phases in which a task was worked on; None if its note does not tell, and all count."""
    found = next((one for one in session.tasks if one.id == task), None)
    begun = _time(found.started) if found else None
    if begun is None or found is None or not all(phase.started for phase in session.phases):
        return None
    over = _time(found.completed) or now
    starts = [phase.started or now for phase in session.phases]
    spans = zip(session.phases, pairwise([*starts, max(now, *starts)]), strict=True)
    worked_on = (
        phase for phase, (start, following) in spans if start <= over and (phase.ended or following) >= begun
    )
    return frozenset(one.id for phase in worked_on for one in _with_parts(phase))


def _with_parts(phase: Phase) -> tuple[Phase, ...]:
    return (phase, *phase.subphases)


def _time(text: str | None) -> datetime | None:
    try:
        found = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
