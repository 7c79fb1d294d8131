"""Begin a recording: create a session's note, or attach to an existing one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from crucible.commands.record.entries import Cleaning
from crucible.commands.record.note_writer import Clock, Writer, utc_now, whole_second, with_patience
from crucible.commands.record.recorder import Recorder
from crucible.commands.record.subagent import SubagentWork, begin_child
from crucible.core.errors import NoteExists
from crucible.core.secrets import Redact
from crucible.core.secrets.redaction import redact_of
from crucible.core.zones import local_day
from crucible.documents.session.append import Addition, NoteState
from crucible.documents.session.import_properties import redaction_lines
from crucible.documents.session.markup import render_session
from crucible.documents.session.property_values import link_to
from crucible.documents.session.session import AgentRef, Mode, Prose, Session
from crucible.documents.session.session_id import new_session_id
from crucible.documents.session.titles import key_words, prompt_name
from crucible.vault.events.event_summary import Facts
from crucible.vault.notes.known_projects import remember_project, with_known
from crucible.vault.notes.note_homes import folder_of_session, note_home
from crucible.vault.notes.projects import project_of
from crucible.vault.notes.vault import Vault

_TITLE_SLUG = 60
"""Maximum code points of a title that are used in an id."""


def session(
    title: str = "",
    *,
    vault: Vault | Path | str,
    agent: str = "",
    model: str = "",
    channel: str = "",
    project: str | None = None,
    cwd: Path | str = "",
    projects: Mapping[str, Sequence[str]] = MappingProxyType({}),
    branch: str = "",
    goal: str = "",
    parent: str = "",
    continues: str = "",
    now: Clock = utc_now,
    redact: Redact | None = None,
) -> Recorder:
    """Begin an active session and create its note.

    `vault` is a folder or a `Vault`; `agent` is `name@version`. `goal` goes under the title. `continues` is the id of
    the session that this one continues, `parent` the id of the one that delegated it; both link back to the new note.
    If `project` is None, it is derived from the folder `cwd`: by `projects` (folders by name), or by the repository's
    name. "" means no project. `now` returns the time, `redact` replaces the vault's redactor. Raises `SessionNotFound`
    if `continues` or `parent` is unknown.
    """
    place = with_patience(vault)
    known = with_known(projects, place.root)
    derived = project_of(str(cwd), known) if project is None else ""
    project = derived if project is None else project
    redact = redact or redact_of(place.settings.secrets)
    clean = Cleaning(redact)
    about = _About(
        clean.line(title) or clean.line(prompt_name(clean.text(goal))),
        clean.agent(agent),
        clean.word(model, "model"),
        clean.word(channel, "channel"),
        clean.line(project) or None,
        clean.line(branch) or None,
        clean.optional(goal),
    )
    if parent:
        writer = _create_subagent(Writer(place, parent, redact), about, clean, now)
    else:
        writer = _create_session(place, about, clean, Writer(place, continues, redact) if continues else None, now)
    if derived and about.project == derived:
        remember_project(place.root, known, str(cwd), derived, fsync=place.settings.fsync)
    writer.surroundings = (str(cwd), known)
    return Recorder(writer, now)


def open_session(
    session_id: str,
    *,
    vault: Vault | Path | str,
    cwd: Path | str = "",
    projects: Mapping[str, Sequence[str]] = MappingProxyType({}),
    now: Clock = utc_now,
    redact: Redact | None = None,
) -> Recorder:
    """Attach to the session with exactly this id; nothing is written yet.

    Bookmarks include the git state and files of the folder `cwd` if it belongs to the session's project. For
    `projects`, see `session`. Raises `BadSessionId` for an invalid id, and `SessionNotFound` for an unknown one.
    """
    place = with_patience(vault)
    writer = Writer(place, session_id, redact)
    writer.surroundings = (str(cwd), with_known(projects, place.root))
    return Recorder(writer, now)


def resume(
    session_id: str,
    *,
    vault: Vault | Path | str,
    cwd: Path | str = "",
    projects: Mapping[str, Sequence[str]] = MappingProxyType({}),
    now: Clock = utc_now,
    redact: Redact | None = None,
) -> Recorder:
    """Continue a paused or active session and make it active.

    Raises the same errors as `open_session`, and `SessionEnded` if the session has ended.
    """
    recorder = open_session(session_id, vault=vault, cwd=cwd, projects=projects, now=now, redact=redact)
    recorder.wake()
    return recorder


class _About(NamedTuple):
    """The properties of a new session, redacted."""

    title: str
    agent: AgentRef | None
    model: str | None
    channel: str | None
    project: str | None
    branch: str | None
    goal: str | None


def _create_session(place: Vault, about: _About, clean: Cleaning, before: Writer | None, now: Clock) -> Writer:
    begun = now()
    time = whole_second(begun)
    home = note_home(place, about.project, begun.tzinfo or UTC)
    new = Session(
        id="",
        started=time,
        project=about.project,
        branch=about.branch,
        channel=about.channel,
        participants=(about.agent,) if about.agent else (),
        model=about.model,
        continues=before.id if before else None,
        redactions=clean.counts.total() or None,
        redacted=redaction_lines(clean.counts),
        tags=("session",),
        home=replace(home, folder=folder_of_session(place, before.id)) if before else home,
        title=about.title,
        preamble=(Prose(about.goal),) if about.goal else (),
    )
    name = _create(place, new, local_day(time, begun))
    writer = Writer(place, name, clean.redact)
    if before:
        before.amend(lambda state: _continued_by(state, link_to(name, folder_of_session(place, name))))
    speaker = str(about.agent) if about.agent else None
    writer.keep_facts(Facts(started=time, initial_agent=speaker, project=new.project, ended_cleanly=False))
    return writer


def _create(place: Vault, new: Session, day: date) -> str:
    """Create the note with the first free id and return the id. Retries if another process takes the id first."""
    taken = place.session_ids()
    while True:
        name = new_session_id(key_words(new.title, _TITLE_SLUG), day, taken.__contains__)
        try:
            place.create(name, render_session(replace(new, id=name)))
        except NoteExists:
            taken.add(name)
        else:
            return name


def _continued_by(state: NoteState, link: str) -> Addition:
    """Link the session that continues this one, unless a link exists already."""
    return Addition() if state.head.continued_by else Addition({"continued_by": link})


def _create_subagent(parent: Writer, about: _About, clean: Cleaning, now: Clock) -> Writer:
    """Create a subagent's session, linked from its parent."""
    agent = about.agent or AgentRef("agent")
    work = SubagentWork(agent, about.model, Mode.LINK, about.title, about.goal)
    return begin_child(parent, work, clean, now())
