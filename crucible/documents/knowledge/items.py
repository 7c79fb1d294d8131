"""The values of knowledge items and of failure causes.

Texts are normalized when an item is made, so that its note reads back the same; times are whole seconds in UTC. An
item's id is its note's name.
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
    """The cause of a failure."""

    REQUIREMENTS_AMBIG = "requirements_ambig"
    KNOWLEDGE_GAP = "knowledge_gap"
    TOOL_MISUSE = "tool_misuse"
    CONTEXT_MISSING = "context_missing"
    EXECUTION_ERROR = "execution_error"
    EXTERNAL_DEP = "external_dep"


PREVENTABLE = frozenset((Category.KNOWLEDGE_GAP, Category.TOOL_MISUSE, Category.CONTEXT_MISSING))
"""Causes that knowledge could have prevented, unlike unclear requests, accidents and outside services."""


@dataclass(frozen=True, slots=True)
class FailureReport:
    """The known facts of a failure; all but `error` may be empty.

    `happened` describes the failure, `error` is the exact message, `context` the goal, the step or the user's words,
    `tool` and `call` the failed tool call in one line, `resolution` the fix: words, or the call that passed instead.
    `files` are those that the fix changed, `before` those changed before the failure (one a line), and `corrected` the
    user's words if they intervened.
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
    """The attribution of a failure to a cause; `confidence` is 0 to 1, `judge` is "rules" or the model's name."""

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
"""The title of an item without one."""

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
    """The scope in which an item is useful."""

    PROJECT = "project"
    DOMAIN = "domain"
    GLOBAL = "global"


class Origin(StrEnum):
    """The origin of an item."""

    SESSION = "session"
    VERIFIED = "verified"
    MANUAL = "manual"
    IMPORT = "import"


class ItemStatus(StrEnum):
    """The status of an item; a retired one keeps its note but is not recalled."""

    ACTIVE = "active"
    RETIRED = "retired"


def _set(value: object, fields: Mapping[str, object]) -> None:
    """Normalize the fields of a new frozen value."""
    for name, one in fields.items():
        object.__setattr__(value, name, one)


@dataclass(frozen=True, slots=True)
class ItemSource:
    """The source of an item: session id, phase id, and the phase's heading for the link; each may be "".

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
            raise UsageError(f"{self.phase[:60]!r} is no phase's id", "it is such as phase-2")
        _set(self, {"heading": _linkable(self.session, self.heading)})


def _linkable(session: str, heading: str) -> str:
    # Links ignore punctuation when they resolve a heading.
    return _BLANKS.sub(" ", _NOT_IN_LINK.sub(" ", normal_line(heading))).strip() if session else ""


@dataclass(frozen=True, slots=True)
class FailureCause:
    """The cause of a failure: its category, root cause, prevention and resolution; each may be empty."""

    category: Category | None = None
    root_cause: str = ""
    preventable_with: str = ""
    resolution: str = ""

    def __post_init__(self) -> None:
        """Bring the texts into normal form."""
        _set(
            self,
            {name: normal(getattr(self, name)) for name in ("root_cause", "preventable_with", "resolution")},
        )


def _moment(time: datetime | None) -> datetime | None:
    """Convert a time to UTC, the default zone, in whole seconds."""
    if time is None:
        return None
    try:
        return (time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)).replace(microsecond=0)
    except OverflowError:  # in UTC it would be before the first year, or after the last
        return time.replace(tzinfo=UTC, microsecond=0)


@dataclass(frozen=True, slots=True)
class Verification:
    """A verification: `how` and `by`, one line each, and when.

    `at` distinguishes a failed verification from a missing one.
    """

    passed: bool = False
    how: str = ""
    by: str = ""
    at: datetime | None = None

    def __post_init__(self) -> None:
        """Bring the texts and the time into normal form."""
        how = normal_line(normal(self.how).replace("\n", " ⏎ "))
        _set(self, {"how": how, "by": normal_line(self.by), "at": _moment(self.at)})


@dataclass(frozen=True, slots=True)
class Item:
    """An item of knowledge.

    `confidence` (0 to 1) is that of its author; the weight in recall is computed by `item_rules`.  `use_count` is the
    number of reported uses, `useful_count` how many of them helped.  `also_from` are the sessions of items that were
    merged into it, `merged` the ids of those with a note of their own.  `failed_checks` has a line for each failed
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
        """Bring texts, tags and times into normal form; raises `UsageError` for invalid numbers."""
        confidence = self.confidence
        if confidence is not None and not (math.isfinite(confidence) and 0 <= confidence <= 1):
            raise UsageError(f"confidence {confidence!r}", "it goes from 0 to 1")
        if self.use_count < 0 or self.useful_count < 0:
            raise UsageError("counts begin at 0")
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
        """Its text and the parts of a failure, separated by blank lines."""
        failure = self.failure
        texts = (self.text, failure.root_cause, failure.preventable_with, failure.resolution)
        return "\n\n".join(filter(None, texts))

    @property
    def disproved(self) -> bool:
        """True if the last verification failed."""
        return self.verification.at is not None and not self.verification.passed

    @property
    def active(self) -> bool:
        """True if it is recalled."""
        return self.status is ItemStatus.ACTIVE


def tidy_tag(text: str) -> str:
    """A tag valid in Obsidian, without `#`; "" if nothing is left."""
    return _NO_TAG.sub("-", normal_line(text)).strip("-/")
