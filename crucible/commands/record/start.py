"""How a recording begins: a new session's note, or one that is there.

Owns what a new note holds, and that a session that goes on from another is named there too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from crucible.commands.record.entries import Cleaning
from crucible.commands.record.note_writer import Clock, Writer, patient, utc_now, whole_second
from crucible.commands.record.recorder import Recorder
from crucible.commands.record.subagent import Delegated, begin_child
from crucible.core.errors import NoteExists
from crucible.core.secrets import Redact
from crucible.core.secrets.redaction import redact_of
from crucible.documents.session.append import Addition, NoteState
from crucible.documents.session.counted_properties import redacted_lines
from crucible.documents.session.markup import render_session
from crucible.documents.session.names import new_session_id
from crucible.documents.session.properties import link_to
from crucible.documents.session.session import AgentRef, Mode, Prose, Session
from crucible.documents.session.titles import key_words, prompt_name
from crucible.vault.events.event_summary import Facts
from crucible.vault.notes.projects import project_of
from crucible.vault.notes.vault import Vault

_TITLE_SLUG = 60
"""Code points of a title that make an id."""


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
    """Begin a session: its note is there, active, when this returns.

    `vault` is its folder.  `agent` is `name@version`; `goal` stands under the title; `continues` names the session that
    this one goes on from, `parent` the one that delegated it: both name it in turn.  Where no `project` is named, it is
    that of the folder `cwd`, as its repository is called, or as `projects` (a name's folders) says; "" is none.  `now` gives the time and `redact`
    takes out secrets, by default as the vault's settings say.   Raises `SessionNotFound` for an unknown other session.
    """
    place = patient(vault)
    project = project_of(str(cwd), projects) if project is None else project
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
        writer = _delegated(Writer(place, parent, redact), about, clean, now)
    else:
        writer = _begun(place, about, clean, Writer(place, continues, redact) if continues else None, now)
    writer.surroundings = (str(cwd), projects)
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
    """Attach to the session of exactly this id; nothing is written yet.

    `cwd` is the folder whose git and files go into bookmarks when its project is the session's; `projects` as in `session`.
    Raises `BadSessionId` for what can be no id, and `SessionNotFound`.
    """
    writer = Writer(patient(vault), session_id, redact)
    writer.surroundings = (str(cwd), projects)
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
    """Go on with a session that is paused, or active still: it is active when this returns.

    Raises as `open_session`, and `SessionEnded` for one that was ended.
    """
    recorder = open_session(session_id, vault=vault, cwd=cwd, projects=projects, now=now, redact=redact)
    recorder.wake()
    return recorder


class _About(NamedTuple):
    """What a new session is about, cleaned."""

    title: str
    agent: AgentRef | None
    model: str | None
    channel: str | None
    project: str | None
    branch: str | None
    goal: str | None


def _begun(place: Vault, about: _About, clean: Cleaning, before: Writer | None, now: Clock) -> Writer:
    time = whole_second(now())
    wanted = Session(
        id="",
        started=time,
        project=about.project,
        branch=about.branch,
        channel=about.channel,
        participants=(about.agent,) if about.agent else (),
        model=about.model,
        continues=before.id if before else None,
        redactions=clean.counts.total() or None,
        redacted=redacted_lines(clean.counts),
        tags=("session",),
        title=about.title,
        preamble=(Prose(about.goal),) if about.goal else (),
    )
    name = _create(place, wanted, time.date())
    writer = Writer(place, name, clean.redact)
    if before:
        before.amend(lambda there: _continued(there, name))
    speaker = str(about.agent) if about.agent else None
    writer.keep_facts(Facts(started=time, initial_agent=speaker, project=wanted.project, ended_cleanly=False))
    return writer


def _create(place: Vault, wanted: Session, day: date) -> str:
    """The note, under the first id that is free; somebody else may take one meanwhile."""
    taken = place.session_ids()
    while True:
        name = new_session_id(key_words(wanted.title, _TITLE_SLUG), day, taken.__contains__)
        try:
            place.create(name, render_session(replace(wanted, id=name)))
        except NoteExists:
            taken.add(name)
        else:
            return name


def _continued(standing: NoteState, name: str) -> Addition:
    """The first that goes on from a session stays named there."""
    return Addition() if standing.head.continued_by else Addition({"continued_by": link_to(name)})


def _delegated(parent: Writer, about: _About, clean: Cleaning, now: Clock) -> Writer:
    """A session that its parent names as a subagent's."""
    agent = about.agent or AgentRef("agent")
    work = Delegated(agent, about.model, Mode.LINK, about.title, about.goal)
    return begin_child(parent, work, clean, whole_second(now()))
