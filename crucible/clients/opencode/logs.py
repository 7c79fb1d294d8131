"""Find OpenCode's sessions (in a database since 1.2, in a JSON tree before, in exports), and read their events.

A subagent is a session with a parent; all descendants belong to their oldest ancestor.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from crucible.clients.events import Event
from crucible.clients.log_files import ALL_SESSIONS, DEEPEST, Reach, SubagentFile, Transcript, Wanted, check_reachable
from crucible.clients.opencode.client import CLIENT
from crucible.clients.opencode.database import is_database, opened
from crucible.clients.opencode.messages import bare_title, kind_in, read_session
from crucible.clients.opencode.stored import Head, Store, utc
from crucible.clients.opencode.stores import Tables, Tree, has_sessions, read_export, read_head, session_files
from crucible.core.errors import TranscriptError

NAME = CLIENT.name
_DATABASES = ("opencode.db", "opencode-*.db")
"""Each release channel has its own database."""
_NO_SESSIONS = frozenset({"node_modules", ".git", "snapshot", "repos", "log", "bin", "tool-output", "shell"})


_FAMILY = ("kilo.db", "kilo-*.db")
"""Databases of clients with the same tables."""


def sniff(path: Path) -> bool:
    """Return whether a file is a database with OpenCode's tables, an export, or a session file in the tree."""
    return not any(path.match(pattern) for pattern in _FAMILY) and has_sessions_in(path)


def has_sessions_in(path: Path) -> bool:
    """Return whether a file has sessions in one of OpenCode's layouts, whichever client wrote it."""
    try:
        with _store(path):
            return True
    except TranscriptError:
        return False


def read(transcript: Transcript, agent: str = "") -> Iterator[Event]:
    """Yield the events of the trunk or of the subagent `agent`, with little of the log in memory at a time."""
    path, session = transcript.path_of(agent), agent or transcript.native_id
    with _store(path) as store:
        head = store.head(session)
        if head is None:
            raise TranscriptError(f"{path}: no session {session}", "import the folder, or choose another file")
        yield from read_session(store, head, agent)


def beside(transcript: Transcript) -> list[Path] | None:
    """Return the other files that `read` uses; None for a tree, where every message is a file."""
    path = Path(os.path.realpath(transcript.path))  # SQLite expects its log next to a symlink's target
    return [path.with_name(f"{path.name}-wal")] if is_database(path) else None


def reach(transcript: Transcript) -> Reach:
    """Return how far a session goes: its last change, its number of messages, and the id of the first message."""
    size = transcript.path.stat().st_size
    try:
        with _store(transcript.path) as store:
            last, number, first = store.size(transcript.native_id)
    except TranscriptError:
        return Reach(None, size)
    return Reach(utc(last), number, first)


@contextmanager
def _store(path: Path) -> Iterator[Store]:
    """Open the sessions in a file.  Raises `TranscriptError` if it contains none."""
    if is_database(path) or path.suffix == ".db":
        with opened(path) as database:
            if not has_sessions(database):
                raise TranscriptError(f"{path}: not an OpenCode database", "give the path of an opencode.db")
            yield Tables(database)
    elif path.is_file() and read_head(path):
        yield Tree(path.parents[2])
    else:
        export = read_export(path) if path.is_file() else None
        if export is None:
            raise TranscriptError(
                f"{path}: not an OpenCode session", 'give an opencode.db, or a file written by "opencode export"'
            )
        yield export


# --- finding ---------------------------------------------------------------------------------------------------------


def find(path: Path) -> Iterator[Transcript]:
    """Yield the sessions in a database, a document or a session file in the tree, or in all of these below a folder.

    One file may hold many sessions; `Transcript.path` is that file.  A subagent's `call` is "": finding it would
    require reading all parts, and the events name the subagent's session.  A file that cannot be read is yielded as one
    session, so that `read` reports why.  Raises `TranscriptError` for a path that does not exist or may not be read.
    """
    return find_in(path, _DATABASES, ALL_SESSIONS)


def find_some(path: Path, wanted: Wanted) -> Iterator[Transcript]:
    """Yield the wanted sessions."""
    return find_in(path, _DATABASES, wanted)


def find_in(path: Path, databases: Sequence[str], wanted: Wanted) -> Iterator[Transcript]:
    """Yield the same for a client whose databases have these names; of a folder, all sessions."""
    check_reachable(path)
    if not path.is_dir():
        yield from _of_file(path, wanted)
    else:
        yield from _walk(path, DEEPEST, databases)


def _walk(folder: Path, depth: int, databases: Sequence[str]) -> Iterator[Transcript]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        yield Transcript(NAME, folder.name, folder)
        return
    seen: set[str] = set()
    files = [path for path in entries if path.is_file()]
    for path in files:
        if any(path.match(pattern) for pattern in databases) or (path.suffix == ".json" and read_export(path)):
            for transcript in _of_file(path):
                seen.update(_sessions_of(transcript))
                yield transcript
    storage = folder if _is_storage(folder) else folder / "storage"
    for transcript in _of_tree(storage) if _is_storage(storage) else ():
        # A session that was migrated to the database is continued there.
        if transcript.native_id not in seen:
            yield transcript
    for entry in entries:
        if depth and storage not in (entry, folder) and _may_hold(entry):
            yield from _walk(entry, depth - 1, databases)


def _may_hold(entry: Path) -> bool:
    return entry.name not in _NO_SESSIONS and entry.is_dir() and not entry.is_symlink()


def _is_storage(folder: Path) -> bool:
    return (folder / "session").is_dir() and any(session_files(folder))


def _sessions_of(transcript: Transcript) -> set[str]:
    return {transcript.native_id, *(file.agent for file in transcript.subagents)}


def _of_file(path: Path, wanted: Wanted = ALL_SESSIONS) -> Iterator[Transcript]:
    try:
        with _store(path) as store:
            sessions = store.families(wanted) if isinstance(store, Tables) else None
            heads = store.heads(sessions) if isinstance(store, Tables) else store.heads()
            changes = store.changes(sessions) if isinstance(store, Tables) else None
    except TranscriptError:
        yield Transcript(NAME, path.name, path)
        return
    named = read_head(path)
    for head, below in _families(heads):
        if named is None or named.id in {head.id, *(child.id for child, _ in below)}:
            file = path.parent / f"{head.id}.json" if named else path
            yield _transcript(head, below, file if file.is_file() else path, changes)


def _of_tree(storage: Path) -> Iterator[Transcript]:
    paths = {path.stem: path for path in session_files(storage)}
    for head, below in _families(Tree(storage).heads()):
        yield _transcript(head, below, paths.get(head.id, storage), None)


def _transcript(
    head: Head, below: list[tuple[Head, int]], path: Path, changes: Mapping[str, tuple[int, int]] | None
) -> Transcript:
    family = [head, *(child for child, _ in below)]
    told = [changes[each.id] for each in family if each.id in changes] if changes else []
    last = max([each.updated for each in family] + [time for time, _ in told]) if changes is not None else 0
    subagents = tuple(_subagent(child, depth, path) for child, depth in below)
    return Transcript(NAME, head.id, path, subagents, last=utc(last), size=sum(number for _, number in told))


def _subagent(head: Head, depth: int, path: Path) -> SubagentFile:
    return SubagentFile(head.id, path, head.agent or kind_in(head.title), bare_title(head.title), depth=depth)


def _families(heads: Iterable[Head]) -> Iterator[tuple[Head, list[tuple[Head, int]]]]:
    """Yield each session (or the first of a cycle) whose parent is missing, with its descendants and their depths."""
    by_id = {head.id: head for head in heads}
    children: dict[str, list[Head]] = {}
    for head in by_id.values():
        children.setdefault(_parent(head, by_id), []).append(head)
    for root in children.get("", ()):
        below: list[tuple[Head, int]] = []
        waiting = [(child, 1) for child in children.get(root.id, ())]
        while waiting:
            child, depth = waiting.pop(0)
            below.append((child, depth))
            waiting += [(each, depth + 1) for each in children.get(child.id, ())]
        yield root, below


def _parent(head: Head, by_id: Mapping[str, Head]) -> str:
    """Return the parent's id, or "" if the parent is not in `by_id`.  One session of a cycle has no parent."""
    seen = {head.id}
    above = head.parent
    while above in by_id and above not in seen:
        seen.add(above)
        above = by_id[above].parent
    is_cycle = above in seen
    return head.parent if head.parent in by_id and not (is_cycle and head.id == min(seen)) else ""
