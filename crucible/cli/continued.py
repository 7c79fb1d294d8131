"""What a client wrote while it went on with a session, folded into the note; and what hooks tell of one that runs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from crucible.cli.output import say
from crucible.cli.surroundings import user_settings
from crucible.clients.launch.programs import ClientProgram
from crucible.clients.registry import DIALECTS, Dialect
from crucible.clients.session_files import Transcript
from crucible.commands.imports.import_report import ImportOptions, UnreadableRow
from crucible.commands.imports.imports import import_transcripts
from crucible.commands.resume.continue_session import Native
from crucible.core.errors import CrucibleError, TranscriptError
from crucible.documents.session.session import Session
from crucible.documents.session.status_rules import Client
from crucible.integrations.hooks.liveness import is_running
from crucible.integrations.hooks.sync import CLIENTS as HOOKED
from crucible.vault.events.spool import spool_folder
from crucible.vault.events.spooled import Spooled, load_spool
from crucible.vault.notes.vault import Vault

_CLOCKS = timedelta(seconds=2)
"""A file system may round a time down."""
_DATABASE = (".db", ".sqlite")


def fold(
    vault: Vault,
    session_id: str,
    client: ClientProgram | None,
    native: Native | None,
    begun: datetime,
    *,
    is_good: bool,
) -> None:
    """Fold what was written since `begun`: the client's own, or any client's where a command line may have run one.

    `is_good` says that it ended well.  What cannot be read is told, and is left for the next import.
    """
    options = ImportOptions(
        now=datetime.now(UTC),
        projects=user_settings().projects,
        client=Client.ENDED if is_good else Client.DIED,
        only_session=session_id,
    )
    for dialect in [DIALECTS[client.source]] if client else DIALECTS.values():
        try:
            paths = _written(dialect, native, begun)
            if paths:
                report = import_transcripts(vault, dialect, paths, options=options)
                _tell(report.unreadable, dialect)
        except (TranscriptError, OSError) as error:
            say(f"cru: {dialect.TITLE}'s transcripts: {error}", style="yellow")


def _tell(rows: Sequence[UnreadableRow], dialect: Dialect) -> None:
    for row in rows:
        say(f"{row.path}:{row.line or 1}: {row.reason}", style="yellow")
    if any(not row.line for row in rows):
        say(
            f"     nothing is lost: mend it, then `cru import {dialect.NAME}` writes down what was done",
            style="yellow",
        )


def _written(dialect: Dialect, native: Native | None, begun: datetime) -> list[Path]:
    """The client's files that were written to since; those of its own session alone, when that went on."""
    folder = dialect.default_folder(os.environ, Path(os.path.expanduser("~")))
    looked: Iterable[Transcript] = [native.transcript] if native else []
    if not native and folder.is_dir():
        looked = dialect.find(folder)
    return [*dict.fromkeys(each.path for each in looked if _is_younger(dialect, each, begun - _CLOCKS))]


def _is_younger(dialect: Dialect, transcript: Transcript, then: datetime) -> bool:
    """A database holds many sessions, and its newest rows may lie in a file beside it: there the rows tell."""
    if transcript.path.suffix in _DATABASE:
        last = dialect.reach(transcript).last
        return last is None or last >= then
    return datetime.fromtimestamp(transcript.path.stat().st_mtime, UTC) >= then


# --- what hooks tell -------------------------------------------------------------------------------------------------


def running_client(root: Path, session: Session) -> str:
    """The client that runs the session, by what its hooks told; "" when none does."""
    running = (each for each in _spooled(root, session) if not each.has_ended and is_running(each))
    return next((f"{each.client} {each.session}" for each in running), "")


def spool_files(root: Path, session: Session) -> list[Path]:
    """What hooks write into while the session runs."""
    return [Path(spool_folder(str(root), each.client), f"{each.session}.jsonl") for each in _spooled(root, session)]


def _spooled(root: Path, session: Session) -> Iterable[Spooled]:
    for client in HOOKED:
        try:
            yield from (each for each in load_spool(root, client) if f"{client}:{each.session}" in session.sources)
        except CrucibleError:
            continue
