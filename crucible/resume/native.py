"""A client's own session, found again on this machine.

Owns which of a note's sources a client can go on with, and where.  What a transcript says is its dialect's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from crucible.errors import TranscriptError
from crucible.session.model import Session
from crucible.transcript.dialects import Dialect
from crucible.transcript.events import ContextSeen
from crucible.transcript.files import Transcript
from crucible.vault.projects import project_of

__all__ = ["Native", "find_native", "folder_of", "last_client", "newest_source"]

_LOOKED_AT = 500
"""Events of a transcript among which it says where it is at work."""


@dataclass(frozen=True, slots=True)
class Native:
    """A client's own session.  `folder` is where it began, None when that is gone or not told: it must go on there."""

    transcript: Transcript
    folder: Path | None


def newest_source(session: Session, client: str) -> str:
    """The last of a session's sources that a client can go on with, "" for none; a subagent's is none."""
    return next((each for each in reversed(session.sources) if _is_of(each, client)), "")


def _is_of(source: str, client: str) -> bool:
    name, _, native = source.partition(":")
    return name == client and bool(native) and "/" not in native


def last_client(session: Session) -> str:
    """The client that worked last, by the note's phases and sources; "" when none of them is a client's.

    A source stands where it was first folded in, so a client that was gone back to has no later one.
    """
    clients = [each.partition(":")[0] for each in session.sources if "/" not in each]
    speakers = (phase.agent.name for phase in reversed(list(session.all_phases())) if phase.agent)
    return next((name for name in speakers if name in clients), clients[-1] if clients else "")


def find_native(
    session: Session,
    dialect: Dialect,
    env: Mapping[str, str],
    home: Path,
    name_of: Callable[[str, str], str],
) -> Native | None:
    """The client's newest session of this note, where its transcript is still in the client's own folder.

    `name_of` makes a source's name of a client and a native id.
    """
    source = newest_source(session, dialect.NAME)
    folder = dialect.default_folder(env, home)
    try:
        if not source or not folder.is_dir():
            return None
        found = (each for each in dialect.find(folder) if name_of(each.client, each.native_id) == source)
        # The id becomes an argument, and must not be an option.
        transcript = next((each for each in found if not each.native_id.startswith("-")), None)
        return None if transcript is None else Native(transcript, _folder_of(dialect, transcript))
    except (TranscriptError, OSError):
        return None


def _folder_of(dialect: Dialect, transcript: Transcript) -> Path | None:
    for event in islice(dialect.read(transcript), _LOOKED_AT):
        if isinstance(event, ContextSeen) and event.cwd:
            folder = Path(event.cwd)
            return folder if folder.is_absolute() and folder.is_dir() else None
    return None


def folder_of(
    session: Session,
    *,
    cwd: Path | None,
    projects: Mapping[str, Sequence[str]],
    native_cwd: Path | None = None,
) -> Path | None:
    """The folder to go on in, None when nothing tells.

    `cwd` when it belongs to the session's project: whoever stands in another worktree of it means that one.  Else
    `native_cwd`, where the client began, when it is still there; else a folder that the user's settings give the project.
    A session without a project is of `cwd` where its client's folder is gone.
    """
    if session.project and cwd and project_of(str(cwd), projects) == session.project:
        return cwd
    if native_cwd and native_cwd.is_dir():
        return native_cwd
    if not session.project:
        return cwd
    return next((folder for folder in map(Path, projects.get(session.project, ())) if folder.is_dir()), None)
