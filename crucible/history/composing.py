"""A session's history without a model: picked from its note by fixed rules.

Owns what is told, and in which few words of ours.  Every decision, open question and unfinished task of the note is told; of what was done, what
a reader would want to know first.  Nothing is said that does not stand in the session.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

from crucible.acts.evidence import Evidence
from crucible.brief.model import cut_words
from crucible.history.inferring import inferred_decisions
from crucible.history.likeness import Alikes
from crucible.history.model import NO_CAPTURES, Captures, Entry, Line, shortened_entry
from crucible.history.questions import open_questions, words_of
from crucible.history.shortening import shortener
from crucible.history.touched import modified_files, used_skills
from crucible.history.walking import Placed, line_of, placed_entries
from crucible.history.worked import worked
from crucible.patterns import late_pattern
from crucible.session.model import (
    Callout,
    Decision,
    Failure,
    Intervention,
    Phase,
    Prose,
    Session,
    Subagent,
    Task,
)
from crucible.session.model import Entry as NoteEntry
from crucible.session.tasks import is_task_news
from crucible.session.waiting import names_item

__all__ = ["INFERRED", "PAUSED", "compose_entry"]

PAUSED = "Paused: "
"""What begins the line that says why a session rests."""

INFERRED = "(inferred)"
"""What stands behind a decision that was found in free words."""

_CLOSED = frozenset(("completed", "cancelled", "deleted"))
_DONE = frozenset(("milestone", "task_complete"))
_MOST_DONE = 40
"""Results that are told beside the tasks, the newest."""
_MOST_PHASES = 8
_MOST_INFERRED = 40
_BLOCKED = late_pattern(
    r"^[ \t>*_-]*block(?:ed|ers?)[*_]*[ \t]*(?:by\b[ \t]*)?:[*_ \t]*(\S.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_PARAGRAPH = late_pattern(r"\n[ \t]*\n")
_LETTER = late_pattern(r"\w")
_NO_EVIDENCE = Evidence()


def compose_entry(
    session: Session,
    evidence: Evidence = _NO_EVIDENCE,
    *,
    captures: Captures = NO_CAPTURES,
    blockers: Sequence[str] = (),
    roots: Sequence[str] = (),
    children: Sequence[Session] = (),
    time_worked: timedelta | None = None,
) -> Entry:
    """What the session came to; no text of it holds an absolute path.

    `evidence` holds the whole calls, where they were recorded; without it files are known by the lines of the note.  `blockers` are those of
    the session's last bookmark.  `roots` are folders of its project beside those that the evidence knows.  `children` are
    its subagents' sessions: what was decided there, and what is open, is told here.  `time_worked` is known where bookmarks were looked at, too;
    else the note alone tells it.
    """
    entries = tuple(placed_entries(session))
    lasted = worked(session) if time_worked is None else time_worked
    shorten = shortener((*evidence.roots, *roots))
    return shortened_entry(
        Entry(
            session.id,
            title=session.title,
            project=session.project or "",
            started=session.started,
            ended=session.ended,
            duration_minutes=round(lasted.total_seconds() / 60) if lasted is not None else None,
            agent=_agent(session),
            skills=used_skills(entries),
            tasks_completed=tuple(task.id for task in session.tasks if task.status == "completed"),
            tasks_started=tuple(task.id for task in session.tasks if _is_started(task)),
            files_modified=modified_files(entries, evidence),
            captures=captures,
            tokens=session.tokens_used,
            done=(*_finished_tasks(session), *_results(session, entries)),
            decisions=(*_decided(session, entries), *_of_children(children, _decisions)),
            questions=(*open_questions(entries), *_of_children(children, open_questions)),
            further=(*_unfinished(session), *_blockers(session, entries, blockers)),
        ),
        shorten,
    )


def _agent(session: Session) -> str:
    named = (*session.participants, *(phase.agent for phase in session.phases if phase.agent))
    return str(named[0]) if named else ""


def _is_started(task: Task) -> bool:
    return task.status not in _CLOSED and (task.status == "in_progress" or bool(task.started))


# --- what was decided and done ---------------------------------------------------------------------------------------


def _decisions(entries: Sequence[Placed]) -> Iterator[Line]:
    for _, entry in entries:
        if isinstance(entry, Decision):
            yield Line(entry.text, entry.rationale or "", line_of(entry))


def _decided(session: Session, entries: Sequence[Placed]) -> list[Line]:
    """What was noted as decided, and then what was only said to be, marked so, where it is nothing else than that."""
    noted = list(_decisions(entries))
    known = Alikes(words_of(f"{one.text} {one.why}") for one in noted)
    said: dict[str, Line] = {}
    for text, line in _said(session, entries):
        for one in inferred_decisions(text):
            words = words_of(one.text)
            if words and not any(2 * len(words & other) >= len(words) for other in known.near(words)):
                said.setdefault(one.text.casefold(), Line(f"{one.text} {INFERRED}", one.why, line))
    return [*noted, *list(said.values())[-_MOST_INFERRED:]]


def _said(session: Session, entries: Sequence[Placed]) -> Iterator[tuple[str, int]]:
    yield from ((entry.text, line_of(entry)) for _, entry in entries if isinstance(entry, Prose))
    if session.summary:
        yield session.summary, max(0, session.summary_lines.first + 1)


def _of_children(
    children: Sequence[Session], read: Callable[[Sequence[Placed]], Iterator[Line]]
) -> Iterator[Line]:
    """With whose it is; its line is one of another note.

    What it was told, and what it said to its parent, asks no human, and answers nothing but what it names.
    """
    for child in children:
        for line in read([one for one in placed_entries(child) if _is_own(one.entry)]):
            yield Line(f"{line.text} (subagent {child.title or child.id})", line.why)


def _is_own(entry: NoteEntry) -> bool:
    return not isinstance(entry, Prose | Intervention) or names_item(entry)


def _finished_tasks(session: Session) -> Iterator[Line]:
    line = max(0, session.tasks_lines.first + 1)
    for task in session.tasks:
        if task.status == "completed":
            yield Line(f"{task.content} (task {task.id})", line=line)


def _results(session: Session, entries: Sequence[Placed]) -> list[Line]:
    """What callouts tell of results, and the summary; what the phases ended with where there is nothing of these."""
    told = [line for _, entry in entries if (line := _result(entry))]
    if session.summary:
        told.append(Line(_first_paragraph(session.summary), line=max(0, session.summary_lines.first + 1)))
    elif not told:
        told = [line for phase in session.phases if (line := _outcome(phase))]
        return _newest(told, _MOST_PHASES)
    return _newest(told, _MOST_DONE)


def _newest(lines: list[Line], most: int) -> list[Line]:
    if len(lines) <= most:
        return lines
    count = len(lines) - most
    return [Line(f"… {count:,} earlier {'result' if count == 1 else 'results'}"), *lines[-most:]]


def _result(entry: object) -> Line | None:
    match entry:
        case Callout(kind=kind) if kind in _DONE:
            if is_task_news(entry.text):  # the list of tasks tells it
                return None
            return Line(_gist(_titled(entry), 60), line=line_of(entry))
        case Failure(resolution=str() as resolution) if resolution.strip():
            return Line(f"Mended: {_gist(entry.text, 40)} → {_gist(resolution, 40)}", line=line_of(entry))
        case Subagent(summary=str() as summary) if summary.strip():
            return Line(f"{entry.agent.name}: {_gist(summary, 40)}", line=line_of(entry))
        case _:
            return None


def _outcome(phase: Phase) -> Line | None:
    """The last words of a phase."""
    prose = [entry for entry in phase.all_entries() if isinstance(entry, Prose)]
    said = next((text for entry in reversed(prose) if (text := _last_paragraph(entry.text))), "")
    if not said or said.endswith(("?", "？")):
        return None
    return Line(f"{_gist(phase.name, 12)}: {_gist(said, 40)}", line=phase.lines.first + 1)


def _titled(entry: Callout) -> str:
    return ": ".join(part for part in (entry.title, entry.text) if part)


def _gist(text: str, words: int) -> str:
    return cut_words(" ".join(text[:4000].split()), words)


def _first_paragraph(text: str) -> str:
    return _gist(next(filter(_LETTER.search, _PARAGRAPH.split(text)), ""), 80)


def _last_paragraph(text: str) -> str:
    return next(filter(_LETTER.search, reversed(_PARAGRAPH.split(text[-4000:]))), "").strip()


# --- what comes next -------------------------------------------------------------------------------------------------


def _unfinished(session: Session) -> Iterator[Line]:
    """Every task that is not done, those in progress first; what it waits for stands beside it."""
    line = max(0, session.tasks_lines.first + 1)
    waiting = {task.id for task in session.tasks if task.status not in _CLOSED}
    left = [task for task in session.tasks if task.id in waiting and task.status not in _CLOSED]
    for task in sorted(left, key=lambda task: task.status != "in_progress"):
        needs = [one for one in task.depends_on if one in waiting and one != task.id]
        after = f"; waits for task {', '.join(needs)}" if needs else ""
        yield Line(f"{_verb(task)}: {task.content} (task {task.id}{after})", line=line)


def _verb(task: Task) -> str:
    known = {"in_progress": "Continue", "pending": "To do", "blocked": "Blocked"}
    return known.get(task.status, f"To do ({task.status[:20]})")


def _blockers(session: Session, entries: Sequence[Placed], told: Sequence[str]) -> Iterator[Line]:
    for text in told:
        yield Line(f"Blocked: {text}")
    for _, entry in entries:
        if isinstance(entry, Prose) and ("lock" in entry.text or "LOCK" in entry.text):
            for found in _BLOCKED.finditer(entry.text):
                before = entry.text.count("\n", 0, found.start())
                yield Line(f"Blocked: {found[1]}", line=line_of(entry) and line_of(entry) + before)
    if session.pause_reason:
        yield Line(f"{PAUSED}{session.pause_reason}")
