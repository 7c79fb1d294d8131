"""Find Codex's transcripts, group their files into sessions, and read their events.

A session's id is in the first row of its rollout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from crucible.clients.codex.client import CLIENT
from crucible.clients.codex.files import (
    INDEX,
    Head,
    Line,
    families,
    first_lines,
    head_of,
    is_rollout,
    kin_of,
    made_at,
    near,
    place_of,
    reach_of_file,
    read_lines,
    rollouts,
    subagents_of,
    title_of,
)
from crucible.clients.codex.rows import ROWS, SILENT_ROWS, feed, finish
from crucible.clients.codex.state import State, parent_of
from crucible.clients.events import At, Event, Titled
from crucible.clients.log_files import Reach, Transcript, check_reachable
from crucible.clients.log_values import Row, as_str, as_time, number
from crucible.core.errors import TranscriptError

ParentTurns = Callable[[str], frozenset[str]]
"""Returns the ids of a session's turns; empty if its file is missing."""

_PAUSE = timedelta(seconds=1)
"""Maximum time between two copied rows: copies are written together."""
_IMPORTED = "external-import-turn-"
_TURN_BEGINS = frozenset({"task_started", "turn_started"})
_OPENERS = _TURN_BEGINS | {"user_message"}


@dataclass(slots=True)
class _Gate:
    """Decides which rows were copied from a parent."""

    parent_turns: ParentTurns
    meta: Row = field(default_factory=dict)
    id: str = ""
    rows: int = 0
    copying: bool = False
    importing: bool = False
    """True if the current turn was imported from another client."""
    starts_at: int = 0
    turns: frozenset[str] = frozenset()
    has_turns: bool = False
    """True if the copied rows have turn ids."""
    before: datetime | None = None

    def passes(self, line: Line) -> bool:
        """Return whether a row belongs to the session itself."""
        self.rows += 1
        if line.type == "session_meta":
            return self._meet_head(line)
        if line.type == "event_msg" and as_str(line.payload.get("type")) in _TURN_BEGINS:
            self.importing = as_str(line.payload.get("turn_id")).startswith(_IMPORTED)
        if self.importing:
            return False
        if not self.copying:
            return True
        self.copying = not self._begins(line)
        self.before = line.time or self.before
        return not self.copying

    def _meet_head(self, line: Line) -> bool:
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
        """Return whether this row begins the session's own first turn."""
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
                # Some versions log a turn's start in seconds only.
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
    """Drop rows that were copied from a parent.  Rows that cannot be read are kept."""
    gate = _Gate(parent_turns)
    return (line for line in lines if not line.type or gate.passes(line))


NAME = CLIENT.name
_LOOKED_AT = 20
_BARE = frozenset({"function_call", "function_call_output", "local_shell_call", "message", "reasoning"})


def read(transcript: Transcript, agent: str = "") -> Iterator[Event]:
    """Yield the events of the trunk or, if `agent` is given, of a subagent."""
    return read_log(transcript.path_of(agent), agent)


def reach(transcript: Transcript) -> Reach:
    """Return how far a transcript goes.  Raises `OSError` if it does not exist."""
    return reach_of_file(transcript.path)


def read_log(path: Path, agent: str = "") -> Iterator[Event]:
    """Yield the events of a file, with one row in memory at a time.

    `agent` is the subagent's id if the file is a subagent's log.  Raises `TranscriptError` if the file cannot be
    opened; a row that cannot be read becomes `Unreadable`.
    """
    state = State(agent)
    titled = False
    for line in own_lines(read_lines(path), lambda parent: _turns_of(path, parent)):
        yield from feed(state, line)
        if state.session and not titled:
            titled = True
            yield from _title(path, state, line)
    yield from finish(state)


def _title(path: Path, state: State, line: Line) -> Iterator[Titled]:
    title = title_of(path, state.session)
    if title:
        yield Titled(At(line.number, line.row, line.time, state.agent), title, by_user=True)


def _turns_of(path: Path, session: str) -> frozenset[str]:
    """Return the turn ids of another session whose file is near `path`; empty if there is none."""
    for other in near(path) if session else ():
        if is_rollout(other) and session in other.name and other != path:
            try:
                return frozenset(turn for line in read_lines(other) for turn in _turns_in(line))
            except TranscriptError:
                return frozenset()
    return frozenset()


def _turns_in(line: Line) -> Iterator[str]:
    turn = as_str(line.payload.get("turn_id"))
    if turn and line.type in ("turn_context", "event_msg"):
        yield turn


def beside(transcript: Transcript) -> list[Path] | None:
    """Return the other files that `read` uses; None if the session that this one forks is missing."""
    path, parent = transcript.path, transcript.follows
    found = [other for other in near(path) if parent in other.name and other != path] if parent else []
    return [*found, place_of(path) / INDEX] if found or not parent else None


def sniff(path: Path) -> bool:
    """Return whether one of the first rows looks like a row of Codex; False if the file cannot be read."""
    return any(_is_row(line) for line in first_lines(path, _LOOKED_AT))


def _is_row(line: Line) -> bool:
    kind, payload = line.type, line.payload
    if kind == "session_meta":
        return isinstance(payload.get("id"), str) and ("cwd" in payload or "instructions" in payload)
    if kind == "response_item" and (as_str(payload.get("type")) not in _BARE or "parentId" in payload):
        return False  # Pi's messages have a parent
    return kind in (ROWS.keys() | SILENT_ROWS) and line.time is not None and bool(payload)


# --- finding ---------------------------------------------------------------------------------------------------------


def find(path: Path) -> Iterator[Transcript]:
    """Yield the sessions in a file, a folder or the client's entire folder.

    Each subagent has a file of its own, which becomes a `SubagentFile` of the oldest ancestor found; without its
    parent's file, the subagent is a session.  A fork is always a session.  Forks and some subagents begin with a copy
    of their parent's history, which is skipped.

    A file given directly always counts as a transcript.  In a folder, a file counts if it is named like a rollout or
    passes `sniff`.  A folder that cannot be listed is yielded like a file, so that `read` reports why.  Raises
    `TranscriptError` for a path that does not exist or may not be read.
    """
    check_reachable(path)
    if path.is_dir():
        yield from _of_folder(path)
    else:
        yield _of_file(path)


def _of_folder(folder: Path) -> Iterator[Transcript]:
    try:
        next(folder.iterdir(), None)
        paths = [path for path in rollouts(folder) if is_rollout(path) or sniff(path)]
    except OSError:
        yield Transcript(NAME, folder.name, folder)
        return
    for root, below in families(map(head_of, paths)):
        yield _transcript(root, below)


def _of_file(path: Path) -> Transcript:
    own = head_of(path)
    if not is_rollout(path):
        return _transcript(own, [])
    for root, below in families(kin_of(own)):
        if root is own or own in below:
            return _transcript(root, below)
    return _transcript(own, [])


def _transcript(root: Head, below: list[Head]) -> Transcript:
    return Transcript(NAME, root.id, root.path, subagents_of(root, below), follows=root.forked_from)
