"""Find Qwen Code's sessions, and read their events.

A session is `projects/<project>/chats/<id>.jsonl`.  Subagents have no log; rows of telemetry show what they did.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from crucible.clients.events import Event
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
from crucible.clients.log_values import Row, as_dict, as_str
from crucible.clients.qwen_code.client import CLIENT
from crucible.clients.qwen_code.rows import AgentReader, RowReader, agent_of, display_of, telemetry_of

NAME = CLIENT.name
reach = reach_of_log
_TELEMETRY = b'"ui_telemetry"'


def sniff(path: Path) -> bool:
    """Return whether a file begins like a session; False if it cannot be read."""
    return path.suffix == ".jsonl" and any(_is_row(row) for row in first_rows(path))


def _is_row(row: Row) -> bool:
    message = as_dict(row.get("message"))
    return isinstance(row.get("sessionId"), str) and ("systemPayload" in row or isinstance(message.get("parts"), list))


def find(path: Path) -> Iterator[Transcript]:
    """Yield the sessions in a file, in a project's folder or in the client's entire folder."""
    return find_files(path, sniff, _transcript)


def _transcript(path: Path) -> Transcript:
    ids = (as_str(row.get("sessionId")) for row in first_rows(path))
    return Transcript(NAME, next(filter(None, ids), path.stem), path, tuple(_subagents(path)))


def _subagents(path: Path) -> Iterator[SubagentFile]:
    """Yield the subagents named in a file; only rows of telemetry are parsed."""
    seen: set[str] = set()
    for row in rows_with(path, _TELEMETRY):
        told = telemetry_of(row)
        agent = agent_of(told)
        if agent and agent not in seen:
            seen.add(agent)
            yield SubagentFile(agent, path, agent.rpartition("-")[0], depth=1)


def read(transcript: Transcript, agent: str = "") -> Iterator[Event]:
    """Yield the events of the trunk or of the subagent `agent`, with one row in memory at a time."""
    path = transcript.path_of(agent)
    reader = AgentReader(agent, _task_of(path, agent)) if agent else RowReader()
    yield from events_of(read_file(path), reader.read, None if agent else "")


def _task_of(path: Path, agent: str) -> str:
    """Return a subagent's task, which is only in the result with its report."""
    said = ""
    for _, row, _ in read_file(path):
        told, display = telemetry_of(row or {}), display_of(row or {})
        if agent_of(told) == agent:
            said = as_str(told.get("response_text")) or said
        elif said and display.get("result") == said:
            return as_str(display.get("taskPrompt"))
    return ""


def beside(transcript: Transcript) -> list[Path]:  # noqa: ARG001  no session uses other files
    """Return the other files that `read` uses."""
    return []
