"""A note's rows in every table: the only part of the index that interprets notes.

Imported late, since a query of an up-to-date index does not need it.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from crucible.core import files
from crucible.core.errors import CrucibleError, NoteUnreadable
from crucible.core.prices import KINDS, TOKEN_KINDS
from crucible.documents.markdown.code_spans import FORMAT
from crucible.documents.markdown.frontmatter import find_frontmatter_span
from crucible.documents.markdown.source import Source
from crucible.documents.markdown.wikilinks import Link, find_links, find_property_links
from crucible.documents.session.findings import Finding, Kind, findings_of
from crucible.documents.session.import_properties import parse_usage, total_usage
from crucible.documents.session.session import (
    Callout,
    Decision,
    Entry,
    Failure,
    Intervention,
    Outcome,
    Phase,
    Prose,
    Session,
    Status,
    Subagent,
    Task,
    ToolCall,
    ToolCalls,
)
from crucible.documents.session.waiting import pending_entries
from crucible.vault.index.scan import UNKNOWN, Stamp
from crucible.vault.index.schema import CALLOUT_LENGTH, TABLES, cell_of_path, encode_rows, join_list, shard_of
from crucible.vault.index.time_filters import utc
from crucible.vault.notes.vault import Note
from crucible.vault.notes.walk import note_name

Cells = tuple[object, ...]

_HASH_LENGTH = 32
"""Hexadecimal digits kept of a note's SHA-256: half of them are enough to tell any two notes apart."""

_ATTEMPTS = 3


class NoteRows(NamedTuple):
    """One note's rows: the joined TOON lines for each table, in the order of `TABLES`."""

    shard: str
    tables: tuple[bytes, ...]


class NoteReading(NamedTuple):
    """A note's file as it was read.  `rows` is None if its bytes are unchanged; `gone` if the file does not exist."""

    path: str
    stamp: Stamp
    sha: str
    rows: NoteRows | None
    gone: bool = False


def read_for_index(root: str, path: str, known: str) -> NoteReading:
    """Read the note at `path`, relative to the vault.  `known` is its hash from the last reading."""
    full_path = Path(root, path)
    for left in reversed(range(_ATTEMPTS)):
        try:
            return _read(Path(root), full_path, path, known)
        except CrucibleError as error:
            # Some programs replace a file by deleting and re-creating it; such a note is neither gone nor unreadable.
            replaced = isinstance(error.__cause__, FileNotFoundError) and os.path.lexists(full_path)
            if not left or not replaced:
                return _unread(full_path, path, known, str(error))
    raise AssertionError


def _read(root: Path, full_path: Path, path: str, known: str) -> NoteReading:
    data, stamp = files.read_bytes(files.inside(root, full_path))
    sha = hashlib.sha256(data).hexdigest()[:_HASH_LENGTH]
    rows = None if sha == known else rows_of(Note(full_path, Source.from_bytes(data), stamp), path)
    return NoteReading(path, (stamp.size, stamp.mtime_ns, stamp.ctime_ns, stamp.ino), sha, rows)


def _unread(full_path: Path, path: str, known: str, reason: str) -> NoteReading:
    """Return the reading for an unreadable note.  A hash of the reason takes the place of the content's hash.

    The same reason therefore does not count as a change.  The stamp is unknown, since a note can become readable
    without any change to the file.
    """
    if not os.path.lexists(full_path):
        return NoteReading(path, UNKNOWN, "", None, gone=True)
    sha = "!" + hashlib.sha256(reason.encode(errors="replace")).hexdigest()[: _HASH_LENGTH - 1]
    return NoteReading(path, UNKNOWN, sha, None if sha == known else rows_of_unreadable(path, reason))


def rows_of(note: Note, path: str) -> NoteRows:
    """Return a note's rows.  `path` is relative to the vault.  `NoteUnreadable` if the note cannot be parsed."""
    session = note.session
    try:
        return _rows_of(note, session, path)
    except MemoryError:
        raise
    except Exception as error:  # a bug with one note must not break the entire index
        what = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise NoteUnreadable(f"{note.path}: cannot be parsed ({what})", "this is a bug in cru") from error


def _rows_of(note: Note, session: Session, path: str) -> NoteRows:
    cell = cell_of_path(path)
    started = None if session.started is None else utc(session.started)
    findings = findings_of(session)
    # A decision counts in the phase in which it was made.
    decided = Counter(one.phase for one in findings if one.kind == Kind.DECISION)
    tables: dict[str, list[Cells]] = {
        "sessions": [_session_row(session, note.name, cell, started, decided.total())],
        "phases": [_phase_row(phase, cell, decided) for phase in session.all_phases()],
        "participants": list(_participants(session, cell)),
        "callouts": list(_callouts(session, cell, findings)),
        "links": [_link_row(note, link, kind, cell) for kind, link in _links(note)],
        "tasks": [_task_row(task, cell) for task in session.tasks],
        "usage": list(_usage(session, cell)),
    }
    return _encoded(shard_of(started), tables)


def rows_of_unreadable(path: str, reason: str) -> NoteRows:
    """Return the row for an unreadable note.  It is listed with a problem, so no note is ever missing."""
    known = {"id": note_name(path.rpartition("/")[2]), "path": cell_of_path(path), "unreadable": reason}
    counts = dict.fromkeys(("phases", "tool_calls", "failures", "decisions", "errors", "users"), 0)
    cells = {**dict.fromkeys(TABLES["sessions"], None), "title": "", **counts, "problems": 1, **known}
    return _encoded(shard_of(None), {"sessions": [tuple(cells[name] for name in TABLES["sessions"])]})


def _encoded(shard: str, tables: dict[str, list[Cells]]) -> NoteRows:
    return NoteRows(shard, tuple(_lines(name, tables.get(name, [])) for name in TABLES))


def _lines(table: str, rows: list[Cells]) -> bytes:
    try:
        return b"\n".join(encode_rows(table, rows))
    except ValueError:  # a cell contains a byte that was not UTF-8
        return b"\n".join(encode_rows(table, map(_without_surrogates, rows)))


def _without_surrogates(cells: Cells) -> Cells:
    """Replace lone surrogates, which represent bytes that were not UTF-8 and which TOON cannot encode."""
    return tuple(
        cell.encode(errors="replace").decode() if isinstance(cell, str) and not cell.isascii() else cell
        for cell in cells
    )


def _session_row(session: Session, name: str, path: str, started: str | None, decided: int) -> Cells:
    length = session.duration()
    phases = list(session.all_phases())
    agents = [*session.participants, *(phase.agent for phase in phases if phase.agent)]
    return (
        started,
        name,
        path,
        session.title,
        session.project,
        _status(session),
        None if session.ended is None else utc(session.ended),
        None if length is None else round(length.total_seconds()),
        join_list(map(str, session.participants)) or None,
        session.channel,
        session.model,
        session.tokens_used,
        session.tokens_cached,
        len(session.phases),
        *_counts(session.all_entries(), decided),
        _id_in(session.parent),
        session.branch,
        join_list(session.tags) or None,
        "true" if session.archived else None,
        len(session.problems),
        _lowered(map(str, agents)),
        _lowered([session.channel, *(phase.channel for phase in phases)]),
        _lowered([session.model, *(sub.model for sub in session.subagents)]),
        _persona(session),
        None,
    )


def _persona(session: Session) -> str | None:
    value = session.properties.get("persona")
    names = value if isinstance(value, list) else [value]
    return _lowered(_id_in(name) for name in names if isinstance(name, str))


def _counts(entries: Iterable[Entry], decisions: int) -> tuple[int, int, int, int, int]:
    """Count tool calls, failed calls, decisions, errors and user interventions."""
    found = list(entries)
    calls = [call for entry in found if isinstance(entry, ToolCalls) for call in entry.calls]
    count = Counter(map(type, found))
    return len(calls), _failed(calls), decisions, count[Failure], count[Intervention]


def _failed(calls: Iterable[ToolCall]) -> int:
    return sum(call.outcome is Outcome.FAILED for call in calls)


def _status(session: Session) -> str | None:
    """Return the status, or the text that a user wrote instead.  Known statuses match in any case."""
    text = session.properties.get("status")
    if session.status or not isinstance(text, str):
        return session.status and session.status.value
    return text.lower() if text.lower() in _STATUSES else text


_STATUSES = frozenset(status.value for status in Status)


def _id_in(link: str | None) -> str | None:
    """Return the session id in a link, which may include a folder or a heading."""
    if not link:
        return None
    target = link.removeprefix("[[").removesuffix("]]").partition("|")[0].partition("#")[0]
    return note_name(target.rpartition("/")[2]) or None


def _lowered(names: Iterable[str | None]) -> str | None:
    return join_list(sorted({name.lower() for name in names if name})) or None


def _phase_row(phase: Phase, path: str, decisions: Counter[str]) -> Cells:
    length = phase.ended - phase.started if phase.started and phase.ended else None
    return (
        path,
        phase.id,
        phase.lines.first + 1,
        phase.name,
        phase.agent and str(phase.agent),
        phase.channel,
        None if phase.started is None else utc(phase.started),
        phase.status,
        None if length is None else _whole(round(length.total_seconds(), 3)),
        phase.tokens,
        *_counts(phase.all_entries(), sum(decisions[part.id] for part in (phase, *phase.subphases))),
    )


def _whole(number: float) -> float:
    return int(number) if number.is_integer() else number


def _participants(session: Session, path: str) -> Iterator[Cells]:
    named = {agent.name for agent in session.participants}
    for agent in session.participants:
        yield path, "participant", agent.name, agent.version, None, None, None
    for phase in session.all_phases():
        if phase.agent and phase.agent.name not in named:
            named.add(phase.agent.name)
            yield path, "phase", phase.agent.name, phase.agent.version, None, None, None
    for sub in session.subagents:
        yield path, "subagent", sub.agent, None, sub.model, _id_in(sub.session), sub.tokens


def _usage(session: Session, path: str) -> Iterator[Cells]:
    spent = parse_usage(session.usage)
    for day, model, counts, over in sorted(total_usage(spent), key=itemgetter(0, 1, 3)):
        tokens = sum(counts.get(kind, 0) for kind in TOKEN_KINDS)
        yield path, day, model, over, tokens, *(counts.get(kind, 0) for kind in KINDS)
    if not spent and (tokens := (session.tokens_used or 0) + (session.tokens_cached or 0)):
        day = session.started.date().isoformat() if session.started else ""
        yield path, day, session.model or "", 0, tokens, *(None for _ in KINDS)


def _callouts(session: Session, path: str, findings: Collection[Finding]) -> Iterator[Cells]:
    parts = [("", session.preamble), *((phase.id, phase.entries) for phase in session.all_phases())]
    waiting, found = pending_entries(session), {one.lines.first: one for one in findings}
    for phase_id, entries in parts:
        for entry in entries:
            if not isinstance(entry, Prose | ToolCalls):
                kind, text = _kind_and_text(entry)
                first = entry.lines.first
                waits = int(waiting[first]) if first in waiting else None
                row = path, first + 1, phase_id or None, kind, waits, text[:CALLOUT_LENGTH]
                yield *row, *_of_finding(found.get(first))
    items = {one.lines.first: one for one in session.findings}
    for finding in findings:
        if item := items.get(finding.lines.first):
            row = path, item.lines.first + 1, None, finding.kind, None, item.text[:CALLOUT_LENGTH]
            yield *row, *_of_finding(finding)


def _of_finding(one: Finding | None) -> Cells:
    """Return the cells for a finding: id, reason, author, source, and confidence in percent."""
    if one is None:
        return None, None, None, None, None
    why = one.details or " → ".join(filter(None, (one.cause, one.resolution)))
    return one.id, why[:CALLOUT_LENGTH] or None, one.by or None, one.source, round(one.confidence * 100)


def _kind_and_text(entry: Decision | Failure | Intervention | Subagent | Callout) -> tuple[str, str]:
    match entry:
        case Decision():
            return "decision", entry.text
        case Failure():
            return "error", entry.text
        case Intervention():
            return "user", entry.words
        case Subagent():
            return "subagent", entry.summary or entry.text or entry.link or str(entry.agent)
        case Callout():
            return entry.kind, f"{entry.title}\n{entry.text}".strip("\n")


def _links(note: Note) -> Iterator[tuple[str, Link]]:
    text = note.source.text
    if "[[" not in text and "](" not in text:
        return
    top = find_frontmatter_span(note.source)
    if text.find("[[", 0, top.end) >= 0:
        yield from (("property", link) for link in find_property_links(note.source, top))
    for link in find_links(note.source, top.end):
        if link.kind == "wiki" or note.session.format == FORMAT:  # in older notes, agents wrote such links
            yield "embed" if link.embed else "link", link


def _link_row(note: Note, link: Link, kind: str, path: str) -> Cells:
    return path, note.source.line_of(link.span.start) + 1, kind, link.target, link.subpath, link.alias


def _task_row(task: Task, path: str) -> Cells:
    return (
        path,
        task.id,
        task.status,
        task.priority,
        task.content[:CALLOUT_LENGTH],
        join_list(task.depends_on) or None,
        task.started,
        task.completed,
    )
