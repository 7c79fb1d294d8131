"""The report of each failure of a session: what failed, which files its fix changed, and what had been changed before.

Captures and learning cases take it from here, so that one failure is attributed to one category.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from crucible.analysis.findings.observed_calls import is_red
from crucible.analysis.tools.file_kinds import kind_of, plain_words
from crucible.analysis.tools.session_moments import Moment
from crucible.documents.knowledge.items import FailureReport
from crucible.documents.knowledge.novelty import words_of
from crucible.documents.session.findings import Finding, Kind, Source, findings_of
from crucible.documents.session.session import Intervention, Outcome, Session


@dataclass(frozen=True, slots=True)
class FailedRun(FailureReport):
    """The report of a command that failed and passed after a fix.

    `runs` counts how often it failed, `alone` is True if the user said nothing in between, `latest` is the file that was changed right before.
    """

    runs: int = 0
    alone: bool = False
    latest: str = ""


def reports_of(session: Session, moments: Sequence[Moment]) -> Mapping[str, FailureReport]:
    """The reports by the ids of the findings; `moments` are those of the session."""
    failures = [one for one in findings_of(session) if one.kind == Kind.FAILURE]
    return {one.id: _report(one, [moment for moment in moments if moment.line <= one.lines.first]) for one in failures}


def _report(one: Finding, before: list[Moment]) -> FailureReport:
    resolution = one.resolution if one.source == Source.CALLOUT else ""
    runs = _failed_runs(before) if one.source == Source.FIX else []
    if not runs:
        return FailureReport(one.summary, one.cause, resolution=resolution)
    words = words_of(one.summary)
    at = max(runs, key=lambda at: len(words & words_of(before[at].result)))
    fix = _changed(before[at:])
    return FailedRun(
        f"{one.summary}\n{before[at].result}",
        one.cause,
        call=max(reversed(before[at].commands), key=lambda command: len(words & words_of(command))),
        resolution=resolution,
        files="\n".join(fix),
        corrected=_refused(before, fix),
        before="\n".join(_changed_since_green(before[: at + 1])),
        runs=len(runs),
        alone=not any(isinstance(moment.entry, Intervention) for moment in before[at:])
        and len({moment.phase for moment in before[at:]}) == 1,
        latest=next((moment.changed[-1] for moment in reversed(before[:at]) if moment.changed), ""),
    )


def _failed_runs(moments: Sequence[Moment]) -> list[int]:
    """Where the runs are that failed: the callout stands behind the run that passed, and the edits are between the two."""
    passed = next((at for at in range(len(moments) - 1, -1, -1) if moments[at].commands), -1)
    edited = next((at for at in range(passed, -1, -1) if moments[at].changed), 0)
    keys = _keys(moments[passed]) if passed >= 0 else frozenset()
    same = (at for at in range(edited - 1, -1, -1) if _keys(moments[at]) & keys)
    last = next(same, None)
    if last is None:
        return []
    earlier = takewhile(lambda at: _failed(moments[at]), same) if _failed(moments[last]) else ()
    return [*reversed([last, *earlier])]


def _changed_since_green(moments: Sequence[Moment]) -> tuple[str, ...]:
    """The files changed since the last moment's command passed; all of them if it never did."""
    keys, last = _keys(moments[-1]), len(moments) - 1
    green = (at for at in range(last, -1, -1) if _keys(moments[at]) & keys and not _failed(moments[at]))
    return _changed(moments[next(green, 0) :]) or _changed(moments)


def _refused(moments: Sequence[Moment], fix: Sequence[str]) -> str:
    """The user's words when they refused a change to a file that the fix changed later."""
    names = {file.rpartition("/")[2] for file in fix}
    told = (moment.entry for moment in moments if isinstance(moment.entry, Intervention))
    return next((one.words for one in told if names & set((one.note or "").replace("/", " ").split())), "")


def _failed(moment: Moment) -> bool:
    """True if it failed, or printed what test runners print then: a pipe hides the exit code."""
    return moment.call is not None and (moment.call.outcome is Outcome.FAILED or is_red(moment.result))


def _keys(moment: Moment) -> frozenset[tuple[str, ...]]:
    """By what two runs of one command are matched: the program, and which check it is or else its first argument."""
    return frozenset(map(_key, moment.commands))


@lru_cache(maxsize=1024)
def _key(command: str) -> tuple[str, ...]:
    words = plain_words(command.split())
    kind = kind_of(words)
    return (words[0], kind.deed.value) if kind else tuple(words[:2])


def _changed(moments: Sequence[Moment]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(file for moment in moments for file in moment.changed))
