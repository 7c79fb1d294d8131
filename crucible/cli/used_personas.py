"""The personas that clients work as: check that the user has accepted them, and name them in the note of the session."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from crucible.cli.environment import user_settings
from crucible.cli.output import warn
from crucible.clients.client import ClientProfile
from crucible.clients.launch.session_marks import started_mark
from crucible.clients.launch.terminal import protect_finish
from crucible.clients.log_files import Transcript
from crucible.clients.registry import DIALECTS, Dialect
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.imports import import_transcripts
from crucible.commands.imports.note_sources import SourceTable
from crucible.commands.resume.material_gathering import start_folder
from crucible.core.errors import CrucibleError, TranscriptError
from crucible.core.secrets.redaction import redact_of
from crucible.core.settings.trust import accepted_in
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.personas import PERSONA, Persona
from crucible.documents.session.property_values import link_to
from crucible.documents.session.task_edits import set_field
from crucible.vault.notes.persona_notes import find_persona, persona_notes
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import PERSONAS

_CLOCK_ERROR = timedelta(seconds=2)
"""Maximum error of a timestamp, since a file system may round it down."""
_HEAD = 1 << 20
"""The beginning of a log, in which its instructions are, in bytes."""


def accepted_persona(vault: Vault, name: str) -> Persona:
    """Return a persona that the user has accepted.  Raises `CrucibleError` if there is none."""
    root = os.path.realpath(vault.root)
    accepts = accepted_in(user_settings().trusted, root)
    return find_persona(root, name, accepts, redact_of(vault.settings.secrets))


def personas_of_steps(vault: Vault, agents: Collection[str]) -> list[Persona]:
    """Return the accepted personas with the names of a workflow's agents; the others are reported."""
    root = os.path.realpath(vault.root)
    names = {agent.casefold() for agent in agents}
    found = []
    for note in persona_notes(root, accepted_in(user_settings().trusted, root), redact_of(vault.settings.secrets)):
        if note.persona.name.casefold() not in names:
            continue
        if note.is_usable:
            found.append(note.persona)
        else:
            warn(*(note.faults or [f'ignored until you accept it with "cru trust": {note.ask.name}']))
    return found


def name_personas(vault: Vault, path: Path, names: Sequence[str]) -> None:
    """Name the personas in the note of a session."""
    links: list[Value] = [link_to(name, PERSONAS) for name in names]
    value: Value = links if len(links) > 1 else links[0] if links else None
    if value:
        vault.update(path, lambda note: set_field(note.source, note.session, PERSONA, value))


@contextmanager
def recording_persona(
    vault: Vault, client: ClientProfile | None, persona: Persona | None, folder: Path, ident: str
) -> Iterator[None]:
    """Import the session that a client begins in a folder, and name its persona in the note.

    `ident` is the session's id, or is in its log, if the client allows that.
    """
    if persona is None:
        yield
        return
    if client is None:
        warn("the persona is not recorded: cru cannot read the sessions of this command")
        yield
        return
    begun = datetime.now(UTC) - _CLOCK_ERROR
    with protect_finish() as client_is_gone:
        yield
        client_is_gone()
        try:
            _record(vault, DIALECTS[client.name], persona.name, folder, begun, ident)
        except (CrucibleError, OSError) as error:
            warn(f"the persona is not recorded: {error}")


def _record(vault: Vault, dialect: Dialect, persona: str, folder: Path, begun: datetime, ident: str) -> None:
    written = list(_written(dialect, begun))
    ours = [one for one in written if one.native_id == ident or _is_marked(dialect, one, ident)]
    found = ours or [one for one in written if start_folder(dialect, one) == folder]
    user = user_settings()
    options = ImportOptions(now=datetime.now(user.zone), projects=user.projects)
    import_transcripts(vault, dialect, [*dict.fromkeys(one.path for one in found)], options=options)
    table = SourceTable(vault)
    paths = filter(None, (table.find(one.source) for one in found))
    notes = [vault.read(path) for path in dict.fromkeys(paths)]
    mains = [note for note in notes if not note.session.parent]
    new = [
        note for note in mains if (note.session.started or begun) >= begun and not note.session.properties.get(PERSONA)
    ]
    # Without an id, another one may have begun in this folder meanwhile, but hardly before ours.
    first = min(new, key=lambda note: note.session.started or begun, default=None)
    if first is None:
        warn("the persona is not recorded: the client wrote no session")
        return
    if not ours and len(new) > 1:
        warn(f"{first.session.id}: the persona may belong to another session, since {len(new)} began in this folder")
    name_personas(vault, first.path, [persona])


def _is_marked(dialect: Dialect, one: Transcript, ident: str) -> bool:
    """True if a session's log has the mark of this start."""
    if not dialect.client.context_logged:
        return False
    with suppress(OSError), one.path.open("rb") as log:
        return started_mark(ident).encode() in log.read(_HEAD)
    return False


def _written(dialect: Dialect, begun: datetime) -> Iterator[Transcript]:
    """Yield the sessions written since then."""
    folder = dialect.default_folder(os.environ, Path.home())
    for one in dialect.find(folder) if folder.is_dir() else ():
        try:
            last = dialect.last_written(one)
        except (TranscriptError, OSError):
            continue
        if last >= begun:
            yield one
