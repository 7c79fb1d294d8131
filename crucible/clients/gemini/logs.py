"""Find Gemini CLI's transcripts, group their files into sessions, and read their events.

A session's id is the `sessionId` in its first line: after a resume, several files may have the same id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from pathlib import Path

import orjson

from crucible.clients.events import At, ContextSeen, Event, Titled, Unreadable
from crucible.clients.gemini.client import CLIENT
from crucible.clients.gemini.conversation import (
    Conversation,
    Damage,
    LogFile,
    Slot,
    TakenBack,
    is_metadata,
    read_conversation,
)
from crucible.clients.gemini.messages import MessageReader
from crucible.clients.gemini.texts import row_id
from crucible.clients.log_files import DEEPEST, Reach, SubagentFile, Transcript, check_reachable, head_of, read_records
from crucible.clients.log_values import Row, as_dict, as_list, as_str, as_time

NAME = CLIENT.name
_HEAD, _TAIL = 1 << 16, 1 << 16
_SUFFIXES = (".jsonl", ".json")
_ROOT, _REGISTER = ".project_root", "projects.json"
"""Files in which the client keeps the folder of a project, and of all projects."""
_STAMP = re.compile(rb'"(?:timestamp|lastUpdated|startTime)"\s*:\s*"([^"]{10,40})"')
_FIELD = re.compile(rb'"(sessionId|kind|projectHash|startTime)"\s*:\s*"((?:[^"\\]|\\.){1,400})"')
_WORKSPACE = re.compile(r"\*\*Workspace Directories:\*\*\n\s*- ([^\n]+)")
_NO_SESSIONS = frozenset({"tool-outputs", "checkpoints", "logs", "plans", "tracker", "tasks", "bin", "history"})
"""The client's folders that contain no sessions."""


def read(transcript: Transcript, agent: str = "") -> Iterator[Event]:
    """Yield the events of the trunk or, if `agent` is given, of a subagent."""
    return read_log(transcript.path_of(agent), agent)


def read_log(path: Path, agent: str = "") -> Iterator[Event]:
    """Yield the events of a file, with one message in memory at a time (the entire document in the older format).

    `agent` is the subagent's id if the file is a subagent's log.  Raises `TranscriptError` if the file cannot be
    opened; a record that cannot be read becomes `Unreadable`.
    """
    with LogFile(path) as log:
        conversation = read_conversation(log)
        yield from _context(path, log, conversation, agent)
        reader = MessageReader(agent, by_agent=conversation.metadata.get("kind") == "subagent")
        for step in conversation.steps:
            match step:
                case Slot():
                    yield from reader.tell(step, log.fetch(step.place))
                case TakenBack():
                    yield from reader.take_back(step)
                case Damage():
                    yield Unreadable(At(step.line, agent=agent), step.reason)


def _context(path: Path, log: LogFile, conversation: Conversation, agent: str) -> Iterator[Event]:
    """Yield the session's folder and title, which depend on the entire log."""
    metadata = conversation.metadata
    session, title = as_str(metadata.get("sessionId")), as_str(metadata.get("summary"))
    if session:
        at = At(1, row_id("session", session), as_time(metadata.get("startTime")), agent)
        yield ContextSeen(at, session, _folder_of(path, log, conversation))
    # The summary of a subagent is its report.
    if title.strip() and metadata.get("kind") != "subagent":
        yield Titled(At(max(1, conversation.summary_line), row_id("summary", title), agent=agent), title)


# --- where a session ran ---------------------------------------------------------------------------------------------


def _folder_of(path: Path, log: LogFile, conversation: Conversation) -> str:
    """Return the project's folder, from the client's file for it, the log, or the client's project list."""
    directories = as_list(conversation.metadata.get("directories"))
    return (
        _stored_folder(path)
        or _folder_in_first_message(log, conversation)
        or next((each for each in directories if isinstance(each, str)), "")
        or _listed_folder(path, as_str(conversation.metadata.get("projectHash")))
    )


def _project_folder(path: Path) -> Path | None:
    """Return the `tmp/<project>` folder that contains a log."""
    return next((parent.parent for parent in list(path.parents)[:3] if parent.name == "chats"), None)


def beside(transcript: Transcript) -> list[Path]:
    """Return the other files that `read` uses."""
    project = _project_folder(transcript.path)
    return [project / _ROOT, project.parent.parent / _REGISTER] if project else []


def _stored_folder(path: Path) -> str:
    project = _project_folder(path)
    try:
        return (project / _ROOT).read_text(encoding="utf-8").strip() if project else ""
    except (OSError, ValueError):
        return ""


def _folder_in_first_message(log: LogFile, conversation: Conversation) -> str:
    """Return the folder named in the session's first message, which the client writes."""
    first = next((step for step in conversation.steps if isinstance(step, Slot)), None)
    message = log.fetch(first.place) if first else {}
    texts = [as_str(as_dict(part).get("text")) for part in as_list(message.get("content"))]
    found = _WORKSPACE.search("".join(texts)) if message.get("type") == "user" else None
    return found[1].strip() if found else ""


def _listed_folder(path: Path, project_hash: str) -> str:
    project = _project_folder(path)
    if project is None:
        return ""
    try:
        register = orjson.loads((project.parent.parent / _REGISTER).read_bytes())
    except (OSError, ValueError):
        return ""
    for folder, name in as_dict(as_dict(register).get("projects")).items():
        if name == project.name or sha256(folder.encode("utf-8", "replace")).hexdigest() in (
            project_hash,
            project.name,
        ):
            return str(folder)
    return ""


# --- finding ---------------------------------------------------------------------------------------------------------


def sniff(path: Path) -> bool:
    """Return whether a file begins like a Gemini CLI log; False if the file cannot be read."""
    if path.suffix not in _SUFFIXES:
        return False
    head = head_of(path, _HEAD)
    return bool(_session_of(head)) or any(_is_record(row) for row in _rows(head))


def _is_record(row: Row) -> bool:
    """Return whether this is a record of a log, for logs whose first line is lost."""
    if isinstance(row.get("$rewindTo"), str) or isinstance(row.get("$set"), dict):
        return True
    return isinstance(row.get("id"), str) and row.get("type") == "gemini" and "timestamp" in row


def find(path: Path) -> Iterator[Transcript]:
    """Yield the sessions in a file, a chats folder, a project's folder or the client's entire folder.

    A session is `~/.gemini/tmp/<project>/chats/session-<time>-<8 of the id>.jsonl`, or `.json` (one document) in older
    versions.  A subagent's log is `chats/<id of its parent>/<its id>.jsonl`.  A file given directly always counts as a
    transcript; that of a subagent counts as its session, if that exists.  In a folder, a file counts if it is named like a session or passes `sniff`.  A folder that cannot be
    listed is yielded like a file, so that `read` reports why.  Raises `TranscriptError` for a path that does not exist
    or may not be read.
    """
    check_reachable(path)
    if not path.is_dir():
        yield _parent_of(path) or _transcript(path)
        return
    tmp = path / "tmp"
    yield from _walk(tmp if tmp.is_dir() else path, DEEPEST)


def _parent_of(path: Path) -> Transcript | None:
    """Return the session of a subagent's file; None if it is none, or if its session is missing."""
    chats = path.parent.parent
    sessions = _walk(chats, 0) if chats.name == "chats" else ()
    return next((one for one in sessions if path in (file.path for file in one.subagents)), None)


def _walk(folder: Path, depth: int) -> Iterator[Transcript]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        yield Transcript(NAME, folder.name, folder)
        return
    trunks = [_transcript(entry) for entry in entries if entry.suffix in _SUFFIXES and _is_trunk(entry)]
    yield from trunks
    parents = {_plain(trunk.native_id) for trunk in trunks}
    parents |= {file.agent for trunk in trunks for file in trunk.subagents}
    for entry in entries:
        if entry.name in _NO_SESSIONS or entry.name in parents or not depth:
            continue
        if entry.is_dir() and not entry.is_symlink():
            yield from _walk(entry, depth - 1)


def _is_trunk(path: Path) -> bool:
    if not path.is_file():
        return False
    if path.name.startswith("session-"):
        return True
    # A subagent's log is in its parent's folder and found with the parent; without the parent it is a session.
    return sniff(path)


def _transcript(trunk: Path) -> Transcript:
    session = _session_of(head_of(trunk, _HEAD)) or trunk.stem
    return Transcript(NAME, session, trunk, tuple(_subagents(trunk.parent, session, 1, {session})))


def _subagents(chats: Path, parent: str, depth: int, seen: set[str]) -> Iterator[SubagentFile]:
    """Yield all subagents of a session, each followed by its own subagents."""
    try:
        entries = sorted((chats / _plain(parent)).iterdir()) if _plain(parent) else []
    except OSError:
        return
    for entry in entries:
        if entry.suffix in _SUFFIXES and entry.stem not in seen and entry.is_file():
            seen.add(entry.stem)
            yield SubagentFile(entry.stem, entry, depth=depth)
            yield from _subagents(chats, entry.stem, depth + 1, seen)


def _plain(session: str) -> str:
    """Return a session's id in the form that the client uses in file and folder names."""
    return re.sub(r"[^A-Za-z0-9-]", "_", session)


# --- quick checks ----------------------------------------------------------------------------------------------------


def reach(transcript: Transcript) -> Reach:
    """Return how far a transcript goes, from its head and tail.  Raises `OSError` if it does not exist.

    A log without messages goes nowhere: on a resume, the client begins one with its context, but continues the old one.
    """
    path = transcript.path
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(_HEAD)
        file.seek(max(0, size - _TAIL))
        stamps = _STAMP.findall(head[:1024]) + _STAMP.findall(file.read())
    times = (as_time(stamp.decode("ascii", "replace")) for stamp in stamps)
    last: datetime | None = max((time for time in times if time), default=None)
    if size <= _HEAD and path.suffix == ".jsonl" and not any("id" in row for row in _rows(head)):
        last = None
    return Reach(last, size, _session_of(head))


def _session_of(head: bytes) -> str:
    """Return the session id at the beginning of a log or document; "" if another program wrote the file."""
    start = head[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start.startswith(b"{"):
        return ""
    for row in _rows(head.partition(b"\n")[0]):
        return as_str(row["sessionId"]) if is_metadata(row) else ""
    fields: dict[bytes, bytes] = dict(reversed(_FIELD.findall(start.partition(b'"messages"')[0])))
    if b"sessionId" in fields and (b"projectHash" in fields or b"startTime" in fields):
        return fields[b"sessionId"].decode("utf-8", "replace")
    return ""


def _rows(head: bytes) -> list[Row]:
    lines = head.split(b"\n")[:20]
    return [record.value for record in read_records(lines) if record.value is not None]
