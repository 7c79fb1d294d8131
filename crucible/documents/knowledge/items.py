"""An item of knowledge and the cause of a failure, as values.

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
    """Where a failure comes from."""

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
    """What is known of a failure; all but `error` may be empty.

    `happened` says in words what went wrong, `error` is the exact message, `context` what was being done (the goal,
    the step, the user's words), `tool` and `call` the tool call that failed in one line, `resolution` what fixed it:
    words, or the call that passed instead. `files` are those that the fix changed, `before` those that had been
    changed before it failed (a line each), `corrected` the user's words where they stepped in.
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
    """What a failure is attributed to; `confidence` from 0 to 1, `judge` is "rules" or the model's name."""

    category: Category
    root_cause: str
    preventable_with: str = ""
    confidence: float = 0.0
    judge: str = "rules"

    @property
    def preventable(self) -> bool:
        """By the category alone."""
        return self.category in PREVENTABLE


UNTITLED = "Untitled"
"""The title of an item that was given none."""

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
    """For whom it is worth knowing."""

    PROJECT = "project"
    DOMAIN = "domain"
    GLOBAL = "global"


class Origin(StrEnum):
    """How it came here."""

    SESSION = "session"
    VERIFIED = "verified"
    MANUAL = "manual"
    IMPORT = "import"


class ItemStatus(StrEnum):
    """Whether it counts: a retired item stays as a note and is not recalled."""

    ACTIVE = "active"
    RETIRED = "retired"


def _set(value: object, fields: Mapping[str, object]) -> None:
    """Normalize the fields of a new frozen value."""
    for name, one in fields.items():
        object.__setattr__(value, name, one)


@dataclass(frozen=True, slots=True)
class ItemSource:
    """Where an item comes from: session id, phase id, and the phase's heading for the link; each may be "".

    Raises `UsageError` for what can be no id.
    """

    origin: Origin = Origin.MANUAL
    session: str = ""
    phase: str = ""
    heading: str = ""

    def __post_init__(self) -> None:
        """Check the ids, and keep of the heading what a link can hold."""
        if self.session:
            check_session_id(self.session)
        if not _PHASE.fullmatch(self.phase):
            raise UsageError(f"{self.phase[:60]!r} is no phase's id", "it is such as phase-2")
        _set(self, {"heading": _linkable(self.session, self.heading)})


def _linkable(session: str, heading: str) -> str:
    # Punctuation does not count where a link looks for its heading.
    return _BLANKS.sub(" ", _NOT_IN_LINK.sub(" ", normal_line(heading))).strip() if session else ""


@dataclass(frozen=True, slots=True)
class FailureCause:
    """What is known of a failure: whence, why, what would have prevented it, what fixed it; each may be empty."""

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
    """Whole seconds of UTC; a time without a zone is one of UTC."""
    if time is None:
        return None
    try:
        return (time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)).replace(microsecond=0)
    except OverflowError:  # in UTC it would lie before the first year, or after the last
        return time.replace(tzinfo=UTC, microsecond=0)


@dataclass(frozen=True, slots=True)
class Verification:
    """A verification: `how` and `by` in a line each, and when.

    `at` distinguishes a failed verification from none.
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
    """One thing worth knowing again.

    `confidence` (0 to 1) is how sure whoever noted it was; the weight in recall is worked out anew each time
    (`weighing`). `use_count` says how often it was used and told of, `useful_count` how often that helped.
    `also_from` are the sessions of items that were merged into it, `merged` the ids of those of them that had notes
    of their own, `failed_checks` a line for each time that it was looked at and did not hold.
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
        """Bring texts, tags and times into normal form; `UsageError` for numbers that make no sense."""
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
        """All that it says below its title: its text and the parts of a failure, a blank line between them."""
        failure = self.failure
        texts = (self.text, failure.root_cause, failure.preventable_with, failure.resolution)
        return "\n\n".join(filter(None, texts))

    @property
    def disproved(self) -> bool:
        """True if the last verification failed."""
        return self.verification.at is not None and not self.verification.passed

    @property
    def active(self) -> bool:
        """Whether it is recalled."""
        return self.status is ItemStatus.ACTIVE


def tidy_tag(text: str) -> str:
    """A tag valid in Obsidian, without `#`; "" if nothing is left."""
    return _NO_TAG.sub("-", normal_line(text)).strip("-/")
