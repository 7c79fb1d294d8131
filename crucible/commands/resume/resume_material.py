"""What a resume context is made of: the session up to its `resume_point`, its bookmark, the drift, and its position."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar

from crucible.core.errors import CrucibleError
from crucible.core.git import Repository, digest_of, is_commit, read_repository, run_git
from crucible.core.text.durations import age_words
from crucible.documents.session.session import Callout, Entry, Intervention, Phase, Session, Status, Subagent, ToolCalls
from crucible.memory.bookmarks.bookmark import Bookmark, task_at_work
from crucible.vault.index.time_filters import AFTERWARDS
from crucible.vault.logs.jsonl_store import is_inner_path


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file of the session's that is not what it was.  `kind` is `changed`, `deleted`, `moved` (then `now` is its new path) or `added`."""

    path: str
    kind: str
    now: str = ""


@dataclass(frozen=True, slots=True)
class Drift:
    """What happened since the bookmark.

    `commits` counts those since, None when it cannot be told and then `unknown` says why in a few words (a shallow
    clone, another branch's history, no git).  `subjects` are the newest commits' first lines, newest first, at most 10: foreign text.
    `branch_before` and `branch_now` differ when another branch is checked out ("" for a detached HEAD).
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
        """Whether anything is worth a warning."""
        return bool(self.commits or self.files or self.branch_before != self.branch_now)


@dataclass(frozen=True, slots=True)
class Material:
    """All that a context is built from; equal material gives equal bytes.

    `children` holds the sessions of the subagents' notes by their id, None for one whose note is gone or unreadable.
    `now` is aware.  `recall` says how a client without a shell looks up more.  `goal` is what the session is resumed for,
    "" for what its note says.
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
    """A part that did not fit: what it is, how many of it, and its size in tokens."""

    what: str
    count: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Context:
    """What a client is told.  `tokens` is the size of `text` by the counter it was built with."""

    text: str
    tokens: int
    left_out: tuple[LeftOut, ...] = ()
    is_tight: bool = False
    """Whether decisions had to be cut to a line each; errors and tasks are then, too."""


Kind = TypeVar("Kind")


class Placed(NamedTuple):
    """An entry and the id of its phase, "start" before the first one."""

    phase: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class Extent:
    """A session up to where it is picked up.

    `session` has no phases behind that; `later` are those.  `phase` is the one it is picked up in, None in a session without
    phases.  `head` are the entries before the first phase without the brief, `entries` all others.  `problem` is a line
    of ours, "" for none.
    """

    session: Session
    phase: Phase | None
    head: tuple[Placed, ...]
    entries: tuple[Placed, ...]
    later: tuple[Phase, ...] = ()
    problem: str = ""

    def of(self, kind: type[Kind]) -> Iterator[tuple[str, Kind]]:
        """Every entry of that kind with its phase, in the order of the note; also those of inline subagents."""
        todo = [*reversed((*self.head, *self.entries))]
        while todo:
            phase, entry = todo.pop()
            if isinstance(entry, kind):
                yield phase, entry
            # What a subagent is told are no human's words.
            if isinstance(entry, Subagent) and kind is not Intervention:
                todo += [Placed(phase, inner) for inner in reversed(entry.entries)]


def find_extent(session: Session) -> Extent:
    """Up to the phase that `resume_point` names, all of it if it names none."""
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
        problem = f"resume_point {point[:60]!r} names no phase of the note, so all of the session is shown"
    shown = list(session.all_phases())
    head = tuple(Placed("start", entry) for entry in session.preamble if not _is_brief(entry))
    entries = tuple(Placed(phase.id, entry) for phase in shown for entry in phase.entries)
    return Extent(session, shown[-1] if shown else None, head, entries, later, problem)


def _is_brief(entry: Entry) -> bool:
    return isinstance(entry, Callout) and entry.kind == "abstract"


def raw_size(entry: Entry) -> int:
    """About how many characters of a note an entry is; what is inside an inline subagent counts."""
    if isinstance(entry, ToolCalls):
        return sum(len(call.call) + len(call.result) + 8 for call in entry.calls)
    texts = (
        getattr(entry, name, None) for name in ("text", "words", "note", "rationale", "resolution", "summary", "task")
    )
    return sum(len(text) for text in texts if text) + sum(map(raw_size, getattr(entry, "entries", ())))


def position_line(extent: Extent, bookmark: Bookmark | None, now: datetime) -> str:
    """As `You are in phase-3 of 7, at task 3 of 5; last active 2 h ago.`, all words of ours."""
    phases = len(extent.session.phases) + sum(1 for phase in extent.later if "." not in phase.id)
    where = f"in {extent.phase.id} of {phases}" if extent.phase else "before the first phase"
    task = task_words(extent.session)
    active = last_active(extent.session, bookmark)
    age = f"last active {age_words(now - active)}" if active else "when it was last active is unknown"
    return f"You are {where}{f', {task}' if task else ''}; {age}."


def task_words(session: Session) -> str:
    """`at task 3 of 5`, `all 5 tasks done`, "" without tasks."""
    task, done = task_at_work(session), sum(task.status == "completed" for task in session.tasks)
    if task:
        other = f", {done} done" if done != task.number - 1 else ""
        return f"at task {task.number} of {len(session.tasks)}{other}"
    return f"all {done} tasks done" if done > 1 else "its task is done" if done else ""


def last_active(session: Session, bookmark: Bookmark | None) -> datetime | None:
    """The newest time that the note or the bookmark knows of."""
    times = [time for phase in session.all_phases() for time in (phase.started, phase.ended) if time]
    times += [time for time in (session.started, session.ended) if time]
    if bookmark and bookmark.why not in AFTERWARDS:
        times.append(bookmark.at)
    known = [time if time.tzinfo else time.replace(tzinfo=UTC) for time in times]
    return max(known, default=bookmark.at if bookmark else None)


def check_at_rest(session: Session, files: Sequence[Path], client: str, *, now: datetime, idle: timedelta) -> None:
    """Refuse an active session that somebody may be at work on.

    `files` are those that grow while it runs, its note's and its spool's; `client` is the client that runs, "" for none.
    """
    if session.status is not Status.ACTIVE:
        return
    hint = f"`cru session pause {session.id}` stops it for now, --force goes on all the same"
    if client:
        raise CrucibleError(f"{session.id}: it is active, and its client still runs: {client}", hint)
    times = [last_active(session, None)]
    for path in files:
        with suppress(OSError):
            times.append(datetime.fromtimestamp(path.stat().st_mtime, UTC))
    newest = max(filter(None, times), default=None)
    if newest and now - newest < idle:
        raise CrucibleError(f"{session.id}: it is active, something happened {age_words(now - newest)}", hint)


_SUBJECTS = 10
_SEARCHED = 5000
"""Untracked files that a moved one is looked for among."""
_MOST_BYTES = 64 << 20
"""Of all of them together: somebody waits for this."""
_LARGEST = 1 << 20
"""Bytes of a file that is no longer tracked and may be a moved one; larger ones are not read for that."""


def find_drift(folder: Path, bookmark: Bookmark) -> Drift:
    """The repository that holds `folder`, or the folder itself, against the bookmark."""
    if not folder.is_dir():
        return Drift(unknown=f"the folder {folder.name} is gone")
    found = read_repository(folder)
    root = found.root if found else folder.resolve()
    changes, unchanged = _files(root, found, bookmark)
    commits, unknown = _commits(found, bookmark.head)
    # A bookmark that was made without a folder names neither; what git does not tell is not another branch.
    is_known = found is not None and not found.refusal and bool(bookmark.head or bookmark.branch)
    return Drift(
        commits=commits,
        subjects=_subjects(root, bookmark.head) if commits else (),
        branch_before=bookmark.branch if is_known else "",
        branch_now=found.branch if found and is_known else "",
        files=changes,
        unchanged=unchanged,
        unknown=unknown,
    )


# --- commits ---------------------------------------------------------------------------------------------------------


def _commits(found: Repository | None, head: str) -> tuple[int | None, str]:
    """The number since, None if unknown; and what else there is to say."""
    if not head:
        return None, ""
    if found is None:
        return None, "there is no git repository here any more"
    if found.refusal or not is_commit(head):
        return None, found.refusal or "the bookmark names no commit"
    if run_git(found.root, "cat-file", "-e", f"{head}^{{commit}}") is None:
        gone = "the bookmark's commit is not in this repository"
        return None, "this clone is shallow" if found.is_shallow else gone
    count = _told(found.root, "rev-list", "--count", f"{head}..HEAD").strip()
    if not count.isdecimal():
        return None, "git does not tell the commits since"
    is_before = run_git(found.root, "merge-base", "--is-ancestor", head, "HEAD") is not None
    return int(count), "" if is_before else "the bookmark's commit is not in the history of what is checked out"


def _subjects(root: Path, head: str) -> tuple[str, ...]:
    told = _told(root, "log", "-z", f"--max-count={_SUBJECTS}", "--format=%s", f"{head}..HEAD")
    return tuple(_plain(line) for line in told.split("\0") if line)


def _plain(text: str) -> str:
    """Without what is no UTF-8."""
    return text.encode("utf-8", "replace").decode()


def _told(root: Path, *args: str) -> str:
    return run_git(root, *args) or ""


# --- files -----------------------------------------------------------------------------------------------------------


def _files(root: Path, found: Repository | None, bookmark: Bookmark) -> tuple[tuple[FileChange, ...], int]:
    """The files that changed, and how many did not."""
    inside = {name: before for name, before in bookmark.files.items() if _is_inside(root, name)}
    now = {name: digest_of(root / name) for name in inside}
    gone = {name: before for name, before in inside.items() if before and not now[name]}
    moves = _moves(root, found, bookmark, gone) if gone else {}
    kinds = {
        name: "moved" if name in moves else "deleted" if not now[name] else "changed" if before else "added"
        for name, before in inside.items()
        if now[name] != before
    }
    changes = tuple(FileChange(name, kind, _plain(moves.get(name, ""))) for name, kind in kinds.items())
    return changes, len(inside) - len(changes)


def _is_inside(root: Path, name: str) -> bool:
    """True if the path leads to something inside the folder."""
    real = Path(os.path.realpath((root / name).parent)) if is_inner_path(name) else None
    return real is not None and real.is_relative_to(os.path.realpath(root))


def _moves(root: Path, found: Repository | None, bookmark: Bookmark, gone: Mapping[str, str]) -> dict[str, str]:
    """New paths of files that are gone: by git's renames if they changed on the way, else by their bytes."""
    told = _renames(root, bookmark.head) if found and is_commit(bookmark.head) else {}
    places: dict[str, list[str]] = {}
    if found and gone.keys() - told.keys():
        for digest, name in _tracked(root):
            if bookmark.files.get(name) != digest:
                places.setdefault(digest, []).append(name)
    nearest = {
        name: min(places[digest], key=lambda at: (os.path.basename(at) != os.path.basename(name), at))
        for name, digest in gone.items()
        if digest in places
    }
    return nearest | {name: told[name] for name in gone if name in told}


def _renames(root: Path, head: str) -> dict[str, str]:
    """Old paths to new ones between a commit and what git tracks now, by git's own measure of likeness."""
    # `--cached`: what compares the files themselves runs the filters that a repository may name.
    flags = ("--cached", "-z", "-M", "--name-status", "--diff-filter=R", "--no-ext-diff", "--no-textconv")
    words = _told(root, "diff", *flags, head, "--").split("\0")
    return dict(zip(words[1::3], words[2::3], strict=False))


def _tracked(root: Path) -> Iterator[tuple[str, str]]:
    """Blob ids and paths: of tracked files that are on the disk, then of files that are not tracked."""
    for entry in _told(root, "ls-files", "-s", "-z").split("\0"):
        info, tab, name = entry.partition("\t")
        if tab and (root / name).is_file():
            yield info.split(" ")[1], name
    yield from _hashed(root, _told(root, "ls-files", "-o", "--exclude-standard", "-z").split("\0"))


def _hashed(root: Path, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    room = _MOST_BYTES
    for name in filter(None, islice(names, _SEARCHED)):
        path = root / name
        size = path.stat().st_size if path.is_file() and not path.is_symlink() else _LARGEST + 1
        if size <= _LARGEST and (room := room - size) >= 0:
            yield digest_of(path), name
