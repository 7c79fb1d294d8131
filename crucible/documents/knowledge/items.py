"""Value types for knowledge items and failure causes.

Text is normalized on construction, so an item read back from its note is equal.  Times are whole seconds in UTC.  An
item's id is the name of its note.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from crucible.core.errors import UsageError
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import normal, normal_line
from crucible.documents.session.session_id import check_session_id


class Category(StrEnum):
    """The category of a failure's cause."""

    REQUIREMENTS_AMBIG = "requirements_ambig"
    KNOWLEDGE_GAP = "knowledge_gap"
    TOOL_MISUSE = "tool_misuse"
    CONTEXT_MISSING = "context_missing"
    EXECUTION_ERROR = "execution_error"
    EXTERNAL_DEP = "external_dep"


PREVENTABLE = frozenset((Category.KNOWLEDGE_GAP, Category.TOOL_MISUSE, Category.CONTEXT_MISSING))
"""Categories that knowledge could have prevented, unlike unclear requests, accidents and outside services."""


@dataclass(frozen=True, slots=True)
class FailureReport:
    """The known facts about a failure; all but `error` may be empty.

    `happened` describes the failure, `error` is the exact message, `context` the goal, the step or the user's words,
    `tool` and `call` the failed tool call on one line, `resolution` the fix: words, or the call that succeeded instead.
    `files` are the files changed by the fix, `before` the files changed before the failure (one per line), and
    `corrected` the user's words if they intervened.
    """

    error: str
    happened: str = ""
    context: str = ""
    tool: str = ""
    call: str = ""
    resolution: str = ""
    files: str = ""
    corrected: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class Attribution:
    """The cause assigned to a failure; `confidence` is from 0 to 1, `judge` is "rules" or the model's name."""

    category: Category
    root_cause: str
    preventable_with: str = ""
    confidence: float = 0.0
    judge: str = "rules"

    @property
    def preventable(self) -> bool:
        """True if the category is preventable."""
        return self.category in PREVENTABLE


UNTITLED = "Untitled"
"""The title of an item that has none."""

_PHASE = late_pattern(r"[A-Za-z0-9._-]{0,40}")
_NOT_IN_LINK, _BLANKS = late_pattern(r"[:#|^\\\[\]%]"), late_pattern(r"\s+")
_NO_TAG = late_pattern(r"[^\w/-]+")


class ItemType(StrEnum):
    """The kind of knowledge."""

    EVIDENCE = "evidence"
    DECISION = "decision"
    FAILURE = "failure"
    PATTERN = "pattern"
    OBSERVATION = "observation"


class ItemScope(StrEnum):
    """Where an item is useful."""

    PROJECT = "project"
    DOMAIN = "domain"
    GLOBAL = "global"


class Origin(StrEnum):
    """How an item was created."""

    SESSION = "session"
    VERIFIED = "verified"
    MANUAL = "manual"
    IMPORT = "import"


class ItemStatus(StrEnum):
    """The status of an item.  A retired item keeps its note but is not recalled."""

    ACTIVE = "active"
    RETIRED = "retired"


def _set(value: object, fields: Mapping[str, object]) -> None:
    """Set the normalized fields of a frozen value under construction."""
    for name, one in fields.items():
        object.__setattr__(value, name, one)


@dataclass(frozen=True, slots=True)
class ItemSource:
    """The source of an item: session id, phase id, and the phase's heading for the link.  Each may be "".

    Raises `UsageError` for an invalid id.
    """

    origin: Origin = Origin.MANUAL
    session: str = ""
    phase: str = ""
    heading: str = ""

    def __post_init__(self) -> None:
        """Check the ids, and remove characters from the heading that are invalid in a link."""
        if self.session:
            check_session_id(self.session)
        if not _PHASE.fullmatch(self.phase):
            raise UsageError(f"{self.phase[:60]!r} is not a phase id", "use a form such as phase-2")
        _set(self, {"heading": _linkable(self.session, self.heading)})


def _linkable(session: str, heading: str) -> str:
    # Links resolve headings without regard to punctuation.
    return _BLANKS.sub(" ", _NOT_IN_LINK.sub(" ", normal_line(heading))).strip() if session else ""


@dataclass(frozen=True, slots=True)
class FailureCause:
    """The cause of a failure: its category, root cause, prevention and resolution; each may be empty."""

    category: Category | None = None
    root_cause: str = ""
    preventable_with: str = ""
    resolution: str = ""

    def __post_init__(self) -> None:
        """Normalize the text."""
        _set(
            self,
            {name: normal(getattr(self, name)) for name in ("root_cause", "preventable_with", "resolution")},
        )


def _moment(time: datetime | None) -> datetime | None:
    """Convert a time to whole seconds in UTC, the default zone."""
    if time is None:
        return None
    try:
        return (time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)).replace(microsecond=0)
    except OverflowError:  # in UTC it would be before year 1 or after year 9999
        return time.replace(tzinfo=UTC, microsecond=0)


@dataclass(frozen=True, slots=True)
class Verification:
    """A verification: `how` and `by` (one line each), and its time.

    A failed verification has `at`; a missing one does not.
    """

    passed: bool = False
    how: str = ""
    by: str = ""
    at: datetime | None = None

    def __post_init__(self) -> None:
        """Normalize the text and the time."""
        how = normal_line(normal(self.how).replace("\n", " ⏎ "))
        _set(self, {"how": how, "by": normal_line(self.by), "at": _moment(self.at)})


@dataclass(frozen=True, slots=True)
class Item:
    """A knowledge item.

    `confidence` (0 to 1) was set by the author; `item_rules` computes the weight in recall.  `use_count` is the number
    of reported uses, `useful_count` the number of uses that helped.  `also_from` has the sessions of items that were
    merged into this one, `merged` the ids of those items that have notes.  `failed_checks` has one line per failed
    check.
    """

    type: ItemType
    title: str
    text: str = ""
    tags: tuple[str, ...] = ()
    scope: ItemScope = ItemScope.PROJECT
    project: str = ""
    domain: str = ""
    source: ItemSource = ItemSource()
    confidence: float | None = None
    failure: FailureCause = FailureCause()
    verification: Verification = Verification()
    use_count: int = 0
    useful_count: int = 0
    last_used: datetime | None = None
    created: datetime | None = None
    updated: datetime | None = None
    status: ItemStatus = ItemStatus.ACTIVE
    retired: datetime | None = None
    retired_because: str = ""
    also_from: tuple[str, ...] = ()
    merged: tuple[str, ...] = ()
    failed_checks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Normalize text, tags and times; raises `UsageError` for invalid numbers."""
        confidence = self.confidence
        if confidence is not None and not (math.isfinite(confidence) and 0 <= confidence <= 1):
            raise UsageError(f"confidence {confidence!r}", "it must be from 0 to 1")
        if self.use_count < 0 or self.useful_count < 0:
            raise UsageError("counts start at 0")
        made: dict[str, object] = {
            "title": normal_line(self.title) or UNTITLED,
            "text": normal(self.text),
            "tags": tuple(dict.fromkeys(filter(None, map(tidy_tag, self.tags)))),
            "project": normal_line(self.project),
            "domain": normal_line(self.domain),
            "confidence": None if confidence is None else float(confidence),
            "retired_because": normal_line(self.retired_because),
            "also_from": tuple(dict.fromkeys(map(check_session_id, self.also_from))),
            "merged": tuple(dict.fromkeys(map(check_session_id, self.merged))),
            "failed_checks": tuple(dict.fromkeys(filter(None, map(normal_line, self.failed_checks)))),
            **{name: _moment(getattr(self, name)) for name in ("last_used", "created", "updated", "retired")},
        }
        _set(self, made)

    @property
    def searched(self) -> str:
        """The text to search: the item's text and the parts of a failure, separated by blank lines."""
        failure = self.failure
        texts = (self.text, failure.root_cause, failure.preventable_with, failure.resolution)
        return "\n\n".join(filter(None, texts))

    @property
    def disproved(self) -> bool:
        """True if the last verification failed."""
        return self.verification.at is not None and not self.verification.passed

    @property
    def active(self) -> bool:
        """True if the item is recalled."""
        return self.status is ItemStatus.ACTIVE


def tidy_tag(text: str) -> str:
    """Make a tag valid in Obsidian, without `#`; "" if nothing is left."""
    return _NO_TAG.sub("-", normal_line(text)).strip("-/")
