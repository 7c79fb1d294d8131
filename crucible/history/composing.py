"""A session's history by rules, without a model: its findings, its tasks, and what waits for a person.

Nothing is judged here: findings are shown as they are.  What is left out follows one rule: a thing is listed once, and a section lists at most
`MOST` items, the surest ones and of those the latest; its last line counts the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

from crucible.acts.evidence import Evidence
from crucible.acts.files import Files
from crucible.acts.model import Deed
from crucible.acts.reading import acts_of
from crucible.brief.model import cut_words
from crucible.history.model import NO_CAPTURES, Captures, Entry, Line, shortened_entry, with_lines
from crucible.history.shortening import shortener
from crucible.history.worked import worked
from crucible.patterns import late_pattern
from crucible.session.findings import Finding, Kind, findings_of
from crucible.session.model import (
    Callout,
    Intervention,
    Outcome,
    Session,
    Subagent,
    Task,
    ToolCall,
    ToolCalls,
)
from crucible.session.model import Entry as NoteEntry
from crucible.session.tasks import is_task_news
from crucible.session.waiting import DONE, Answers, wanted_of, words_of

__all__ = ["MOST", "PAUSED", "compose_entry", "open_questions"]

MOST = {
    "request": 1,
    "done": 12,
    "decisions": 12,
    "corrections": 8,
    "failures": 6,
    "questions": 8,
    "further": 12,
}
"""Items that a section lists at most."""
PAUSED = "Paused: "
"""The prefix of the line that says why a session rests."""

_POINTS = 6
_REPORTS = 3
_CLOSED = frozenset(("completed", "cancelled", "deleted"))
_REACHED = frozenset(("milestone", "task_complete"))
_LONGEST_REQUEST = 50
_LONGEST = 60
"""Words of a text that is no finding."""
_PARAGRAPH = late_pattern(r"\n[ \t]*\n")
_LETTER = late_pattern(r"\w")
_NO_WORD = late_pattern(r"[\W_]+")
_TELLING = 20
"""Letters of a text that may be found within another one."""
_NO_EVIDENCE = Evidence()
_CHANGES = frozenset((Deed.WRITE, Deed.EDIT, Deed.DELETE))
_NOT_DONE = frozenset((Outcome.FAILED, Outcome.REJECTED))
_CUT = "…"
_TEMPORARY = late_pattern(r"(?<![\w.])(?:/private)?/(?:tmp|var/folders)/[^\s'\"`;|&<>]+")


class _Listed(NamedTuple):
    """A line of a section, and how sure it is."""

    part: str
    line: Line
    confidence: float = 1.0


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
    """What the session came to; no text holds an absolute path.

    `evidence` holds whole calls, if they were recorded.  `blockers` are those of the session's last bookmark.  `roots` are folders of its project that
    the evidence does not know.  `children` are its subagents' sessions.  `time_worked` is worked out from the note if it is not given.
    """
    lasted = worked(session) if time_worked is None else time_worked
    entry = Entry(
        session.id,
        title=session.title,
        project=session.project or "",
        started=session.started,
        ended=session.ended,
        duration_minutes=round(lasted.total_seconds() / 60) if lasted is not None else None,
        agent=_agent(session),
        skills=_used_skills(session),
        tasks_completed=tuple(task.id for task in session.tasks if task.status == "completed"),
        tasks_started=tuple(task.id for task in session.tasks if _is_started(task)),
        files_modified=_modified_files(session, evidence),
        captures=captures,
        tokens=session.tokens_used,
    )
    kept = _kept(captures)
    listed = _once([*_listed(session, kept), *_of_children(children, kept), *_rest(session, blockers)])
    entry = with_lines(
        entry, lambda part, _: _most(part, [one for one in listed if one.part == part], session.id)
    )
    return shortened_entry(entry, shortener((*evidence.roots, *roots)))


def _agent(session: Session) -> str:
    named = (*session.participants, *(phase.agent for phase in session.phases if phase.agent))
    return str(named[0]) if named else ""


def _is_started(task: Task) -> bool:
    return task.status not in _CLOSED and (task.status == "in_progress" or bool(task.started))


# --- what is left out ------------------------------------------------------------------------------------------------


def _once(listed: Sequence[_Listed]) -> list[_Listed]:
    """Each thing once: not a text that another one of its section contains, and not the same text in two sections."""
    first: dict[str, _Listed] = {}
    for one in listed:
        first.setdefault(_bare(one.line.text), one)
    said = {part: "\n".join(text for text, one in first.items() if one.part == part) for part in MOST}
    return [one for text, one in first.items() if len(text) < _TELLING or said[one.part].count(text) == 1]


def _bare(text: str) -> str:
    return _NO_WORD.sub("", text).casefold()


def _most(part: str, listed: Sequence[_Listed], session: str) -> Iterator[Line]:
    places = sorted(range(len(listed)), key=lambda at: (-listed[at].confidence, -at))[: MOST[part]]
    yield from (listed[at].line for at in sorted(places))
    if left := len(listed) - len(places):
        yield Line(f"… {left:,} more in `cru session show {session} --findings`", finding="more")


# --- findings --------------------------------------------------------------------------------------------------------


def _listed(session: Session, kept: frozenset[str]) -> Iterator[_Listed]:
    """The request, then what was decided, corrected, fixed and done."""
    found = findings_of(session)
    if words := _request(session):
        yield _Listed("request", Line(words, finding="request"))
    yield from filter(None, (_of_finding(one, kept) for one in found))
    outcomes = [one for one in found if one.kind == Kind.OUTCOME]
    yield from (_Listed("done", line) for line in _milestones(session))
    yield from _done(session.tasks, outcomes)
    if not outcomes:  # else what was done builds on them
        reports = [one for one in found if one.kind == Kind.REPORT][-_REPORTS:]
        for one in reports:
            text = f"{one.by.partition('@')[0]}: {one.summary}"
            yield _Listed("done", Line(text, finding=one.id), one.confidence)
    if session.summary and not any(_says(outcome, session.summary) for outcome in outcomes):
        yield _Listed("done", Line(_first_paragraph(session.summary), finding="summary"))


def _of_finding(one: Finding, kept: frozenset[str], of: str = "") -> _Listed | None:
    """A decision, a correction or a failure as a line; `of` is the subagent's name."""
    said, why, points = [of], "", [one.details]
    if one.kind == Kind.DECISION:
        known = one.id in kept or _bare(one.summary) in kept
        said = [one.by and f"by {one.by}", of, "captured" if known else ""]
        why, points = one.details, [one.alternatives and f"Not chosen: {one.alternatives}"]
    elif one.kind == Kind.FAILURE:
        points = [one.cause and f"Cause: {one.cause}", one.resolution and f"Fix: {one.resolution}"]
    elif one.kind != Kind.CORRECTION:
        return None
    part = _SECTIONS[one.kind]
    return _Listed(part, Line(_with(one.summary, *said), why, _points(*points), one.id), one.confidence)


_SECTIONS: Mapping[str, str] = {
    Kind.DECISION: "decisions",
    Kind.CORRECTION: "corrections",
    Kind.FAILURE: "failures",
}


def _with(text: str, *said: str) -> str:
    """A text and what is said about it in parentheses."""
    about = ", ".join(filter(None, said))
    return f"{text} ({about})" if about else text


def _kept(captures: Captures) -> frozenset[str]:
    """The findings that knowledge items were made from, by id, or by their words."""
    return frozenset(text for one in captures.approved for text in (one.finding, _bare(one.summary)) if text)


def _points(*texts: str) -> tuple[str, ...]:
    return tuple(filter(None, texts))[:_POINTS]


def _of_children(children: Sequence[Session], kept: frozenset[str]) -> Iterator[_Listed]:
    """What was decided and corrected in subagents' sessions, and what is open there, with the subagent's name."""
    for child in children:
        name = f"subagent {child.title or child.id}"
        for one in findings_of(child):
            if one.kind != Kind.FAILURE and (listed := _of_finding(one, kept, name)):
                yield listed
        for line in open_questions(child):
            yield _Listed(_part_of(line), line._replace(text=f"{line.text} ({name})"))


# --- what was done ---------------------------------------------------------------------------------------------------


def _request(session: Session) -> str:
    """The user's first words that answer nothing, in full if they are short, else a paragraph."""
    first = [one.words for one in _all_entries(session) if isinstance(one, Intervention) and not one.note]
    answers = [_bare(one.summary) for one in findings_of(session) if one.kind == Kind.DECISION]
    asked = (one for one in first if not any(said.endswith(_bare(one)) for said in answers))
    words = next(asked, "".join(first[:1]))
    parts = [part.strip("# \t\n") for part in _PARAGRAPH.split(words) if _LETTER.search(part)]
    if len(words.split()) > _LONGEST_REQUEST:
        del parts[2 if parts[0].endswith(":") else 1 :]
    return _gist(" ".join(parts), _LONGEST_REQUEST)


def _done(tasks: Sequence[Task], outcomes: Sequence[Finding]) -> Iterator[_Listed]:
    """Outcomes, each with the ids of the finished tasks that it covers; then other finished tasks, and those that were begun."""
    finished = [task for task in tasks if task.status == "completed"]
    for one in outcomes:
        names = [_name(task) for task in finished if _says(one, task.content)]
        finished = [task for task in finished if _name(task) not in names]
        points = _points(*one.points[: _POINTS - 1], one.details)
        yield _Listed("done", Line(_with(one.summary, *names), "", points, one.id), one.confidence)
    lines = [Line(f"{task.content} ({_name(task)})", finding=_id(task)) for task in finished]
    if outcomes and lines:  # these are steps on the way
        lines = [Line("Other finished tasks", "", _points(*(line.text for line in lines)), "tasks")]
    yield from (_Listed("done", line) for line in lines)
    for task in tasks:
        if _is_started(task):
            yield _Listed("done", Line(f"Started: {task.content} ({_name(task)})", finding=_id(task)))


def _says(one: Finding, text: str) -> bool:
    """True if an outcome has most of the words of a text."""
    words = words_of(text)
    said = words_of(" ".join((one.summary, one.details, *one.points)))
    return bool(words) and 3 * len(words & said) >= 2 * len(words)


def _name(task: Task) -> str:
    """`task-001`, as a note shows it."""
    if task.id.isdigit():
        return f"task-{task.id}"
    return task.id if task.id.casefold().startswith("task") else f"task {task.id}"


def _id(task: Task) -> str:
    return f"task-{task.id}"


def _milestones(session: Session) -> Iterator[Line]:
    for entry in _all_entries(session):
        if isinstance(entry, Callout) and entry.kind in _REACHED and not is_task_news(entry.text):
            yield Line(_gist(": ".join(filter(None, (entry.title, entry.text))), _LONGEST))


def _gist(text: str, words: int) -> str:
    return cut_words(" ".join(text[:4000].split()), words)


def _first_paragraph(text: str) -> str:
    return _gist(next(filter(_LETTER.search, _PARAGRAPH.split(text)), ""), _LONGEST)


# --- what is open, and what comes next -------------------------------------------------------------------------------


def open_questions(session: Session) -> Iterator[Line]:
    """What waits for a person, unanswered or not fixed, then open ends with their context."""
    entries = [*_all_entries(session)]
    answers = Answers(entries, logged=bool(session.sources))
    for at, entry in enumerate(entries):
        kind, text = wanted_of(entry) or (DONE, "")
        if kind != DONE and not answers.settles(at):
            name = f"inbox-{answers.names[at]}"
            yield Line(f"Unresolved: {text}" if kind == "error" else text, finding=name)
    for one in findings_of(session):
        if one.kind == Kind.OPEN_END:
            yield Line(one.summary, "", _points(*one.points, one.details), one.id)


def _part_of(line: Line) -> str:
    """An open end that asks nothing is work for the next session."""
    asks = line.finding.startswith("inbox-") or line.text.rstrip(" \"'”»)*_`").endswith("?")
    return "questions" if asks else "further"


def _rest(session: Session, blockers: Sequence[str]) -> Iterator[_Listed]:
    """Open questions; then unfinished tasks, open ends, blockers, and why the session was paused, unless that is among them."""
    waiting = [task for task in session.tasks if task.status not in _CLOSED]
    open_ = [
        line
        for line in open_questions(session)
        if not any(_bare(task.content) in _bare(line.text) for task in waiting)
    ]
    yield from (_Listed("further", line) for line in _unfinished(waiting))
    yield from (_Listed(_part_of(line), line) for line in open_)
    yield from (_Listed("further", Line(f"Blocked: {text}")) for text in blockers)
    reason = session.pause_reason or ""
    said = _bare(reason.partition(": ")[2] or reason)
    known = [_bare(text) for text in (*(line.text for line in open_), *(task.content for task in waiting))]
    if reason and not any(said in text or text in said for text in known if text):
        yield _Listed("further", Line(f"{PAUSED}{reason}", finding="paused"))


def _unfinished(waiting: Sequence[Task]) -> Iterator[Line]:
    """Tasks that are not done, those in progress first, with what they wait for."""
    known = {task.id: task for task in waiting}
    for task in sorted(waiting, key=lambda task: task.status != "in_progress"):
        needs = [_name(known[one]) for one in task.depends_on if one in known and one != task.id]
        after = f"; waits for {', '.join(needs)}" if needs else ""
        yield Line(f"{_verb(task)}: {task.content} ({_name(task)}{after})", finding=_id(task))


def _verb(task: Task) -> str:
    known = {"in_progress": "Continue", "pending": "To do", "blocked": "Blocked"}
    return known.get(task.status, f"To do ({task.status[:20]})")


# --- files and skills --------------------------------------------------------------------------------------------------


def _all_entries(session: Session) -> Iterator[NoteEntry]:
    """Every entry in the order of the note, also those of inline subagents, except the prompts of these: no human wrote them."""
    yield from _with_inline(session.preamble)
    yield from _with_inline(session.all_entries())


def _with_inline(entries: Iterable[NoteEntry]) -> Iterator[NoteEntry]:
    for entry in entries:
        yield entry
        if isinstance(entry, Subagent):
            yield from (one for one in _with_inline(entry.entries) if not isinstance(one, Intervention))


def _modified_files(session: Session, evidence: Evidence) -> tuple[str, ...]:
    """Each file once, in the order of its first change, relative to the project.

    Left out are temporary files, those that were created and deleted again or set back, and names that the note cuts.
    """
    files, found, made = Files(), dict[str, None](), set[str]()
    acts = (
        act
        for call in _calls(session)
        if call.outcome not in _NOT_DONE
        for act in acts_of(call, evidence, files)
        if not act.what.endswith(_CUT)
        and not any(path.endswith(f"/{act.what}") for path in _TEMPORARY.findall(call.call))
    )
    for act in acts:
        is_gone = act.deed is Deed.DELETE and any(
            one == act.what or one.startswith(f"{act.what}/") for one in made
        )
        if is_gone or act.deed is Deed.REVERT:
            found = {one: None for one in found if one != act.what and not one.startswith(f"{act.what}/")}
        elif act.deed in _CHANGES:
            made |= {act.what} if act.deed is Deed.WRITE and act.what not in found else set()
            found[act.what] = None
    return tuple(found)


def _used_skills(session: Session) -> tuple[str, ...]:
    """Each skill once, in the order of its first use."""
    found: dict[str, None] = {}
    for call in _calls(session):
        if call.call[:6].lower() == "skill " and call.outcome not in _NOT_DONE:
            found.update(dict.fromkeys(call.call.split()[1:2]))
    return tuple(found)


def _calls(session: Session) -> Iterator[ToolCall]:
    for entry in _all_entries(session):
        if isinstance(entry, ToolCalls):
            yield from entry.calls
