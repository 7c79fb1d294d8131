"""The contents of a resume context: the session up to its `resume_point`, its bookmark, the drift, and its position."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar

from crucible.core.text import age_words
from crucible.documents.session.session import Callout, Entry, Intervention, Phase, Session, Subagent, ToolCalls
from crucible.memory.bookmarks.bookmark import Bookmark, current_task
from crucible.vault.index.time_filters import AFTERWARDS


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file of the session that has changed.

    `kind` is `changed`, `deleted`, `moved` (`now` is the new path) or `added`.
    """

    path: str
    kind: str
    now: str = ""


@dataclass(frozen=True, slots=True)
class Drift:
    """What changed since the bookmark.

    `commits` is the number of new commits, None if unknown; `unknown` is the reason, such as a shallow clone or a
    commit outside the current history. `subjects` are the first lines of at most 10 commits, newest first (untrusted
    text). `branch_before` and `branch_now` differ if another branch is checked out ("" for a detached HEAD).
    """

    commits: int | None = None
    subjects: tuple[str, ...] = ()
    branch_before: str = ""
    branch_now: str = ""
    files: tuple[FileChange, ...] = ()
    unchanged: int = 0
    unknown: str = ""

    @property
    def is_there(self) -> bool:
        """True if anything is worth a warning."""
        return bool(self.commits or self.files or self.branch_before != self.branch_now)


@dataclass(frozen=True, slots=True)
class Material:
    """Everything a context is built from. Equal material gives identical bytes.

    `children` are the sessions of the subagents' notes by id, None if a note is missing or unreadable. `now` is
    timezone-aware. `recall` explains how a client without a shell can look up more. `goal` is the goal of this resume.
    """

    session: Session
    now: datetime
    bookmark: Bookmark | None = None
    drift: Drift | None = None
    children: Mapping[str, Session | None] = field(default_factory=dict)
    recall: str = ""
    goal: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What did not fit: a name, the number of entries, and their size in tokens."""

    what: str
    count: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Context:
    """The text for the client. `tokens` is its size by the counter used to build it."""

    text: str
    tokens: int
    left_out: tuple[LeftOut, ...] = ()
    is_tight: bool = False
    """True if decisions, errors and tasks were cut to one line each."""


Kind = TypeVar("Kind")


class Placed(NamedTuple):
    """An entry and the id of its phase, "start" before the first phase."""

    phase: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class Extent:
    """A session up to the phase in which it is resumed.

    `session` has only the phases up to that one; `later` are the others. `phase` is the last one, None without phases.
    `head` are the entries before the first phase, except the brief; `entries` are all others. `problem` is a warning
    about the resume point, "" for none.
    """

    session: Session
    phase: Phase | None
    head: tuple[Placed, ...]
    entries: tuple[Placed, ...]
    later: tuple[Phase, ...] = ()
    problem: str = ""

    def of(self, kind: type[Kind]) -> Iterator[tuple[str, Kind]]:
        """Yield every entry of a kind with its phase, in note order, including entries of inline subagents."""
        todo = [*reversed((*self.head, *self.entries))]
        while todo:
            phase, entry = todo.pop()
            if isinstance(entry, kind):
                yield phase, entry
            # Prompts to a subagent are not the user's words.
            if isinstance(entry, Subagent) and kind is not Intervention:
                todo += [Placed(phase, inner) for inner in reversed(entry.entries)]


def find_extent(session: Session) -> Extent:
    """Return the session up to the phase of its `resume_point`, or all of it if no phase has that id."""
    point, later, problem = session.resume_point, tuple[Phase, ...](), ""
    flat = list(session.all_phases())
    named = [at for at, phase in enumerate(flat) if f"{phase.id}.".startswith(f"{point}.")]
    if named:
        kept = {phase.id for phase in flat[: named[-1] + 1]}
        later = tuple(
            phase for phase in flat[named[-1] + 1 :] if "." not in phase.id or phase.id.partition(".")[0] in kept
        )
        phases = (
            replace(phase, subphases=tuple(sub for sub in phase.subphases if sub.id in kept))
            for phase in session.phases
            if phase.id in kept
        )
        session = replace(session, phases=tuple(phases))
    elif point:
        problem = f"resume_point {point[:60]!r} is not a phase of the note, so the whole session is shown"
    shown = list(session.all_phases())
    head = tuple(Placed("start", entry) for entry in session.preamble if not _is_brief(entry))
    entries = tuple(Placed(phase.id, entry) for phase in shown for entry in phase.entries)
    return Extent(session, shown[-1] if shown else None, head, entries, later, problem)


def _is_brief(entry: Entry) -> bool:
    return isinstance(entry, Callout) and entry.kind == "abstract"


def raw_size(entry: Entry) -> int:
    """Return the approximate size of an entry in characters, including the entries of an inline subagent."""
    if isinstance(entry, ToolCalls):
        return sum(len(call.call) + len(call.result) + 8 for call in entry.calls)
    texts = (
        getattr(entry, name, None) for name in ("text", "words", "note", "rationale", "resolution", "summary", "task")
    )
    return sum(len(text) for text in texts if text) + sum(map(raw_size, getattr(entry, "entries", ())))


def position_line(extent: Extent, bookmark: Bookmark | None, now: datetime) -> str:
    """Return, for example, "You are in phase-3 of 7, at task 3 of 5". Contains no text from the note."""
    phases = len(extent.session.phases) + sum(1 for phase in extent.later if "." not in phase.id)
    where = f"in {extent.phase.id} of {phases}" if extent.phase else "before the first phase"
    task = task_words(extent.session)
    active = last_active(extent.session, bookmark)
    age = f"last active {age_words(now - active)}" if active else "last activity unknown"
    return f"You are {where}{f', {task}' if task else ''}; {age}."


def task_words(session: Session) -> str:
    """Return, for example, `at task 3 of 5` or `all 5 tasks done`; "" without tasks."""
    task, done = current_task(session), sum(task.status == "completed" for task in session.tasks)
    if task:
        other = f", {done} done" if done != task.number - 1 else ""
        return f"at task {task.number} of {len(session.tasks)}{other}"
    return f"all {done} tasks done" if done > 1 else "its task is done" if done else ""


def last_active(session: Session, bookmark: Bookmark | None) -> datetime | None:
    """Return the latest time in the note or its bookmark."""
    times = [time for phase in session.all_phases() for time in (phase.started, phase.ended) if time]
    times += [time for time in (session.started, session.ended) if time]
    if bookmark and bookmark.why not in AFTERWARDS:
        times.append(bookmark.at)
    known = [time if time.tzinfo else time.replace(tzinfo=UTC) for time in times]
    return max(known, default=bookmark.at if bookmark else None)
