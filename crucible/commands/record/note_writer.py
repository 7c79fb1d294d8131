"""Write one session's note and its event log.

Every write makes a paused session active and counts redacted secrets; ended sessions take no more entries.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from crucible.commands.record.entries import Cleaning
from crucible.core.errors import CrucibleError, EditRefused, SessionNotFound, VaultNotFound, no_match
from crucible.core.prices import KINDS
from crucible.core.secrets import Redact
from crucible.core.secrets.redaction import redact_of
from crucible.core.settings.settings import load_user_settings, load_vault_settings
from crucible.core.settings.toml_scan import user_settings_path
from crucible.documents.markdown.source import Edit, Source
from crucible.documents.markdown.wikilinks import escape_links
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.append import (
    Addition,
    Appended,
    NoteState,
    PhaseField,
    Plan,
    Step,
    append,
    append_wide,
    read_head,
)
from crucible.documents.session.import_properties import TokenUsage, add_redactions, add_usage, usage_lines
from crucible.documents.session.last_phase import Place
from crucible.documents.session.session import AgentRef, Callout, Phase, Session, Status
from crucible.documents.session.session_id import check_session_id
from crucible.documents.session.titles import UNTITLED
from crucible.vault.events.append_entry import append_entry
from crucible.vault.events.event_summary import Facts, save_meta
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import note_name

Clock = Callable[[], datetime]

_ATTEMPTS = 20
"""Maximum retries when another program writes the note at the same time."""

PATIENCE = 120.0
"""Minimum seconds to wait for the note's lock, since hundreds of recorders may be queued for it."""


class SessionEnded(CrucibleError):
    """A completed or failed session takes no more entries."""


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def aware(time: datetime) -> datetime:
    """Return the time in UTC; a naive time counts as UTC."""
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def whole_second(time: datetime) -> datetime:
    """Return the time in UTC and whole seconds, as used in notes."""
    return aware(time).replace(microsecond=0)


def with_patience(vault: Vault | Path | str) -> Vault:
    """Return a copy of the vault with a recorder's lock timeout. It shares `touched`, so that the index is updated."""
    given = vault if isinstance(vault, Vault) else _opened(Path(vault).expanduser())
    waiting = Vault(given.root, given.settings._replace(lock_seconds=max(PATIENCE, given.settings.lock_seconds)))
    waiting.touched = given.touched
    return waiting


def _opened(root: Path) -> Vault:
    """Open the vault at a folder. Raises `VaultNotFound` for other folders, so that no notes go to a wrong path."""
    if not (root / ".crucible").is_dir():
        raise VaultNotFound(f"{root}: not a vault", f'run "cru init {root}" to create one there')
    home = os.path.expanduser("~")
    # This is public API, so it has to read the environment itself.
    user = load_user_settings(user_settings_path(os.environ, home), home)
    return Vault(root, load_vault_settings(root, user))


class Writer:
    """Adds to one session note. `warnings` collects failures of all other writes, such as to the event log."""

    def __init__(self, vault: Vault, session_id: str, redact: Redact | None = None) -> None:
        self.vault = vault
        self.id = check_session_id(session_id)
        self.path = _find_exactly(vault, session_id)
        self.redact = redact or redact_of(vault.settings.secrets)
        self.warnings: list[str] = []
        self.surroundings: tuple[str, Mapping[str, Sequence[str]]] = ("", {})
        """The recording program's working directory ("" for none), and the user's projects with their folders."""
        self.rests = False
        """True if this writer's last write paused or ended the session."""
        self._last: tuple[Source, Place | None] | None = None
        """The note after this writer's last write, and the position of its last phase."""
        self._turn = threading.Lock()

    @property
    def has_written(self) -> bool:
        """True if this writer added something to the note."""
        return self._last is not None

    def cleaning(self) -> Cleaning:
        """Return a redactor for the text of one write."""
        return Cleaning(self.redact)

    def head(self) -> Session:
        """Return the session from the note's current frontmatter."""
        return read_head(self.vault.read(self._place()).source, self.id)

    def read_whole(self) -> Session:
        """Return the full session from the current note."""
        return self.vault.read(self._place()).session

    def folder(self) -> str:
        """Return the note's folder, relative to the sessions folder."""
        where = self._place().parent
        return where.relative_to(self.vault.sessions).as_posix() if where != self.vault.sessions else ""

    def warn(self, error: CrucibleError) -> None:
        """Add an error to the warnings."""
        self.warnings.append(f"{error} ({error.hint})" if error.hint else str(error))

    def add(self, plan: Plan, cleaning: Cleaning, *, whole: bool = False, reopens: bool = False) -> str:
        """Add to the note and write it to disk; returns the id of the last phase.

        With `whole`, the plan receives the entire note instead of its head and last phase. `reopens` allows adding to
        an ended session.
        """
        phase = self.amend(_checked(plan, self.id, cleaning.counts, reopens=reopens), whole=whole)
        self.rests = False
        return phase

    def amend(self, plan: Plan, *, whole: bool = False) -> str:
        """Like `add`, but ignores the status: links and token counts are updated in ended sessions too."""
        done: Appended | None = None

        def intention(note: Note) -> tuple[Edit, ...]:
            nonlocal done
            if whole:
                done = append_wide(note.source, self.id, plan)
            else:
                done = append(note.source, self.id, plan, self._known(note.source))
            return done.edits

        with self._turn:
            note = self._updated(intention)
            self._last = (note.source, done.place) if done else None
        return done.phase if done else ""

    def _updated(self, intention: Callable[[Note], tuple[Edit, ...]]) -> Note:
        try:
            return self.vault.update(self._place(), intention, attempts=_ATTEMPTS)
        except EditRefused as error:
            if str(error).startswith(self.id):
                raise
            raise EditRefused(f"{self.id}: {error}", error.hint) from error

    def try_out(self, plan: Plan) -> None:
        """Raise what `add` would raise, but write nothing."""
        append(self.vault.read(self._place()).source, self.id, _checked(plan, self.id, {}))

    def _known(self, source: Source) -> Place | None:
        """Return the position of the last phase, None if the note has changed since this writer's last write."""
        return self._last[1] if self._last and self._last[0] == source else None

    def keep(self, kind: str, values: Mapping[str, object], now: datetime, phase: str) -> None:
        """Add an event to the event log. Failures are added to the warnings."""
        try:
            append_entry(
                self.vault.root,
                self.id,
                kind,
                {key: value for key, value in values.items() if value not in (None, "", ())},
                now=now,
                phase=phase,
                max_value_bytes=self.vault.settings.events.max_value_bytes,
                lock_seconds=PATIENCE,
            )
        except CrucibleError as error:
            self.warn(error)

    def keep_facts(self, facts: Facts) -> None:
        """Store the session's facts in the event log. Failures are added to the warnings."""
        try:
            save_meta(self.vault.root, self.id, facts, lock_seconds=PATIENCE)
        except CrucibleError as error:
            self.warn(error)

    def _place(self) -> Path:
        """Return the path of the note, which the user may have moved to another folder."""
        if not self.path.exists():
            self.path = _find_exactly(self.vault, self.id)
        return self.path


def _find_exactly(vault: Vault, session_id: str) -> Path:
    """Find the note with exactly this id. A prefix could match a subagent's session or a session of another day."""
    name = f"{check_session_id(session_id)}.md"
    direct = vault.sessions / name
    if direct.is_file():
        return direct
    paths = vault.session_paths()
    for path in paths:
        if path.name == name:
            return path
    ids = (note_name(path.name) for path in paths)
    message, hint = no_match("session", note_name(name), "cru session list", ids)
    raise SessionNotFound(message, f'{hint} "cru record start" begins a session and prints its id.')


def _checked(plan: Plan, session_id: str, counts: Mapping[str, int], *, reopens: bool = False) -> Plan:
    """Add the status check and the properties that every write sets. The plan raises `SessionEnded` when applied."""

    def checked(state: NoteState) -> Addition:
        head = state.head
        if head.status in (Status.COMPLETED, Status.FAILED) and not reopens:
            raise SessionEnded(
                f"{session_id}: it is {head.status}, so nothing more can be recorded",
                f'"cru record start --continues {session_id}" continues it',
            )
        addition = plan(state)
        return replace(addition, keys={**_active_again(head), **_counted(head, counts), **addition.keys})

    return checked


def _active_again(head: Session) -> dict[str, Value]:
    """Return the properties that make a paused session active."""
    if head.status is not Status.PAUSED:
        return {}
    return {"status": str(Status.ACTIVE), "resume_point": None, "pause_reason": None}


def _counted(head: Session, counts: Mapping[str, int]) -> dict[str, Value]:
    """Return the properties `redactions` and `redacted` with these secrets added."""
    if not counts:
        return {}
    lines: list[Value] = [*add_redactions(head.redacted, counts)]
    return {"redactions": (head.redactions or 0) + sum(counts.values()), "redacted": lines}


def in_phase(plan: Plan, now: datetime) -> Plan:
    """Return a plan that first adds a phase, named after the session, if the note has none."""

    def with_phase(state: NoteState) -> Addition:
        addition = plan(state)
        if state.phase is not None or not addition.steps:
            return addition
        first = Phase(state.head.title or UNTITLED, _current_agent(state), None, started=now)
        return replace(addition, steps=(first, *addition.steps))

    return with_phase


def new_phase(
    name: str,
    agent: AgentRef | None,
    model: str | None,
    channel: str | None,
    tokens: int | None,
    *,
    now: datetime,
) -> Plan:
    """Plan a new phase; the current one ends now."""

    def plan(state: NoteState) -> Addition:
        head = state.head
        speaker = agent or _current_agent(state)
        keys: dict[str, Value] = add_participants(head, (speaker,) if speaker else ())
        if model and not head.model:
            keys["model"] = model
        if channel and not head.channel:
            keys["channel"] = channel
        keys |= token_properties(head, tokens or 0, model=model, now=now)
        phase = Phase(name, speaker, channel, started=now, tokens=tokens)
        return Addition(keys, (*end_phase_steps(state.phase, now), phase))

    return plan


def token_properties(
    head: Session, used: int, *, cached: int = 0, output: int = 0, model: str | None, now: datetime
) -> dict[str, Value]:
    """Return the properties of a session that used more tokens.

    `used` includes the generated tokens, `output`.
    """
    tokens = {"input": used - output, "output": output, "cache_read": cached}
    more = TokenUsage(now.date().isoformat(), model or head.model or "", dict.fromkeys(KINDS, 0) | tokens)
    keys: dict[str, Value] = {"tokens_used": (head.tokens_used or 0) + used} if used else {}
    keys |= {"tokens_cached": (head.tokens_cached or 0) + cached} if cached else {}
    lines = add_usage(head.usage, (), usage_lines((more,)))
    return keys | ({"usage": [escape_links(line) for line in lines]} if keys else {})


def end_phase_steps(phase: Phase | None, now: datetime) -> tuple[Step, ...]:
    """Return the step that ends a phase, if the phase has a start and no end."""
    if phase is None or phase.started is None or phase.ended is not None:
        return ()
    return (PhaseField("ended", max(now, phase.started)),)


def add_participants(head: Session, agents: tuple[AgentRef, ...]) -> dict[str, Value]:
    """Return the property `participants` with these agents added, if any is new."""
    known = [str(agent) for agent in head.participants]
    new = [name for name in dict.fromkeys(map(str, agents)) if name not in known]
    listed: list[Value] = [*known, *new]
    return {"participants": listed} if new else {}


def _current_agent(state: NoteState) -> AgentRef | None:
    """Return the agent of the last phase's last agent switch, else of that phase, else the first participant."""
    for entry in reversed(tuple(state.phase.all_entries()) if state.phase else ()):
        if isinstance(entry, Callout) and entry.kind == "agent_switch" and " → " in entry.title:
            return AgentRef.parse(entry.title.rpartition(" → ")[2].strip())
    if state.phase and state.phase.agent:
        return state.phase.agent
    return state.head.participants[0] if state.head.participants else None
