"""The findings of a project's sessions, for briefings: from the index, from memory and from history notes.

No session notes are read. Memory covers older sessions and those without a note; histories add lines by the user.
Numbers of days count back from the project's last session, not from today.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain
from typing import NamedTuple, TypeVar

from crucible.commands.briefing.briefing_parts import Quoter, Source, whole_words
from crucible.core.errors import CrucibleError, IndexBroken, reason_of
from crucible.core.patterns import late_pattern
from crucible.core.settings.session_settings import BriefingSettings
from crucible.documents.markdown.containment import quote_span
from crucible.documents.markdown.source import Problem
from crucible.documents.session.findings import Kind, is_from_model
from crucible.documents.session.findings import Source as Guess
from crucible.documents.session.task_block import is_task_milestone
from crucible.memory.bookmarks.bookmark import StopReason, load_bookmarks
from crucible.memory.history.composition import PAUSED
from crucible.memory.history.history import HistoryEntry, lines_of
from crucible.memory.history.history_folder import HISTORY, load_entry
from crucible.memory.history.memory_log import Memory, MemoryKind, key_of, load_memories
from crucible.vault.index.later_sessions import LaterSessions
from crucible.vault.index.query import SessionQuery, matcher, matching
from crucible.vault.index.schema import UNDATED, Row, View, shard_of
from crucible.vault.index.time_filters import begun, last_active, time_of, utc
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import is_markdown, note_name

_HISTORIES = 10
_TRIED = 40
"""Maximum history notes to open in the search for `_HISTORIES` of the project."""
_FOLLOWED = 3
"""Number of later sessions after which a session's open ends are probably settled."""
_REMEMBERED = 1_000
"""Maximum lines to read from each memory file, newest first."""
_ANSWERED = late_pattern(r"(?i)(?:^|[\s(>*_~])answer(?:ed)?:\s*\S|~~.+~~\s*\Z|^\[x\]\s")
_KINDS = {"error": Kind.FAILURE, "milestone": Kind.OUTCOME}
"""Callout kinds that differ from the kind of their findings."""
_REMEMBERED_AS = {
    MemoryKind.DECISION: Kind.DECISION,
    MemoryKind.LESSON: Kind.FAILURE,
    MemoryKind.TODO: Kind.OPEN_END,
}
"""The kinds of memory lines that have no finding id."""
_PARTS = {
    "done": Kind.OUTCOME,
    "decisions": Kind.DECISION,
    "questions": Kind.OPEN_END,
    "further": Kind.OPEN_END,
}


T = TypeVar("T")
_EVER = datetime.min.replace(tzinfo=UTC)


class Fact(NamedTuple):
    """A finding of a session, or a line that the user wrote in a history (with `finding` empty).

    `at` is the session's start in the index's time format, a day, or "". `confidence` is a percentage.
    """

    kind: str
    text: str
    session: str
    at: str = ""
    why: str = ""
    finding: str = ""
    by: str = ""
    source: str = ""
    confidence: int = 100


class ProjectFacts(NamedTuple):
    """The project's recent sessions and the facts of all its sessions, newest first.

    `alive` has the ids of sessions whose open ends may still be open, `others` the ids of other projects' sessions
    since `oldest`. A session without a note is alive if it began after `recent`. `problems` lists unreadable memory
    lines.
    """

    sessions: tuple[Row, ...] = ()
    alive: frozenset[str] = frozenset()
    facts: tuple[Fact, ...] = ()
    problems: tuple[tuple[MemoryKind, Problem], ...] = ()
    others: frozenset[str] = frozenset()
    oldest: datetime = _EVER
    recent: datetime = _EVER

    def of(self, *kinds: str) -> list[Fact]:
        """Return the facts of these kinds."""
        return [one for one in self.facts if one.kind in kinds]

    def after(self, session: str) -> LaterSessions:
        """Return the project's sessions after this one, with their decisions and outcomes."""
        began = {str(row["id"]): begun(row) for row in self.sessions}
        at = began.get(session) or max((one.at for one in self.facts if one.session == session), default="")
        later = [row for row in self.sessions if at and began[str(row["id"])] > at]
        did = (one.text for one in self.of(Kind.DECISION, Kind.OUTCOME) if one.at > at and one.session != session)
        return LaterSessions(len(later), (*(str(row["title"] or "") for row in later), *did))


def find_known(vault: Vault, view: View | None, project: str, now: datetime) -> ProjectFacts:
    """Return the facts in the index, if there is one. `project` "" means all projects."""
    chosen, newest = vault.settings.briefing, _newest(view, project) if view else None
    last = min(now, (last_active(newest) if newest else None) or now)
    oldest = _before(last, max(chosen.history_days, chosen.event_days))
    recent = _before(last, chosen.event_days)
    everywhere = _rows(view, oldest) if view else []
    rows = [row for row in everywhere if not project or str(row["project"] or "").casefold() == project.casefold()]
    paused = {one.session for one in load_bookmarks(vault.root).found if one.why is StopReason.PAUSED}
    alive = {str(row["id"]) for later, row in enumerate(rows) if _is_alive(row, later, recent, paused)}
    others = {str(row["id"]) for row in everywhere} - {str(row["id"]) for row in rows}
    known = ProjectFacts(tuple(rows), frozenset(alive), (), (), frozenset(others), oldest, recent)
    return _with(known, _of_index(view, rows) if view else ())


class Sources:
    """Reads the sources of a briefing; `failed` lists the sources that could not be read."""

    def __init__(self, quoter: Quoter) -> None:
        self._quoter = quoter
        self.failed: list[Source] = []

    def read(self, name: str, work: Callable[[], T], otherwise: T) -> T:
        """Return the result of `work`, or `otherwise` if it fails."""
        try:
            return work()
        except (MemoryError, IndexBroken):
            raise
        except Exception as error:  # noqa: BLE001  if one source fails, the others are still read
            self.fails(name, _reason(error))
            return otherwise

    def fails(self, name: str, reason: str) -> None:
        """Add a source to `failed` with the reason, unless it is listed already."""
        if all(one.name != name for one in self.failed):
            self.failed.append(Source(name, quote_span(self._quoter.line(reason, 160)) or "no reason recorded"))


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return ": ".join(filter(None, (str(error.filename or ""), reason_of(error))))
    return str(error) if isinstance(error, CrucibleError) else f"{type(error).__name__}: {error}"


def with_kept(
    vault: Vault, known: ProjectFacts, project: str, sources: Sources, enabled: object = None
) -> ProjectFacts:
    """Add memory and histories, unless `enabled` turns these sources off."""
    for name, add in (("memory", with_memory), ("history", with_histories)):
        if getattr(enabled, name, True):
            known = sources.read(name, partial(add, vault, known, project), known)
    return known


def with_memory(vault: Vault, known: ProjectFacts, project: str) -> ProjectFacts:
    """Add memory lines for sessions that are not in the index."""
    indexed = known.others | {str(row["id"]) for row in known.sessions}
    facts, problems = list(known.facts), list[tuple[MemoryKind, Problem]]()
    for kind in MemoryKind:
        loaded = load_memories(vault.root, kind, project, newest=_REMEMBERED)
        problems += [(kind, one) for one in loaded.problems]
        kept = (one for one in loaded.found if one.session not in indexed and not one.done and one.text)
        facts += map(_of_memory, kept)
    return _with(known._replace(problems=tuple(problems)), facts)


def _with(known: ProjectFacts, facts: Iterable[Fact]) -> ProjectFacts:
    """Return a copy with these facts. A session without a note counts as alive if it is recent."""
    ordered = sorted(facts, key=lambda one: one.at, reverse=True)
    with_note = {str(row["id"]) for row in known.sessions}
    recent = {one.session for one in ordered if one.session not in with_note and one.at >= utc(known.recent)[:10]}
    return known._replace(facts=tuple(ordered), alive=known.alive | recent)


# --- sessions --------------------------------------------------------------------------------------------------------


def _before(at: datetime, days: int) -> datetime:
    """Return the time `days` earlier, or the earliest possible date."""
    try:
        return at - timedelta(days=days)
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC)


def has_sessions(view: View, project: str) -> bool:
    """True if the project has any session."""
    return _newest(view, project) is not None


def has_news(view: View, project: str, now: datetime, chosen: BriefingSettings) -> bool:
    """True if the project has a session in the period that a briefing covers."""
    row = _newest(view, project)
    at = time_of(begun(row)) if row else None
    return at is not None and now - at < timedelta(days=max(chosen.event_days, chosen.history_days) + 1)


def _newest(view: View, project: str) -> Row | None:
    dated = next(matching(view, SessionQuery(project=project or None)), None)
    undated = _undated(view, SessionQuery(project=project or None))
    return max(chain([dated] if dated else [], undated), key=begun, default=None)


def _rows(view: View, oldest: datetime) -> list[Row]:
    """Return the sessions since `oldest` except subagents', newest first."""
    undated = (row for row in _undated(view, SessionQuery()) if begun(row) >= utc(oldest)[:10])
    found = [*matching(view, SessionQuery(since=oldest)), *undated]
    return sorted(found, key=lambda row: (begun(row), str(row["id"])), reverse=True)


def _undated(view: View, query: SessionQuery) -> Iterator[Row]:
    """Yield sessions without `started`, dated by the day in their id."""
    matches = matcher(query)
    for row in view.rows("sessions", [shard for shard in view.shards if shard == UNDATED]):
        if row["unreadable"] is None and begun(row) and matches(row):
            yield row


def _is_alive(row: Row, later: int, recent: datetime, paused: Collection[str]) -> bool:
    """True if a session is active, paused by the user, or was active since `recent` with few `later` sessions."""
    is_paused = row["status"] == "paused" and row["id"] in paused
    is_recent = later <= _FOLLOWED and (last_active(row) or _EVER) >= recent
    return row["status"] == "active" or is_paused or is_recent


# --- facts -----------------------------------------------------------------------------------------------------------


def _of_index(view: View, rows: Sequence[Row]) -> Iterator[Fact]:
    paths = {row["path"]: row for row in rows}
    for shard in dict.fromkeys(shard_of(str(row["started"] or "")) for row in rows):
        found = [one for one in view.rows("callouts", [shard]) if one["path"] in paths]
        reviewed = {(one["path"], one["kind"]) for one in found if is_from_model(str(one["source"]))}
        found = [one for one in found if (one["path"], one["kind"]) not in reviewed or one["source"] != Guess.SUMMARY]
        for one in sorted(found, key=_order):
            kind, text = str(one["kind"]), whole_words(one["text"])
            if one["finding"] or (kind == "milestone" and not is_task_milestone(text)):
                row = paths[one["path"]]
                yield Fact(
                    _KINDS.get(kind, kind),
                    text,
                    str(row["id"]),
                    begun(row),
                    whole_words(one["why"]),
                    str(one["finding"] or ""),
                    str(one["by"] or ""),
                    str(one["source"] or ""),
                    int(one["confidence"] or 100),
                )


def _order(row: Row) -> tuple[bool, int]:
    """Return a sort key: findings from an agent first, in note order, then the others, last first."""
    line, is_first = int(row["line"] or 0), is_from_model(str(row["source"]))
    return not is_first, line if is_first else -line


def _of_memory(one: Memory) -> Fact:
    kind = one.finding.partition("-")[0] or _REMEMBERED_AS[one.kind]
    return Fact(kind, one.text, one.session, utc(one.at), one.why, one.finding, one.by, one.source)


# --- histories -------------------------------------------------------------------------------------------------------


def with_histories(vault: Vault, known: ProjectFacts, project: str) -> ProjectFacts:
    """Add the user's lines from histories, and drop questions answered there."""
    found, answered = list(known.facts), set[tuple[str, str]]()
    known_keys = {(one.session, key_of(one.text)) for one in found}
    for entry in _entries(vault, known, project):
        at = utc(entry.started) if entry.started else entry.session_id[:10]
        for part, kind in _PARTS.items():
            for line in lines_of(entry, part):
                key = entry.session_id, key_of(line.text)
                if _ANSWERED.search(line.text) or _ANSWERED.search(line.why):
                    answered.add(key)
                elif key not in known_keys and not line.text.startswith(PAUSED):  # the position shows the pause
                    found.append(Fact(kind, line.text, entry.session_id, at, line.why, source="history"))
    left = (
        one for one in found if not any(one.session == at and key_of(one.text) in question for at, question in answered)
    )
    return _with(known, left)


def _entries(vault: Vault, known: ProjectFacts, project: str) -> Iterator[HistoryEntry]:
    """Yield the newest histories of the project, including those of sessions without a note."""
    names = list[str]()
    with suppress(FileNotFoundError):
        names = [name for name in os.listdir(vault.root / HISTORY) if is_markdown(name) and name[0] != "."]
    count = 0
    # Ids begin with the date, so this is newest first.
    for name in [one for one in sorted(names, reverse=True) if note_name(one) not in known.others][:_TRIED]:
        with suppress(CrucibleError):  # `cru history list` reports the error
            note = load_entry(vault, vault.root / HISTORY / name)
            is_mine = note.entry and (not project or note.entry.project.casefold() == project.casefold())
            if note.entry and is_mine and note.at >= known.oldest and count < _HISTORIES:
                count += 1
                yield note.entry
