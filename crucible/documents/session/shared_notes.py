"""Merge rules for a note with several native sessions, such as one that another client continued.

Task ids are kept distinct, title and model come from the first session, and the last active session decides the status.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from crucible.documents.session.session import Phase, Session, Status, Task
from crucible.documents.session.status_rules import is_our_reason
from crucible.documents.session.titles import RESUMED


def has_other_sources(note: Session, source: str) -> bool:
    """True if the note has a native session other than `source`, or had phases before `source` was added."""
    return any(other != source for other in _trunks(note)) or (source not in note.sources and bool(note.phases))


def phase_id_in_note(note: Session, base: Sequence[Phase], place: str) -> str:
    """The id, in the note, of a transcript's phase.  `base` are the phases that an earlier import wrote."""
    number, dot, part = place.removeprefix("phase-").partition(".")
    if not number:
        return place
    at = int(number)
    if at > len(base):
        return f"phase-{at - len(base) + len(note.phases)}{dot}{part}"
    same = (phase.id for phase in note.phases if phase.started == base[at - 1].started)
    return f"{next(same, f'phase-{number}')}{dot}{part}"


def source_of(session: Session) -> str:
    """The source of a transcript's main session, "" if there is none.  Later sources are its subagents."""
    return session.sources[0] if session.sources else ""


def _trunks(session: Session) -> Iterator[str]:
    return (source for source in session.sources if "/" not in source)


def as_addition(note: Session, base: Session, now: Session) -> tuple[Session, Session]:
    """Adapt `base` and `now`, from a transcript that was added to an existing note, for the merge."""
    named = _names(note.tasks, base.tasks, now.tasks, _prefix(note, now))
    before, after = _renamed(base.tasks, named), _renamed(now.tasks, named)
    return (
        replace(base, title="", model=None, tasks=_as_known(note.tasks, before, after)),
        # The note keeps its first model; a note without one gets this session's.
        replace(now, title="", tasks=after),
    )


# --- tasks -----------------------------------------------------------------------------------------------------------


def _prefix(note: Session, now: Session) -> int:
    """The number of this native session in the note, from 1.

    It never changes, since new sources are added at the end.
    """
    trunks = list(_trunks(note))
    own = source_of(now)
    return trunks.index(own) + 1 if own in trunks else len(trunks) + 1


def _names(note: Sequence[Task], base: Sequence[Task], now: Sequence[Task], number: int) -> dict[str, str]:
    """Map each task of the transcript to its id in the note: the id of a task with equal content, else `2.<id>`.

    Clients number tasks from 1, so a second session needs a prefix.
    """
    there = {task.id for task in note}
    by_words: dict[str, str] = {}
    for task in note:
        by_words.setdefault(task.content, task.id)
    named: dict[str, str] = {}
    for task in (*base, *now):
        own, known = f"{max(2, number)}.{task.id}", by_words.get(task.content)
        if task.id not in named:
            is_own = own in there or known is None or known in named.values()
            named[task.id] = own if is_own or known is None else known
    return named


def _as_known(note: Sequence[Task], before: Sequence[Task], after: Sequence[Task]) -> tuple[Task, ...]:
    """The base's tasks, plus tasks of the note that are new in this transcript, with the status they have in the note.

    Completed tasks stay completed, even if the second client works through them again.
    """
    there, now, known = ({task.id: task for task in tasks} for tasks in (note, after, before))
    was_done = {task.id for task in note if task.status == "completed"}
    kept = [now.get(task.id, task) if task.id in was_done and task.status != "completed" else task for task in before]
    for task in after:
        old = there.get(task.id)
        if old and old.content == task.content and task.id not in known:
            fresh = replace(task, status=old.status, started=old.started, completed=old.completed)
            kept.append(task if task.id in was_done else fresh)
    return tuple(kept)


def _renamed(tasks: Sequence[Task], named: dict[str, str]) -> tuple[Task, ...]:
    return tuple(
        replace(
            task,
            id=named.get(task.id, task.id),
            depends_on=tuple(named.get(other, other) for other in task.depends_on),
        )
        for task in tasks
    )


# --- status ----------------------------------------------------------------------------------------


def worked_last(note: Session, now: Session, homes: Sequence[Phase | None]) -> bool:
    """True if no other native session worked on the note later.  `homes` are the note's phases of this transcript.

    Compares times only where needed, since clocks of machines differ: phases above the transcript's own are older,
    unless several other sessions were added, possibly in a different order.
    """
    last = _last(now.phases)
    own = {id(home) for home in homes if home}
    places = [at for at, phase in enumerate(note.phases) if id(phase) in own]
    others = note.phases
    if sum(source != source_of(now) for source in _trunks(note)) < 2:
        others = others[places[-1] + 1 :] if places else () if source_of(now) not in note.sources else others
    rivals = _last([phase for phase in others if id(phase) not in own])
    return rivals is None or (last is not None and rivals <= last)


def _last(phases: Sequence[Phase]) -> datetime | None:
    times = (time for phase in phases for each in (phase, *phase.subphases) for time in (each.started, each.ended))
    return max((time for time in times if time), default=None)


def with_note_status(note: Session, base: Session, now: Session) -> Session:
    """Return `base` with the note's status if an import may change that status.

    It may if an import wrote that status, if this native session is new in the note, or if `cru` resumed it.
    """
    joins = source_of(now) not in note.sources
    resumed = any(phase.name.startswith(RESUMED) for phase in now.phases[len(base.phases) :])
    return replace(base, **_status_fields(note)) if joins or resumed or is_status_ours(note) else base  # type: ignore[arg-type]


def _status_fields(note: Session) -> dict[str, object]:
    return {
        "status": note.status,
        "ended": note.ended,
        "resume_point": note.resume_point,
        "pause_reason": note.pause_reason,
    }


def is_status_ours(note: Session) -> bool:
    """True if an import wrote the note's status: a reason in our words, or an end that is the time of a phase."""
    if note.status is Status.PAUSED:
        return is_our_reason(note.pause_reason)
    return note.ended is not None and note.ended == _last(note.phases)
