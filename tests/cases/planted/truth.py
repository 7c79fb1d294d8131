"""What was planted: the cases that a generated session holds, and what only looks like one.

Written before the extractor and without it, from the issue's words.  What counts as a case, and why:

*puzzle*: something of the agent's own work failed, in the trunk or in a subagent's note: a call that failed, or an
`[!error]` that tells of a failure.  One puzzle for each cause: the same command failing again before it passes is the
same puzzle (its tries are what was tried), an `[!error]` that tells of the failure before it is the same puzzle, the
same failure in a later phase is the same puzzle.  Two causes are two puzzles.  A bug that is reproduced on purpose is a
puzzle: it is what the session is about.  A subagent's failing call is a puzzle of the subagent's session, also where its
parent mends it.
- Solved: a later command passed that failed before, another command did what the failed one was for, or the agent
  changed what was wrong and said so.  Verified: a command passed afterwards.  Open: none of these.
- No puzzle: what the agent is not to blame for (see `Fault`), what was expected to fail (a test written first, a search
  without a match, `diff` with differences, asking whether something is there), what was rejected, interrupted or
  cancelled, and a parent's or a report's mere talk of a failure that is told elsewhere.

*correction*: a human said that what the agent did, or was about to do, is wrong or is to be done otherwise, by a prompt
after the work, in the middle of it, or with a rejected call.  A call that was rejected without a word is one (its words are
""), the agent went on otherwise; words that follow it are the words of that correction, not of a second one.
- No correction: the first prompt, a further wish, thanks, a question, an answer to the agent's own question, the task of
  a subagent.

*decision*: the agent or the user settled a question for this work: a `[!decision]`, a sentence of the agent's that says
what it chose ("I chose X over Y because …", "Actually the better approach is …"), a user's choice among options that the
agent named.  Told twice (a sentence and a callout), it is one.
- No decision: an intention to look or to run something, a choice that is still open or somebody else's, a word of it in
  another sense ("the planner chose a nested loop"), a correction (the user's words are one case and not two).

*delegation*: every `[!subagent]`.  It was used when the parent's later words or work take its result up; not when it
failed, or when the parent says that it goes another way.

*workflow* is not planted: every whole completed phase is one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from crucible.cases.model import CaseType, Fault
from crucible.flight.reading import Record
from crucible.session.model import Session
from tests.cases.planted.scribe import Kept, as_record

__all__ = ["Generated", "Noise", "Planted"]


@dataclass(frozen=True, slots=True)
class Planted:
    """One case.

    `anchors` are texts that stand in the note, as `session.model` decodes them; each alone tells the case from all others of
    its type in the session (a failed call's result or its line, a callout's or sentence's text, the user's words, a subagent's
    link).  `message` is the exact failure, whole as flight has it.  `phases` are the ids of the phases that it can be said
    to come from, the likeliest first.  None is what the type does not have, or what cannot be told.
    """

    type: CaseType
    kind: str
    session: str
    phases: tuple[str, ...]
    anchors: tuple[str, ...]
    message: str = ""
    call: str = ""
    is_open: bool | None = None
    verified: bool | None = None
    solved_in: str = ""
    """The phase of the solution."""
    solution: str = ""
    """What solved it: the agent's words, or the call's line."""
    words: str | None = None
    rejected: str = ""
    options: tuple[str, ...] = ()
    choice: str = ""
    rationale: str = ""
    used: bool | None = None

    @property
    def phase(self) -> str:
        """The phase that it comes from."""
        return self.phases[0]


@dataclass(frozen=True, slots=True)
class Noise:
    """What looks like a case and is none.

    `faults` are those as which a failure may be typed all the same; empty when nothing failed, or was expected to.
    """

    kind: str
    session: str
    phase: str
    anchor: str
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class Generated:
    """A session, its subagents' sessions by id, whole events by session id (`kept`, empty where they are gone), and the truth."""

    session: Session
    children: dict[str, Session] = field(default_factory=dict)
    kept: dict[str, tuple[Kept, ...]] = field(default_factory=dict)
    planted: tuple[Planted, ...] = ()
    noise: tuple[Noise, ...] = ()

    @property
    def sessions(self) -> dict[str, Session]:
        """All of them by id, the parent first."""
        return {self.session.id: self.session, **self.children}

    def records(self, session: str) -> tuple[Record, ...]:
        """What flight has of a session; nothing where whole events are gone."""
        return tuple(as_record(seq, kept) for seq, kept in enumerate(self.kept.get(session, ()), 1))
