"""Which rows of a rollout are its session's own: where a copy of another session's history begins and ends.

Forked sessions and subagents begin with a copy of their parent's history.  It has new times but the parent's turn ids, a
second `session_meta` and every count of tokens, so whoever reads it as the session's own counts tokens many times over.

`/import` writes another client's sessions down as rollouts, calls as plain text, in turns with ids of their own.  They are
that client's to tell; what was asked of Codex after them is Codex's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from crucible.clients.codex.files import Line
from crucible.clients.codex.state import parent_of
from crucible.clients.codex.values import made_at
from crucible.clients.log_values import Row, as_str, as_time, number

__all__ = ["ParentTurns", "own_lines"]

ParentTurns = Callable[[str], frozenset[str]]
"""The ids of the turns of a session, none when its file is not there."""

_PAUSE = timedelta(seconds=1)
"""A copy is written at one go; what comes later than this after its last row is no part of it."""
_IMPORTED = "external-import-turn-"
_TURN_BEGINS = frozenset({"task_started", "turn_started"})
_OPENERS = _TURN_BEGINS | {"user_message"}


@dataclass(slots=True)
class _Gate:
    """Whether the rows that are being read are the parent's."""

    parent_turns: ParentTurns
    meta: Row = field(default_factory=dict)
    id: str = ""
    rows: int = 0
    copying: bool = False
    importing: bool = False
    """Whether the turn that is being read was another client's."""
    starts_at: int = 0
    turns: frozenset[str] = frozenset()
    has_turns: bool = False
    """Whether the copy names its turns."""
    before: datetime | None = None

    def passes(self, line: Line) -> bool:
        """Whether a row is the session's own."""
        self.rows += 1
        if line.type == "session_meta":
            return self._meets(line)
        if line.type == "event_msg" and as_str(line.payload.get("type")) in _TURN_BEGINS:
            self.importing = as_str(line.payload.get("turn_id")).startswith(_IMPORTED)
        if self.importing:
            return False
        if not self.copying:
            return True
        self.copying = not self._begins(line)
        self.before = line.time or self.before
        return not self.copying

    def _meets(self, line: Line) -> bool:
        ident = as_str(line.payload.get("id"))
        if not self.id:
            self.id, self.meta, self.before = ident or "?", line.payload, line.time
            self.starts_at = number(line.payload.get("subagent_history_start_ordinal")) or 0
            return True
        if ident == self.id:
            return not self.copying
        parent = as_str(self.meta.get("forked_from_id")) or parent_of(self.meta)[0]
        if parent or self.rows == 2:
            self.copying = True
            self.turns |= self.parent_turns(parent or ident)
        return False

    def _begins(self, line: Line) -> bool:
        """Whether this row opens the first turn of the session's own."""
        if self.starts_at and line.ordinal >= 0:
            return line.ordinal >= self.starts_at
        if not _opens(line):
            return False
        turn = as_str(line.payload.get("turn_id"))
        if turn and self.turns:
            return turn not in self.turns
        self.has_turns = self.has_turns or bool(turn)
        if turn:
            began, born = made_at(turn) or _started(line), made_at(self.id) or _born(self.meta)
            if began and born:
                # Seconds are all that some versions tell of a turn's start.
                return began >= (born if made_at(turn) else born // 1000 * 1000)
        elif self.has_turns:
            return False
        return bool(line.time and self.before and line.time - self.before > _PAUSE)


def _opens(line: Line) -> bool:
    if line.type == "event_msg":
        return as_str(line.payload.get("type")) in _OPENERS
    return line.type == "turn_context" or (line.type == "response_item" and line.payload.get("role") == "user")


def _started(line: Line) -> int:
    return (number(line.payload.get("started_at")) or 0) * 1000


def _born(meta: Row) -> int:
    time = as_time(meta.get("timestamp"))
    return int(time.timestamp() * 1000) if time else 0


def own_lines(lines: Iterator[Line], parent_turns: ParentTurns) -> Iterator[Line]:
    """The rows that are not copied from a parent; what cannot be read is kept."""
    gate = _Gate(parent_turns)
    return (line for line in lines if not line.type or gate.passes(line))
