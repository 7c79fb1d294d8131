"""Which of Codex's files are one session: rollouts by the ids in their heads, children by their parent's id.

Owns file names, folders and the reading of heads; nothing behind the first rows of a file is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from crucible.clients.codex.files import first_lines
from crucible.clients.codex.state import parent_of
from crucible.clients.codex.values import made_at
from crucible.clients.log_values import as_dict, as_str
from crucible.clients.session_files import SubagentFile, files_below

_NAME = re.compile(r"rollout-(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)-(?P<id>.+?)\.jsonl(?:\.zst)?\Z")
_ZST = ".zst"
_SUFFIXES = (".jsonl", f".jsonl{_ZST}")
_INDEX = "session_index.jsonl"
_HOMES = ("sessions", "archived_sessions")
_LATE = 86_400_000
"""Milliseconds after a session's last row in which its subagents may still start others."""
_UP = 5
"""Folders from a rollout up to the client's own: `sessions/YYYY/MM/DD/`."""


@dataclass(frozen=True, slots=True)
class Head:
    """What the first row of a rollout tells: its session, its parent's id when it is a subagent's, else its origin's."""

    path: Path
    id: str
    parent: str = ""
    role: str = ""
    name: str = ""
    depth: int = 0
    forked_from: str = ""


def head_of(path: Path) -> Head:
    """The head of a file; the id of its name where the rows tell none."""
    for line in first_lines(path, 5):
        if line.type == "session_meta":
            ident = as_str(line.payload.get("id")) or _id_of(path)
            parent, role, name, depth = parent_of(line.payload)
            # A subagent that was given its parent's context is told to be a fork, too.
            origin = "" if parent else as_str(line.payload.get("forked_from_id"))
            return Head(path, ident, parent if parent != ident else "", role, name, depth, origin)
    return Head(path, _id_of(path))


def _id_of(path: Path) -> str:
    found = _NAME.match(path.name)
    return found["id"] if found else path.name.removesuffix(".zst").removesuffix(".jsonl")


def is_rollout(path: Path) -> bool:
    """Whether a file's name is a rollout's."""
    return path.name.startswith("rollout-") and path.name.endswith(_SUFFIXES)


# --- folders ---------------------------------------------------------------------------------------------------------


def rollouts(folder: Path) -> Iterator[Path]:
    """The rollouts of a folder, or of the client's whole folder, by name; the plain one of two with one name.

    A folder that cannot be listed raises `OSError`.
    """
    homes = [folder / home for home in _HOMES if (folder / home).is_dir()]
    for home in homes or [folder]:
        home.stat()
        named = (path for path in files_below(home) if path.name.endswith(_SUFFIXES))
        # Of two with one name the plain one counts.
        there = sorted(named, key=lambda path: (path.suffix != _ZST, path))
        found = {path.name.removesuffix(_ZST): path for path in there}
        yield from (path for _, path in sorted(found.items()) if path.is_file())


def place_of(path: Path) -> Path:
    """The folder in which a rollout's relatives lie: its `sessions`, or its own folder."""
    for folder in list(path.parents)[:_UP]:
        if folder.name in _HOMES:
            return folder.parent
    return path.parent


def near(path: Path) -> Iterable[Path]:
    """What may be a rollout's relatives.  A copy may lie in a home, say: only the client's own folders are walked."""
    place = place_of(path)
    if place != path.parent:
        return rollouts(place)
    try:
        return sorted(place.iterdir())
    except OSError:  # a folder that we may go through and not list
        return [path]


def kin_of(own: Head) -> list[Head]:
    """The heads of the files near a rollout that may be of its family: its forebears, and what began in their time."""
    named = {found["id"]: path for path in near(own.path) if (found := _NAME.match(path.name))}
    heads = {own.id: own}
    root = own
    while root.parent in named and root.parent not in heads:
        ident = root.parent
        root = heads[ident] = head_of(named[ident])
    first, last = _NAME.match(root.path.name), root.path.stat().st_mtime * 1000 + _LATE
    for ident, path in named.items():
        found = _NAME.match(path.name)
        in_time = not (found and first) or found["time"] >= first["time"]
        if ident not in heads and in_time and made_at(ident) <= last:
            heads[ident] = head_of(path)
    return list(heads.values())


def title_of(path: Path, session: str) -> str:
    """What a session is called in the index beside the folder of sessions; the last name counts."""
    index = place_of(path) / _INDEX
    title = ""
    try:
        with index.open("rb") as lines:
            for line in lines:
                if session.encode("utf-8", "replace") in line:
                    row = _row(line)
                    title = (as_str(row.get("thread_name")) or title) if row.get("id") == session else title
    except OSError:
        return ""
    return title.strip()


def _row(line: bytes) -> dict[str, object]:
    try:
        return as_dict(orjson.loads(line))
    except ValueError:
        return {}


# --- families --------------------------------------------------------------------------------------------------------


def families(heads: Iterable[Head]) -> list[tuple[Head, list[Head]]]:
    """Each session that nobody here started, with all that descends from it."""
    heads = list(heads)
    known = {head.id: head for head in heads}
    own = [head for head in heads if _root(head, known) is head]
    below: dict[str, list[Head]] = {head.id: [] for head in own}
    for head in heads:
        root = _root(head, known)
        if root is not head and root.id in below:
            below[root.id].append(head)
    return [(head, below[head.id]) for head in own]


def _root(head: Head, known: dict[str, Head]) -> Head:
    """The eldest that is there; a circle, which no client writes, has none."""
    seen = {head.id}
    at = head
    while at.parent in known:
        if at.parent in seen:
            return head
        seen.add(at.parent)
        at = known[at.parent]
    return at


def subagents_of(root: Head, below: Iterable[Head]) -> tuple[SubagentFile, ...]:
    """The files of a session's subagents, one an id."""
    below = list(below)
    depths = {root.id: 0}
    files: dict[str, SubagentFile] = {}
    for head in sorted(below, key=lambda head: (head.depth, head.path.name)):
        depths[head.id] = head.depth or depths.get(head.parent, 0) + 1
        files.setdefault(head.id, SubagentFile(head.id, head.path, head.role, depth=depths[head.id]))
    return tuple(sorted(files.values(), key=lambda file: file.path.name))
