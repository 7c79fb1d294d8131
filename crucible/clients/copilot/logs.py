"""Find GitHub Copilot CLI's sessions, and read their events.

A session is `session-state/<id>/events.jsonl`.  Its subagents' rows are in the same file, with an `agentId`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from crucible.clients.copilot.client import CLIENT
from crucible.clients.copilot.rows import RowReader, agent_of
from crucible.clients.events import At, Event, Titled
from crucible.clients.log_files import (
    SubagentFile,
    Transcript,
    events_of,
    find_files,
    first_rows,
    reach_of_log,
    read_file,
    rows_with,
)
from crucible.clients.log_values import as_dict, as_str

NAME = CLIENT.name
reach = reach_of_log
_LOG = "events.jsonl"
_WORKSPACE = "workspace.yaml"
_STARTED = b'"subagent.started"'
_FIELD = re.compile(r"^(name|user_named): *(.*?) *$", re.MULTILINE)


def sniff(path: Path) -> bool:
    """Return whether a file begins like an events file; False if it cannot be read."""
    return path.suffix == ".jsonl" and any(
        isinstance(row.get("data"), dict) and isinstance(row.get("id"), str) and "." in as_str(row.get("type"))
        for row in first_rows(path)
    )


def find(path: Path) -> Iterator[Transcript]:
    """Yield the sessions in a file, in a session's folder or in the client's entire folder."""
    return find_files(path, lambda file: file.name == _LOG and sniff(file), _transcript)


def _transcript(path: Path) -> Transcript:
    return Transcript(NAME, _session_of(path), path, tuple(_subagents(path)))


def _session_of(path: Path) -> str:
    """Return the id in the first row, else the folder's name."""
    ids = (as_str(as_dict(row.get("data")).get("sessionId")) for row in first_rows(path))
    return next(filter(None, ids), path.parent.name if path.name == _LOG else path.stem)


def _subagents(path: Path) -> Iterator[SubagentFile]:
    """Yield the subagents in a file; only their first rows are parsed."""
    seen: set[str] = set()
    for row in rows_with(path, _STARTED):
        data, agent = as_dict(row.get("data")), agent_of(row)
        if row.get("type") == "subagent.started" and agent and agent not in seen:
            seen.add(agent)
            kind, title, call = (as_str(data.get(key)) for key in ("agentName", "agentDescription", "toolCallId"))
            yield SubagentFile(agent, path, kind, title, call)


def read(transcript: Transcript, agent: str = "") -> Iterator[Event]:
    """Yield the events of the trunk or of the subagent `agent`, with one row in memory at a time."""
    path = transcript.path_of(agent)
    if not agent:
        yield from _title(path)
    yield from events_of(read_file(path), RowReader(agent).read, None if agent else "")


def _title(path: Path) -> Iterator[Event]:
    """Yield the session's name from the file beside its log."""
    try:
        fields = dict(_FIELD.findall(path.with_name(_WORKSPACE).read_text(encoding="utf-8", errors="replace")))
    except OSError:
        return
    if name := fields.get("name", "").strip("'\""):
        yield Titled(At(1), name, fields.get("user_named") == "true")


def beside(transcript: Transcript) -> list[Path]:
    """Return the other files that `read` uses."""
    return [transcript.path.with_name(_WORKSPACE)]
