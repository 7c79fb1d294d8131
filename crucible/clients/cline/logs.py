"""Find Cline CLI's sessions, and read their events.

A session is a folder with `<id>.messages.json`, its metadata `<id>.json`, and a file of messages for each subagent.  The
client rewrites a file as a whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from crucible.clients.cline.client import CLIENT
from crucible.clients.cline.messages import MessageReader, task_in
from crucible.clients.events import At, ContextSeen, Event, Titled, Unreadable
from crucible.clients.gemini.texts import row_id
from crucible.clients.log_files import (
    NO_OBJECT,
    Reach,
    Record,
    SubagentFile,
    Transcript,
    events_of,
    find_files,
    head_of,
)
from crucible.clients.log_values import Row, as_dict, as_list, as_str, as_time
from crucible.core.errors import TranscriptError

NAME = CLIENT.name
_ENDING = ".messages.json"
_HEAD = 1 << 12
_MESSAGES = re.compile(r'"messages"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,]*")
_SIGNS = (b'"sessionId"', b'"origin"', b'"agent"')
_UPDATED = re.compile(rb'"updated_at"\s*:\s*"([^"]{10,40})"')
_FIRST = re.compile(rb'"messages"\s*:\s*\[\s*\{\s*"id"\s*:\s*"([^"]+)"')


def sniff(path: Path) -> bool:
    """Return whether a file begins like a file of messages; False if it cannot be read."""
    head = head_of(path, _HEAD) if path.suffix == ".json" else b""
    return all(sign in head for sign in _SIGNS)


def find(path: Path) -> Iterator[Transcript]:
    """Yield the sessions in a file, in a session's folder or in the client's entire folder.

    A subagent's file counts as its session, if that exists.
    """
    trunk = path.with_name(path.parent.name + _ENDING)
    return find_files(trunk if path.is_file() and trunk.is_file() else path, _is_trunk, _transcript)


def _is_trunk(path: Path) -> bool:
    """Return whether this is a session, or a subagent whose session is gone."""
    if not path.name.endswith(_ENDING):
        return False
    trunk = path.with_name(path.parent.name + _ENDING)
    return path == trunk or (not trunk.exists() and sniff(path))


def _transcript(path: Path) -> Transcript:
    native = path.name.removesuffix(_ENDING)
    if path.parent.name != native:
        return Transcript(NAME, native, path)
    others = sorted(each for each in path.parent.glob(f"*{_ENDING}") if each != path)
    agents = (SubagentFile(each.name.removesuffix(_ENDING), each, "subagent", depth=1) for each in others)
    return Transcript(NAME, native, path, tuple(agents))


# --- reading ---------------------------------------------------------------------------------------------------------


def read(transcript: Transcript, agent: str = "") -> Iterator[Event]:
    """Yield the events of the trunk or of the subagent `agent`."""
    path = transcript.path_of(agent)
    document, reason = _document(path)
    about = _about(transcript.path)
    yield from _context(transcript, agent, document, about)
    agents: dict[str, list[str]] = {}
    for file in () if agent else transcript.subagents:
        agents.setdefault(_task(file.path), []).append(file.agent)
    messages = as_list(document.get("messages"))
    found = (Record(line, each if isinstance(each, dict) else None, NO_OBJECT) for line, each in enumerate(messages, 1))
    yield from events_of(found, MessageReader(agent, agents).read, agent)
    if reason:
        yield Unreadable(At(len(messages) + 1, agent=agent), reason)


def _document(path: Path) -> tuple[Row, str]:
    """Return a file's content, and the reason why not all of it could be read.

    Raises `TranscriptError` if the file cannot be opened or read.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise TranscriptError(f"{path}: {error.strerror or error}") from error
    try:
        return as_dict(orjson.loads(raw)), ""
    except ValueError as error:
        return {"messages": _salvaged(raw.decode("utf-8", "replace"))}, f"not JSON: {error}"


def _salvaged(text: str) -> list[Any]:
    """Return the whole messages in a file that is damaged or cut off."""
    found: list[Any] = []
    start = _MESSAGES.search(text)
    at = start.end() if start else len(text)
    decoder = json.JSONDecoder()
    while at < len(text):
        gap = _BETWEEN.match(text, at)
        try:
            value, at = decoder.raw_decode(text, gap.end() if gap else at)
        except (ValueError, RecursionError):
            break
        found.append(value)
    return found


def _about_file(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(_ENDING) + ".json")


def _about(path: Path) -> Row:
    try:
        return as_dict(orjson.loads(_about_file(path).read_bytes()))
    except (OSError, ValueError):
        return {}


def _context(transcript: Transcript, agent: str, document: Row, about: Row) -> Iterator[Event]:
    """Yield where the session ran, and its title."""
    metadata, native = as_dict(about.get("metadata")), transcript.native_id
    at = At(1, row_id("session", native), as_time(about.get("started_at")), agent)
    branch = as_str(as_dict(metadata.get("git")).get("branch"))
    version = as_str(as_dict(document.get("origin")).get("version"))
    yield ContextSeen(at, native, as_str(about.get("cwd")), branch, version)
    if not agent and as_str(metadata.get("title")).strip():
        yield Titled(At(1, row_id("title", native)), metadata["title"])


def _task(path: Path) -> str:
    """Return a subagent's task, from its first message."""
    try:
        document, _ = _document(path)
    except TranscriptError:
        return ""
    return task_in(as_list(document.get("messages")))


def beside(transcript: Transcript) -> list[Path]:
    """Return the other files that `read` uses."""
    return [_about_file(transcript.path), *(file.path for file in transcript.subagents)]


def reach(transcript: Transcript) -> Reach:
    """Return how far a transcript goes, from its head.  Raises `OSError` if it does not exist."""
    size, head = transcript.path.stat().st_size, head_of(transcript.path, _HEAD)
    updated, first = _UPDATED.search(head), _FIRST.search(head)
    last = as_time(updated[1].decode("ascii", "replace")) if updated else None
    return Reach(last, size, first[1].decode("utf-8", "replace") if first else "")
