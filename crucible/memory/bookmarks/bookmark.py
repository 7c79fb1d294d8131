"""Bookmarks, one JSON line each in `.crucible/memory/bookmarks.jsonl`.  Old ones are shortened to a summary.

Files are listed as `digest path`, as by `sha1sum`: a digest after a name such as `token.py` would look like a secret.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

import orjson

from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import cut, normal_line
from crucible.documents.markdown.source import Problem
from crucible.documents.session.session import Session, Task
from crucible.vault.logs.jsonl_store import (
    InvalidRecord,
    append_line,
    commit_of,
    is_inner_path,
    number_of,
    read_lines,
    record_of,
    rewrite_lines,
    session_of,
    text_of,
    time_of,
    time_text,
    word_of,
)

MOST_FILES = 200
"""Maximum number of files in a bookmark; the most recently touched ones are kept."""

_CLOSED = ("completed", "cancelled", "deleted")
"""Statuses of closed tasks.  Crucible writes only the first; users and agents write the others."""


class StopReason(StrEnum):
    """Why a bookmark was made."""

    PAUSED = "paused"
    """A user or agent paused the session."""
    ENDED = "ended"
    """The client ended."""
    DIED = "died"
    """The client ended without reporting it."""
    IDLE = "idle"
    """The session had no activity for the idle time."""
    TASK = "task"
    """A task was completed."""
    MANUAL = "manual"
    """A user ran `cru record bookmark`."""


@dataclass(frozen=True, slots=True)
class Bookmark:
    """Where a session stopped.

    `id` is unique in a vault.  `phase` and `phase_name` are "" if the session has no phases.  `task` is the id of the
    task in progress, else of the first open task, else ""; `task_number` is its number, from 1, out of `task_count`.
    `branch` and `head` (a commit, 40 or 64 hex digits) come from git, or are "".  `files` maps the files that the
    session touched to the git blob id (SHA-1) of their content, "" for a missing file; `more_files` counts those beyond
    the limit.  `compacted` is the one-line summary of an old bookmark that was shortened and no longer has a note,
    blockers, files, branch or head; it is "" otherwise.
    """

    id: str
    session: str
    at: datetime
    why: StopReason
    phase: str = ""
    phase_name: str = ""
    task: str = ""
    task_name: str = ""
    task_number: int = 0
    task_count: int = 0
    note: str = ""
    blockers: tuple[str, ...] = ()
    project: str = ""
    branch: str = ""
    head: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    more_files: int = 0
    compacted: str = ""


class NumberedTask(NamedTuple):
    """A task and its number in the list, from 1."""

    number: int
    task: Task


def open_tasks(session: Session) -> tuple[NumberedTask, ...]:
    """Return the tasks that are not closed."""
    numbered = (NumberedTask(number, task) for number, task in enumerate(session.tasks, 1))
    return tuple(one for one in numbered if one.task.status not in _CLOSED)


def current_task(session: Session) -> NumberedTask | None:
    """Return the first task in progress, else the first open one, else None."""
    found = open_tasks(session)
    return next((one for one in found if one.task.status == "in_progress"), found[0] if found else None)


BOOKMARKS = "bookmarks.jsonl"

_TEXTS = ("phase", "phase_name", "task", "task_name", "note", "project", "compacted")
_NUMBERS = ("task_number", "task_count", "more_files")
_PLAIN = (*_TEXTS, *_NUMBERS, "branch", "head")
"""Fields that are written unchanged, or omitted if empty."""
_DIGEST = late_pattern(r"(?:~?[0-9a-f]{40}|\?)?\Z")
_NOT_THERE = "-"


class LoadedBookmarks(NamedTuple):
    """All bookmarks, oldest first, and the problems of invalid lines."""

    found: tuple[Bookmark, ...]
    problems: tuple[Problem, ...] = ()


def append_bookmark(root: Path, bookmark: Bookmark, *, fsync: bool = True) -> None:
    """Append a bookmark to the file of the vault at `root`, and wait until it is on disk.

    Raises `LockTimeout`, `OutsideVault`, and `VaultError` if the file cannot be written; the file is unchanged in all
    three cases.
    """
    append_line(root, BOOKMARKS, _fields(bookmark), fsync=fsync)


def load_bookmarks(root: Path, session_id: str = "") -> LoadedBookmarks:
    """Return all bookmarks by time and id, without duplicates.  Lines without `session_id` are not parsed."""
    needle = f'"{session_id}"'.encode("utf-8", "surrogatepass") if session_id else b""
    found, problems = read_lines(root, BOOKMARKS, _bookmark, needle)
    # A git merge may restore a line that the other side shortened.
    whole = {one.id for one in found if not one.compacted}
    found = [one for one in found if not (one.compacted and one.id in whole)]
    return LoadedBookmarks(tuple(sorted(found, key=_age)), tuple(problems))


def latest(root: Path, session_id: str) -> Bookmark | None:
    """Return a session's newest bookmark; lines of other sessions are not parsed."""
    own = (one for one in load_bookmarks(root, session_id).found if one.session == session_id)
    return max(own, key=_age, default=None)


def follow_rename(root: Path, old_id: str, new_id: str, *, fsync: bool = True) -> int:
    """Copy the bookmarks of a renamed session to its new id, and return the number of new lines.

    Can be repeated: existing copies are not written again.
    """
    known = {one.id for one in load_bookmarks(root, new_id).found}
    count = 0
    for one in load_bookmarks(root, old_id).found:
        moved = replace(one, id=_renamed(one.id, new_id), session=new_id)
        if one.session == old_id and moved.id not in known:
            append_bookmark(root, moved, fsync=fsync)
            count += 1
    return count


def shorten_bookmarks(root: Path, ids: Collection[str], *, fsync: bool = True) -> int:
    """Shorten the bookmarks with these ids to a summary, and return their number.

    Invalid lines are kept.  Raises what `rewrite_lines` raises; the file is then unchanged.
    """
    count = 0

    def change(lines: Sequence[bytes]) -> list[bytes]:
        nonlocal count
        changed = [_shortened(line, ids) for line in lines]
        count = sum(new != old for new, old in zip(changed, lines, strict=True))
        return changed

    rewrite_lines(root, BOOKMARKS, change, fsync=fsync)
    return count


def bytes_of(bookmark: Bookmark) -> int:
    """Return the size of a bookmark's line in bytes."""
    return len(orjson.dumps(_fields(bookmark))) + 1


_SUMMARY = 240
"""Maximum code points of a summary."""


def _shortened(line: bytes, ids: Collection[str]) -> bytes:
    try:
        one = _bookmark(record_of(line)) if line else None
    except InvalidRecord:
        return line
    if one is None or one.compacted or one.id not in ids:
        return line
    short = replace(one, note="", blockers=(), files={}, more_files=0, branch="", head="", compacted=_summary(one))
    return orjson.dumps(_fields(short))


def _summary(one: Bookmark) -> str:
    """Return a summary: `2026-02-22: Tests, task 3 of 5 (Write it): the limiter works; blocked: no API key`."""
    task = f"task {one.task_number} of {one.task_count} ({one.task_name})" if one.task_number else ""
    place = ", ".join(filter(None, (one.phase_name or one.phase, task))) or str(one.why)
    blocked = (f"blocked: {text}" for text in one.blockers)
    text = "; ".join(filter(None, (normal_line(one.note), *blocked)))
    summary = f"{one.at.date().isoformat()}: {place}{': ' if text else ''}{text}"
    return cut(normal_line(summary), _SUMMARY)


def _renamed(bookmark_id: str, session_id: str) -> str:
    digest = hashlib.blake2s(f"{bookmark_id} {session_id}".encode(), digest_size=6)
    return f"b-{digest.hexdigest()}"


def _age(bookmark: Bookmark) -> tuple[float, str]:
    return bookmark.at.timestamp(), bookmark.id


def _fields(bookmark: Bookmark) -> dict[str, object]:
    """Return the fields for a line, without empty ones."""
    head = {
        "id": bookmark.id,
        "session": bookmark.session,
        "at": time_text(bookmark.at),
        "why": str(bookmark.why),
    }
    files = [f"{digest or _NOT_THERE} {path}" for path, digest in bookmark.files.items()]
    rest = {name: getattr(bookmark, name) for name in _PLAIN} | {
        "blockers": list(bookmark.blockers),
        "files": files,
    }
    return head | {name: value for name, value in rest.items() if value}


def _bookmark(fields: Mapping[str, object]) -> Bookmark:
    """Parse a line.  Raises `InvalidRecord`."""
    try:
        why = StopReason(text_of(fields, "why"))
    except ValueError:
        raise InvalidRecord("`why` is not a reason that this version knows") from None
    texts = {name: text_of(fields, name) for name in _TEXTS}
    plain: dict[str, Any] = {**texts, **{name: number_of(fields, name) for name in _NUMBERS}}
    return Bookmark(
        id=word_of(fields, "id"),
        session=session_of(fields),
        at=time_of(fields, "at"),
        why=why,
        blockers=tuple(_list(fields, "blockers")),
        branch=_branch(fields),
        head=commit_of(fields, "head"),
        files=dict(map(_file, _list(fields, "files"))),
        **plain,
    )


def _list(fields: Mapping[str, object], name: str) -> Iterable[str]:
    value = fields.get(name, [])
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise InvalidRecord(f"`{name}` is not a list of strings")
    return value


def _branch(fields: Mapping[str, object]) -> str:
    branch = text_of(fields, "branch")
    if branch.startswith("-"):
        raise InvalidRecord("`branch` is not a branch name")
    return branch


def _file(line: str) -> tuple[str, str]:
    """Split a line into `(path, digest)`."""
    digest, _, path = line.partition(" ")
    digest = "" if digest == _NOT_THERE else digest
    if not _DIGEST.match(digest) or not is_inner_path(path):
        raise InvalidRecord("`files` contains a path outside the project")
    return path, digest
