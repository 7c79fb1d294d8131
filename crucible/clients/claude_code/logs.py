"""Find Claude Code's transcripts, group their files into sessions, and read their events.

A session's id is its file name: after a resume, one file may hold rows with several `sessionId`s.
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
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from crucible.clients.claude_code.call_results import outputs_folder
from crucible.clients.claude_code.client import CLIENT
from crucible.clients.claude_code.rows import ROWS, SILENT_ROWS, feed, finish
from crucible.clients.claude_code.state import NO_ROWS, Rows, State
from crucible.clients.events import Event
from crucible.clients.log_files import (
    DEEPEST,
    Resume,
    SubagentFile,
    Transcript,
    check_reachable,
    events_of,
    files_below,
    first_rows,
    reach_of_log,
    read_file,
    read_places,
    read_records,
)
from crucible.clients.log_values import as_dict, as_str, as_time, count
from crucible.core.errors import TranscriptError

_HEADS = (1 << 16, 4 << 20)
"""Bytes to search for the first row of a chain; the larger number is used only if the smaller one is not enough."""
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")
_NEVER = datetime.max.replace(tzinfo=UTC)


class _Head(NamedTuple):
    """The beginning of a file: its time, its first chain row with its time, and the session named in that row."""

    begun: datetime
    first: str
    time: datetime
    source: str
    has_parent: bool

    @property
    def has_sign(self) -> bool:
        """True if the first row may have been copied from another file."""
        return bool(self.first) and (bool(self.source) or self.has_parent or self.begun > self.time)


def followed(path: Path) -> str:
    """Return the id of the session in the same folder that this file continues and whose rows it repeats, else "".

    A fork (`--resume X --fork-session`, `/branch`) is a new file that begins with a copy of the other session's rows.
    The copies keep their uuids and times but, in most versions, get the new `sessionId`.  They emit no events:
    otherwise work and tokens would count twice.  Files with common rows are ordered by their beginning, so two files
    never count as each other's original.
    """
    head = _head(path)
    if not head.has_sign:
        return ""
    named = path.with_name(f"{head.source}.jsonl")
    if head.source and _may_be_elder(named, head) and not _leads_to(named, path.stem) and _holds(named, head):
        return head.source
    elder = [(other, its) for other, its in _beside(path, head.time) if its.begun < head.begun]
    candidates = [each for each in elder if each[1].first == head.first] or [e for e in elder if _holds(e[0], head)]
    if len(candidates) > 1:
        # All ancestors of a fork contain its first rows.  Choose the one with the most common rows; if two are equal,
        # the older one.
        own = rows_of(path).uuids
        candidates.sort(key=lambda each: (-len(own & rows_of(each[0]).uuids), each[1].begun))
    return candidates[0][0].stem if candidates else ""


def followers(path: Path) -> tuple[str, ...]:
    """Return the ids of the sessions in the same folder that continue this session."""
    head = _head(path)
    if not head.first:
        return ()
    signed = (other for other, its in _beside(path, head.time) if its.has_sign)
    return tuple(other.stem for other in signed if followed(other) == path.stem)


def rows_of(path: Path) -> Rows:
    """Return the keys of a file's rows; empty if the file cannot be read."""
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
    """Read the head of a file.  `_size`, a cache key, is -1 once the file is longer than the searched part."""
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
    """Return the id of another session that a row names as its own, else ""."""
    names = (as_str(as_dict(row.get("forkedFrom")).get("sessionId")), as_str(row.get("sessionId")))
    return next((name for name in names if _UUID.match(name) and name != path.stem), "")


def _has_parent(row: dict[str, Any]) -> bool:
    """Return whether a row has a parent.  The first row of a fork may have one, that of an original has none."""
    return bool(row.get("parentUuid") or row.get("logicalParentUuid"))


# --- other sessions in the folder ------------------------------------------------------------------------------------


def _beside(path: Path, since: datetime) -> Iterator[tuple[Path, _Head]]:
    """Yield the folder's other sessions that changed since a time: older files cannot contain a row from that time."""
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
    """Return whether a chain of sessions leads back to `session`: then none of them is the original."""
    seen = {path.stem}
    while (source := _head(path).source) and source not in seen:
        if source == session:
            return True
        seen.add(source)
        path = path.with_name(f"{source}.jsonl")
    return False


def _holds(path: Path, head: _Head) -> bool:
    """Return whether a file contains the first row of a head."""
    uuid = head.first.encode("utf-8", "replace")
    pattern = re.compile(rb'"uuid"\s*:\s*"' + re.escape(uuid) + rb'"')
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            # The plain search is far faster, and most files do not contain the id at all.
            return data.find(uuid) >= 0 and pattern.search(data) is not None
    except (OSError, ValueError):  # an empty file cannot be mapped
        return False


NAME = CLIENT.name
reach = reach_of_log
_SIDE_RUNS = ("agent-acompact-", "agent-aside_question-", "agent-aprompt_suggestion-")
"""File name prefixes of the client's own runs in the subagents' folder: compaction, `/btw`, suggestions."""
_HEAD = 4 << 20
_NO_PROJECTS = frozenset({"subagents", "workflows", "tool-results", "memory"})


def read(transcript: Transcript, agent: str = "", resume: Resume | None = None) -> Iterator[Event]:
    """Yield the events of the trunk or, if `agent` is given, of a subagent.

    `at.agent` of an event names its subagent.  Subagents are logged in files of their own or, by old versions, in rows
    of the trunk.  Versions 2.1.0 to 2.1.4x log both: `progress` rows of the trunk repeat the subagent's file with the
    same uuids, so callers drop the trunk's events of a subagent that has a `SubagentFile`.
    """
    path = transcript.path_of(agent)
    if agent or not transcript.follows:
        return read_log(path, agent, resume=resume)
    return read_log(path, agent, rows_of(path.with_name(f"{transcript.follows}.jsonl")))


def beside(transcript: Transcript) -> list[Path]:
    """Return the other files that `read` uses: moved outputs, and the session that this one continues."""
    logs = [(transcript.path, ""), *((file.path, file.agent) for file in transcript.subagents)]
    folders = dict.fromkeys(_outputs_of(path, agent) for path, agent in logs)
    elder = [transcript.path.with_name(f"{transcript.follows}.jsonl")] if transcript.follows else []
    return [*elder, *(file for folder in folders for file in files_below(folder))]


def is_resumable(transcript: Transcript) -> bool:
    """Return whether `read` can begin in the middle: not in a copy of another session's rows."""
    return not transcript.follows


def read_log(path: Path, agent: str = "", elder: Rows = NO_ROWS, resume: Resume | None = None) -> Iterator[Event]:
    """Yield the events of a file, with one line in memory at a time.

    `agent` is the subagent's id if the file is a subagent's log; `elder` has the keys of rows copied from another
    session.  Raises `TranscriptError` if the file cannot be opened; a row that cannot be read becomes `Unreadable`.
    """
    state: State = resume.start.state if resume and resume.start else State(agent)
    state.elder, state.outputs = elder, partial(_outputs_of, path, agent)
    records = read_places(path, resume, state.kept) if resume else read_file(path)
    yield from events_of(records, partial(feed, state), agent)
    yield from finish(state)


def _outputs_of(path: Path, agent: str) -> Path:
    beside = agent and path.name.startswith("agent-") and "subagents" not in path.parts
    return outputs_folder(path, _session_of(path) if beside else "")


def sniff(path: Path) -> bool:
    """Return whether one of the first rows looks like a row of Claude Code; False if the file cannot be read."""
    return any(_is_row(row) for row in first_rows(path, 20, _HEAD))


def _is_row(row: dict[str, Any]) -> bool:
    kind = row.get("type")
    if not isinstance(kind, str) or (kind not in ROWS and kind not in SILENT_ROWS):
        return False
    if _is_foreign(row):
        return False
    return any(isinstance(row.get(key), str) for key in ("sessionId", "leafUuid", "messageId"))


def _is_foreign(row: dict[str, Any]) -> bool:
    """Return whether Qwen Code wrote a row, whose rows and file names are alike."""
    message = row.get("message")
    return "systemPayload" in row or (isinstance(message, dict) and "parts" in message)


# --- finding ---------------------------------------------------------------------------------------------------------


def find(path: Path) -> Iterator[Transcript]:
    """Yield the sessions in a file, a session's folder, a project's folder or the client's entire folder.

    A file given directly always counts as a transcript; that of a subagent counts as its session, if that exists.  In a
    folder, a file counts if it is named after a session id or passes `sniff`.  A folder that cannot be listed is yielded like a file, so that `read` reports why.  Subagents'
    logs are `<session>/subagents/agent-<id>.jsonl` since 2.1.2 (deeper for workflow runs), and siblings of the trunk
    before that.  Raises `TranscriptError` for a path that does not exist or may not be read.
    """
    check_reachable(path)
    trunk = path.with_name(path.name + ".jsonl")
    trunk = trunk if path.is_dir() else _trunk_of(path)
    if trunk.is_file() or not path.is_dir():
        # A caller that asks for one session may already have imported its followers.
        yield replace(_transcript(trunk, _siblings(trunk.parent)), followed_by=followers(trunk))
    else:
        projects = path / "projects"
        yield from _walk(projects if projects.is_dir() else path, DEEPEST)


def _trunk_of(path: Path) -> Path:
    """Return the trunk of a subagent's file; the file itself if it is none, or if its trunk is missing."""
    if not path.name.startswith("agent-"):
        return path
    folder = next((each.parent for each in path.parents if each.name == "subagents"), None)
    trunk = folder.with_name(f"{folder.name}.jsonl") if folder else path.with_name(f"{_session_of(path)}.jsonl")
    return trunk if trunk.is_file() else path


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
    if _UUID.match(path.stem):
        return not any(map(_is_foreign, first_rows(path, 1, _HEAD)))
    return sniff(path)


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
    """Find subagents' files next to the trunks (before 2.1.2), grouped by the session named in their first row."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(folder.glob("agent-*.jsonl")):
        session = _session_of(path)
        if session:
            found[session].append(path)
    return found


def _session_of(path: Path) -> str:
    source = (as_str(row.get("sessionId")) for row in first_rows(path, 5, _HEAD))
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
