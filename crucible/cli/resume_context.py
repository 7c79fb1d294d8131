"""A session's context as the command line asks for it: its material looked up, its size as the settings say."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from crucible.bookmarks.keeping import latest
from crucible.bookmarks.model import Bookmark
from crucible.cli.opening import here
from crucible.cli.surroundings import user_settings
from crucible.importing.sources import source_name
from crucible.resume.context import build_context, without_secrets
from crucible.resume.drift import find_drift
from crucible.resume.extent import find_extent
from crucible.resume.folders import folder_of
from crucible.resume.gathering import load_children
from crucible.resume.model import Context, Drift, Material
from crucible.resume.native import Native, find_native, last_client
from crucible.resume.template import find_template
from crucible.secrets.redacting import redact_of
from crucible.session.model import Session
from crucible.tokens import counter_of
from crucible.transcript.dialects import DIALECTS
from crucible.vault.store import Vault

__all__ = ["Asked", "Told", "build", "drift_at", "native_of", "place_of", "resume_problem", "tell_context"]


class Asked(NamedTuple):
    """The size of a context in tokens, None for the setting, and what the session is resumed for."""

    budget: int | None
    goal: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """A context and what it was built for."""

    session: Session
    drift: Drift | None
    context: Context

    @property
    def warning(self) -> str:
        """What is wrong with the note's `resume_point`, or ""."""
        return resume_problem(self.session)

    def values(self) -> dict[str, Any]:
        """For JSON."""
        phase = find_extent(self.session).phase
        return {
            "session": self.session.id,
            "phase": phase.id if phase else None,
            "tokens": self.context.tokens,
            "is_tight": self.context.is_tight,
            "left_out": [asdict(each) for each in self.context.left_out],
            "drift": asdict(self.drift) if self.drift else None,
            "text": self.context.text,
        }


def tell_context(vault: Vault, session: Session, asked: Asked) -> Told:
    """The context of a session as it is now, seen from the working directory."""
    now = datetime.now(UTC)
    bookmark = latest(vault.root, session.id)
    drift = drift_at(place_of(session, native_of(session, last_client(session))), bookmark)
    context = build(vault, session, bookmark, drift, asked, now=now)
    return Told(session, drift, context)


def resume_problem(session: Session) -> str:
    """What is wrong with a note's `resume_point`, or ""."""
    problem = find_extent(session).problem
    return f"{session.id}: {problem}" if problem else ""


def native_of(session: Session, client: str) -> Native | None:
    """The newest session of a client's own that is folded into this one and is still on this machine."""
    dialect = DIALECTS.get(client)
    return (
        find_native(session, dialect, os.environ, Path(os.path.expanduser("~")), source_name)
        if dialect
        else None
    )


def place_of(session: Session, native: Native | None) -> Path | None:
    """The folder to go on in; a session that names no project is of the folder that we stand in."""
    found = folder_of(
        session,
        cwd=here(),
        projects=user_settings().projects,
        native_cwd=native.folder if native else None,
    )
    return here() if found is None and not session.project else found


def drift_at(folder: Path | None, bookmark: Bookmark | None) -> Drift | None:
    """What changed there since the bookmark; None where either is missing."""
    return find_drift(folder, bookmark) if folder and bookmark else None


def build(
    vault: Vault,
    session: Session,
    bookmark: Bookmark | None,
    drift: Drift | None,
    asked: Asked,
    *,
    now: datetime,
) -> Context:
    """The context, by the vault's settings and the user's tokenizer."""
    settings, counter = vault.settings.resume, counter_of(user_settings().agents.tokenizer)
    context = build_context(
        Material(session, now, bookmark, drift, load_children(vault, session), goal=asked.goal),
        window=settings.window,
        budget=asked.budget or settings.budget,
        counter=counter,
        template=find_template(vault.settings),
    )
    return without_secrets(context, redact_of(vault.settings.secrets), counter)
