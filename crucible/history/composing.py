"""A session's history without a model: its findings, tasks and milestones.

Owns what is told, and in which few words of ours.  Every decision, correction, open question and unfinished task of the note is told; of what was done
the newest.  Nothing is said that is not in the session.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

from crucible.acts.evidence import Evidence
from crucible.brief.model import cut_words
from crucible.history.model import NO_CAPTURES, Captures, Entry, Line, shortened_entry
from crucible.history.shortening import shortener
from crucible.history.touched import modified_files, used_skills
from crucible.history.walking import line_of, placed_entries
from crucible.history.worked import worked
from crucible.patterns import late_pattern
from crucible.session.findings import Finding, Kind, findings_of
from crucible.session.model import Callout, Session, Task
from crucible.session.model import Entry as NoteEntry
from crucible.session.tasks import is_task_news
from crucible.session.waiting import DONE, Answers, wanted_of

__all__ = ["CORRECTED", "PAUSED", "compose_entry", "open_questions"]

PAUSED = "Paused: "
"""What begins the line that says why a session rests."""

CORRECTED = "Corrected: "
"""The prefix of a user's correction."""

_CLOSED = frozenset(("completed", "cancelled", "deleted"))
_DONE = frozenset(("milestone", "task_complete"))
_MOST_DONE = 40
"""Results that are told beside the tasks, the newest."""
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
    entries, findings = tuple(placed_entries(session)), findings_of(session)
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
            done=(*_finished_tasks(session), *_results(session, [one.entry for one in entries], findings)),
            decisions=(*_decided(findings), *_of_children(children)),
            questions=(*open_questions(session), *(line for child in children for line in _asked(child))),
            further=(*_unfinished(session), *_blockers(session, blockers)),
        ),
        shorten,
    )


def _agent(session: Session) -> str:
    named = (*session.participants, *(phase.agent for phase in session.phases if phase.agent))
    return str(named[0]) if named else ""


def _is_started(task: Task) -> bool:
    return task.status not in _CLOSED and (task.status == "in_progress" or bool(task.started))


# --- what was decided and done ---------------------------------------------------------------------------------------


def _decided(findings: Sequence[Finding]) -> Iterator[Line]:
    """What was decided, then what the user corrected."""
    yield from (_line(one, one.summary) for one in findings if one.kind == Kind.DECISION)
    yield from (_line(one, f"{CORRECTED}{one.summary}") for one in findings if one.kind == Kind.CORRECTION)


def _line(finding: Finding, text: str) -> Line:
    return Line(text, finding.details, max(0, finding.lines.first + 1))


def _of_children(children: Sequence[Session]) -> Iterator[Line]:
    """Subagents' decisions, each with the subagent's name, but no line numbers: they would refer to another note."""
    for child in children:
        for one in findings_of(child):
            if one.kind == Kind.DECISION:
                yield Line(_of_child(one.summary, child), one.details)


def _asked(child: Session) -> Iterator[Line]:
    return (Line(_of_child(line.text, child)) for line in open_questions(child))


def _of_child(text: str, child: Session) -> str:
    return f"{text} (subagent {child.title or child.id})"


def open_questions(session: Session) -> Iterator[Line]:
    """Unanswered questions to a human and unresolved errors, then open ends."""
    entries = [one.entry for one in placed_entries(session)]
    answers = Answers(entries)
    for at, entry in enumerate(entries):
        kind, text = wanted_of(entry) or (DONE, "")
        if kind != DONE and not answers.settles(at):
            yield Line(f"Unresolved: {text}" if kind == "error" else text, line=line_of(entry))
    for one in findings_of(session):
        if one.kind == Kind.OPEN_END:
            yield _line(one, one.summary)


def _finished_tasks(session: Session) -> Iterator[Line]:
    line = max(0, session.tasks_lines.first + 1)
    for task in session.tasks:
        if task.status == "completed":
            yield Line(f"{task.content} (task {task.id})", line=line)


def _results(session: Session, entries: Sequence[NoteEntry], findings: Sequence[Finding]) -> list[Line]:
    """Milestones, what was fixed and reported in the order of the note, then outcomes and the summary."""
    told = [line for entry in entries if (line := _milestone(entry))]
    told += [line for one in findings if (line := _result(one))]
    told.sort(key=lambda line: line.line)
    told += [_line(one, one.summary) for one in findings if one.kind == Kind.OUTCOME]
    if session.summary:
        told.append(Line(_first_paragraph(session.summary), line=max(0, session.summary_lines.first + 1)))
    return _newest(told, _MOST_DONE)


def _newest(lines: list[Line], most: int) -> list[Line]:
    if len(lines) <= most:
        return lines
    count = len(lines) - most
    return [Line(f"… {count:,} earlier {'result' if count == 1 else 'results'}"), *lines[-most:]]


def _milestone(entry: NoteEntry) -> Line | None:
    if not isinstance(entry, Callout) or entry.kind not in _DONE or is_task_news(entry.text):
        return None  # the list of tasks tells its own news
    return Line(_gist(_titled(entry), 60), line=line_of(entry))


def _result(finding: Finding) -> Line | None:
    if finding.kind == Kind.FAILURE:
        cause = f" ({_gist(finding.cause, 40)})" if finding.cause else ""
        text = f"Fixed: {_gist(finding.summary, 40)}{cause} → {_gist(finding.resolution, 40)}"
    elif finding.kind == Kind.REPORT:
        text = f"{finding.by.partition('@')[0]}: {_gist(finding.summary, 40)}"
    else:
        return None
    return Line(text, line=max(0, finding.lines.first + 1))


def _titled(entry: Callout) -> str:
    return ": ".join(part for part in (entry.title, entry.text) if part)


def _gist(text: str, words: int) -> str:
    return cut_words(" ".join(text[:4000].split()), words)


def _first_paragraph(text: str) -> str:
    return _gist(next(filter(_LETTER.search, _PARAGRAPH.split(text)), ""), 80)


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


def _blockers(session: Session, told: Sequence[str]) -> Iterator[Line]:
    yield from (Line(f"Blocked: {text}") for text in told)
    if session.pause_reason:
        yield Line(f"{PAUSED}{session.pause_reason}")
