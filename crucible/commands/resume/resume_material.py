"""What picking a session up again is made of: frozen values that the other modules of this room hand to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from crucible.documents.session.session import Session
from crucible.memory.bookmarks.bookmark import Bookmark


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
