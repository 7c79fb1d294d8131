"""What was planted: things worth keeping that a generated session holds, and what only looks like one.

Written before the detector and without it, from the issue's words.  What counts, and why:

*adr*: a file of an architecture decision record was created or changed, by a tool for files, a patch or the shell, wherever
a project keeps its records.  Reading one, listing them, linking to one or writing code about them is none.

*decision*: a question of this work was settled: by a `[!decision]`, by the agent in a sentence, or by the user, of their own
accord or as an answer to the agent's question.  Not what is open, denied, hypothetical, or somebody else's.

*self_correction*: the agent itself takes back what it stated earlier in the session, and says what holds.  No failed call goes
before it, and no user's word.

*failure*: something of this work failed (a call, or an `[!error]` that tells of it), its cause was found and it was mended: by a
change after which the same command passes, by another command, or as the callout says.  One for each cause, however many
tries; the pass at its end belongs to it and is no evidence.

*pattern*: a way of doing that is said to be worth doing again; and code that was written or changed and calls an API outside the
project (which only whole events tell, so sessions without them have none).

*evidence*: the agent claims something, and a test or a benchmark made for that claim passed.  A suite that passes is none.

A decision or a pattern told twice (in prose and as a callout) is one.  Other languages than English count the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from crucible.flight.reading import Record
from crucible.note.source import Lines
from crucible.session.model import Session
from tests.cases.planted.scribe import Kept, as_record

__all__ = ["NEVER", "SEED_TRIGGERS", "Band", "Generated", "Kind", "Noise", "Planted", "Reason"]


class Kind(StrEnum):
    """What is worth keeping."""

    ADR = "adr"
    DECISION = "decision"
    SELF_CORRECTION = "self_correction"
    FAILURE = "failure"
    PATTERN = "pattern"
    EVIDENCE = "evidence"


class Band(StrEnum):
    """How sure a detector should be: `floor` up to, not including, `ceiling`."""

    PRESELECTED = "preselected"
    PROMPT = "prompt"
    PROPOSED = "proposed"

    @property
    def floor(self) -> float:
        """The least confidence of this band."""
        return {Band.PRESELECTED: 0.8, Band.PROMPT: 0.7, Band.PROPOSED: 0.6}[self]

    @property
    def ceiling(self) -> float:
        """What the next band begins with."""
        return {Band.PRESELECTED: 1.01, Band.PROMPT: 0.8, Band.PROPOSED: 0.7}[self]


class Reason(StrEnum):
    """Why something is not worth keeping."""

    ENVIRONMENT = "environment"
    """This machine lacks or forbids it."""
    TRANSIENT = "transient"
    """The same again goes well."""
    SECRET = "secret"
    """What is said is a secret, or where one was taken out."""
    STORY = "story"
    """Small talk, dates, jokes: nobody needs it again."""
    QUOTED = "quoted"
    """Others said or settled it, elsewhere."""
    HYPOTHETICAL = "hypothetical"
    """What could be, or could have been."""
    NEGATED = "negated"
    """It says that nothing was settled, found or shown."""
    MENTION = "mention"
    """A path, an identifier or a comment merely names such a thing."""
    ORDINARY_TEST = "ordinary-test"
    """Checks pass and nothing new is shown."""
    ROUTINE = "routine"
    """The next step of the work, in words that sound like more."""
    EXPECTED = "expected"
    """It had to fail, or its status is an answer."""
    UNRESOLVED = "unresolved"
    """It failed, and nobody knows why."""


NEVER = frozenset({Reason.ENVIRONMENT, Reason.TRANSIENT, Reason.SECRET, Reason.STORY})
"""The issue's list of what is never proposed."""

SEED_TRIGGERS = re.compile(
    r"decided|chose|selected|went with|opted for|actually|wait|correction|better approach|instead|error|failed|bug|issue|problem|fix"
    r"|pattern|approach|technique|method|strategy|/adr/|ADR-",
    re.IGNORECASE,
)
"""The words and paths by which the seed finds candidates: half of what is planted does without, half of the noise has one."""


@dataclass(frozen=True, slots=True)
class Planted:
    """One thing worth keeping.

    `spans` are the lines of the note that tell it, from the first to the last of each stretch; `terms` are words in small
    letters that stand in them (for code that calls an API also in the call's whole arguments) and one of which a summary
    must have.  `form` says how it was told, `wordings` which templates did.  `twins` are kinds as which the same may be
    proposed a second time without being wrong or right.
    """

    kind: Kind
    form: str
    phase: str
    spans: tuple[Lines, ...]
    terms: tuple[str, ...]
    band: Band
    language: str = "en"
    wordings: tuple[str, ...] = ()
    twins: frozenset[Kind] = frozenset()


@dataclass(frozen=True, slots=True)
class Noise:
    """What must not be proposed; `secret` is what no candidate may hold."""

    reason: Reason
    form: str
    phase: str
    spans: tuple[Lines, ...]
    secret: str = ""


@dataclass(frozen=True, slots=True)
class Generated:
    """A session as read from its note `text`, its whole events (`kept`, empty where they are gone), and the truth."""

    session: Session
    text: str
    kept: tuple[Kept, ...] = ()
    planted: tuple[Planted, ...] = ()
    noise: tuple[Noise, ...] = ()

    @property
    def records(self) -> tuple[Record, ...]:
        """What flight has of it."""
        return tuple(as_record(seq, kept) for seq, kept in enumerate(self.kept, 1))
