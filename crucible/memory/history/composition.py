"""Compose a session's history from its findings, tasks and open questions, without a model.

Duplicates are dropped.  A section keeps the items with the highest confidence, then the latest; its last line counts
the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import chain
from typing import TypeAlias

from crucible.analysis.tools.recorded_calls import RecordedCalls
from crucible.core.patterns import late_pattern
from crucible.core.text import counted, overlap
from crucible.documents.session.findings import Finding, Kind, findings_of, is_from_model, without_guesses
from crucible.documents.session.session import Intervention, Session, Task
from crucible.documents.session.task_block import CLOSED_TASKS
from crucible.documents.session.waiting import words_of
from crucible.memory.history.history import (
    NO_CAPTURES,
    Captures,
    HistoryEntry,
    HistoryLine,
    shortened_entry,
    shortener,
    with_lines,
)
from crucible.memory.history.work_time import entries_of, modified_files, used_skills, worked
from crucible.memory.summary.brief import cut_words, milestones, questions_in
from crucible.memory.summary.brief_text import bare
from crucible.vault.index.later_sessions import NOTHING, LaterSessions

MOST = {
    "request": 1,
    "done": 12,
    "decisions": 12,
    "corrections": 8,
    "failures": 6,
    "questions": 8,
    "further": 12,
}
"""Maximum number of items in each section."""
STARTED = "Started: "
"""The prefix of a task that was started but not finished."""
PAUSED = "Paused: "
"""The prefix of the line with the reason for a pause."""
THEN = "Open when the session ended; "
"""The prefix of the line that counts later sessions."""

_POINTS = 6
_REPORTS = 3
_LONGEST_REQUEST = 50
_LONGEST = 60
"""Maximum words of text that is not a finding."""
_PARAGRAPH = late_pattern(r"\n[ \t]*\n")
_LETTER = late_pattern(r"\w")
_COMPARABLE = 20
"""Minimum letters of a text to search for in other items."""
_VERBS = {"in_progress": "Continue", "pending": "To do", "blocked": "Blocked"}
_NO_EVIDENCE = RecordedCalls()


_Listed: TypeAlias = "tuple[str, HistoryLine]"
"""An item and its section."""


def compose_entry(
    session: Session,
    evidence: RecordedCalls = _NO_EVIDENCE,
    *,
    captures: Captures = NO_CAPTURES,
    blockers: Sequence[str] = (),
    roots: Sequence[str] = (),
    children: Sequence[Session] = (),
    time_worked: timedelta | None = None,
    following: LaterSessions = NOTHING,
) -> HistoryEntry:
    """Compose the history of a session, without absolute paths.

    `evidence` has the recorded calls.  `blockers` come from the session's last bookmark.  `roots` are folders of its
    project that are missing from `evidence`.  `children` are the sessions of its subagents.  `time_worked` is computed
    from the note by default.  `following` is the work of later sessions of the project; items settled there are no
    longer open.
    """
    lasted = worked(session) if time_worked is None else time_worked
    entry = HistoryEntry(
        session.id,
        title=session.title,
        project=session.project or "",
        started=session.started,
        ended=session.ended,
        duration_minutes=round(lasted.total_seconds() / 60) if lasted is not None else None,
        agent=_agent(session),
        skills=used_skills(session),
        tasks_completed=tuple(f"{_name(task)}: {task.content}" for task in session.tasks if task.status == "completed"),
        tasks_started=tuple(f"{_name(task)}: {task.content}" for task in session.tasks if task.status == "in_progress"),
        files_modified=modified_files(session, evidence),
        captures=captures,
        tokens=session.tokens_used,
    )
    kept = frozenset(text for one in captures.approved for text in (one.finding, bare(one.summary)) if text)
    listed = _once([*_listed(session, kept), *_of_children(children, kept), *_rest(session, blockers, following)])
    confidence = {one.id: one.confidence for each in (session, *children) for one in without_guesses(findings_of(each))}
    entry = with_lines(
        entry, lambda part, _: _most(part, [line for of, line in listed if of == part], confidence, session.id)
    )
    return shortened_entry(entry, shortener((*evidence.roots, *roots)))


def _agent(session: Session) -> str:
    named = (*session.participants, *(phase.agent for phase in session.phases if phase.agent))
    return str(named[0]) if named else ""


# --- limits ----------------------------------------------------------------------------------------------------------


def _once(listed: Sequence[_Listed]) -> list[_Listed]:
    """Drop duplicates, and items whose text is contained in another item of the section."""
    first: dict[tuple[str, str], HistoryLine] = {}
    for part, line in listed:
        first.setdefault((part, bare(line.text)), line)
    texts = {of: "\n".join(text for part, text in first if part == of) for of in MOST}
    return [
        (part, line) for (part, text), line in first.items() if len(text) < _COMPARABLE or texts[part].count(text) == 1
    ]


def _most(
    part: str, lines: Sequence[HistoryLine], confidence: Mapping[str, float], session: str
) -> Iterator[HistoryLine]:
    places = sorted(range(len(lines)), key=lambda at: (-confidence.get(lines[at].finding, 1.0), -at))[: MOST[part]]
    yield from (lines[at] for at in sorted(places))
    if left := len(lines) - len(places):
        yield HistoryLine(f"… {left:,} more in `cru session show {session} --findings`", finding="more")


# --- findings --------------------------------------------------------------------------------------------------------


def _listed(session: Session, kept: frozenset[str]) -> Iterator[_Listed]:
    """Yield the request, then decisions, corrections, failures and outcomes."""
    if words := _request(session):
        yield "request", HistoryLine(words, finding="request")
    yield from filter(None, (_of_finding(one, kept) for one in without_guesses(findings_of(session)) if _is_main(one)))
    yield from (("done", line) for line in _done(session))


_MAIN = (Kind.CORRECTION, Kind.DECISION, Kind.OUTCOME, Kind.FAILURE)


def _is_main(one: Finding) -> bool:
    """Return whether a finding is listed here, and not under its second kind."""
    return one.also not in _MAIN or (one.kind in _MAIN and _MAIN.index(one.kind) < _MAIN.index(one.also))


def _of_finding(one: Finding, kept: frozenset[str], of: str = "") -> _Listed | None:
    """Return a decision, a correction or a failure as an item; `of` is the name of its subagent."""
    match one.kind:
        case Kind.DECISION:
            known = one.id in kept or bare(one.summary) in kept
            text = _with(one.summary, one.by and f"by {one.by}", of, "captured" if known else "")
            points = _points(one.alternatives and f"Not chosen: {one.alternatives}")
            return "decisions", HistoryLine(text, one.details, points, one.id)
        case Kind.CORRECTION:
            return "corrections", HistoryLine(_with(one.summary, of), "", _points(one.details), one.id)
        case Kind.FAILURE:
            points = _points(one.cause and f"Cause: {one.cause}", one.resolution and f"Fix: {one.resolution}")
            return "failures", HistoryLine(one.summary, "", points, one.id)
    return None


def _with(text: str, *remarks: str) -> str:
    """Add remarks in parentheses to a text."""
    about = ", ".join(filter(None, remarks))
    return f"{text} ({about})" if about else text


def _points(*texts: str) -> tuple[str, ...]:
    return tuple(filter(None, texts))[:_POINTS]


def _of_children(children: Sequence[Session], kept: frozenset[str]) -> Iterator[_Listed]:
    """Yield decisions, corrections and open ends from subagents' sessions, with the subagent's name."""
    for child in children:
        name = f"subagent {child.title or child.id}"
        for one in without_guesses(findings_of(child)):
            if _is_main(one) and one.kind != Kind.FAILURE and (listed := _of_finding(one, kept, name)):
                yield listed
        for line in open_questions(child):
            yield _part_of(line), line._replace(text=f"{line.text} ({name})")


# --- outcomes --------------------------------------------------------------------------------------------------------


def _request(session: Session) -> str:
    """Return the prompt quoted in the title, else the first that is not an answer; if long, its first paragraph."""
    first = [one.words for one in entries_of(session) if isinstance(one, Intervention) and not one.note]
    answers = [bare(one.summary) for one in without_guesses(findings_of(session)) if one.kind == Kind.DECISION]
    title = bare(session.title)
    titled = (one for one in first if title and bare(one).startswith(title))
    asked = (one for one in first if not any(decided.endswith(bare(one)) for decided in answers))
    words = next(chain(titled, asked), "".join(first[:1]))
    parts = [part.strip("# \t\n") for part in _PARAGRAPH.split(words) if _LETTER.search(part)]
    if len(words.split()) > _LONGEST_REQUEST:
        del parts[2 if parts[0].endswith(":") else 1 :]
    return _gist(" ".join(parts), _LONGEST_REQUEST)


def _done(session: Session) -> Iterator[HistoryLine]:
    """Yield milestones; outcomes with the finished tasks they cover; other finished and started tasks; the summary.

    Subagents' reports are listed if there is no outcome.  Finished tasks are omitted if a review named the outcomes:
    the review already considered them.
    """
    found, tasks = without_guesses(findings_of(session)), session.tasks
    outcomes = [one for one in found if one.kind == Kind.OUTCOME and _is_main(one)]
    is_reviewed = any(is_from_model(one.source) for one in outcomes)
    finished = [task for task in tasks if task.status == "completed" and not is_reviewed]
    yield from (HistoryLine(_gist(text)) for text in milestones(entries_of(session)))
    for one in outcomes:
        names = [_name(task) for task in finished if _covers(one, task.content)]
        finished = [task for task in finished if _name(task) not in names]
        yield HistoryLine(_with(one.summary, *names), "", _points(*one.points[: _POINTS - 1], one.details), one.id)
    lines = [HistoryLine(f"{task.content} ({_name(task)})", finding=f"task-{task.id}") for task in finished]
    if outcomes and lines:  # intermediate steps
        lines = [HistoryLine("Other finished tasks", "", _points(*(line.text for line in lines)), "tasks")]
    yield from lines
    for task in tasks:
        if task.status == "in_progress":
            yield HistoryLine(f"{STARTED}{task.content} ({_name(task)})", finding=f"task-{task.id}")
    reports = [] if outcomes else [one for one in found if one.kind == Kind.REPORT]
    for one in reports[-_REPORTS:]:
        yield HistoryLine(f"{one.by.partition('@')[0]}: {one.summary}", finding=one.id)
    if session.summary and not any(_covers(outcome, session.summary) for outcome in outcomes):
        text = next(filter(_LETTER.search, _PARAGRAPH.split(session.summary)), "")
        yield HistoryLine(_gist(text), finding="summary")


def _covers(one: Finding, text: str) -> bool:
    """Return whether an outcome contains most of the words of a text."""
    words = words_of(" ".join((one.summary, one.details, *one.points)))
    return overlap(words_of(text), words, "first") >= 2 / 3


def _name(task: Task) -> str:
    """Return the name of a task as in a note: `task-001`."""
    if task.id.isdigit():
        return f"task-{task.id}"
    return task.id if task.id.casefold().startswith("task") else f"task {task.id}"


def _gist(text: str, words: int = _LONGEST) -> str:
    return cut_words(" ".join(text[:4000].split()), words)


# --- open items ------------------------------------------------------------------------------------------------------


def open_questions(session: Session) -> Iterator[HistoryLine]:
    """Yield unanswered questions and unresolved errors for the user, then open ends with their context."""
    for one in questions_in(entries_of(session), session):
        if not one.is_settled:
            text = f"Unresolved: {one.text}" if one.kind == "error" else one.text
            yield HistoryLine(text, finding=f"inbox-{one.name}")
    for end in without_guesses(findings_of(session)):
        if end.kind == Kind.OPEN_END:
            yield HistoryLine(end.summary, "", _points(*end.points, end.details), end.id)


def _part_of(line: HistoryLine) -> str:
    """Return the section of an open end: a question, or else work for the next session."""
    asks = line.finding.startswith("inbox-") or line.text.endswith("?")
    return "questions" if asks else "further"


def _rest(session: Session, blockers: Sequence[str], following: LaterSessions) -> Iterator[_Listed]:
    """Yield unfinished tasks, open questions and open ends, blockers, and the reason for a pause if it adds anything.

    Items settled in this session or a later one are omitted.  The last line counts the later sessions.
    """
    outcomes = (one for one in without_guesses(findings_of(session)) if one.kind == Kind.OUTCOME and _is_main(one))
    own = [text for one in outcomes for text in (one.summary, *one.points)]
    since = LaterSessions(following.sessions, (*following.lines, *own))
    unfinished = [task for task in session.tasks if task.status not in CLOSED_TASKS]
    waiting = [
        task for task in unfinished if not since.settles(task.content) and not any(_names(text, task) for text in own)
    ]
    asked = [*open_questions(session)]
    open_ = [
        line
        for line in asked
        # Outcomes of this session do not settle questions for the user.
        if not (following if line.finding.startswith("inbox-") else since).settles(line.text)
        and not any(bare(task.content) in bare(line.text) for task in unfinished)
    ]
    yield from (("further", line) for line in _unfinished(waiting))
    yield from ((_part_of(line), line) for line in open_)
    yield from (("further", HistoryLine(f"Blocked: {text}")) for text in blockers)
    reason = session.pause_reason or ""
    key = bare(reason.partition(": ")[2] or reason)
    known = [bare(text) for text in (*(line.text for line in asked), *(task.content for task in unfinished))]
    is_reviewed = any(one.kind == Kind.OPEN_END and is_from_model(one.source) for one in findings_of(session))
    if reason and not is_reviewed and not any(key in text for text in known):
        yield "further", HistoryLine(f"{PAUSED}{reason}", finding="paused")
    if following.sessions and (open_ or waiting):
        many = counted(following.sessions, "later session")
        yield "further", HistoryLine(f"{THEN}{many} of the project may have done it", finding="following")


def _unfinished(waiting: Sequence[Task]) -> Iterator[HistoryLine]:
    """Yield unfinished tasks, those in progress first, with the tasks they depend on."""
    known = {task.id: task for task in waiting}
    for task in sorted(waiting, key=lambda task: task.status != "in_progress"):
        needs = [_name(known[one]) for one in task.depends_on if one in known]
        after = f"; waits for {', '.join(needs)}" if needs else ""
        verb = _VERBS.get(task.status, f"To do ({task.status[:20]})")
        yield HistoryLine(f"{verb}: {task.content} ({_name(task)}{after})", finding=f"task-{task.id}")


def _names(text: str, task: Task) -> bool:
    """Return whether a text mentions the task by its id."""
    return bool(re.search(rf"(?i)\btask[ #-]{{1,2}}{re.escape(task.id)}\b", text))
