"""Find Claude Code's transcripts, group their files into sessions, and read their events.

A session's id is its file name, not the `sessionId` in its rows: one file may hold several after a resume.

Subagents are logged in four ways; `at.agent` of an event names its subagent:

- in a file of its own, `<session>/subagents/agent-<id>.jsonl` (since 2.1.2; deeper for workflow runs) or, before, a
  sibling of the trunk: `find` lists both, `read` reads one;
- in rows of the trunk (the oldest versions), or embedded in its `progress` rows (about 2.1.0 to 2.1.4x): `read` of
  the trunk yields their events with `at.agent` set.  The embedded rows repeat the subagent's own file with the same
  uuids, so a consumer drops the trunk's events of a subagent that has a `SubagentFile`, and takes the others as that
  subagent's log.

A fork (`--resume X --fork-session`, `/branch`) is a new file that begins with a copy of the other session's rows,
with their uuids and times and in most versions with its own `sessionId`.  Copies emit no events: otherwise their work
and tokens would count twice.  `followed` finds the original from a file's first rows, and orders files with common
rows by their beginning, so that two files never take each other for the original.
"""

from __future__ import annotations

import mmap
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from crucible.clients.claude_code.call_results import outputs_folder
from crucible.clients.claude_code.client import CLIENT
from crucible.clients.claude_code.rows import ROWS, SILENT_ROWS, feed, finish
from crucible.clients.claude_code.state import NO_ROWS, Rows, State
from crucible.clients.events import At, Event, Unreadable
from crucible.clients.log_files import (
    DEEPEST,
    Reach,
    SubagentFile,
    Transcript,
    check_reachable,
    reach_of_lines,
    read_file,
    read_records,
)
from crucible.clients.log_values import as_dict, as_str, as_time, count
from crucible.core.errors import TranscriptError

_HEADS = (1 << 16, 4 << 20)
"""Bytes to search for the first row of a chain; the second number only if the first is not enough."""
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")
_NEVER = datetime.max.replace(tzinfo=UTC)


class _Head(NamedTuple):
    """The beginning of a file: its time, the first row of a chain and its time, and the session that the row names."""

    begun: datetime
    first: str
    time: datetime
    source: str
    has_parent: bool

    @property
    def has_sign(self) -> bool:
        """True if the first row may be a copy from another file."""
        return bool(self.first) and (bool(self.source) or self.has_parent or self.begun > self.time)


def followed(path: Path) -> str:
    """Return the id of the session in the same folder that this file continues and repeats, "" for none."""
    head = _head(path)
    if not head.has_sign:
        return ""
    named = path.with_name(f"{head.source}.jsonl")
    if head.source and _may_be_elder(named, head) and not _leads_to(named, path.stem) and _holds(named, head):
        return head.source
    elder = [(other, its) for other, its in _beside(path, head.time) if its.begun < head.begun]
    candidates = [each for each in elder if each[1].first == head.first] or [e for e in elder if _holds(e[0], head)]
    if len(candidates) > 1:
        # Of a fork's ancestors, which all hold its first rows, the nearest holds most rows.  Of two equal forks take
        # the older.
        own = rows_of(path).uuids
        candidates.sort(key=lambda each: (-len(own & rows_of(each[0]).uuids), each[1].begun))
    return candidates[0][0].stem if candidates else ""


def followers(path: Path) -> tuple[str, ...]:
    """Return the ids of the sessions in the same folder that continue this one."""
    head = _head(path)
    if not head.first:
        return ()
    signed = (other for other, its in _beside(path, head.time) if its.has_sign)
    return tuple(other.stem for other in signed if followed(other) == path.stem)


def rows_of(path: Path) -> Rows:
    """Return the keys of a file's rows; none if it cannot be read."""
    uuids, messages = set[str](), set[str]()
    with suppress(TranscriptError):
        for _, row, _ in read_file(path):
            if row is not None:
                uuids.add(as_str(row.get("uuid")))
                messages.add(as_str(as_dict(row.get("message")).get("id")))
    return Rows(frozenset(uuids - {""}), frozenset(messages - {""}))


# --- heads -----------------------------------------------------------------------------------------------------------


def _head(path: Path) -> _Head:
    try:
        status = path.stat()
        return _head_of(path, status.st_size if status.st_size < _HEADS[1] else -1)
    except OSError:
        return _Head(_NEVER, "", _NEVER, "", False)


@lru_cache(maxsize=8192)
def _head_of(path: Path, _size: int) -> _Head:
    """Read the head of a file.  The cache key has the size until the head is complete, and -1 after that."""
    for size in _HEADS:
        begun = _NEVER
        with path.open("rb") as file:
            lines = file.read(size).split(b"\n")
        for row in _rows(lines):
            time = as_time(row.get("timestamp")) or _NEVER
            if uuid := as_str(row.get("uuid")):
                # Rows before a copied row were written when the copy was made.
                begun = time if begun == _NEVER else begun
                first = as_str(as_dict(row.get("forkedFrom")).get("messageUuid")) or uuid
                return _Head(begun, first, time, _source_of(row, path), _has_parent(row))
            begun = min(begun, time)
    return _Head(_NEVER, "", _NEVER, "", False)


def _rows(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    return (row for _, row, _ in read_records(lines) if row is not None)


def _source_of(row: dict[str, Any], path: Path) -> str:
    """Return the other session that a row names as its own, "" for none."""
    names = (as_str(as_dict(row.get("forkedFrom")).get("sessionId")), as_str(row.get("sessionId")))
    return next((name for name in names if _UUID.match(name) and name != path.stem), "")


def _has_parent(row: dict[str, Any]) -> bool:
    """Return whether a row has a parent, as the first row after a fork's compaction has, but not a conversation's."""
    return bool(row.get("parentUuid") or row.get("logicalParentUuid"))


# --- files beside it -------------------------------------------------------------------------------------------------


def _beside(path: Path, since: datetime) -> Iterator[tuple[Path, _Head]]:
    """Yield the folder's other sessions that changed since a time: the others cannot hold a row of that time."""
    if since == _NEVER:
        return
    with suppress(OSError):
        for other in sorted(path.parent.glob("*.jsonl")):
            if other.name != path.name and _UUID.match(other.stem) and _written(other) >= since.timestamp():
                yield other, _head(other)


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _may_be_elder(path: Path, head: _Head) -> bool:
    return path.is_file() and _head(path).begun <= head.begun


def _leads_to(path: Path, session: str) -> bool:
    """Return whether a chain of sessions that name each other leads back to this one, so that none is the original."""
    seen = {path.stem}
    while (source := _head(path).source) and source not in seen:
        if source == session:
            return True
        seen.add(source)
        path = path.with_name(f"{source}.jsonl")
    return False


def _holds(path: Path, head: _Head) -> bool:
    """Return whether a file has a row with the uuid of a head's first row."""
    pattern = re.compile(rb'"uuid"\s*:\s*"' + re.escape(head.first.encode("utf-8", "replace")) + rb'"')
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return pattern.search(data) is not None
    except (OSError, ValueError):  # an empty file cannot be mapped
        return False


NAME = CLIENT.name
_SIDE_RUNS = ("agent-acompact-", "agent-aside_question-", "agent-aprompt_suggestion-")
"""Names of the client's own runs in the subagents' folder: compaction, `/btw`, suggestions."""
_HEAD = 4 << 20
_NO_PROJECTS = frozenset({"subagents", "workflows", "tool-results", "memory"})


def read(transcript: Transcript, agent: str = "") -> Iterator[Event]:
    """Yield the events of the trunk or, with its id, of a subagent."""
    path = transcript.path_of(agent)
    if agent or not transcript.follows:
        return read_log(path, agent)
    return read_log(path, agent, rows_of(path.with_name(f"{transcript.follows}.jsonl")))


def reach(transcript: Transcript) -> Reach:
    """Return how far a transcript goes, from its head and tail.  Raises `OSError` if it does not exist."""
    return reach_of_lines(transcript.path)


def read_log(path: Path, agent: str = "", elder: Rows = NO_ROWS) -> Iterator[Event]:
    """Yield the events of a file, with one line in memory at a time.

    `agent` is the id of the subagent whose file it is, `elder` the rows that it repeats from another session.  Raises
    `TranscriptError` if the file cannot be opened; a row that cannot be read becomes `Unreadable`.
    """
    state = State(agent, elder=elder, outputs=partial(_outputs_of, path, agent))
    for line, row, reason in read_file(path):
        if row is None:
            yield Unreadable(At(line, agent=agent), reason)
        else:
            yield from feed(state, line, row)
    yield from finish(state)


def _outputs_of(path: Path, agent: str) -> Path:
    beside = agent and path.name.startswith("agent-") and "subagents" not in path.parts
    return outputs_folder(path, _session_of(path) if beside else "")


def sniff(path: Path) -> bool:
    """Return whether one of the first rows looks like Claude Code's; False if the file cannot be read."""
    return any(_is_row(row) for row in _first_rows(path, 20))


def _first_rows(path: Path, limit: int) -> list[dict[str, Any]]:
    """Return the first rows of a file within its first megabytes; none if it cannot be read."""
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD)
    except OSError:
        return []
    return [row for _, row, _ in islice(read_records(head.split(b"\n")), limit) if row is not None]


def _is_row(row: dict[str, Any]) -> bool:
    kind = row.get("type")
    if not isinstance(kind, str) or (kind not in ROWS and kind not in SILENT_ROWS):
        return False
    return any(isinstance(row.get(key), str) for key in ("sessionId", "leafUuid", "messageId"))


# --- finding ---------------------------------------------------------------------------------------------------------


def find(path: Path) -> Iterator[Transcript]:
    """Yield the sessions of a file, of a session's folder, of a project's folder or of the client's whole folder.

    A file named directly always counts as a transcript; in a folder, only files that are named after a session id or
    pass `sniff`.  A folder that cannot be listed is returned like a file, so that `read` reports why.  Raises
    `TranscriptError` for a path that does not exist or may not be read.
    """
    check_reachable(path)
    trunk = path.with_name(path.name + ".jsonl")
    trunk = trunk if path.is_dir() else path
    if trunk.is_file() or not path.is_dir():
        # A caller with a single session may have imported its followers before.
        yield replace(_transcript(trunk, _siblings(trunk.parent)), followed_by=followers(trunk))
    else:
        projects = path / "projects"
        yield from _walk(projects if projects.is_dir() else path, DEEPEST)


def _walk(folder: Path, depth: int) -> Iterator[Transcript]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        yield Transcript(NAME, folder.name, folder)
        return
    trunks = [entry for entry in entries if _is_trunk(entry)]
    siblings = _siblings(folder) if trunks else {}
    for trunk in trunks:
        yield _transcript(trunk, siblings)
    sessions = {trunk.stem for trunk in trunks}
    for entry in entries:
        if not depth or entry.name in sessions or entry.name in _NO_PROJECTS or _UUID.match(entry.name):
            continue
        if entry.is_dir() and not entry.is_symlink():
            projects = entry / "projects"
            yield from _walk(projects if projects.is_dir() else entry, depth - 1)


def _is_trunk(path: Path) -> bool:
    if path.suffix != ".jsonl" or path.name.startswith("agent-") or not path.is_file():
        return False
    return _UUID.match(path.stem) is not None or sniff(path)


def _transcript(trunk: Path, siblings: Mapping[str, list[Path]]) -> Transcript:
    own = trunk.with_suffix("") / "subagents"
    files = [*own.rglob("agent-*.jsonl"), *siblings.get(trunk.stem, ())]
    subagents = {path.name: path for path in reversed(files) if not path.name.startswith(_SIDE_RUNS)}
    return Transcript(
        NAME,
        trunk.stem,
        trunk,
        tuple(_subagent(path) for path in sorted(subagents.values(), key=lambda path: path.name)),
        followed(trunk),
    )


def _siblings(folder: Path) -> dict[str, list[Path]]:
    """Find subagents' files beside the trunks (before 2.1.2), by the session that their first row names."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(folder.glob("agent-*.jsonl")):
        session = _session_of(path)
        if session:
            found[session].append(path)
    return found


def _session_of(path: Path) -> str:
    source = (as_str(row.get("sessionId")) for row in _first_rows(path, 5))
    return next(filter(None, source), "")


def _subagent(path: Path) -> SubagentFile:
    meta = _meta(path.with_suffix(".meta.json"))
    kind, description, call = (as_str(meta.get(key)) for key in ("agentType", "description", "toolUseId"))
    run = path.parent.name if path.parent.parent.name == "workflows" else ""
    agent = path.stem.removeprefix("agent-")
    return SubagentFile(agent, path, kind, description, call, run, count(meta.get("spawnDepth")))


def _meta(path: Path) -> dict[str, Any]:
    try:
        meta = orjson.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return meta if isinstance(meta, dict) else {}
