"""Find transcripts: one per native session, at the given paths or in the clients' own folders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from pathlib import Path

from crucible.clients.log_files import Reach, Transcript, files_below
from crucible.clients.registry import DIALECTS, Dialect, sniff
from crucible.commands.imports.import_report import ImportOptions, ReportDraft, reason_at
from crucible.commands.imports.import_result import Search, UnreadableRow
from crucible.core.errors import TranscriptError, reason_of

_SNIFFED_FILES = 200
"""Maximum files in a folder to open when detecting which client wrote it."""
_NEVER = datetime.min.replace(tzinfo=UTC)


def searches_here(env: Mapping[str, str], home: Path) -> tuple[Search, ...]:
    """Return a search for each client whose default folder exists on this machine."""
    folders = ((dialect, dialect.default_folder(env, home)) for dialect in DIALECTS.values())
    return tuple(Search(dialect, (folder,)) for dialect, folder in folders if folder.exists())


def searches_at(paths: Iterable[Path]) -> tuple[tuple[Search, ...], tuple[UnreadableRow, ...]]:
    """Return a search for each client that may have written files at these paths, and a row for each other path.

    A file belongs to one client; a folder may hold logs from several.
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
            reason = "" if writer else "not a transcript of a supported client"
        except OSError as error:
            writers, reason = [], reason_of(error)
        for name in writers:
            files[name].append(path)
        if reason:
            unknown.append(UnreadableRow(path, 0, reason))
    searches = (Search(DIALECTS[name], tuple(found), is_sniffed=True) for name, found in files.items() if found)
    return tuple(searches), tuple(unknown)


def other_writer(dialect: Dialect, path: Path) -> Dialect | None:
    """Return the client that wrote a file, or one of the files in a folder.

    None if `dialect`'s client wrote one, or if no known client did.
    """
    found: Dialect | None = None
    for file in islice(_files(path), _SNIFFED_FILES):
        if dialect.sniff(file):
            return None
        found = found or sniff(file)
    return found


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    yield from files_below(path)


def is_growing(dialect: Dialect, transcript: Transcript, options: ImportOptions) -> bool:
    """Return whether the options leave an unfinished last turn of a transcript to the next import."""
    if options.whole_turns or options.growing_since is None or _modified(transcript) < options.growing_since:
        return options.whole_turns
    # A database is written for any of its sessions.
    return transcript.path.suffix != ".db" or dialect.last_written(transcript) >= options.growing_since


def _modified(transcript: Transcript) -> datetime:
    return datetime.fromtimestamp(transcript.path.stat().st_mtime, UTC)


def find_transcripts(search: Search, report: ReportDraft) -> list[Transcript]:
    """Return one transcript per session, even if paths overlap or hold copies. Unreadable paths are reported."""
    sessions: dict[str, list[Transcript]] = {}
    for transcript in _transcripts_at(search, report):
        sessions.setdefault(transcript.source, []).append(transcript)
    # Two transcripts of one session would create two notes with the same source.
    return [
        copies[0] if len(copies) == 1 else _furthest(search.dialect, copies, report) for copies in sessions.values()
    ]


def _transcripts_at(search: Search, report: ReportDraft) -> Iterator[Transcript]:
    """Yield each transcript once, even if paths overlap."""
    seen: set[tuple[str, str]] = set()
    only = search.wanted.session if search.wanted else ""
    # Cached, since one database holds many sessions.
    real_path = cache(os.path.realpath)
    is_ours = cache(search.dialect.sniff) if search.is_sniffed else lambda _path: True
    for path in search.paths:
        try:
            for transcript in search.dialect.find(path, search.wanted):
                real = (real_path(transcript.path), transcript.native_id)
                is_wanted = only in ("", transcript.native_id)
                if real not in seen and is_wanted and is_ours(transcript.path) and search.is_new(transcript):
                    seen.add(real)
                    yield transcript
        except (TranscriptError, OSError) as error:
            report.unreadable.append(UnreadableRow(path, 0, reason_at(error, path)))
        if path.is_dir() and path.suffix == ".jsonl" and not search.is_sniffed:
            report.unreadable.append(UnreadableRow(path, 0, "a folder, not a transcript"))


def _furthest(dialect: Dialect, copies: list[Transcript], report: ReportDraft) -> Transcript:
    """Return the copy with the latest event, and report the other copies."""
    reaches = [_reach(dialect, copy) for copy in copies]
    far = max(range(len(copies)), key=lambda at: (reaches[at].last or _NEVER, reaches[at].size))
    best = copies[far]
    for copy, reach in zip(copies, reaches, strict=True):
        rows = {reach.first, reaches[far].first} - {""}
        if len(rows) > 1:
            reason = f"differs from {best.path}, an imported file of the same name: rename one of them"
            report.unreadable.append(UnreadableRow(copy.path, 0, reason))
        elif copy is not best:
            report.left_out["copy"] += 1
    return best


def _reach(dialect: Dialect, transcript: Transcript) -> Reach:
    try:
        return dialect.reach(transcript)
    except OSError:
        return Reach(None, -1)
