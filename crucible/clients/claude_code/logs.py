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

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from crucible.clients.claude_code.call_results import outputs_folder
from crucible.clients.claude_code.client import CLIENT
from crucible.clients.claude_code.lineage import NO_ROWS, Rows, followed, followers, rows_of
from crucible.clients.claude_code.rows import ROWS, SILENT_ROWS, feed, finish
from crucible.clients.claude_code.state import State
from crucible.clients.events import At, Event, Unreadable
from crucible.clients.jsonl_reader import read_file, read_records
from crucible.clients.log_values import as_str, count
from crucible.clients.session_files import (
    DEEPEST,
    Reach,
    SubagentFile,
    Transcript,
    check_reachable,
    reach_of_lines,
)

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
