"""Claude Code's transcripts: where they lie, which files are one session, and their rows as events.

Owns the files; what rows mean is `transcript.claude`'s.  A session is its file name, not the `sessionId` in its rows:
one file may hold several after a resume.

Subagents come in four shapes, and every event says in `at.agent` whose it is:

- a file of its own, `<session>/subagents/agent-<id>.jsonl` (2.1.2 and later; deeper for workflow runs) or, before, a
  sibling of the trunk: `find` lists both, `read` reads one;
- rows inside the trunk (the oldest versions), or embedded in its `progress` rows (about 2.1.0 to 2.1.4x): `read` of the
  trunk gives their events with `at.agent` set.

A fork begins with the rows of the session that it was made of; those are no events of its own (`claude.lineage`).

The last of the shapes repeats rows of the subagent's own file with the same uuids, so a consumer drops the trunk's events
whose `at.agent` is the `agent` of one of the transcript's `SubagentFile`s, and takes the rest as that subagent's log.
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
"""Bytes in which the first row of a chain is looked for; the second only where it is not in the first."""
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")
_NEVER = datetime.max.replace(tzinfo=UTC)


class _Head(NamedTuple):
    """How a file begins: when, with which row of a chain, when that was written, and which other session it names."""

    begun: datetime
    first: str
    time: datetime
    named: str
    goes_on: bool

    @property
    def has_sign(self) -> bool:
        """Whether the first row may be another file's."""
        return bool(self.first) and (bool(self.named) or self.goes_on or self.begun > self.time)


def followed(path: Path) -> str:
    """The id of the session that this file goes on from and repeats, "" for none; its file lies beside this one."""
    head = _head(path)
    if not head.has_sign:
        return ""
    named = path.with_name(f"{head.named}.jsonl")
    if head.named and _may_be_elder(named, head) and not _leads_to(named, path.stem) and _holds(named, head):
        return head.named
    elder = [(other, its) for other, its in _beside(path, head.time) if its.begun < head.begun]
    alike = [each for each in elder if each[1].first == head.first] or [e for e in elder if _holds(e[0], head)]
    if len(alike) > 1:
        # Of a fork's fork both hold the first rows; the nearest holds most.  Of two forks of one the older is as good.
        own = rows_of(path).uuids
        alike.sort(key=lambda each: (-len(own & rows_of(each[0]).uuids), each[1].begun))
    return alike[0][0].stem if alike else ""


def followers(path: Path) -> tuple[str, ...]:
    """The ids of the sessions beside this file that go on from it."""
    head = _head(path)
    if not head.first:
        return ()
    signed = (other for other, its in _beside(path, head.time) if its.has_sign)
    return tuple(other.stem for other in signed if followed(other) == path.stem)


def rows_of(path: Path) -> Rows:
    """What the rows of a file are known by; none for what cannot be read."""
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
    """Remembered while a file has its size, and for good when its head is as long as is ever looked at."""
    for size in _HEADS:
        begun = _NEVER
        with path.open("rb") as file:
            lines = file.read(size).split(b"\n")
        for row in _rows(lines):
            time = as_time(row.get("timestamp")) or _NEVER
            if uuid := as_str(row.get("uuid")):
                # What stands before a copied row was written when the copy was made.
                begun = time if begun == _NEVER else begun
                first = as_str(as_dict(row.get("forkedFrom")).get("messageUuid")) or uuid
                return _Head(begun, first, time, _named(row, path), _goes_on(row))
            begun = min(begun, time)
    return _Head(_NEVER, "", _NEVER, "", False)


def _rows(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    return (row for _, row, _ in read_records(lines) if row is not None)


def _named(row: dict[str, Any], path: Path) -> str:
    """Another session whose row this is, as far as it says so itself."""
    said = (as_str(as_dict(row.get("forkedFrom")).get("sessionId")), as_str(row.get("sessionId")))
    return next((name for name in said if _ID.match(name) and name != path.stem), "")


def _goes_on(row: dict[str, Any]) -> bool:
    """The first row of a conversation has no other before it; what a compaction left of a fork's has."""
    return bool(row.get("parentUuid") or row.get("logicalParentUuid"))


# --- files beside it -------------------------------------------------------------------------------------------------


def _beside(path: Path, since: datetime) -> Iterator[tuple[Path, _Head]]:
    """The other sessions of the folder that were written to since then: what ended before holds no row of that time."""
    if since == _NEVER:
        return
    with suppress(OSError):
        for other in sorted(path.parent.glob("*.jsonl")):
            if other.name != path.name and _ID.match(other.stem) and _written(other) >= since.timestamp():
                yield other, _head(other)


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _may_be_elder(path: Path, head: _Head) -> bool:
    return path.is_file() and _head(path).begun <= head.begun


def _leads_to(path: Path, session: str) -> bool:
    """Whether the sessions that files name, one after another, come to this one: none of them is the elder then."""
    seen = {path.stem}
    while (named := _head(path).named) and named not in seen:
        if named == session:
            return True
        seen.add(named)
        path = path.with_name(f"{named}.jsonl")
    return False


def _holds(path: Path, head: _Head) -> bool:
    """Whether a file has a row with the uuid that another one begins with."""
    wanted = re.compile(rb'"uuid"\s*:\s*"' + re.escape(head.first.encode("utf-8", "replace")) + rb'"')
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return wanted.search(data) is not None
    except (OSError, ValueError):  # an empty file cannot be mapped
        return False


NAME = CLIENT.name
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")
_SIDE_RUNS = ("agent-acompact-", "agent-aside_question-", "agent-aprompt_suggestion-")
"""Runs of the client's own in the subagents' folder: compaction, `/btw`, suggestions."""
_HEAD = 4 << 20
_NO_PROJECTS = frozenset({"subagents", "workflows", "tool-results", "memory"})


def read(transcript: Transcript, agent: str = "") -> Iterator[Event]:
    """The events of one log: the trunk's, or the subagent's of that id."""
    path = transcript.path_of(agent)
    if agent or not transcript.follows:
        return read_log(path, agent)
    return read_log(path, agent, rows_of(path.with_name(f"{transcript.follows}.jsonl")))


def reach(transcript: Transcript) -> Reach:
    """How far a transcript goes, told by a quick look; `OSError` when there is none."""
    return reach_of_lines(transcript.path)


def read_log(path: Path, agent: str = "", elder: Rows = NO_ROWS) -> Iterator[Event]:
    """The events of a file, one line of it in memory at a time.

    `agent` is the id of the subagent whose file it is, `elder` what rows it repeats of another session.  Raises
    `TranscriptError` when the file cannot be opened; what cannot be read inside it becomes `Unreadable`.
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
    """Whether one of the first rows looks like ours; False for what cannot be read."""
    return any(_is_ours(row) for row in _first_rows(path, 20))


def _first_rows(path: Path, limit: int) -> list[dict[str, Any]]:
    """The first rows of a file as far as they lie in its first megabytes; none for what cannot be read."""
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD)
    except OSError:
        return []
    return [row for _, row, _ in islice(read_records(head.split(b"\n")), limit) if row is not None]


def _is_ours(row: dict[str, Any]) -> bool:
    kind = row.get("type")
    if not isinstance(kind, str) or (kind not in ROWS and kind not in SILENT_ROWS):
        return False
    return any(isinstance(row.get(key), str) for key in ("sessionId", "leafUuid", "messageId"))


# --- finding ---------------------------------------------------------------------------------------------------------


def find(path: Path) -> Iterator[Transcript]:
    """The sessions of a file, of a session's folder, of a project's folder or of the client's whole folder.

    A file that is named is a transcript whatever it holds; in a folder, files count whose name is a session's id or
    that `sniff` knows.  A folder that cannot be listed comes as if it were a file: `read` says why.  Raises
    `TranscriptError` for a path that cannot be reached.
    """
    check_reachable(path)
    trunk = path.with_name(path.name + ".jsonl")
    trunk = trunk if path.is_dir() else path
    if trunk.is_file() or not path.is_dir():
        # Who looks at one session alone may have looked at those that go on from it before.
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
    """Subagents' files beside the trunks, before 2.1.2, by the session that their first row names."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(folder.glob("agent-*.jsonl")):
        session = _session_of(path)
        if session:
            found[session].append(path)
    return found


def _session_of(path: Path) -> str:
    named = (as_str(row.get("sessionId")) for row in _first_rows(path, 5))
    return next(filter(None, named), "")


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
