"""One session's note and its whole events, and the order in which both are written.

Owns finding the note, the lock's patience, what every write does to the frontmatter (a paused session is active again,
secrets are counted), and that an ended session takes nothing more.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from crucible.commands.record.entries import Cleaning
from crucible.core.errors import CrucibleError, EditRefused, SessionNotFound, VaultNotFound
from crucible.core.secrets import Redact
from crucible.core.secrets.redaction import redact_of
from crucible.core.settings.settings import load_user_settings, load_vault_settings
from crucible.core.settings.toml_scan import user_settings_path
from crucible.documents.markdown.source import Edit, Source
from crucible.documents.markdown.wikilinks import without_links
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.append import (
    Addition,
    Appended,
    NoteState,
    PhaseField,
    Place,
    Plan,
    Step,
    append,
    append_wide,
    read_head,
)
from crucible.documents.session.counted_properties import KINDS, Spent, redacted_more, spent_lines, spent_more
from crucible.documents.session.session import AgentRef, Callout, Phase, Session, Status
from crucible.documents.session.session_id import check_session_id
from crucible.documents.session.titles import UNTITLED
from crucible.vault.events.append_entry import append_entry
from crucible.vault.events.event_summary import Facts, save_meta
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import note_name

Clock = Callable[[], datetime]

_ATTEMPTS = 20
"""How often an editor may be faster than we are."""

PATIENCE = 120.0
"""Seconds to wait for the note at least: with hundreds of recorders at work each has its turn only after the others."""


class SessionEnded(CrucibleError):
    """A session that was completed or failed takes nothing more."""


def utc_now() -> datetime:
    """The time now."""
    return datetime.now(UTC)


def aware(time: datetime) -> datetime:
    """In UTC; a time without a zone is taken as that."""
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def whole_second(time: datetime) -> datetime:
    """As a note holds it, in UTC."""
    return aware(time).replace(microsecond=0)


def patient(vault: Vault | Path | str) -> Vault:
    """The vault, waiting for its turn as long as a recorder does; who keeps the index learns of its notes all the same."""
    given = vault if isinstance(vault, Vault) else _opened(Path(vault).expanduser())
    waiting = Vault(given.root, given.settings._replace(lock_seconds=max(PATIENCE, given.settings.lock_seconds)))
    waiting.touched = given.touched
    return waiting


def _opened(root: Path) -> Vault:
    """A folder that is no vault, another than was meant perhaps, gets no notes."""
    if not (root / ".crucible").is_dir():
        raise VaultNotFound(f"{root}: no vault", f"`cru init {root}` makes one there")
    home = os.path.expanduser("~")
    # Other programs call this, so the environment is read here.
    user = load_user_settings(user_settings_path(os.environ, home), home)
    return Vault(root, load_vault_settings(root, user))


class Writer:
    """Adds to one session note.  `warnings` collects what went wrong beside it: the flight recorder's failures."""

    def __init__(self, vault: Vault, session_id: str, redact: Redact | None = None) -> None:
        self.vault = vault
        self.id = check_session_id(session_id)
        self.path = _find_exactly(vault, session_id)
        self.redact = redact or redact_of(vault.settings.secrets)
        self.warnings: list[str] = []
        self.surroundings: tuple[str, Mapping[str, Sequence[str]]] = ("", {})
        """The folder that the recording program stands in, "" for none, and the user's projects with their folders."""
        self.rests = False
        """Whether our own last write paused or ended the session."""
        self._last: tuple[Source, Place | None] | None = None
        """The note after our last write, and where its last phase was."""
        self._turn = threading.Lock()

    @property
    def has_written(self) -> bool:
        """True if this writer added something to the note."""
        return self._last is not None

    def cleaning(self) -> Cleaning:
        """For the texts of one write."""
        return Cleaning(self.redact)

    def head(self) -> Session:
        """What the note's frontmatter says now."""
        return read_head(self.vault.read(self._place()).source, self.id)

    def read_whole(self) -> Session:
        """All that the note says now."""
        return self.vault.read(self._place()).session

    def folder(self) -> str:
        """The folder of the note, seen from the sessions folder."""
        where = self._place().parent
        return where.relative_to(self.vault.sessions).as_posix() if where != self.vault.sessions else ""

    def say(self, told: CrucibleError) -> None:
        """Keep a warning."""
        self.warnings.append(f"{told} ({told.hint})" if told.hint else str(told))

    def add(self, plan: Plan, cleaning: Cleaning, *, whole: bool = False, reopens: bool = False) -> str:
        """Add to the note; returns the id of the last phase.

        `whole` reads the whole note, for a plan that looks at all of it; one that `reopens` is for an ended session, too.
        When this returns, the note is on disk.
        """
        phase = self.amend(_checked(plan, self.id, cleaning.counts, reopens=reopens), whole=whole)
        self.rests = False
        return phase

    def amend(self, plan: Plan, *, whole: bool = False) -> str:
        """The same without a look at where the session stands: links and figures are set in an ended one too."""
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
        """Write nothing, but raise what `add` would."""
        append(self.vault.read(self._place()).source, self.id, _checked(plan, self.id, {}))

    def _known(self, source: Source) -> Place | None:
        """Where the last phase is, when nobody else wrote since."""
        return self._last[1] if self._last and self._last[0] == source else None

    def keep(self, kind: str, values: Mapping[str, object], now: datetime, phase: str) -> None:
        """Keep an entry whole in the flight recorder.  It is not worth failing for: a failure is a warning."""
        try:
            append_entry(
                self.vault.root,
                self.id,
                kind,
                {key: value for key, value in values.items() if value not in (None, "", ())},
                now=now,
                phase=phase,
                max_value_bytes=self.vault.settings.flight.max_value_bytes,
                lock_seconds=PATIENCE,
            )
        except CrucibleError as error:
            self.say(error)

    def keep_facts(self, facts: Facts) -> None:
        """Keep what the flight recorder knows of the whole session; a failure is a warning."""
        try:
            save_meta(self.vault.root, self.id, facts, lock_seconds=PATIENCE)
        except CrucibleError as error:
            self.say(error)

    def _place(self) -> Path:
        """Where the note is; a human may have moved it to another folder."""
        if not self.path.exists():
            self.path = _find_exactly(self.vault, self.id)
        return self.path


def _find_exactly(vault: Vault, session_id: str) -> Path:
    """The note of exactly this id: a beginning of it could be a subagent's, or another day's."""
    name = f"{check_session_id(session_id)}.md"
    direct = vault.sessions / name
    if direct.is_file():
        return direct
    for path in vault.session_paths():
        if path.name == name:
            return path
    raise SessionNotFound(
        f"no session {note_name(name)!r} in {vault.root}", "`cru session start` begins one and prints its id"
    )


def _checked(plan: Plan, session_id: str, counts: Mapping[str, int], *, reopens: bool = False) -> Plan:
    """The plan with what every write does."""

    def checked(standing: NoteState) -> Addition:
        head = standing.head
        if head.status in (Status.COMPLETED, Status.FAILED) and not reopens:
            raise SessionEnded(
                f"{session_id}: it is {head.status}, nothing more is logged to it",
                f"`cru session start --continues {session_id}` goes on from it",
            )
        wanted = plan(standing)
        return replace(wanted, keys={**_awake(head), **_counted(head, counts), **wanted.keys})

    return checked


def _awake(head: Session) -> dict[str, Value]:
    """A paused session that is logged to goes on."""
    if head.status is not Status.PAUSED:
        return {}
    return {"status": str(Status.ACTIVE), "resume_point": None, "pause_reason": None}


def _counted(head: Session, counts: Mapping[str, int]) -> dict[str, Value]:
    """`redactions` and `redacted` with more secrets taken out."""
    if not counts:
        return {}
    lines: list[Value] = [*redacted_more(head.redacted, counts)]
    return {"redactions": (head.redactions or 0) + sum(counts.values()), "redacted": lines}


def in_phase(plan: Plan, now: datetime) -> Plan:
    """The plan, in a note that has a phase: what is told before the first one begins it, named as the session."""

    def begun(standing: NoteState) -> Addition:
        wanted = plan(standing)
        if standing.phase is not None or not wanted.steps:
            return wanted
        first = Phase(standing.head.title or UNTITLED, _current_agent(standing), None, started=now)
        return replace(wanted, steps=(first, *wanted.steps))

    return begun


def new_phase(
    name: str,
    agent: AgentRef | None,
    model: str | None,
    channel: str | None,
    tokens: int | None,
    *,
    now: datetime,
) -> Plan:
    """A phase behind the last one, which ends now."""

    def plan(standing: NoteState) -> Addition:
        head = standing.head
        speaker = agent or _current_agent(standing)
        keys: dict[str, Value] = joining(head, (speaker,) if speaker else ())
        if model and not head.model:
            keys["model"] = model
        if channel and not head.channel:
            keys["channel"] = channel
        keys |= counted(head, tokens or 0, model=model, now=now)
        phase = Phase(name, speaker, channel, started=now, tokens=tokens)
        return Addition(keys, (*closing(standing.phase, now), phase))

    return plan


def counted(
    head: Session, used: int, *, cached: int = 0, output: int = 0, model: str | None, now: datetime
) -> dict[str, Value]:
    """The properties of a session that used more tokens; of `used`, `output` were generated and the others sent."""
    tokens = {"input": used - output, "output": output, "cache_read": cached}
    more = Spent(now.date().isoformat(), model or head.model or "", dict.fromkeys(KINDS, 0) | tokens)
    keys: dict[str, Value] = {"tokens_used": (head.tokens_used or 0) + used} if used else {}
    keys |= {"tokens_cached": (head.tokens_cached or 0) + cached} if cached else {}
    lines = spent_more(head.usage, (), spent_lines((more,)))
    return keys | ({"usage": [without_links(line) for line in lines]} if keys else {})


def closing(phase: Phase | None, now: datetime) -> tuple[Step, ...]:
    """The end of a phase that has a start and no end."""
    if phase is None or phase.started is None or phase.ended is not None:
        return ()
    return (PhaseField("ended", max(now, phase.started)),)


def joining(head: Session, agents: tuple[AgentRef, ...]) -> dict[str, Value]:
    """`participants` with those that are not there yet."""
    there = [str(agent) for agent in head.participants]
    new = [name for name in dict.fromkeys(map(str, agents)) if name not in there]
    listed: list[Value] = [*there, *new]
    return {"participants": listed} if new else {}


def _current_agent(standing: NoteState) -> AgentRef | None:
    """Who the last phase, or the last switch of agents in it, says is at work; else the first participant."""
    for entry in reversed(tuple(standing.phase.all_entries()) if standing.phase else ()):
        if isinstance(entry, Callout) and entry.kind == "agent_switch" and " → " in entry.title:
            return AgentRef.parse(entry.title.rpartition(" → ")[2].strip())
    if standing.phase and standing.phase.agent:
        return standing.phase.agent
    return standing.head.participants[0] if standing.head.participants else None
