"""What a tool call did, whichever client made it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from crucible.documents.session.session import Outcome
from crucible.documents.workflow.workflow import Datum


class Deed(StrEnum):
    """What kind of thing a tool call, or a part of a shell command, did; the same for every client's tools."""

    READ = "read"
    WRITE = "write"
    EDIT = "edit"
    DELETE = "delete"
    REVERT = "revert"
    SEARCH = "search"
    FETCH = "fetch"
    RUN = "run"
    TEST = "test"
    CHECK = "check"
    BUILD = "build"
    DELEGATE = "delegate"
    PLAN = "plan"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that was done.

    `what` is in one line what it was done to or with: the file's path, the command, the query.  `reads` and `writes` are the data
    it took and made, by file (paths seen from the project, never absolute) or by kind (`test_results::TestReport`); an edit stands in both.
    `REVERT` sets files back to what is committed.  `verdict` is what a check printed in the end, if it was looked for;
    `command` is the whole command as one would type it again in the project's folder.
    `PLAN` is an agent's own bookkeeping (task lists, plans, waiting), which is noise.
    """

    deed: Deed
    what: str = ""
    reads: tuple[Datum, ...] = ()
    writes: tuple[Datum, ...] = ()
    outcome: Outcome = Outcome.OK
    verdict: str = ""
    command: str = ""
