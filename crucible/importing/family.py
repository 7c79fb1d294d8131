"""The logs of one native session as the sessions of its notes: who is whose child, and what each note is to say.

Owns how what a parent tells of its subagents is put together, and which of a note's states an import wrote itself.
Nothing is read or written here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from crucible.importing.report import ImportOptions
from crucible.importing.strands import Strand
from crucible.session.drafts import ChildNote, Setting, session_of, summary_of
from crucible.session.merging_head import merged_tasks
from crucible.session.model import Mode, Prose, Session, Status
from crucible.session.standing import CLOSED, IDLE_REASON, Client
from crucible.session.tasks import CLOSED_TASKS
from crucible.settings import VaultSettings

__all__ = ["Family", "is_inline"]


def is_inline(strand: Strand, trunk: Strand, mode: str) -> bool:
    """Whether a subagent's work stands in its parent's note, now or by the setting `mode`."""
    if strand is trunk:
        return False
    if strand.note:
        return trunk.note is not None and strand.note.path == trunk.note.path
    return mode == Mode.INLINE


class Family:
    """A trunk and its subagents; `strands` has the trunk first, every parent before its children."""

    def __init__(
        self,
        trunk: Strand,
        strands: Sequence[Strand],
        settings: VaultSettings,
        options: ImportOptions,
        *,
        project: str | None,
        started: datetime,
    ) -> None:
        self._trunk = trunk
        self._strands = strands
        self._settings = settings
        self._options = options
        self._project = project
        self._started = started
        self._children: defaultdict[Strand, list[Strand]] = defaultdict(list)
        for strand in strands[1:]:
            self._children[strand.parent or trunk].append(strand)

    def sessions(self) -> dict[Strand, tuple[Session, Session]]:
        """What each strand's note held, and what it is to hold: `(base, now)`; inline work is in its parent's."""
        found: dict[Strand, tuple[Session, Session]] = {}
        for strand in reversed(self._strands):
            found[strand] = self._built(strand, found)
        return {strand: found[strand] for strand in self._strands}

    def _built(self, strand: Strand, found: dict[Strand, tuple[Session, Session]]) -> tuple[Session, Session]:
        children = self._children[strand]
        setting = self._setting(strand, children)
        after = {c.recorder.agent: self._child(c, found[c][1]) for c in children}
        before = {c.recorder.agent: self._child(c, found[c][0]) for c in children if c.note}
        loose = tuple(c.recorder.agent for c in children if c.parent is None and c.id not in _linked(strand))
        base, client = _as_written(strand, replace(setting, children=before))
        known = client in (Client.DIED, Client.ENDED)
        if known and setting.client is Client.UNKNOWN and not strand.has_news:
            setting = replace(setting, client=client)  # who knows nothing of the client takes back nothing
        now = session_of(strand.recorder.draft(), replace(setting, children=after, loose=loose))
        inline = [child for child in children if self._is_inline(child)]
        if base:
            base = _with_sources(base, [found[child][0] for child in inline if child.note])
        return base or now, _with_sources(now, [found[child][1] for child in inline])

    def _setting(self, strand: Strand, children: Sequence[Strand]) -> Setting:
        return Setting(
            id=strand.id,
            source=strand.source,
            now=self._options.now,
            idle=timedelta(minutes=self._settings.idle_minutes),
            project=self._project,
            parent=(strand.parent or self._trunk).id if strand is not self._trunk else None,
            title=strand.title,
            started=self._started,
            calls={child.call: child.recorder.agent for child in children if child.call},
            client=self._client_of(strand),
            since=self._options.ended or _saved(strand),
            has_open_tasks=_has_open_tasks(strand),
        )

    def _client_of(self, strand: Strand) -> Client:
        """A subagent that gave its answer has ended, whatever became of its client."""
        told = self._options.client
        over = (
            strand is not self._trunk
            and told is not Client.UNKNOWN
            and strand.recorder.draft().turn in CLOSED
        )
        return Client.ENDED if over else told

    def _is_inline(self, strand: Strand) -> bool:
        return is_inline(strand, self._trunk, self._settings.subagents)

    def _child(self, strand: Strand, session: Session) -> ChildNote:
        inline = self._is_inline(strand)
        mode = Mode.INLINE if inline else Mode(self._settings.subagents)
        prose = [entry for entry in session.all_entries() if isinstance(entry, Prose)]
        return ChildNote(
            strand.id,
            Mode.LINK if mode is Mode.INLINE and not inline else mode,
            strand.kind,
            session.model,
            session.tokens_used,
            summary_of(prose[-1].text) if prose and session.status == "completed" else None,
            tuple(session.all_entries()) if inline else (),
            strand.recorder.task,
        )


def _as_written(strand: Strand, setting: Setting) -> tuple[Session | None, Client]:
    """What the note held when it was last written to, None when there is none, and what was known of the client then.

    Whether the client ran then, had ended or had died, nobody wrote down: the note's own status tells.
    """
    if strand.note is None:
        return None, setting.client
    note, draft = strand.note.session, strand.base
    told = (note.status, note.pause_reason)
    if told == (Status.PAUSED, IDLE_REASON):
        # Not an import wrote that, but we did, and of the client we knew nothing.
        quiet = session_of(draft, replace(setting, client=Client.UNKNOWN))
        return replace(quiet, status=note.status, ended=None, pause_reason=IDLE_REASON), Client.UNKNOWN
    for tried in _tried(setting):
        base = session_of(draft, tried)
        if (base.status, base.pause_reason) == told:
            return base, tried.client
    return session_of(draft, setting), setting.client


def _tried(setting: Setting) -> Iterator[Setting]:
    """What may have been known when the note was written, the likeliest first; a client that has ended had just done so."""
    yield setting
    for client in Client:
        yield replace(setting, client=client)
    yield replace(setting, client=Client.ENDED, since=setting.now)


def _saved(strand: Strand) -> datetime | None:
    """When the note was last written to, by anybody."""
    return datetime.fromtimestamp(strand.note.stamp.mtime_ns / 1e9, UTC) if strand.note else None


def _has_open_tasks(strand: Strand) -> bool | None:
    """Whether something is to be done still, as the note will say it: a human may tick a task, too.  None without a note."""
    if strand.note is None:
        return None
    tasks = merged_tasks(strand.note.session.tasks, strand.base.tasks, strand.recorder.draft().tasks)
    return any(task.status not in CLOSED_TASKS for task in tasks)


def _linked(strand: Strand) -> set[str | None]:
    if strand.note is None:
        return set()
    return {entry.link for entry in strand.note.session.all_entries() if hasattr(entry, "link")}


def _with_sources(session: Session, inline: Sequence[Session]) -> Session:
    """A note names every log that is folded into it."""
    return replace(
        session,
        sources=(*session.sources, *(source for child in inline for source in child.sources)),
        synced_to=(*session.synced_to, *(row for child in inline for row in child.synced_to)),
    )
