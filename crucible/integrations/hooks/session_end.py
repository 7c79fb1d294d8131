"""The steps after a client ends, in the background: bookmark, history, capture, tasks and memory of its session.

They never ask the user, and ask the user's agent only with `agents.at_end`.  Errors go to the hooks' log.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from crucible.analysis.review.agent_questions import Agent, budget_of
from crucible.clients.launch.ask import asker_of
from crucible.commands.capture.after_stop import StopHelpers, after_stop
from crucible.core.errors import CrucibleError, VaultError
from crucible.core.secrets.redaction import redact_of
from crucible.core.settings.settings import UserSettings
from crucible.documents.session.session import Session
from crucible.documents.session.status_rules import Client
from crucible.integrations.hooks.hook_log import log_fault
from crucible.memory.bookmarks.bookmark import StopReason, latest
from crucible.memory.bookmarks.make_bookmark import make_bookmark
from crucible.memory.history.compact_memory import compact, live_sessions
from crucible.memory.history.memory_log import completes_milestone
from crucible.memory.knowledge.knowledge_search import ItemShelf
from crucible.search.embedded.embedded_recall import EmbeddedRecall
from crucible.search.recall import Recall
from crucible.vault.events.spool_reader import Spooled
from crucible.vault.index.index import Index
from crucible.vault.notes.short_notes import shortest
from crucible.vault.notes.vault import Note, Vault

_WHY = {Client.ENDED: ("ended", StopReason.ENDED), Client.DIED: ("died", StopReason.DIED)}
"""For a client that ended or died: the `left` value of the spooled session, and the bookmark's stop reason."""


@dataclass(slots=True)
class ImportedSession:
    """What an import reports: the session's id, its note before the import, and the client's folder."""

    id: str = ""
    note: Note | None = None
    cwd: str = ""

    def take(self, session_id: str, note: Note | None, cwd: str) -> None:
        """Store the values; `ImportOptions.met` calls this."""
        self.id, self.note, self.cwd = session_id, note, cwd


def mark_stop(vault: Vault, spooled: Spooled, client: Client, met: ImportedSession, now: datetime) -> None:
    """Add the bookmarks that are due after an import.  Errors are only logged, since the import itself succeeded."""
    try:
        path = met.note.path if met.note else vault.sessions / f"{met.id}.md"
        if not met.id or not path.is_file():
            return
        fresh = shortest(vault, vault.read(path))
        is_same = met.note is not None and fresh.data == met.note.data
        left, why = _WHY.get(client, ("", None))
        if is_same and (why is None or spooled.left == left):
            return
        reasons = [] if is_same else _finished(met, fresh.session)
        if why and (spooled.left != left or _has_grown(met, fresh.session)):
            reasons += [] if is_same and _is_bookmarked(vault, fresh.session, why) else [why]
        redact = redact_of(vault.settings.secrets)
        for place, reason in enumerate(reasons):
            # Bookmarks are identified by their time, so each needs a different one.
            at = now + place * timedelta(milliseconds=1)
            make_bookmark(vault, vault.read(path).session, reason, now=at, redact=redact, folder=_folder(met.cwd))
    except (CrucibleError, OSError) as error:
        log_fault(str(vault.root), f"bookmark {spooled.client} {spooled.session}", error)


def _finished(met: ImportedSession, session: Session) -> list[StopReason]:
    """Return `[StopReason.TASK]` if tasks were completed since the last import, else an empty list."""
    before = _done(met.note.session) if met.note else set()
    return [StopReason.TASK] if _done(session) - before else []


def _done(session: Session) -> set[str]:
    return {task.id for task in session.tasks if task.status == "completed"}


def _has_grown(met: ImportedSession, session: Session) -> bool:
    return met.note is None or met.note.session.synced_to != session.synced_to


def _is_bookmarked(vault: Vault, session: Session, why: StopReason) -> bool:
    """Return whether the last bookmark already says this: opening a session without working in it changes nothing.

    A check long after a normal end may report that the client died, so an earlier "ended" bookmark also counts.
    """
    last = latest(vault.root, session.id)
    phase = session.phases[-1].id if session.phases else ""
    return last is not None and last.why in (why, StopReason.ENDED) and last.phase.partition(".")[0] == phase


def _folder(cwd: str) -> Path | None:
    """Return the client's folder if it exists on this machine, else None."""
    folder = Path(cwd)
    return folder if cwd and folder.is_absolute() and folder.is_dir() else None


_RECALL = (".crucible", "cache", "recall")
"""The folder of recall's index.  Recall is used only if this exists; it is never built here."""


class StoppedSession(NamedTuple):
    """A session whose client has ended: its note, and the client's folder ("" if unknown)."""

    path: Path
    cwd: str


def stopped_now(vault: Vault, spooled: Spooled, client: Client, met: ImportedSession) -> Iterator[StoppedSession]:
    """Yield the imported session if its client has ended, and either the end is new or the note has changed."""
    left, _ = _WHY.get(client, ("", None))
    if not left or not met.id:
        return
    path = met.note.path if met.note else vault.sessions / f"{met.id}.md"
    if spooled.left != left or path in vault.touched:
        yield StoppedSession(path, met.cwd)


def end_all(vault: Vault, user: UserSettings, stopped: Iterable[StoppedSession]) -> None:
    """Take the steps after each session's end.  Never raises."""
    for one in _each(stopped):
        _end(vault, one, _helpers(vault, user, one))
        _compact(vault, one.path)


def ask_all(vault: Vault, user: UserSettings, stopped: Iterable[StoppedSession]) -> None:
    """If `agents.at_end` is set, ask the agent about each session, then repeat the steps with its answers.

    Never raises.  Call this last and without a lock: asking is slow, and the machine may be shut down in the meantime.
    """
    for one in _each(stopped):
        try:
            agent = _agent(vault, user, one.path.stem)
            if agent:
                helpers = _helpers(vault, user, one)
                _end(vault, one, helpers._replace(asker=agent, budget=budget_of(user.agents)))
        except CrucibleError as error:
            log_fault(str(vault.root), f"end {one.path.stem}", error)


def _each(stopped: Iterable[StoppedSession]) -> list[StoppedSession]:
    """Return the sessions whose notes exist, without duplicates."""
    return [one for one in {each.path: each for each in stopped}.values() if one.path.is_file()]


def _end(vault: Vault, one: StoppedSession, helpers: StopHelpers) -> None:
    ended = after_stop(vault, one.path, now=datetime.now(UTC), helpers=helpers)
    for problem in ended.problems:
        log_fault(str(vault.root), f"end {one.path.stem}", VaultError(problem))


def _compact(vault: Vault, path: Path) -> None:
    """Compact old lines of memory if there are too many, without a message."""
    try:
        session = vault.read(path).session
        milestone = session.project if completes_milestone(session) else None
        index = Index(vault.root, vault.settings)
        compact(vault, lambda: index.ask(live_sessions)[0], _discard, milestone=milestone)
    except Exception as error:  # noqa: BLE001  the session has ended, whatever fails here
        log_fault(str(vault.root), f"end {path.stem}: memory was not compacted", error)


def _discard(_: str) -> None:
    """Discard a message."""


def _helpers(vault: Vault, user: UserSettings, one: StoppedSession) -> StopHelpers:
    roots = [*([one.cwd] if one.cwd else []), *(path for paths in user.projects.values() for path in paths)]

    def recall() -> Recall:
        return EmbeddedRecall(vault.root, vault.settings, items=ItemShelf(vault))

    has_recall = vault.root.joinpath(*_RECALL).is_dir()
    return StopHelpers(
        recall=recall if has_recall else None,
        folder=_folder(one.cwd),
        roots=roots,
    )


def _agent(vault: Vault, user: UserSettings, session: str) -> Agent | None:
    """Return the agent to ask about the session; None unless `agents.at_end` is set and an agent is configured."""
    program = asker_of(user.agents, os.environ) if user.agents.at_end else None
    if program is None:
        return None
    return Agent(program, time.monotonic, lambda: datetime.now(UTC), vault.root, "findings", session)
