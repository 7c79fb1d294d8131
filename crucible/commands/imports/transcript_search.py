"""Which transcripts an import is about: every session once, whatever paths lead to it.

Owns where a search looks, which client a file is of, and which of several copies of a session counts.  What a session
comes to is `importing`'s.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from pathlib import Path

from crucible.clients.log_files import Reach, Transcript, files_below
from crucible.clients.registry import DIALECTS, Dialect, sniff
from crucible.commands.imports.import_report import Importing, UnreadableRow
from crucible.commands.imports.note_sources import source_name
from crucible.core.errors import TranscriptError, reason_of

_LOOKED_INTO = 200
"""Files of a folder that are looked into for who wrote them."""
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Search:
    """Where to look for one client's sessions.  `is_sniffed`: only files count that are the client's by their looks."""

    dialect: Dialect
    paths: tuple[Path, ...]
    is_sniffed: bool = False


def searches_here(env: Mapping[str, str], home: Path) -> tuple[Search, ...]:
    """A search for each client whose own folder is on this machine."""
    folders = ((dialect, dialect.default_folder(env, home)) for dialect in DIALECTS.values())
    return tuple(Search(dialect, (folder,)) for dialect, folder in folders if folder.exists())


def searches_at(paths: Iterable[Path]) -> tuple[tuple[Search, ...], tuple[UnreadableRow, ...]]:
    """A search for each client that may have written what lies at these paths, and the paths that nobody wrote.

    A file is its writer's; a folder may hold logs of several clients.
    """
    files: dict[str, list[Path]] = {name: [] for name in DIALECTS}
    unknown: list[UnreadableRow] = []
    for path in paths:
        reason = ""
        try:
            writers = list(DIALECTS) if any(path.iterdir()) else []
        except NotADirectoryError:
            writer = sniff(path)
            writers = [writer.name] if writer else []
            reason = "" if writer else "no client that we know wrote this"
        except OSError as error:
            writers, reason = [], reason_of(error)
        for name in writers:
            files[name].append(path)
        if reason:
            unknown.append(UnreadableRow(path, 0, reason))
    searches = (Search(DIALECTS[name], tuple(found), is_sniffed=True) for name, found in files.items() if found)
    return tuple(searches), tuple(unknown)


def find_transcripts(search: Search, outcome: Importing) -> list[Transcript]:
    """Each session once, though the paths overlap or hold copies; what cannot be reached is told."""
    return _without_copies(search.dialect, _find(search, outcome), outcome)


def other_writer(dialect: Dialect, path: Path) -> Dialect | None:
    """The client that wrote a file, or something in a folder, where `dialect`'s wrote nothing; None when nobody we know did."""
    found: Dialect | None = None
    for file in islice(_files(path), _LOOKED_INTO):
        if dialect.sniff(file):
            return None
        found = found or sniff(file)
    return found


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    # A pipe would keep us waiting.
    yield from (file for file in files_below(path) if file.is_file())


def reason_at(error: Exception, path: Path) -> str:
    """Why something went wrong, without the path that is told beside it."""
    if isinstance(error, OSError):
        return reason_of(error)
    return str(error).removeprefix(f"{path}: ")


def _find(search: Search, outcome: Importing) -> Iterator[Transcript]:
    """Each transcript once, though the paths overlap."""
    seen: set[tuple[str, str]] = set()
    # A database holds many sessions and is looked at once.
    is_ours = cache(search.dialect.sniff) if search.is_sniffed else lambda _path: True
    for path in search.paths:
        try:
            for transcript in search.dialect.find(path):
                real = (os.path.realpath(transcript.path), transcript.native_id)
                if real not in seen and is_ours(transcript.path):
                    seen.add(real)
                    yield transcript
        except (TranscriptError, OSError) as error:
            outcome.unreadable.append(UnreadableRow(path, 0, reason_at(error, path)))
        if path.is_dir() and path.suffix == ".jsonl" and not search.is_sniffed:
            outcome.unreadable.append(UnreadableRow(path, 0, "a folder, where a transcript was expected"))


def _without_copies(dialect: Dialect, found: Iterable[Transcript], outcome: Importing) -> list[Transcript]:
    """One transcript a session, the one that goes furthest: two of them would make two notes with one source."""
    sessions: dict[str, list[Transcript]] = {}
    for transcript in found:
        sessions.setdefault(source_name(transcript.client, transcript.native_id), []).append(transcript)
    return [c[0] if len(c) == 1 else _furthest(dialect, c, outcome) for c in sessions.values()]


def _furthest(dialect: Dialect, copies: list[Transcript], outcome: Importing) -> Transcript:
    reaches = [_reach(dialect, copy) for copy in copies]
    far = max(range(len(copies)), key=lambda at: (reaches[at].last or _NEVER, reaches[at].size))
    best = copies[far]
    for copy, reach in zip(copies, reaches, strict=True):
        rows = {reach.first, reaches[far].first} - {""}
        if len(rows) > 1:
            told = f"begins otherwise than {best.path} of the same name, which is imported: rename one of them"
            outcome.unreadable.append(UnreadableRow(copy.path, 0, told))
        elif copy is not best:
            outcome.left_out["copy"] += 1
    return best


def _reach(dialect: Dialect, transcript: Transcript) -> Reach:
    try:
        return dialect.reach(transcript)
    except OSError:
        return Reach(None, -1)
