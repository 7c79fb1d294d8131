"""The log of candidates and their states: `.crucible/memory/captures.jsonl`, append-only, with redacted text.

A git merge mixes lines, so their order means nothing: of two states, the later member of `CaptureState` counts.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from crucible.commands.capture.candidates import Candidate, CaptureProposal, Handling
from crucible.commands.capture.question import Interaction, QuestionBudget
from crucible.core.files import locked
from crucible.documents.knowledge.item_rules import normal_title
from crucible.memory.bookmarks.resume_tickets import CAPTURES, earlier_session_ids
from crucible.memory.history.history import Capture, Captures
from crucible.vault.logs.jsonl_store import (
    InvalidRecord,
    append_lines,
    has_lines,
    number_of,
    read_lines,
    session_of,
    text_of,
    time_of,
    time_text,
    word_of,
)

_PATIENCE = 10.0
"""Maximum seconds to wait for another process, which holds the lock only to append a line."""


class CaptureState(StrEnum):
    """The state of a candidate. A candidate never returns to an earlier member.

    - `DROPPED`: a model decided that nothing could have prevented this failure (older versions)
    - `APPROVED`: the user wants to keep it, but it is not kept yet
    - `ALIKE`: not kept because a similar item exists
    - `KNOWN`: not kept because an equal item exists
    """

    SUGGESTED = "suggested"
    ASKED = "asked"
    DEFERRED = "deferred"
    DROPPED = "dropped"
    APPROVED = "approved"
    ALIKE = "alike"
    SKIPPED = "skipped"
    KNOWN = "known"
    KEPT = "kept"


_WAITING = frozenset((CaptureState.SUGGESTED, CaptureState.ASKED, CaptureState.DEFERRED, CaptureState.ALIKE))
_RANK = {state: rank for rank, state in enumerate(CaptureState)}


class Remembered(NamedTuple):
    """A candidate in the log, with its state.

    `item` is the id of the corresponding knowledge item, `finding` the id of its finding. `summary` and `detail`
    include the user's edits. `detail` is stored only while the candidate is approved and not yet kept.
    """

    key: str
    state: CaptureState
    kind: str
    summary: str
    detail: str = ""
    item: str = ""
    silent: bool = False
    finding: str = ""


class KnownCaptures(NamedTuple):
    """The log's content for a session: its candidates by key, and the cost of each prompt.

    `refused` and `waiting` are the keys of candidates that were skipped or are waiting in other sessions of its
    project.
    """

    states: Mapping[str, Remembered]
    spent: tuple[tuple[Interaction, ...], ...] = ()
    refused: frozenset[str] = frozenset()
    waiting: frozenset[str] = frozenset()

    def state(self, key: str) -> CaptureState | None:
        """Return the state of a candidate, None if unknown."""
        found = self.states.get(key)
        if found is not None:
            return found.state
        return CaptureState.SKIPPED if key in self.refused else None


class _Line(NamedTuple):
    """A line of the log: either a `record` or the cost of a prompt."""

    session: str
    at: datetime
    project: str
    record: Remembered | None = None
    spent: tuple[Interaction, ...] = ()


def key_of(candidate: Candidate) -> str:
    """Return a candidate's key, made from its kind, the words of its summary, and its file."""
    text = "\0".join((candidate.kind.value, normal_title(candidate.summary), candidate.file))
    return f"c-{hashlib.blake2s(text.encode('utf-8', 'surrogatepass'), digest_size=6).hexdigest()}"


def remembered(one: CaptureProposal, state: CaptureState, item: str = "") -> Remembered:
    """Return the record of a candidate's state."""
    candidate = one.candidate
    detail = candidate.detail if state is CaptureState.APPROVED else ""
    silent = one.way is Handling.SILENT
    return Remembered(one.key, state, candidate.kind.value, candidate.summary, detail, item, silent, candidate.finding)


def load_known(root: Path, session_id: str, project: str = "") -> KnownCaptures:
    """Load the candidates of a session, under all names it has had, and those of the project's other sessions."""
    if not has_lines(root, CAPTURES):
        return KnownCaptures({})
    names = {session_id, *earlier_session_ids(root, session_id)}
    lines, _ = read_lines(root, CAPTURES, _line, b'"session"')
    own = [one for one in lines if one.session in names]
    states = _latest(one.record for one in own if one.record)
    same_project = (one for one in lines if project and one.project == project and one.session not in names)
    others = [one.record for one in same_project if one.record and one.record.key not in states]
    refused = frozenset(one.key for one in others if one.state is CaptureState.SKIPPED)
    waiting = frozenset(key for key, one in _latest(others).items() if one.state in _WAITING)
    return KnownCaptures(states, tuple(one.spent for one in own if one.spent), refused, waiting)


def _latest(records: Iterable[Remembered]) -> dict[str, Remembered]:
    states: dict[str, Remembered] = {}
    for one in records:
        old = states.get(one.key)
        if old is None or _RANK[one.state] > _RANK[old.state]:
            states[one.key] = one
    return states


def captures_of(root: Path, session_id: str) -> Captures:
    """Return a session's captures for its history, as waiting, kept and skipped."""
    states = load_known(root, session_id).states.values()

    def in_state(*accepted: CaptureState) -> tuple[Capture, ...]:
        found = (one for one in states if one.state in accepted)
        return tuple(Capture(one.kind, one.item, one.summary, one.finding) for one in found)

    return Captures(
        in_state(*_WAITING),
        in_state(CaptureState.APPROVED, CaptureState.KEPT),
        in_state(CaptureState.SKIPPED, CaptureState.KNOWN),
    )


# --- writing ---------------------------------------------------------------------------------------------------------


def append_states(
    root: Path,
    session_id: str,
    states: Iterable[Remembered],
    *,
    at: datetime,
    project: str = "",
    fsync: bool = True,
) -> None:
    """Append records to the log in one write. Raises the same errors as `append_lines`."""
    head = {"session": session_id, "at": time_text(at), **({"project": project} if project else {})}
    append_lines(root, CAPTURES, [{**head, **_fields(one)} for one in states], fsync=fsync)


def _fields(one: Remembered) -> dict[str, object]:
    fields = {"candidate" if name == "key" else name: value for name, value in one._asdict().items()}
    return {name: value for name, value in fields.items() if value or name == "summary"}


def spend(
    root: Path,
    session_id: str,
    what: tuple[Interaction, ...],
    budget: QuestionBudget,
    *,
    at: datetime,
    fsync: bool = True,
) -> bool:
    """Log the cost of a prompt; False if the budget, shared by all processes, does not allow it.

    `budget` is the session's full budget. Raises the same errors as `append_lines`; the user must not be asked then.
    """
    top = Path(os.path.realpath(root))
    # This is a separate lock, since appending takes the lock of the file.
    with locked(top, top / ".crucible" / "memory" / "captures", _PATIENCE):
        spent = load_known(root, session_id).spent
        if not budget.after(*spent).allows(*what):
            return False
        line = {
            "session": session_id,
            "at": time_text(at),
            "spent": [one.value for one in what],
            "number": len(spent) + 1,
        }
        append_lines(root, CAPTURES, (line,), fsync=fsync)
        return True


# --- reading ---------------------------------------------------------------------------------------------------------


def _line(fields: Mapping[str, object]) -> _Line:
    """Parse a line.  Raises `InvalidRecord`."""
    head = session_of(fields), time_of(fields, "at"), text_of(fields, "project")
    return _Line(*head, spent=_spent(fields)) if "spent" in fields else _Line(*head, _remembered(fields))


def _spent(fields: Mapping[str, object]) -> tuple[Interaction, ...]:
    value = fields["spent"]
    number_of(fields, "number")
    try:
        if isinstance(value, list) and value:
            return tuple(map(Interaction, value))
    except ValueError:
        pass
    raise InvalidRecord("`spent` has an unknown value")


def _remembered(fields: Mapping[str, object]) -> Remembered:
    try:
        state = CaptureState(text_of(fields, "state"))
    except ValueError:
        raise InvalidRecord("`state` has an unknown value") from None
    texts = {name: text_of(fields, name) for name in ("kind", "summary", "detail", "item", "finding")}
    return Remembered(word_of(fields, "candidate"), state, silent=fields.get("silent") is True, **texts)
