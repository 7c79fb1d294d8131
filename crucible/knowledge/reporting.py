"""The report of each failure of a session: what failed, which files its fix changed, and what had been changed before.

Captures and learning cases take it from here, so that one failure is attributed to one category.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from crucible.acts.evidence import Evidence
from crucible.acts.files import Files
from crucible.acts.kinds import kind_of, plain_words
from crucible.acts.model import Act, Deed
from crucible.acts.reading import acts_of
from crucible.findings.calls import is_red
from crucible.knowledge.model import FailureReport
from crucible.knowledge.noise import words_of
from crucible.session.findings import Finding, Kind, Source, findings_of
from crucible.session.model import Intervention, Outcome, Session, ToolCall, ToolCalls

__all__ = ["reports_of"]

_COMMANDS = (Deed.RUN, Deed.TEST, Deed.CHECK, Deed.BUILD)
_CHANGES = (Deed.WRITE, Deed.EDIT)


class _Step(NamedTuple):
    """A call, or the user's words on one: the line, the commands that it ran, and the files that it changed."""

    line: int
    call: ToolCall | None
    commands: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    words: str = ""
    result: str = ""

    @property
    def keys(self) -> frozenset[tuple[str, ...]]:
        """By what two runs of one command are matched: the program, and what kind of check it is or its first argument."""
        return frozenset(_key(plain_words(command.split())) for command in self.commands)

    @property
    def failed(self) -> bool:
        """True if it failed, or printed what test runners print then: a pipe hides the exit code."""
        return self.call is not None and (self.call.outcome is Outcome.FAILED or is_red(self.result))


def reports_of(session: Session, evidence: Evidence) -> Mapping[str, FailureReport]:
    """The reports by the ids of the findings; empty for a session without failures."""
    failures = [one for one in findings_of(session) if one.kind == Kind.FAILURE]
    if not failures:
        return {}
    steps = list(_steps(session, evidence))
    return {one.id: _report(one, [step for step in steps if step.line < one.lines.first]) for one in failures}


def _steps(session: Session, evidence: Evidence) -> Iterator[_Step]:
    files = Files(evidence.roots, names_only=True)
    for phase in session.all_phases():
        for entry in phase.entries:
            if isinstance(entry, Intervention) and entry.note:
                refused = tuple(entry.note.split(" ")[-1:])
                yield _Step(entry.lines.first, None, files=refused, words=entry.words)
            for call in entry.calls if isinstance(entry, ToolCalls) else ():
                yield _step(call, acts_of(call, evidence, files), evidence)


def _step(call: ToolCall, acts: Sequence[Act], evidence: Evidence) -> _Step:
    return _Step(
        call.lines.first,
        call,
        tuple(act.what for act in acts if act.deed in _COMMANDS),
        tuple(act.what for act in acts if act.deed in _CHANGES) if call.outcome is Outcome.OK else (),
        result=evidence.result(call) or call.result,
    )


def _report(one: Finding, before: list[_Step]) -> FailureReport:
    at = _failed_at(before, one.summary) if one.source == Source.FIX else None
    failed = before[at] if at is not None else None
    fix = _changed(before[at:]) if at is not None else ()
    refused = (
        step for step in before if step.call is None and set(map(_name, step.files)) & {*map(_name, fix)}
    )
    is_told = one.source == Source.CALLOUT
    return FailureReport(
        "\n".join(filter(None, (one.summary, failed.result if failed else ""))),
        one.cause,
        call=failed.commands[-1] if failed and failed.commands else "",
        resolution=one.resolution if is_told else "",
        files="\n".join(fix),
        corrected=next((step.words for step in refused), ""),
        before="\n".join(_changed_since_green(before[: at + 1])) if at is not None else "",
    )


def _failed_at(steps: Sequence[_Step], said: str) -> int | None:
    """Where the run is that failed as `said`: the callout stands behind the run that passed, and the edits are between the two."""
    runs = [at for at, step in enumerate(steps) if step.commands]
    passed = steps[runs[-1]].keys if runs else frozenset()
    same = [at for at in reversed(runs[:-1]) if steps[at].keys & passed and _changed(steps[at:])]
    failed = [*takewhile(lambda at: steps[at].failed, same)] or same[:1]
    words = words_of(said)
    return max(reversed(failed), key=lambda at: len(words & words_of(steps[at].result)), default=None)


def _changed_since_green(steps: Sequence[_Step]) -> tuple[str, ...]:
    """The files that were changed since the command that the last step ran had passed; all of them if it never did."""
    last = len(steps) - 1
    green = (at for at in range(last, -1, -1) if steps[at].keys & steps[last].keys and not steps[at].failed)
    return _changed(steps[next(green, 0) :]) or _changed(steps)


def _changed(steps: Sequence[_Step]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(file for step in steps if step.call for file in step.files))


def _key(words: Sequence[str]) -> tuple[str, ...]:
    kind = kind_of(words)
    return (words[0], kind.deed.value) if words and kind else tuple(words[:2])


def _name(path: str) -> str:
    return path.rpartition("/")[2]
